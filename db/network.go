package db

import (
	"fmt"
	"os"
	"path/filepath"
)

// networkFS reports whether a directory, or the nearest one above it that
// exists, lies on a network file system, and which. What can not be told, such
// as the many kinds of FUSE, counts as local.
func networkFS(dir string) (name string, yes bool) {
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

// networkLine is what a person is told of a database on such a file system: WAL
// needs memory that all its users share, which machines do not.
func networkLine(dir, name string) string {
	return fmt.Sprintf("%s is on a network file system (%s): the database uses a rollback journal, which is slower", dir, name)
}
