package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"alisio/llm"
)

// imageHashes returns the SHA-256 of each image of a message, in hex.
func imageHashes(m llm.Message) []string {
	var hashes []string
	for _, a := range m.Attachments {
		hashes = append(hashes, hashOf(a.Data))
	}
	for _, p := range m.Parts {
		if p.Type == llm.PartImage {
			hashes = append(hashes, hashOf(p.Data))
		}
	}
	return hashes
}

// hashOf is the SHA-256 of bytes in hex, which is a blob's name.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// PutBlob stores bytes and returns their SHA-256 in hex. The session, if one is
// named, refers to them from now on; what no session refers to is collected
// after a week.
func (s *SQLite) PutBlob(ctx context.Context, id string, data []byte, mime string, width, height int) (string, error) {
	b, err := s.db.PutBlob(ctx, id, 0, data, mime, width, height)
	return b.Hash, mapped("put blob", err)
}

// OpenBlob returns the verified bytes of a blob that the session refers to. Any
// other is ErrNotFound: who can name a hash may not read what belongs to others.
func (s *SQLite) OpenBlob(ctx context.Context, id, hash string) ([]byte, error) {
	ok, err := s.db.HasBlobRef(ctx, id, hash)
	if err != nil {
		return nil, mapped("open blob "+hash, err)
	}
	if !ok {
		return nil, fmt.Errorf("open blob %.100q: %w", hash, ErrNotFound)
	}
	return s.Blob(ctx, hash)
}

// Blob returns the verified bytes of any blob.
func (s *SQLite) Blob(ctx context.Context, hash string) ([]byte, error) {
	data, _, err := s.db.OpenBlob(ctx, hash)
	return data, mapped("open blob "+hash, err)
}
