package wire

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"alisio/llm"
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

func TestUsage(t *testing.T) {
	if got := Usage(llm.Usage{}); got != nil {
		t.Errorf("a report that counts nothing: got %+v", *got)
	}
	for _, c := range []struct{ reported, want llm.Usage }{
		{llm.Usage{Input: 9, Output: 5, CachedInput: 4, Reasoning: 5}, llm.Usage{Input: 9, Output: 5, CachedInput: 4, Reasoning: 5}},
		{llm.Usage{Input: 9, Output: 5, Reasoning: 6}, llm.Usage{Input: 9, Output: 11, Reasoning: 6}},
		{llm.Usage{Input: 9, CachedInput: 10}, llm.Usage{Input: 9, CachedInput: 9}},
	} {
		if got := Usage(c.reported); got == nil || *got != c.want {
			t.Errorf("%+v: got %+v, want %+v", c.reported, got, c.want)
		}
	}
}
