package db

import (
	"path/filepath"

	"alisio/db/swap"
)

func sidecars() []string { return swap.Sidecars() }

// Files are what the database consists of: the file, those beside it, the locks,
// the blobs. The paths are absolute; some may not be there.
func (d *DB) Files() []string { return files(d.path, d.home) }

func files(path, home string) []string {
	var out []string
	for _, end := range sidecars() {
		out = append(out, path+end)
	}
	return append(out, filepath.Join(home, "locks"), filepath.Join(home, "blobs"))
}

// Home is the directory that holds locks/ and blobs/.
func (d *DB) Home() string { return d.home }
