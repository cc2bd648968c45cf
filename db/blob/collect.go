package blob

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// RemoveOld removes a blob's file unless it was put, or put again, after limit.
// It reports whether the file is gone, and how many bytes went with it.
func (b Files) RemoveOld(hash string, limit time.Time) (bytes int64, gone bool) {
	if !ValidHash(hash) {
		return 0, true
	}
	info, err := b.root.Lstat(pathOf(hash))
	if err != nil {
		return 0, errors.Is(err, fs.ErrNotExist)
	}
	if info.ModTime().After(limit) || b.root.Remove(pathOf(hash)) != nil {
		return 0, false
	}
	return info.Size(), true
}

// Old returns the names of blobs that are older than kept, and of temporary files
// that are older than tempKept. Names that this program does not give are left alone.
func (b Files) Old(dir string, names []string, now time.Time, kept, tempKept time.Duration) []string {
	var out []string
	for _, name := range names {
		limit := now.Add(-kept)
		hash, _, temp := strings.Cut(name, ".tmp-")
		if temp {
			limit = now.Add(-tempKept)
		}
		if !ValidHash(hash) || hash[:2] != dir {
			continue
		}
		info, err := b.root.Lstat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && info.ModTime().Before(limit) {
			out = append(out, name)
		}
	}
	return out
}

// RemoveName removes a file unless it has changed after limit.
func (b Files) RemoveName(path string, limit time.Time) (bytes int64, gone bool) {
	info, err := b.root.Lstat(path)
	if err != nil || info.ModTime().After(limit) || b.root.Remove(path) != nil {
		return 0, false
	}
	return info.Size(), true
}

// Names lists a directory of the store.
func (b Files) Names(dir string) ([]string, error) {
	f, err := b.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}
