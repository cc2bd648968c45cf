package db

import (
	"path/filepath"

	"alisio/db/place"
	"alisio/db/swap"
)

// Files are what the database consists of: the file, those beside it, the locks,
// the blobs. The paths are absolute; some may not be there.
func (d *DB) Files() []string { return files(d.path, d.home) }

func files(path, home string) []string {
	var out []string
	for _, end := range swap.Sidecars() {
		out = append(out, path+end)
	}
	return append(out, filepath.Join(home, "locks"), filepath.Join(home, "blobs"))
}

// Home is the directory that holds locks/ and blobs/.
func (d *DB) Home() string { return d.home }

// Lost reports whether a database is missing, or empty, that once was there.
func Lost(path string) bool { return place.Lost(path) != nil }

// Head reports whether a file that begins so is a database, or one whose repair was
// cut short.
func Head(head []byte) bool { return place.Head(head) }
