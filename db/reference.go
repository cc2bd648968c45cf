package db

import (
	"context"
	"database/sql"
	"time"
)

// Blob is the index's row of a stored blob. Its bytes lie in a file of their own.
type Blob struct {
	// Hash is the SHA-256 of the bytes, 64 lower-case hexadecimal digits.
	Hash string
	MIME string
	// Size is in bytes; Width and Height in pixels, zero for what is no image.
	Size      int64
	Width     int
	Height    int
	CreatedMs int64
}

// AddBlob puts a blob into the index, if it is not there. A time of zero is now.
func (t *Tx) AddBlob(b Blob) error {
	if b.CreatedMs == 0 {
		b.CreatedMs = time.Now().UnixMilli()
	}
	_, err := t.record(Fact{Kind: FactBlob, Key: b.Hash}, `INSERT INTO blobs (hash, mime, size, width, height, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (hash) DO NOTHING`, b.Hash, b.MIME, b.Size, nullNumber(int64(b.Width)), nullNumber(int64(b.Height)), b.CreatedMs)
	return err
}

// AddBlobRef notes that a message of a session needs a blob; seq 0 is the
// session as a whole.
func (t *Tx) AddBlobRef(session string, seq int64, hash string) error {
	_, err := t.record(Fact{Kind: FactBlob, Session: session, Key: hash}, `INSERT INTO blob_refs (session, seq, hash) VALUES (?, ?, ?)
		ON CONFLICT (session, seq, hash) DO NOTHING`, session, seq, hash)
	return err
}

// DeleteBlob takes a blob out of the index, if it is there. Its file stays.
func (t *Tx) DeleteBlob(hash string) error {
	_, err := t.record(Fact{Kind: FactDeletion, Key: hash}, `DELETE FROM blobs WHERE hash = ?`, hash)
	return err
}

// Blob returns a blob's row, or ErrNotFound.
func (r reads) Blob(ctx context.Context, hash string) (Blob, error) {
	return one(ctx, r.src, hot, `SELECT hash, mime, size, width, height, created_at FROM blobs WHERE hash = ?`, scanBlob, hash)
}

func scanBlob(rows *sql.Rows) (Blob, error) {
	var hash, mime text
	var size, width, height, created number
	err := rows.Scan(&hash, &mime, &size, &width, &height, &created)
	return Blob{Hash: string(hash), MIME: string(mime), Size: int64(size), Width: int(width), Height: int(height), CreatedMs: int64(created)}, err
}

// UnusedBlobs returns up to limit blobs that nothing needs and that were made
// before beforeMs, by hash behind after.
func (r reads) UnusedBlobs(ctx context.Context, beforeMs int64, after string, limit int) ([]Blob, error) {
	return list(ctx, r.src, cold, `SELECT hash, mime, size, width, height, created_at FROM blobs b WHERE hash > ? AND created_at < ?
		AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.hash = b.hash) ORDER BY hash LIMIT ?`, scanBlob, after, beforeMs, page(limit))
}

// BlobRefs returns the hashes of the blobs that a session needs, each once.
func (r reads) BlobRefs(ctx context.Context, session string) ([]string, error) {
	return list(ctx, r.src, cold, `SELECT DISTINCT hash FROM blob_refs WHERE session = ? ORDER BY hash`, scanText, session)
}

// HasBlobRef reports whether a session needs a blob.
func (r reads) HasBlobRef(ctx context.Context, session, hash string) (bool, error) {
	n, err := one(ctx, r.src, hot, `SELECT EXISTS (SELECT 1 FROM blob_refs WHERE hash = ? AND session = ?)`, scanNumber, hash, session)
	return n != 0, err
}
