package llm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// encodedImage is a whole image file with pixels of one colour.
func encodedImage(t testing.TB, mime string, w, h int) string {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	var err error
	switch mime {
	case "image/png":
		err = png.Encode(&b, picture)
	case "image/jpeg":
		err = jpeg.Encode(&b, picture, nil)
	case "image/gif":
		err = gif.Encode(&b, picture, nil)
	default:
		bits := uint32(w-1) | uint32(h-1)<<14
		b.WriteString(webp("VP8L", "\x2f", string([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// webp is a WebP file of one chunk, of which just the first bytes mean anything.
func webp(kind string, head ...string) string {
	body := (strings.Join(head, "") + strings.Repeat("\x00", 12))[:12]
	return "RIFF\x18\x00\x00\x00WEBP" + kind + "\x0c\x00\x00\x00" + body
}

// claims writes another size into the header of a PNG, with its checksum.
func claims(data string, w, h uint32) string {
	b := []byte(data)
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return string(b)
}

// broken changes bytes so many behind a mark.
func broken(data, mark string, behind int) string {
	b := []byte(data)
	at := strings.Index(data, mark) + len(mark) + behind
	b[at], b[at+1], b[at+2] = ^b[at], ^b[at+1], ^b[at+2]
	return string(b)
}

// jpegWithout leaves the pixels of a JPEG out, and its marks in.
func jpegWithout(data string) string {
	return data[:strings.Index(data, "\xff\xda")+14] + "\xff\xd9"
}

// What has more pixels than a screen is not decoded.
func TestWhatIsNotDecodedPasses(t *testing.T) {
	large := broken(encodedImage(t, "image/png", 4_000, 3_000), "IDAT", 6)
	if a, err := ReadImage([]byte(large)); err != nil || a.Width != 4_000 {
		t.Errorf("got %d wide, %v", a.Width, err)
	}
}

func TestReadImage(t *testing.T) {
	for _, mime := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
		data := encodedImage(t, mime, 30, 20)
		a, err := ReadImage([]byte(data))
		if err != nil || a.MIMEType != mime || a.Width != 30 || a.Height != 20 || string(a.Data) != data {
			t.Errorf("%s: got %s %d×%d with %d bytes, %v", mime, a.MIMEType, a.Width, a.Height, len(a.Data), err)
		}
		// Whatever is left of a file that was cut is refused, and never a crash.
		for n := range len(data) {
			if _, err := ReadImage([]byte(data[:n])); err == nil {
				t.Errorf("%s: the first %d of %d bytes pass", mime, n, len(data))
			}
		}
	}
}

// Symptom: an oversized picture is sent and blocks the session. Trigger: more
// pixels than servers take, and a PNG that was cut.
func TestC156ReadImageRefuses(t *testing.T) {
	whole := encodedImage(t, "image/png", 2, 2)
	for _, c := range []struct{ name, data, want string }{
		{"nothing", "", "is no PNG, JPEG, GIF or WebP image"},
		{"a sound", "RIFF\x24\x00\x00\x00WAVEfmt ", "is no PNG, JPEG, GIF or WebP image"},
		{"cut", whole[:len(whole)-9], "begins like an image (image/png), but it is cut off"},
		{"a broken header", "\x89PNG\r\n\x1a\nIHDRxxxxxxxxxxxxxxxx\x00\x00\x00\x00IEND....", "begins like an image (image/png), but"},
		{"no such size", strings.Replace(whole, "IHDR\x00\x00\x00\x02", "IHDR\x00\x00\x00\x00", 1), "but its header is broken"},
		{"wide", encodedImage(t, "image/png", MaxImageSide+1, 1), "is an image of 8001×1 pixels, more than 8000 a side"},
		{"high", encodedImage(t, "image/gif", 1, MaxImageSide+1), "is an image of 1×8001 pixels, more than 8000 a side"},
		{"large", whole + strings.Repeat("x", MaxImageBytes), "is an image (image/png) with 5120 KiB, more than 5 MiB"},
		{"many pixels", encodedImage(t, "image/png", 6_400, 6_400), "is an image of 6400×6400 pixels, more than 40 million in all"},
		{"a claim", claims(whole, 30_000, 30_000), "is an image of 30000×30000 pixels, more than 8000 a side"},
		{"a claim beyond its data", claims(whole, 2_000, 2_000), "but its pixels can not be read"},
		{"a broken PNG", broken(encodedImage(t, "image/png", 64, 64), "IDAT", 6), "begins like an image (image/png), but its pixels can not be read"},
		{"a broken GIF", broken(encodedImage(t, "image/gif", 64, 64), "\x2c\x00\x00\x00\x00", 12), "but its pixels can not be read"},
		{"a JPEG without pixels", jpegWithout(encodedImage(t, "image/jpeg", 64, 64)), "but its pixels can not be read"},
		{"unknown WebP", webp("VP9 "), "but its header is broken"},
		{"WebP without its mark", webp("VP8L", "\x00"), "but its header is broken"},
	} {
		if a, err := ReadImage([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) || a.Data != nil {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := ReadImage(bytes.Repeat([]byte{'x'}, 1<<10)); !errors.Is(err, ErrNoImage) {
		t.Errorf("got %v, want ErrNoImage", err)
	}
	if _, err := ReadImage([]byte(encodedImage(t, "image/png", MaxImageSide, 1))); err != nil {
		t.Errorf("an image at the limit: %v", err)
	}
}

// Symptom: an HTML page named .png is attached as an image, and the server's 400
// repeats for ever. Trigger: `<!DOCTYPE html>` in fake.png.
func TestC155ImageTypeIsOfTheContent(t *testing.T) {
	for head, want := range map[string]string{
		"<!DOCTYPE html>\n": "", "": "", "GIF8": "", "\x89PNG": "", "RIFF\x00\x00\x00\x00WEB": "", "BM6\x00": "",
		"GIF87a": "image/gif", "GIF89a\x01": "image/gif", "\xff\xd8\xff\xe0": "image/jpeg",
		"\x89PNG\r\n\x1a\n": "image/png", "RIFF\x00\x00\x00\x00WEBP": "image/webp",
	} {
		if got := ImageType([]byte(head)); got != want {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
}

func TestWebPSizes(t *testing.T) {
	for _, c := range []struct {
		data string
		w, h int
	}{
		{webp("VP8X", "\x00\x00\x00\x00", "\x1f\x03\x00", "\x57\x02\x00"), 800, 600},
		{webp("VP8 ", "\x00\x00\x00", "\x9d\x01\x2a", "\x20\x03", "\x58\x42"), 800, 600}, // the top two bits are a scale
		{encodedImage(t, "image/webp", 800, 600), 800, 600},
	} {
		if a, err := ReadImage([]byte(c.data)); err != nil || a.Width != c.w || a.Height != c.h {
			t.Errorf("%q: got %d×%d, %v", c.data[12:16], a.Width, a.Height, err)
		}
	}
}

// A camera's JPEG can hold a small JPEG of its own in a segment, whose end mark
// is not that of the file, and fill bytes in front of a marker.
func TestJPEGSegments(t *testing.T) {
	whole := encodedImage(t, "image/jpeg", 30, 20)
	thumb := "\xff\xe1\x00\x0aExif\xff\xd8\xff\xd9" // length 10: itself and eight bytes
	data := whole[:2] + thumb + "\xff\xff" + whole[2:]
	if a, err := ReadImage([]byte(data)); err != nil || a.Width != 30 {
		t.Errorf("got %d wide, %v", a.Width, err)
	}
	if _, err := ReadImage([]byte(data[:len(data)-2])); err == nil || !strings.HasSuffix(err.Error(), "it is cut off") {
		t.Errorf("without its end mark: got %v", err)
	}
}

// Whatever comes in, it neither panics nor gives a size beyond the limits.
func FuzzReadImage(f *testing.F) {
	for _, mime := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
		f.Add([]byte(encodedImage(f, mime, 3, 2)))
	}
	f.Add([]byte(webp("VP8X")))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadImage(data)
		if err != nil {
			return
		}
		if a.Width < 1 || a.Height < 1 || a.Width > MaxImageSide || a.Height > MaxImageSide || a.MIMEType != ImageType(data) {
			t.Errorf("got %s %d×%d", a.MIMEType, a.Width, a.Height)
		}
	})
}
