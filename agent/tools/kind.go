package tools

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
)

// headSize is how much of a file decides what kind of file it is.
const headSize = 8 << 10

// imageType returns the media type of an image by its first bytes, or "". The
// file's name says nothing: an HTML page can be called logo.png.
func imageType(head []byte) string {
	s := string(head[:min(len(head), 16)])
	switch {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(s, "GIF87a"), strings.HasPrefix(s, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(s, "RIFF") && len(s) >= 12 && s[8:12] == "WEBP":
		return "image/webp"
	}
	return ""
}

// binaryKind names the kind of a file that is not text, or returns "". A NUL
// makes a file binary, except in UTF-16 with its mark. The first list holds marks
// with which no text begins.
func binaryKind(head []byte) string {
	for _, m := range [][2]string{
		{"%PDF-", "PDF document"}, {"PK\x03\x04", "zip archive"}, {"\x1f\x8b", "gzip data"},
		{"\xfd7zXZ\x00", "xz data"}, {"\x28\xb5\x2f\xfd", "zstd data"}, {"7z\xbc\xaf\x27\x1c", "7z archive"},
		{"Rar!\x1a\x07", "rar archive"}, {"\x7fELF", "ELF executable"}, {"SQLite format 3\x00", "sqlite database"},
		{"\x00asm", "WebAssembly module"}, {"\xca\xfe\xba\xbe", "Java class or Mach-O binary"},
		{"\xcf\xfa\xed\xfe", "Mach-O executable"}, {utf32LE, "UTF-32 text"}, {"\x00\x00\xfe\xff", "UTF-32 text"},
	} {
		if bytes.HasPrefix(head, []byte(m[0])) {
			return m[1]
		}
	}
	if e := markedEncoding(head); e == utf16LE || e == utf16BE {
		return ""
	}
	if bytes.IndexByte(head, 0) < 0 {
		return ""
	}
	return nulKind(head)
}

// nulKind names binary data whose first bytes could also begin a text.
func nulKind(head []byte) string {
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return "tar archive"
	}
	if len(head) > 8 && string(head[4:8]) == "ftyp" {
		return "MP4 media"
	}
	for _, m := range [][2]string{
		{"MZ", "Windows executable"}, {"BZh", "bzip2 data"}, {"BM", "BMP image"}, {"II*\x00", "TIFF image"},
		{"MM\x00*", "TIFF image"}, {"ID3", "MP3 audio"}, {"OggS", "Ogg media"}, {"fLaC", "FLAC audio"},
		{"RIFF", "RIFF media"}, {"wOF", "web font"}, {"!<arch>", "object archive"},
	} {
		if bytes.HasPrefix(head, []byte(m[0])) {
			return m[1]
		}
	}
	return "binary data"
}

// Why something that begins like an image is not handed to a model: servers
// refuse the whole request for one bad image.
var (
	errImageCut  = errors.New("it is cut off")
	errImageForm = errors.New("its header is broken")
)

// imageSize checks that data is a whole image and returns its width and height
// in pixels. Pixels are not decoded: a small file can hold very many.
func imageSize(mime string, data []byte) (w, h int, err error) {
	var cfg image.Config
	whole := false
	r := bytes.NewReader(data)
	switch mime {
	case "image/png":
		cfg, err = png.DecodeConfig(r)
		whole = wholePNG(data)
	case "image/jpeg":
		cfg, err = jpeg.DecodeConfig(r)
		whole = wholeJPEG(data)
	case "image/gif":
		cfg, err = gif.DecodeConfig(r)
		whole = bytes.HasSuffix(bytes.TrimRight(data, "\x00"), []byte{0x3b})
	default:
		cfg.Width, cfg.Height, err = webpSize(data)
		whole = len(data) >= 8 && uint64(len(data)) >= 8+uint64(binary.LittleEndian.Uint32(data[4:]))
	}
	switch {
	case !whole:
		return 0, 0, errImageCut
	case err != nil || cfg.Width <= 0 || cfg.Height <= 0:
		return 0, 0, errImageForm
	}
	return cfg.Width, cfg.Height, nil
}

// wholePNG walks over the chunks (length, type, data, checksum) to the end mark.
// Checksums are not compared.
func wholePNG(data []byte) bool {
	for at := uint64(8); at+12 <= uint64(len(data)); {
		size := uint64(binary.BigEndian.Uint32(data[at:]))
		next := at + 12 + size
		if string(data[at+4:at+8]) == "IEND" {
			return next <= uint64(len(data))
		}
		at = next
	}
	return false
}

// wholeJPEG walks over the segments, of which one may hold a small picture of
// its own, to the pixels and looks for their end mark.
func wholeJPEG(data []byte) bool {
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if data[at+1] == 0xDA {
			return bytes.Contains(data[at:], []byte("\xff\xd9"))
		}
		at += 2 + size
	}
	return false
}

// webpSize reads the size out of the first chunk (RFC 9649, sections 2.5 to
// 2.7), which the standard library can not.
func webpSize(data []byte) (w, h int, err error) {
	if len(data) < 30 {
		return 0, 0, errImageCut
	}
	b := data[20:]
	switch string(data[12:16]) {
	case "VP8X":
		w = 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16
		h = 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
		return w, h, nil
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[1:])
		return 1 + int(bits&0x3FFF), 1 + int(bits>>14&0x3FFF), nil
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[6:])) & 0x3FFF, int(binary.LittleEndian.Uint16(b[8:])) & 0x3FFF, nil
	}
	return 0, 0, errImageForm
}
