package llm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
)

// The limits of an image that goes to a model. Servers refuse the whole request
// for one image beyond them, and again for every request after it.
const (
	// MaxImageBytes bounds the file, MaxImageSide its width and its height in
	// pixels.
	MaxImageBytes = 5 << 20
	MaxImageSide  = 8000
	// maxImagePixels bounds what its header claims.
	maxImagePixels = 40_000_000
	// maxDecoded is up to how many pixels an image is decoded to see that it can be: a
	// screen of 4K. That takes at most 64 MiB, which are free at once.
	maxDecoded = 8 << 20
)

// ErrNoImage tells of data that does not begin like an image of a known type.
var ErrNoImage = errors.New("is no PNG, JPEG, GIF or WebP image")

var (
	errImageCut  = errors.New("it is cut off")
	errImageForm = errors.New("its header is broken")
)

// ImageType returns the media type of an image by its first 16 bytes, or "".
// A file's name says nothing: an HTML page can be called logo.png.
func ImageType(head []byte) string {
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

// ReadImage checks that data is one whole image within the limits and returns
// it with its type and its size. Everything but a bad image passes here before
// it may go to a model. The limits are held against its header, before memory is taken
// for any pixel. In what has more pixels than a screen, and in WebP, for which there is
// no decoder here, nothing behind headers and end marks is looked at.
//
// Errors lack their subject, which is the file: `a.png is no PNG, JPEG, …`.
func ReadImage(data []byte) (Attachment, error) {
	mime := ImageType(data)
	switch {
	case mime == "":
		return Attachment{}, ErrNoImage
	case len(data) > MaxImageBytes:
		return Attachment{}, fmt.Errorf("is an image (%s) with %d KiB, more than %d MiB", mime, len(data)>>10, MaxImageBytes>>20)
	}
	w, h, err := imageSize(mime, data)
	switch {
	case err != nil:
		return Attachment{}, fmt.Errorf("begins like an image (%s), but %w", mime, err)
	case w > MaxImageSide || h > MaxImageSide:
		return Attachment{}, fmt.Errorf("is an image of %d×%d pixels, more than %d a side; scale it down", w, h, MaxImageSide)
	case w*h > maxImagePixels:
		return Attachment{}, fmt.Errorf("is an image of %d×%d pixels, more than %d million in all; scale it down", w, h, maxImagePixels/1_000_000)
	case w*h <= maxDecoded && !decodes(mime, data):
		return Attachment{}, fmt.Errorf("begins like an image (%s), but its pixels can not be read", mime)
	}
	return Attachment{MIMEType: mime, Data: data, Width: w, Height: h}, nil
}

// decodes reports whether the pixels of a whole image can be read, of a film those of its
// first picture.
func decodes(mime string, data []byte) bool {
	var err error
	r := bytes.NewReader(data)
	switch mime {
	case "image/png":
		_, err = png.Decode(r)
	case "image/jpeg":
		_, err = jpeg.Decode(r)
	case "image/gif":
		_, err = gif.Decode(r)
	}
	return err == nil
}

// imageSize checks that data is a whole image and returns its width and height
// in pixels.
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
// its own, to the pixels and looks for their end mark. 0xFF may be repeated in
// front of a marker (ITU-T T.81, B.1.1.2).
func wholeJPEG(data []byte) bool {
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		switch data[at+1] {
		case 0xFF:
			at++
		case 0xDA:
			return bytes.Contains(data[at:], []byte("\xff\xd9"))
		default:
			at += 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		}
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
	switch kind := string(data[12:16]); {
	case kind == "VP8X":
		w = 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16
		h = 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
		return w, h, nil
	case kind == "VP8L" && b[0] == 0x2F:
		bits := binary.LittleEndian.Uint32(b[1:])
		return 1 + int(bits&0x3FFF), 1 + int(bits>>14&0x3FFF), nil
	case kind == "VP8 " && string(b[3:6]) == "\x9d\x01\x2a":
		return int(binary.LittleEndian.Uint16(b[6:])) & 0x3FFF, int(binary.LittleEndian.Uint16(b[8:])) & 0x3FFF, nil
	}
	return 0, 0, errImageForm
}
