package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// blobStore is what a store implements that keeps bytes by their hash.
type blobStore interface {
	// PutBlob stores data, with a reference from the session unless that is
	// empty, and returns the SHA-256 as 64 hex digits.
	PutBlob(ctx context.Context, sessionID string, data []byte, mime string, width, height int) (hash string, err error)
	// OpenBlob returns the verified data of a blob that the session refers to.
	OpenBlob(ctx context.Context, sessionID, hash string) ([]byte, error)
	// Blob returns the verified data of any blob.
	Blob(ctx context.Context, hash string) ([]byte, error)
}

var errNoBlobs = errors.New("this store keeps no blobs")

// BlobRef names stored bytes.
type BlobRef struct {
	// Hash is the SHA-256 as 64 hex digits in lower case.
	Hash          string
	MIMEType      string
	Size          int64
	Width, Height int
}

// Blobs keeps what a person uploads (spec store.md, "Blobs"). A blob never
// reaches a run by its name: Attachment makes a verified image of it first.
type Blobs struct{ store blobStore }

// Blobs returns the store of uploads.
func (a *App) Blobs() *Blobs {
	s, _ := a.store.(blobStore)
	return &Blobs{store: s}
}

// Put stores an image: a whole PNG, JPEG, GIF or WebP of at most 5 MiB and 8,000
// pixels a side.
func (b *Blobs) Put(ctx context.Context, data []byte) (BlobRef, error) {
	img, err := llm.ReadImage(data)
	if err != nil {
		return BlobRef{}, err
	}
	if b.store == nil {
		return BlobRef{}, errNoBlobs
	}
	hash, err := b.store.PutBlob(ctx, "", data, img.MIMEType, img.Width, img.Height)
	return BlobRef{Hash: hash, MIMEType: img.MIMEType, Size: int64(len(data)), Width: img.Width, Height: img.Height}, err
}

// Attachment reads a stored image back, verified.
func (b *Blobs) Attachment(ctx context.Context, ref BlobRef) (llm.Attachment, error) {
	if b.store == nil {
		return llm.Attachment{}, errNoBlobs
	}
	data, err := b.store.Blob(ctx, ref.Hash)
	if err != nil {
		return llm.Attachment{}, err
	}
	img, err := llm.ReadImage(data)
	if err != nil {
		return llm.Attachment{}, fmt.Errorf("blob %s: %w", ref.Hash, err)
	}
	return img, nil
}

// keeper stores the whole of results that are too long for a message; nil when
// there is no place for them.
func (a *App) keeper() func(ctx context.Context, sessionID, text string) (string, error) {
	s, ok := a.store.(blobStore)
	if !ok {
		return nil
	}
	return func(ctx context.Context, sessionID, text string) (string, error) {
		hash, err := s.PutBlob(ctx, sessionID, []byte(text), "text/plain; charset=utf-8", 0, 0)
		return "blob:" + hash, err
	}
}

// openBlob opens a blob that the session refers to; nil when there are none.
func (a *App) openBlob(sessionID string) func(ctx context.Context, hash string) (plug.File, error) {
	s, ok := a.store.(blobStore)
	if !ok {
		return nil
	}
	return func(ctx context.Context, hash string) (plug.File, error) {
		data, err := s.OpenBlob(ctx, sessionID, hash)
		if err != nil {
			return nil, err
		}
		return blob{Reader: bytes.NewReader(data), hash: hash}, nil
	}
}

// blob gives stored bytes the form of an open file.
type blob struct {
	*bytes.Reader
	hash string
}

func (b blob) Info() plug.FileInfo {
	name := "blob:" + b.hash
	return plug.FileInfo{Name: name, Abs: name, Size: b.Size(), Mode: 0o400, ModTime: time.Time{}}
}

func (b blob) Close() error { return nil }
