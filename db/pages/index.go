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
