package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile is the largest configuration file that is read, in bytes.
const maxFile = 1 << 20

// byDefault is the label of what nobody set.
const byDefault = "default"

// source is where a value came from: a file, or one environment variable, flag
// or default, which has a label instead of a name.
type source struct {
	// file is an absolute path, empty for the environment and for flags.
	file  string
	label string
	// dir is what relative paths resolve against.
	dir  string
	data []byte
	// project: less trusted than every other layer.
	project bool
}

// errorf makes an error about the value at offset.
func (s *source) errorf(offset int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if s.file == "" {
		return fmt.Errorf("read %s: %w", s.label, err)
	}
	line, _ := s.position(offset)
	return fmt.Errorf("read config %q: line %d: %w", s.file, line, err)
}

// fail makes a syntax error at offset, with its column.
func (s *source) fail(offset int, format string, args ...any) error {
	_, column := s.position(offset)
	return s.errorf(offset, "column %d: "+format, append([]any{column}, args...)...)
}

// readSource reads a configuration file. Without must, a file that is not
// there is an empty one; a link that leads nowhere is an error in any case,
// since its owner meant something to be there.
func readSource(path string, must bool) (*source, error) {
	s := &source{file: path, dir: filepath.Dir(path)}
	data, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		if _, lerr := os.Lstat(path); errors.Is(lerr, fs.ErrNotExist) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read config %q: %w", path, err)
	}
	s.data = data
	return s, nil
}

// ReadFile reads a regular file of at most 1 MiB; its errors leave the name to
// the caller. The kind is looked at before and after opening: a pipe must neither
// block the open nor be swapped in.
func ReadFile(path string) ([]byte, error) {
	before, err := os.Stat(path)
	if err != nil {
		return nil, Bare(err)
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Bare(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, Bare(err)
	}
	if len(data) > maxFile {
		return nil, errTooLarge
	}
	return data, nil
}

var errNotRegular = errors.New("not a regular file")

// Bare takes the path off a file error: the caller names it, quoted.
func Bare(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}
