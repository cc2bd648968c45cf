package db

import (
	"errors"
	"io/fs"
	"time"

	"alisio/db/blob"
	"alisio/db/report"
)

// blobs verifies every blob of the index, one at a time and in bounded memory.
func (c *checker) blobs(now time.Time) error {
	if !c.has("blobs.hash blobs.mime blobs.size blobs.width blobs.height blobs.created_at") {
		return nil
	}
	files, err := blob.Look(c.d.home)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if !missing {
		defer files.Close()
	}
	var n, gone, bad int
	var bytes int64
	for after := ""; ; {
		batch, err := list(c.ctx, c.d, cold, `SELECT hash, mime, size, width, height, created_at FROM blobs
			WHERE hash > ? ORDER BY hash LIMIT ?`, scanBlob, after, collectBatch)
		if err != nil {
			return err
		}
		for _, b := range batch {
			n, bytes = n+1, bytes+b.Size
			err := fs.ErrNotExist
			if !missing {
				err = verifyRow(files, b)
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
				gone++
			case err != nil:
				bad++
			}
		}
		if len(batch) < collectBatch {
			break
		}
		after = batch[len(batch)-1].Hash
	}
	var unused []Blob
	if c.has("blob_refs.session blob_refs.seq blob_refs.hash") {
		if unused, err = c.d.UnusedBlobs(c.ctx, now.Add(-blobKept).UnixMilli(), "", maxPage); err != nil {
			return err
		}
	}
	c.r.Add(Good, "", "%s, %s", report.Counted(n, "blob", "blobs"), report.Decimal(bytes))
	if gone > 0 {
		c.r.Add(Note, "", "%s: the pictures are lost, messages keep their own copies", report.Counted(gone, "blob has no file", "blobs have no file"))
	}
	if bad > 0 {
		c.r.Add(Problem, "attach the pictures again", "%s damaged", report.Counted(bad, "blob is", "blobs are"))
	}
	if len(unused) > 0 {
		c.r.Add(Note, fixRemedy, "%s needed by nothing and older than a week", report.Counted(len(unused), "blob is", "blobs are"))
	}
	return nil
}

// verifyRow verifies a row that may be foreign.
func verifyRow(files blob.Files, row Blob) error {
	if !blob.ValidHash(row.Hash) || row.Size < 0 || row.Size > MaxBlob {
		return errors.New("not a blob's row")
	}
	return files.Verify(row.Hash, row.Size)
}
