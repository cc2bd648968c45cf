// Package netfs tells whether a directory lies on a file system of a network,
// where a database can not use what needs memory shared by all its users.
package netfs

import (
	"fmt"
	"os"
	"path/filepath"
)

// Of reports whether a directory, or the nearest one above it that
// exists, lies on a network file system, and which. What can not be told, such
// as the many kinds of FUSE, counts as local.
func Of(dir string) (name string, yes bool) {
	for {
		if _, err := os.Stat(dir); err == nil {
			return fileSystem(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// Line is what a person is told of a database on such a file system: WAL
// needs memory that all its users share, which machines do not.
func Line(dir, name string) string {
	return fmt.Sprintf("%s is on a network file system (%s): the database uses a rollback journal, which is slower", dir, name)
}
