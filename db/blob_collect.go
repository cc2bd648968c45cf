package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"alisio/db/blob"
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
	files, err := blob.Look(d.home)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer files.Close()
	if err := d.collectRows(ctx, files, now, &c); err != nil {
		return c, fmt.Errorf("collect blobs: %w", err)
	}
	if err := d.collectFiles(ctx, files, now, &c); err != nil {
		return c, fmt.Errorf("collect blobs: %w", err)
	}
	return c, nil
}

func (d *DB) collectRows(ctx context.Context, files blob.Files, now time.Time, c *Collected) error {
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
				n, gone := files.RemoveOld(b.Hash, limit)
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

// collectFiles walks over the 256 directories, one transaction each.
func (d *DB) collectFiles(ctx context.Context, files blob.Files, now time.Time, c *Collected) error {
	dirs, err := files.Names(".")
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if len(dir) != 2 || !blob.ValidHash(strings.Repeat(dir, 32)) {
			continue
		}
		names, err := files.Names(dir)
		if err != nil {
			return err
		}
		old := files.Old(dir, names, now, blobKept, tempKept)
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
				n, gone := files.RemoveName(filepath.Join(dir, name), now.Add(-tempKept))
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
