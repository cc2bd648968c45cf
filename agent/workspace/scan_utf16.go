package workspace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

func isUTF16(b []byte) bool {
	return len(b) > 1 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
}

// utf16Text gives a file in UTF-16 as UTF-8.
type utf16Text struct {
	r     *bufio.Reader
	order binary.ByteOrder
}

// decodeUTF16 takes the start of a file, with its byte-order mark, and the rest.
func decodeUTF16(head []byte, rest io.Reader) *utf16Text {
	u := &utf16Text{r: bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head[2:]), rest), minWindow), order: binary.LittleEndian}
	if head[0] == 0xfe {
		u.order = binary.BigEndian
	}
	return u
}

// fill fills p but for less than a character, or to the end, as source.fill.
func (u *utf16Text) fill(p []byte) (n int, err error) {
	for n+utf8.UTFMax <= len(p) {
		unit, err := u.r.Peek(2)
		if err != nil {
			return n, err // a last byte alone says nothing
		}
		r, size := rune(u.order.Uint16(unit)), 2
		if utf16.IsSurrogate(r) {
			if pair, err := u.r.Peek(4); err == nil {
				if r = utf16.DecodeRune(r, rune(u.order.Uint16(pair[2:]))); r != utf8.RuneError {
					size = 4
				}
			}
		}
		u.r.Discard(size)
		n += utf8.EncodeRune(p[n:], r)
	}
	return n, nil
}
