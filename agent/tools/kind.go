package tools

import "bytes"

// headSize is how much of a file decides what kind of file it is.
const headSize = 8 << 10

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
