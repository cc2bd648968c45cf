// Package blob keeps what is too large for a message, or no text, by its hash: what a
// person uploads, and whole results of tools (spec store.md, "Blobs"). It trusts no
// stored byte: what comes back has been verified.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// Backend is what a store implements that keeps bytes by their hash.
type Backend interface {
	// PutBlob stores data, with a reference from the session unless that is
	// empty, and returns the SHA-256 as 64 hex digits.
	PutBlob(ctx context.Context, sessionID string, data []byte, mime string, width, height int) (hash string, err error)
	// OpenBlob returns the verified data of a blob that the session refers to.
	OpenBlob(ctx context.Context, sessionID, hash string) ([]byte, error)
	// Blob returns the verified data of any blob.
	Blob(ctx context.Context, hash string) ([]byte, error)
}

var errNoBlobs = errors.New("this store keeps no blobs")

// Ref names stored bytes.
type Ref struct {
	// Hash is the SHA-256 as 64 hex digits in lower case.
	Hash          string
	MIMEType      string
	Size          int64
	Width, Height int
}

// Store keeps blobs. One without a backend says so at each use. A blob never reaches a
// run by its name: Attachment makes a verified image of it first.
type Store struct{ Backend Backend }

// Put stores an image: a whole PNG, JPEG, GIF or WebP of at most 5 MiB and 8,000
// pixels a side.
func (s Store) Put(ctx context.Context, data []byte) (Ref, error) {
	img, err := llm.ReadImage(data)
	if err != nil {
		return Ref{}, err
	}
	if s.Backend == nil {
		return Ref{}, errNoBlobs
	}
	hash, err := s.Backend.PutBlob(ctx, "", data, img.MIMEType, img.Width, img.Height)
	return Ref{Hash: hash, MIMEType: img.MIMEType, Size: int64(len(data)), Width: img.Width, Height: img.Height}, err
}

// Attachment reads a stored image back, verified.
func (s Store) Attachment(ctx context.Context, ref Ref) (llm.Attachment, error) {
	if s.Backend == nil {
		return llm.Attachment{}, errNoBlobs
	}
	data, err := s.Backend.Blob(ctx, ref.Hash)
	if err != nil {
		return llm.Attachment{}, err
	}
	img, err := llm.ReadImage(data)
	if err != nil {
		return llm.Attachment{}, fmt.Errorf("blob %s: %w", ref.Hash, err)
	}
	return img, nil
}

// Keeper returns what stores the whole of a text that is too long for a message, and
// names it; nil when there is no place for it.
func (s Store) Keeper() func(ctx context.Context, sessionID, text string) (string, error) {
	if s.Backend == nil {
		return nil
	}
	return func(ctx context.Context, sessionID, text string) (string, error) {
		hash, err := s.Backend.PutBlob(ctx, sessionID, []byte(text), "text/plain; charset=utf-8", 0, 0)
		return "blob:" + hash, err
	}
}

// Opener returns what opens a blob that the session refers to; nil when there are none.
func (s Store) Opener(sessionID string) func(ctx context.Context, hash string) (plug.File, error) {
	if s.Backend == nil {
		return nil
	}
	return func(ctx context.Context, hash string) (plug.File, error) {
		data, err := s.Backend.OpenBlob(ctx, sessionID, hash)
		if err != nil {
			return nil, err
		}
		return file{Reader: bytes.NewReader(data), hash: hash}, nil
	}
}

// file gives stored bytes the form of an open file.
type file struct {
	*bytes.Reader
	hash string
}

func (f file) Info() plug.FileInfo {
	name := "blob:" + f.hash
	return plug.FileInfo{Name: name, Abs: name, Size: f.Size(), Mode: 0o400, ModTime: time.Time{}}
}

func (f file) Close() error { return nil }
