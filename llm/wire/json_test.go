package wire

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\r\t\x00\x1f\x7f", "台😀", "\xff\xc0\x80", "\xed\xa0\x80 lone surrogate", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		b := AppendString(nil, s)
		if err := json.Unmarshal(b, &got); err != nil || !utf8.Valid(b) || got != string([]rune(s)) {
			t.Errorf("%q: got %q as %s, %v", s, got, b, err)
		}
	})
}
