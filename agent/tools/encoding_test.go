package tools

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		in, want string
		enc      encoding
		lossless bool
	}{
		{"", "", utf8Text, true},
		{"é", "é", utf8Text, true},
		{"\xef\xbb\xbfé", "é", utf8BOM, true},
		{"\xef\xbb\xbf\xff", "\xff", utf8BOM, false},
		{"\xff\xfe\x3d\xd8\x00\xde", "\U0001F600", utf16LE, true},
		{"\xfe\xff\xd8\x3d\xde\x00", "\U0001F600", utf16BE, true},
		{"\xff\xfe\x3d\xd8a\x00", "\uFFFDa", utf16LE, false},
		{"\xff\xfe\x3d\xd8", "\uFFFD", utf16LE, false},
		{"\xff\xfea", "\uFFFD", utf16LE, false},
		{"\xff\xfe\xfd\xff", "\uFFFD", utf16LE, true},
		{"\xff\xfe", "", utf16LE, true},
		{"\xff\xfe\x00\x00a\x00\x00\x00", "\xff\xfe\x00\x00a\x00\x00\x00", otherText, true},
		{"\x93\xfa", "\x93\xfa", otherText, true},
	} {
		text, e, lossless := decode([]byte(c.in))
		if string(text) != c.want || e != c.enc || lossless != c.lossless {
			t.Errorf("decode(%q): got %q, %v, %v", c.in, text, e, lossless)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("\xfe\xff\xd8\x3d\xde\x00"))
	f.Add([]byte("\xef\xbb\xbfabc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, e, lossless := decode(data)
		if e != otherText && lossless && !utf8.Valid(text) {
			t.Errorf("%v: text is not UTF-8: %q", e, text)
		}
		if back := string(e.encode(text)); lossless && back != string(data) {
			t.Errorf("%v: %q became %q", e, data, back)
		}
	})
}

func FuzzAppendVisible(f *testing.F) {
	f.Add("a\x1b[0m\u202e\xff é", 9)
	f.Fuzz(func(t *testing.T, line string, limit int) {
		limit = limit%64 + 8
		if limit < 8 {
			return
		}
		got, used, _ := appendVisible(nil, []byte(line), limit)
		if len(got) > limit || !utf8.Valid(got) || used > len(line) || used == 0 && line != "" {
			t.Errorf("%q, %d: got %q of %d", line, limit, got, used)
		}
		for _, r := range string(got) {
			if hidden(r) {
				t.Errorf("%q: %U is shown", line, r)
			}
		}
		if isASCII(line) && !strings.ContainsFunc(line, hidden) && string(got) != line[:used] {
			t.Errorf("%q became %q", line, got)
		}
	})
}
