package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// place returns the database that a path stands for, under its one true name,
// and the directory of its locks and blobs. Both depend on the database alone,
// not on who asks, nor by which of its names: of two processes with two lock
// directories each would take the session in which the other works.
func place(path string) (file, home string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	file = realPath(path)
	dir := filepath.Dir(file)
	if filepath.Base(file) == stateFile && (exists(filepath.Join(dir, "locks")) || !exists(file+".files")) {
		return file, dir, nil
	}
	return file, file + ".files", nil
}

// stateFile is the name of the database in a state home.
const stateFile = "sessions.sqlite"

// realPath resolves the links of a path, the end of which need not exist. What
// can not be resolved stays: who opens it is told why.
func realPath(path string) string {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		return resolved
	}
	dir := filepath.Dir(path)
	if dir == path || !errors.Is(err, fs.ErrNotExist) {
		return path
	}
	return filepath.Join(realPath(dir), filepath.Base(path))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
