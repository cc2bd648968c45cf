// Package swap puts a recovered database in the place of a damaged one. What was
// there is copied aside first, whole and synced. Then the same file is written
// anew: whoever waits for it has it open already, and would go on in one that had
// been moved away.
//
//	copies synced ─ renamed to X.damaged-… ─ head of X overwritten by a mark
//	  ─ logs removed ─ rest of X written ─ head of X written
//
// A process that ends anywhere in between leaves the copy whole, and X as it was,
// or as it is to be, or with the mark, which SQLite refuses as no database and
// which says how to go on.
//
// It knows nothing of SQLite but the names of the files and three numbers of the
// header. The caller keeps all others out of the file (package hold), and has no
// connection to it open.
package swap

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// headSize is what is written last, in bytes: the least that a page has, and
	// what a disk writes at once.
	headSize = 512
	// pieceSize is how much is written at a time, in bytes.
	pieceSize = 1 << 20
)

// Swap is a database file whose content is to be replaced.
type Swap struct {
	// File is the database, open for reading and writing, and held.
	File *os.File
	// Path is where it lies; Stamp tells the files of one repair from others.
	Path, Stamp string
	// Step is called behind each step that a kill may follow. It may be nil.
	Step func(name string)
}

func (s *Swap) step(name string) {
	if s.Step != nil {
		s.Step(name)
	}
}

// Aside copies the database and its logs, and returns the name of the copy. There
// is one of that name only when all of it is on the disk.
func (s *Swap) Aside() (name string, err error) {
	name = Free(s.Path + damagedWord + s.Stamp)
	var copied []string
	defer func() {
		for _, end := range copied {
			_ = os.Remove(name + end + partEnd)
		}
	}()
	// The database comes last: it says that the others are there.
	for _, end := range []string{"-journal", "-wal", ""} {
		var err error
		if end == "" {
			err = s.Copy(name + partEnd)
		} else {
			err = Copy(s.Path+end, name+end+partEnd)
		}
		if errors.Is(err, fs.ErrNotExist) && end != "" {
			continue
		}
		copied = append(copied, end)
		if err != nil {
			return "", err
		}
		s.step("copied" + end)
	}
	for _, end := range copied {
		if end == "" {
			if err := syncDir(s.Path); err != nil {
				return "", err
			}
		}
		if err := os.Rename(name+end+partEnd, name+end); err != nil {
			return "", err
		}
		s.step("renamed" + end)
	}
	return name, syncDir(s.Path)
}

// Copy copies the database's file alone to a new one.
func (s *Swap) Copy(to string) error {
	if _, err := s.File.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return write(to, s.File)
}

// CopyAll copies the database, or what is left of it elsewhere, with its logs.
func (s *Swap) CopyAll(from, to string) error {
	var err error
	if from == s.Path {
		err = s.Copy(to)
	} else {
		err = Copy(from, to)
	}
	for _, end := range []string{"-wal", "-journal"} {
		if err != nil {
			return err
		}
		if err = Copy(from+end, to+end); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// Copy copies a file to a new one, for its owner alone, which is on the disk then.
func Copy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return write(to, in)
}

func write(to string, in io.Reader) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Sync(), out.Close())
}

// Put writes a recovered database, which lies beside this one under the name that
// Recovered gives, into its file. The copy that Aside made is named in the mark.
func (s *Swap) Put(fresh, aside string) error {
	in, err := os.Open(fresh)
	if err != nil {
		return err
	}
	defer in.Close()
	h := sha256.New()
	length, err := io.Copy(h, in)
	if err != nil {
		return err
	}
	if length < headSize {
		return fmt.Errorf("%q has %d bytes", fresh, length)
	}
	m := Mark{Aside: aside, Recovered: fresh, sum: [sha256.Size]byte(h.Sum(nil))}
	head, err := m.encode(s.Path)
	if err != nil {
		return err
	}
	if err := s.writeHead(head); err != nil {
		return err
	}
	s.step("marked")
	for _, end := range []string{"-journal", "-wal", "-shm"} {
		if err := os.Remove(s.Path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.step("without" + end)
	}
	if err := syncDir(s.Path); err != nil {
		return err
	}
	if err := s.body(in, length); err != nil {
		return err
	}
	if _, err := in.ReadAt(head, 0); err != nil {
		return err
	}
	if err := s.writeHead(renumbered(head)); err != nil {
		return err
	}
	s.step("written")
	return nil
}

func (s *Swap) writeHead(head []byte) error {
	_, err := s.File.WriteAt(head, 0)
	return cmp.Or(err, s.File.Sync())
}

// body writes all but the head.
func (s *Swap) body(in io.ReaderAt, length int64) error {
	piece := make([]byte, pieceSize)
	for at := int64(headSize); at < length; {
		n, err := in.ReadAt(piece[:min(pieceSize, length-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		if _, err := s.File.WriteAt(piece[:n], at); err != nil {
			return err
		}
		at += int64(n)
		s.step("piece")
	}
	return cmp.Or(s.File.Truncate(length), s.File.Sync())
}

// renumbered gives a head numbers that no connection has seen, which may hold
// pages and a schema of the old content: the change counter with its second
// copy, and the schema's ("Database Header", fileformat2.html).
func renumbered(head []byte) []byte {
	const change, schema, valid = 24, 40, 92
	was := [4]byte(head[change:])
	random(head[change:])
	if was == [4]byte(head[valid:]) {
		copy(head[valid:valid+4], head[change:])
	}
	random(head[schema:])
	return head
}

// random sets a number that is positive for whoever takes it for a signed one, and
// can be counted up for long.
func random(b []byte) {
	_, _ = rand.Read(b[:4])
	binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)>>2|1)
}

// Finish does what Put had begun, if the recovered database is still there and
// whole; else it reports false and has changed nothing.
func (s *Swap) Finish(m Mark) (done bool, err error) {
	sum, _, err := sumOf(m.Recovered)
	if errors.Is(err, fs.ErrNotExist) || err == nil && sum != m.sum {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, s.Put(m.Recovered, m.Aside)
}

// LogsAre reports whether what is left of the database's logs is as it was when it
// was set aside. What was written since is nowhere else.
func (s *Swap) LogsAre(aside string) (bool, error) {
	for _, end := range []string{"-wal", "-journal"} {
		if same, err := same(s.Path+end, aside+end); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// same reports whether a file is gone, or empty, or is the same as another.
func same(name, other string) (bool, error) {
	sum, n, err := sumOf(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && n == 0 {
		return true, nil
	} else if err != nil {
		return false, err
	}
	want, _, err := sumOf(other)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && sum == want, err
}

// sumOf returns a file's SHA-256 and its length in bytes.
func sumOf(name string) (sum [sha256.Size]byte, n int64, err error) {
	in, err := os.Open(name)
	if err != nil {
		return sum, 0, err
	}
	h := sha256.New()
	n, err = io.Copy(h, in)
	return [sha256.Size]byte(h.Sum(nil)), n, cmp.Or(err, in.Close())
}

// Settle gives a recovered database its name and makes sure that it is on the disk.
func (s *Swap) Settle(fresh string) (name string, err error) {
	name = Free(s.Path + recoveredWord + s.Stamp)
	f, err := os.OpenFile(fresh, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	if err := cmp.Or(f.Sync(), f.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, name); err != nil {
		return "", err
	}
	s.step("settled")
	return name, syncDir(name)
}

// Free returns a name that no file has, nor has with any of the endings.
func Free(path string) string {
	name := path
	for i := 2; taken(name) && i < 10_000; i++ {
		name = fmt.Sprintf("%s-%d", path, i)
	}
	return name
}

func taken(name string) bool {
	for _, end := range Sidecars() {
		for _, part := range []string{"", partEnd} {
			if _, err := os.Lstat(name + end + part); !errors.Is(err, fs.ErrNotExist) {
				return true
			}
		}
	}
	return false
}

// base is the last part of a path behind the database's name.
func base(path, database string) string {
	return filepath.Base(path)[min(len(filepath.Base(database)), len(filepath.Base(path))):]
}
