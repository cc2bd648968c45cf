package pages

import (
	"bytes"
	"os"
)

// Indexed reports whether the log's index that lies beside it is its own: both
// hold the salt of the log (walformat.html). SQLite would try for ten seconds.
// It must not be asked in a process that has the database open.
func Indexed(path string) bool {
	log, index := salt(path+"-wal", 16), salt(path+"-shm", 32)
	return log != nil && bytes.Equal(log, index)
}

func salt(path string, at int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, at); err != nil {
		return nil
	}
	return b
}

// Journal reads from a database's header how it is written to (fileformat2.html,
// "File format version numbers"): a connection that only looks is told otherwise.
func Journal(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "nothing that can be read"
	}
	defer f.Close()
	const at, wal = 18, 2
	var b [1]byte
	if n, _ := f.ReadAt(b[:], at); n == 1 && b[0] == wal {
		return "a write-ahead log"
	}
	return "a rollback journal"
}
