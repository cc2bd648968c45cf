package tools

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how the text of a file is stored. It is told by the mark at the
// start and by validity alone, never guessed from what the text looks like.
type encoding uint8

const (
	utf8Text encoding = iota
	utf8BOM
	utf16LE
	utf16BE
	// otherText is neither: Latin-1, Shift-JIS and the like, which can not be
	// told apart for certain.
	otherText
)

func (e encoding) String() string {
	switch e {
	case utf8Text:
		return "UTF-8"
	case utf8BOM:
		return "UTF-8 with BOM"
	case utf16LE:
		return "UTF-16 LE"
	case utf16BE:
		return "UTF-16 BE"
	}
	return "not UTF-8"
}

// bom is the byte order mark that a file of the encoding begins with.
func (e encoding) bom() string {
	switch e {
	case utf8BOM:
		return "\xef\xbb\xbf"
	case utf16LE:
		return "\xff\xfe"
	case utf16BE:
		return "\xfe\xff"
	}
	return ""
}

// utf32LE is the byte order mark of UTF-32, which begins with that of UTF-16 LE.
// No text in UTF-16 begins with a NUL, so that the two can be told apart.
const utf32LE = "\xff\xfe\x00\x00"

// markedEncoding tells the encoding by the byte order mark; without one it is
// utf8Text, which has to be checked still.
func markedEncoding(data []byte) encoding {
	if bytes.HasPrefix(data, []byte(utf32LE)) {
		return utf8Text
	}
	for _, e := range []encoding{utf8BOM, utf16LE, utf16BE} {
		if bytes.HasPrefix(data, []byte(e.bom())) {
			return e
		}
	}
	return utf8Text
}

// decode returns the text of a file as UTF-8 without its mark. Text of an
// unknown encoding is returned as its bytes. When lossless is false, encoding
// the text again would give other bytes than the file's.
func decode(data []byte) (text []byte, e encoding, lossless bool) {
	switch e = markedEncoding(data); e {
	case utf16LE, utf16BE:
		text = decode16(data[2:], e.order())
		return text, e, bytes.Equal(e.encode(text), data)
	case utf8BOM:
		text = data[3:]
		return text, e, utf8.Valid(text)
	}
	if !utf8.Valid(data) {
		return data, otherText, true
	}
	return data, utf8Text, true
}

// order is the order of bytes in UTF-16.
func (e encoding) order() binary.AppendByteOrder {
	if e == utf16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// decode16 decodes UTF-16 without its mark. A surrogate without its partner and
// an odd last byte become U+FFFD, which is how decode sees that it is not
// lossless.
func decode16(data []byte, order binary.AppendByteOrder) []byte {
	at := func(i int) rune {
		if order == binary.AppendByteOrder(binary.BigEndian) {
			return rune(data[i])<<8 | rune(data[i+1])
		}
		return rune(data[i+1])<<8 | rune(data[i])
	}
	text := make([]byte, 0, len(data)/2+len(data)/8)
	for i := 0; i < len(data); i += 2 {
		if i+1 == len(data) {
			return utf8.AppendRune(text, utf8.RuneError)
		}
		r := at(i)
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(data) {
				low = at(i + 2)
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// encode puts text back into the encoding, with its mark. text is UTF-8 except in
// otherText, where it is the bytes themselves; it may be returned as it is.
func (e encoding) encode(text []byte) []byte {
	switch e {
	case utf8BOM:
		return append([]byte(e.bom()), text...)
	case utf16LE, utf16BE:
	default:
		return text
	}
	order := e.order()
	data := append(make([]byte, 0, 2*len(text)+2), e.bom()...)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			data = order.AppendUint16(order.AppendUint16(data, uint16(r1)), uint16(r2))
			continue
		}
		data = order.AppendUint16(data, uint16(r))
	}
	return data
}

// isASCII reports whether s holds ASCII alone.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
