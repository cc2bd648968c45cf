package swap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"unicode/utf8"
)

// markWord begins a database that is being written anew. It is no text, so that
// nobody takes the file for a letter.
const markWord = "\x00Alisio: the repair of this database was cut short\x00"

// Mark says where a database comes from that is being written anew.
type Mark struct {
	// Aside is what was there before, Recovered what is to be there.
	Aside, Recovered string
	// sum is the SHA-256 of the recovered database.
	sum [sha256.Size]byte
}

// Marked reports whether a file that begins so is a database whose repair was cut
// short.
func Marked(head []byte) bool { return bytes.HasPrefix(head, []byte(markWord)) }

// Cut reports whether a database is marked while its log, or journal, is still there:
// SQLite would read the first page from that, and what it stored then would be lost
// to the next repair. Without them SQLite itself refuses the mark.
func Cut(path string) bool {
	if empty(path+"-wal") && empty(path+"-journal") {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, ok := ReadMark(f, path)
	return ok
}

// empty reports whether a file is not there or has nothing in it.
func empty(name string) bool {
	info, err := os.Stat(name)
	return err != nil || info.Size() == 0
}

// encode returns the head of a database that is being written anew. Of the names
// it holds what follows the database's own, which may change.
func (m Mark) encode(path string) ([]byte, error) {
	head := make([]byte, 0, headSize)
	head = append(head, markWord...)
	for _, s := range []string{base(m.Aside, path), base(m.Recovered, path), hex.EncodeToString(m.sum[:])} {
		head = append(append(head, s...), '\n')
	}
	if len(head) > headSize {
		return nil, errors.New("the names are too long")
	}
	return head[:headSize], nil
}

// ReadMark reads the mark of a database that lies at path, if it has one.
func ReadMark(file io.ReaderAt, path string) (m Mark, ok bool) {
	head := make([]byte, headSize)
	if n, _ := file.ReadAt(head, 0); n < headSize || !Marked(head) {
		return m, false
	}
	lines := bytes.SplitN(head[len(markWord):], []byte("\n"), 4)
	if len(lines) < 4 {
		return m, false
	}
	// What a file says may not name just any other.
	aside, recovered := string(lines[0]), string(lines[1])
	if !regexp.MustCompile(asidePattern).MatchString(aside) || !regexp.MustCompile(readyPattern).MatchString(recovered) {
		return m, false
	}
	if sum, err := hex.DecodeString(string(lines[2])); err != nil || copy(m.sum[:], sum) != len(m.sum) {
		return m, false
	}
	m.Aside, m.Recovered = path+aside, path+recovered
	return m, true
}

// Text reports whether a file that begins so, and may go on, is a text, in UTF-8, and
// never was a database.
func Text(head []byte) bool {
	if len(head) == 0 || bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for b := head; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(b)
		}
		b = b[n:]
	}
	return true
}
