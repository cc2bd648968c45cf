package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"unicode/utf8"
)

// Numbers of the header (fileformat2.html, "The Database Header") for which SQLite
// refuses the whole database, as offsets: how it is written to and read, the shares of
// a page, the format of the schema, the encoding of texts.
const (
	writeAt, readAt, sharesAt, schemaAt, encodingAt = 18, 19, 21, 44, 56
	// The last versions that there are, and UTF-8.
	lastVersion, lastSchema, utf8Encoding = 2, 4, 1
)

// shares is what the three bytes at sharesAt must be.
const shares = "\x40\x20\x20"

// Mend sets in a copy of a database those numbers of the header that no database of
// this program has to what it has, and reports whether it did. The encoding is set
// only where the texts on the pages show that it is wrong.
func Mend(path string) (mended bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, headerSize)
	if n, err := f.ReadAt(head, 0); n < headerSize || string(head[:len(magic)]) != magic {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	was := bytes.Clone(head)
	for _, at := range []int{writeAt, readAt} {
		if head[at] > lastVersion {
			head[at] = lastVersion
		}
	}
	copy(head[sharesAt:], shares)
	if binary.BigEndian.Uint32(head[schemaAt:]) > lastSchema {
		binary.BigEndian.PutUint32(head[schemaAt:], lastSchema)
	}
	if binary.BigEndian.Uint32(head[encodingAt:]) > utf8Encoding && wrongEncoding(path, f) {
		binary.BigEndian.PutUint32(head[encodingAt:], utf8Encoding)
	}
	if bytes.Equal(head, was) {
		return false, nil
	}
	_, err = f.WriteAt(head, 0)
	return true, err
}

func wrongEncoding(path string, f *os.File) bool {
	d, err := OpenDisk(path, f)
	if err != nil {
		return false
	}
	defer d.Close()
	return d.Pages != nil && d.Pages.UTF8()
}

// UTF8 reports whether texts are UTF-8: the header says so, or is lost, or the texts
// themselves show it.
func (f *File) UTF8() bool {
	head := f.page(1)
	return len(head) < headerSize || string(head[:len(magic)]) != magic ||
		binary.BigEndian.Uint32(head[encodingAt:]) <= utf8Encoding || f.spellsUTF8()
}

// spellsUTF8 looks at short texts. In UTF-16 nearly all of them have zero bytes, since
// the words of a schema do; in UTF-8 those that are whole have none.
func (f *File) spellsUTF8() bool {
	const enough, oneIn = 1000, 10
	texts, others := 0, 0
	for leaf := range f.Leaves(func(uint32, uint32) bool { return true }) {
		for _, c := range leaf.Cells {
			if int64(len(c.local)) < c.whole {
				continue
			}
			b := c.local[c.body:]
			for _, serial := range c.Types {
				n := width(serial)
				if KindOf(serial) == Text && n > 1 {
					texts++
					if !utf8.Valid(b[:n]) || bytes.IndexByte(b[:n], 0) >= 0 {
						others++
					}
				}
				b = b[n:]
			}
		}
		if texts > enough {
			break
		}
	}
	return texts > 0 && others*oneIn < texts
}
