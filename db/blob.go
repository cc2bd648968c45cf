package db

import (
	"context"
	"fmt"
	"time"

	"alisio/db/blob"
)

// MaxBlob is the largest blob that is stored or read, in bytes.
const MaxBlob = 64 << 20

// DamagedBlobError tells that a blob's file is not what its name says.
type DamagedBlobError struct {
	Hash string
	Err  error
}

func (e *DamagedBlobError) Error() string {
	return fmt.Sprintf("blob %s is damaged: %v", e.Hash, e.Err)
}

func (e *DamagedBlobError) Unwrap() error { return e.Err }

// PutBlob stores bytes and, unless session is empty, that message seq of the
// session needs them. When it returns without an error, they are on the disk.
func (d *DB) PutBlob(ctx context.Context, session string, seq int64, data []byte, mime string, w, h int) (Blob, error) {
	if len(data) > MaxBlob {
		return Blob{}, fmt.Errorf("store blob: %d bytes, at most %d are taken", len(data), MaxBlob)
	}
	if d.readOnly {
		return Blob{}, fmt.Errorf("store blob: %w", ErrReadOnly)
	}
	files, err := blob.Open(d.home)
	if err != nil {
		return Blob{}, err
	}
	defer files.Close()
	now := time.Now()
	b := Blob{Hash: blob.Hash(data), MIME: mime, Size: int64(len(data)), Width: w, Height: h, CreatedMs: now.UnixMilli()}
	if err := files.Put(b.Hash, data, now); err != nil {
		return Blob{}, err
	}
	err = d.Write(ctx, Normal, func(t *Tx) error {
		// A collection may have come since; none can while this transaction is open.
		if !files.Has(b.Hash) {
			if err := files.Put(b.Hash, data, now); err != nil {
				return err
			}
		}
		if err := t.AddBlob(b); err != nil || session == "" {
			return err
		}
		return t.AddBlobRef(session, seq, b.Hash)
	})
	return b, err
}

// OpenBlob returns the bytes of a blob, verified: *DamagedBlobError if they are
// not what was stored, ErrNotFound if there is no such blob.
func (d *DB) OpenBlob(ctx context.Context, hash string) ([]byte, Blob, error) {
	if !blob.ValidHash(hash) {
		return nil, Blob{}, fmt.Errorf("open blob: %w", ErrNotFound)
	}
	b, err := d.Blob(ctx, hash)
	if err != nil {
		return nil, Blob{}, err
	}
	if b.Size < 0 || b.Size > MaxBlob {
		return nil, Blob{}, &DamagedBlobError{hash, fmt.Errorf("%d bytes in the index", b.Size)}
	}
	files, err := blob.Look(d.home)
	if err != nil {
		return nil, Blob{}, &DamagedBlobError{hash, err}
	}
	defer files.Close()
	data, err := files.Read(hash, b.Size)
	if err != nil {
		return nil, Blob{}, &DamagedBlobError{hash, err}
	}
	return data, b, nil
}
