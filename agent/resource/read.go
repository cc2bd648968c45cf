package resource

import (
	"alisio/agent/text"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// opener opens files by name: an *os.Root, which keeps inside its directory,
// or a folder, which does not.
type opener interface {
	Lstat(name string) (os.FileInfo, error)
	Stat(name string) (os.FileInfo, error)
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
}

// folder opens files below it, links followed wherever they lead.
type folder string

func (f folder) Lstat(name string) (os.FileInfo, error) {
	return os.Lstat(filepath.Join(string(f), name))
}

func (f folder) Stat(name string) (os.FileInfo, error) {
	return os.Stat(filepath.Join(string(f), name))
}

func (f folder) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(filepath.Join(string(f), name), flag, perm)
}

// read reads one file. A file that is not there is not found; one that is
// there and can not be taken is not found either, with a notice.
func (l *loader) read(at spot) (f file, found bool) {
	info, data, err := regular(at.from, at.name, l.limit+1)
	switch link, lerr := at.from.Lstat(at.name); {
	case err == nil:
	case errors.Is(lerr, fs.ErrNotExist):
		return file{}, false
	case lerr == nil && link.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, errNotRegular):
		l.pass(at.source, "is a link that leads nowhere or out of the workspace: not read")
		return file{}, false
	default:
		l.pass(at.source, "was not read: "+bare(err).Error())
		return file{}, false
	}
	f = file{source: at.source, info: info, sum: sha256.Sum256(data)}
	f.source.Size = info.Size()
	if len(data) > l.limit {
		data, f.more = whole(data[:l.limit]), true
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		l.notice("%s is not valid UTF-8: wrong bytes were replaced", at.source.Name)
	}
	f.text = clean(string(data))
	return f, true
}

var errNotRegular = errors.New("not a regular file")

// regular reads at most limit bytes of a regular file. The kind is looked at
// before and after opening: a pipe must neither block the open nor be swapped
// in.
func regular(from opener, name string, limit int) (os.FileInfo, []byte, error) {
	info, err := from.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	f, err := from.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), int64(max(limit, 0)))) + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(f, int64(max(limit, 0))))
	return info, b.Bytes(), err
}

// bare takes the path off a file error: the notice names the file.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// whole drops a character that was cut in two at the end.
func whole(data []byte) []byte {
	for i := 1; i <= min(len(data), utf8.UTFMax); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// clean makes text valid UTF-8, with plain line ends and without what a person
// who reads the file does not see: control characters, and those that hide text or
// change its order.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) || unseen(r):
			return -1
		}
		return r
	}, s)
}

// unseen reports bidi controls, marks of hidden text and tags. The joiners are
// not among them: writing systems and emoji need these.
func unseen(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r == 0x61C, r == 0x200B, r == 0x200E, r == 0x200F, r == 0xFEFF:
		return true
	case r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r >= 0xFFF9 && r <= 0xFFFB:
		return true
	}
	return r >= 0xE0000 && r <= 0xE0FFF
}

// legible is clean text on one line, at most n characters of it.
func legible(s string, n int) string { return text.OneLine(clean(s), n) }

// printable returns a path as a header and a notice may show it. A directory
// may be called anything.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return s
	}
	return fmt.Sprintf("%q", s)
}
