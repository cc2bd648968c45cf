// Package blob keeps bytes in files that are named by their hash, below a
// directory for their owner alone (spec store.md, "Blobs"). A file is there whole
// or not at all, and what is read is what was put, or an error.
//
// It has no index and no rule about what is kept: package db has.
package blob

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Files is the directory of blobs, sha256/<aa>/<hash>. Nothing in it is
// trusted: what is read is a regular file of the right bytes, or an error.
type Files struct{ root *os.Root }

// Open opens the directory under home, and makes it if need be.
func Open(home string) (Files, error) {
	dir := filepath.Join(home, "blobs", "sha256")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Files{}, fmt.Errorf("make blob directory: %w", err)
	}
	return Look(home)
}

// Look opens the directory as it is.
func Look(home string) (Files, error) {
	root, err := os.OpenRoot(filepath.Join(home, "blobs", "sha256"))
	if err != nil {
		return Files{}, fmt.Errorf("open blob directory: %w", err)
	}
	return Files{root}, nil
}

// Close gives the directory back.
func (b Files) Close() { b.root.Close() }

// ValidHash reports whether a text may become part of a path.
func ValidHash(hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(hash) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}

// Hash names bytes: their SHA-256, 64 lower-case hexadecimal digits.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// pathOf is relative to the directory; the hash must be valid.
func pathOf(hash string) string { return filepath.Join(hash[:2], hash) }

// Put makes sure that the file of a blob is there with the right bytes, on the
// disk. A file that is there already is told from a leftover by its time.
func (b Files) Put(hash string, data []byte, now time.Time) error {
	if b.Verify(hash, int64(len(data))) == nil {
		if err := b.root.Chtimes(pathOf(hash), now, now); err == nil {
			return nil
		}
	}
	temp, err := b.writeTemp(hash, data)
	if err != nil {
		return err
	}
	return b.finish(temp, hash)
}

// writeTemp writes the bytes to a new file beside the blob's place. What dies
// after it leaves a file whose name no blob has.
func (b Files) writeTemp(hash string, data []byte) (temp string, err error) {
	if err := b.makeDir(hash[:2]); err != nil {
		return "", err
	}
	temp = pathOf(hash) + ".tmp-" + rand.Text()
	f, err := b.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("write blob: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = b.root.Remove(temp)
		return "", fmt.Errorf("write blob: %w", err)
	}
	return temp, nil
}

// makeDir makes one of the 256 directories.
func (b Files) makeDir(name string) error {
	err := b.root.Mkdir(name, 0o700)
	if err == nil {
		return b.syncDir(".")
	}
	if info, lerr := b.root.Lstat(name); lerr == nil && info.IsDir() {
		return nil
	}
	return fmt.Errorf("make blob directory: %w", err)
}

// finish gives the file its name, in place of whatever had it.
func (b Files) finish(temp, hash string) error {
	if err := b.root.Rename(temp, pathOf(hash)); err != nil {
		_ = b.root.Remove(temp)
		return fmt.Errorf("write blob: %w", err)
	}
	return b.syncDir(hash[:2])
}

// Has reports whether something of the name is there.
func (b Files) Has(hash string) bool {
	_, err := b.root.Lstat(pathOf(hash))
	return err == nil
}

// syncDir makes names last. Some file systems, and Windows, can not do that.
func (b Files) syncDir(name string) error {
	d, err := b.root.Open(name)
	if err != nil {
		return fmt.Errorf("sync blob directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !cannotSync(err) {
		return fmt.Errorf("sync blob directory: %w", err)
	}
	return nil
}

func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
}

// open opens the file of a blob if it is a regular one of the right size. It
// follows no link and waits for no FIFO: a place that was looked at and changed
// before the opening is told by the file's identity.
func (b Files) open(hash string, size int64) (*os.File, error) {
	path := pathOf(hash)
	before, err := b.root.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := b.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, after):
		err = errors.New("the file was replaced while it was opened")
	case after.Size() != size:
		err = fmt.Errorf("%d bytes, want %d", after.Size(), size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Verify reads the file of a blob and compares, in bounded memory.
func (b Files) Verify(hash string, size int64) error {
	f, err := b.open(hash, size)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != hash {
		return fmt.Errorf("the bytes have the hash %s", got)
	}
	return nil
}

// Read returns the bytes of a blob, verified.
func (b Files) Read(hash string, size int64) ([]byte, error) {
	f, err := b.open(hash, size)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	if got := Hash(data); got != hash {
		return nil, fmt.Errorf("the bytes have the hash %s", got)
	}
	return data, nil
}
