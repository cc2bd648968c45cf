package db

import "path/filepath"

// sidecars are the endings of the files that SQLite keeps beside a database, the
// first that of the database itself.
func sidecars() []string { return []string{"", "-wal", "-shm", "-journal"} }

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
