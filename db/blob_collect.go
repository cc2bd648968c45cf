package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

const (
	// blobKept is for how long a blob is kept that nothing needs (spec store.md).
	blobKept = 7 * 24 * time.Hour
	// tempKept is the same for what a dead process left half written.
	tempKept = 24 * time.Hour
	// collectBatch bounds how long one transaction keeps others from writing.
	collectBatch = 100
)

// Collected says what a collection of blobs removed.
type Collected struct {
	// Blobs were in the index and needed by nothing; Files had no row, or were
	// left half written.
	Blobs, Files int
	Bytes        int64
}

// CollectBlobs removes blobs that no message needs and that are older than a
// week, and files of that age that are in no index. Files are removed inside the
// transaction that looked for who needs them, so that PutBlob can not count on a
// file that is about to go.
func (d *DB) CollectBlobs(ctx context.Context, now time.Time) (Collected, error) {
	var c Collected
	if d.readOnly {
		return c, fmt.Errorf("collect blobs: %w", ErrReadOnly)
	}
	files, err := lookBlobs(d.home)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer files.close()
	if err := d.collectRows(ctx, files, now, &c); err != nil {
		return c, fmt.Errorf("collect blobs: %w", err)
	}
	if err := d.collectFiles(ctx, files, now, &c); err != nil {
		return c, fmt.Errorf("collect blobs: %w", err)
	}
	return c, nil
}

func (d *DB) collectRows(ctx context.Context, files blobFiles, now time.Time, c *Collected) error {
	limit := now.Add(-blobKept)
	for after := ""; ; {
		var batch []Blob
		var removed int
		var bytes int64
		err := d.Write(ctx, Normal, func(t *Tx) (err error) {
			removed, bytes = 0, 0
			if batch, err = t.UnusedBlobs(ctx, limit.UnixMilli(), after, collectBatch); err != nil {
				return err
			}
			for _, b := range batch {
				n, gone := files.removeOld(b.Hash, limit)
				if !gone {
					continue
				}
				if err := t.DeleteBlob(b.Hash); err != nil {
					return err
				}
				removed, bytes = removed+1, bytes+n
			}
			return nil
		})
		c.Blobs, c.Bytes = c.Blobs+removed, c.Bytes+bytes
		if err != nil || len(batch) < collectBatch {
			return err
		}
		after = batch[len(batch)-1].Hash
	}
}

// removeOld removes a blob's file unless it was put, or put again, after limit.
// It reports whether the file is gone, and how many bytes went with it.
func (b blobFiles) removeOld(hash string, limit time.Time) (bytes int64, gone bool) {
	if !validHash(hash) {
		return 0, true
	}
	info, err := b.root.Lstat(blobPath(hash))
	if err != nil {
		return 0, errors.Is(err, fs.ErrNotExist)
	}
	if info.ModTime().After(limit) || b.root.Remove(blobPath(hash)) != nil {
		return 0, false
	}
	return info.Size(), true
}

// collectFiles walks over the 256 directories, one transaction each.
func (d *DB) collectFiles(ctx context.Context, files blobFiles, now time.Time, c *Collected) error {
	dirs, err := files.names(".")
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if len(dir) != 2 || !validHash(strings.Repeat(dir, 32)) {
			continue
		}
		names, err := files.names(dir)
		if err != nil {
			return err
		}
		old := files.old(dir, names, now)
		if len(old) == 0 {
			continue
		}
		var removed int
		var bytes int64
		err = d.Write(ctx, Normal, func(t *Tx) error {
			for _, name := range old {
				if _, err := t.Blob(ctx, name); !errors.Is(err, ErrNotFound) {
					continue
				}
				n, gone := files.removeName(filepath.Join(dir, name), now.Add(-tempKept))
				if gone {
					removed, bytes = removed+1, bytes+n
				}
			}
			return nil
		})
		c.Files, c.Bytes = c.Files+removed, c.Bytes+bytes
		if err != nil {
			return err
		}
	}
	return nil
}

// old returns the names of blobs older than a week and of temporary files older
// than a day. Names that this program does not give are left alone.
func (b blobFiles) old(dir string, names []string, now time.Time) []string {
	var out []string
	for _, name := range names {
		kept := blobKept
		hash, _, temp := strings.Cut(name, ".tmp-")
		if temp {
			kept = tempKept
		}
		if !validHash(hash) || hash[:2] != dir {
			continue
		}
		info, err := b.root.Lstat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && info.ModTime().Before(now.Add(-kept)) {
			out = append(out, name)
		}
	}
	return out
}

// removeName removes a file unless it has changed after limit.
func (b blobFiles) removeName(path string, limit time.Time) (bytes int64, gone bool) {
	info, err := b.root.Lstat(path)
	if err != nil || info.ModTime().After(limit) || b.root.Remove(path) != nil {
		return 0, false
	}
	return info.Size(), true
}

// names lists a directory of the store.
func (b blobFiles) names(dir string) ([]string, error) {
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
