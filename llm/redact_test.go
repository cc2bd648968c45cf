package llm

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// inPieces gives a text to a redaction in pieces of random length, and reports what
// was certain after each.
func inPieces(text, key string, random *rand.Rand, each func(shown string)) string {
	return inPiecesWithout(text, []string{key}, random, each)
}

func inPiecesWithout(text string, keys []string, random *rand.Rand, each func(shown string)) string {
	take := NewRedaction(keys...)
	var all, buf []byte
	gone := 0
	for last := false; !last; {
		n := min(random.IntN(5), len(text))
		buf = append(buf, text[:n]...)
		text = text[n:]
		last = text == ""
		out, held, still := take(buf, gone, last)
		all = append(all, out...)
		buf, gone = append([]byte(nil), buf[len(buf)-held:]...), still
		each(string(all))
	}
	return string(all)
}

func TestRedaction(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ key, text, want string }{
		{"sk-12345678", "", ""},
		{"sk-12345678", "a sk-12345678 b", "a [redacted] b"},
		{"sk-12345678", "sk-12345678sk-12345678", "[redacted][redacted]"},
		{"sk-12345678", "sk-sk-12345678 sk-1", "sk-[redacted] sk-1"},
		// The end may be where somebody else's cut was.
		{"sk-12345678", "at sk-1234", "at sk-1234"},
		{"sk-12345678", "at sk-12345", "at [redacted]"},
		// A key that begins in another one.
		{"aXaXa", "aXaXaXa", "[redacted]"},
		{"aXaXa", "aXaXaaXaXaX", "[redacted][redacted]X"},
		{"aXaXa", "aXaXaXb", "[redacted]Xb"},
		{"a12345678a", "a12345678a12345678a12345678", "[redacted]"},
		{"aaaa", "baaaaaaab", "b[redacted]b"},
	} {
		for range 50 {
			if got := inPieces(c.text, c.key, random, func(string) {}); got != c.want {
				t.Fatalf("%q without %q: got %q, want %q", c.text, c.key, got, c.want)
			}
		}
	}
	if NewRedaction("abc") != nil {
		t.Error("a placeholder is taken for a secret")
	}
}

// Whatever is around it and however it is cut, no eight characters of a key come
// through, and what is no part of one does. Of a key that overlaps with itself it is
// the whole that does not: its parts can be around it.
func TestRedactionLeaksNoPartOfAKey(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 3000 {
		n := 10 + random.IntN(12)
		key, part := word(random, n), n
		if i%2 == 0 {
			key, part = shuffled(random)[:n], keyPart
		}
		var text strings.Builder
		for range random.IntN(8) {
			switch random.IntN(3) {
			case 0:
				text.WriteString(key)
			case 1:
				text.WriteString(key[:random.IntN(keyPart)])
			default:
				text.WriteString(strings.Repeat("-", random.IntN(4)))
			}
		}
		text.WriteString(key[:random.IntN(len(key))])
		shown := ""
		got := inPieces(text.String(), key, random, func(s string) {
			if !strings.HasPrefix(s, shown) {
				t.Fatalf("%q is shown after %q", s, shown)
			}
			shown = s
		})
		for from := range len(key) - part + 1 {
			if strings.Contains(got, key[from:from+part]) {
				t.Fatalf("key %q in %q: got %q", key, text.String(), got)
			}
		}
		if strings.Count(got, "-") != strings.Count(text.String(), "-") {
			t.Fatalf("key %q in %q: got %q", key, text.String(), got)
		}
		if whole := Redact(text.String(), key); strings.Contains(whole, key) {
			t.Fatalf("Redact of %q from %q: %q", key, text.String(), whole)
		}
	}
}

// Several keys, which begin in each other, hold each other, or are equal: none
// comes through, nothing else is lost, and how the text is cut does not matter.
func TestRedactionOfSeveralKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		keys := []string{word(random, 9+random.IntN(9)), word(random, 9+random.IntN(9)), "abc"}
		keys = append(keys, keys[0][random.IntN(4):], keys[1])
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(keys[random.IntN(2)][random.IntN(3):])
			text.WriteString(strings.Repeat("-", random.IntN(3)))
		}
		text.WriteString(keys[0][:random.IntN(9)])
		shown := ""
		got := inPiecesWithout(text.String(), keys, random, func(s string) {
			if !strings.HasPrefix(s, shown) {
				t.Fatalf("%q is shown after %q", s, shown)
			}
			shown = s
		})
		whole, _, _ := NewRedaction(keys...)([]byte(text.String()), 0, true)
		if got != string(whole) || strings.Count(got, "-") != strings.Count(text.String(), "-") {
			t.Fatalf("keys %q in %q: got %q in pieces, %q at once", keys, text.String(), got, whole)
		}
		redacted := Redact(text.String(), keys...)
		masked := make([]byte, text.Len())
		if _, err := Masked(strings.NewReader(text.String()), keys...).ReadAt(masked, 0); err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if len(key) >= minSecret && (strings.Contains(got, key) || strings.Contains(redacted, key) || strings.Contains(string(masked), key)) {
				t.Fatalf("key %q in %q: got %q, %q and %q", key, text.String(), got, redacted, masked)
			}
		}
	}
	// A whole key within the beginning of a longer one that never comes.
	if got := Redact("x 12abcdef", "12abcdef34", "abcdef"); got != "x 12[redacted]" {
		t.Errorf("a key in the beginning of a longer one: %q", got)
	}
	if got := RedactPart("x Bearer sk-0123456789 y", "sk-0123456789", "Bearer sk-0123456789"); got != "x [redacted] y" {
		t.Errorf("a key in a longer one: %q", got)
	}
}

// word is of few letters, so that it overlaps with itself.
func word(random *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "ab"[random.IntN(2)]
	}
	return string(b)
}

// shuffled are all small letters, so that no part of it comes twice.
func shuffled(random *rand.Rand) string {
	b := []byte("abcdefghijklmnopqrstuvwxyz")
	random.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return string(b)
}

func TestRedactPart(t *testing.T) {
	const key = "sk-0123456789"
	for text, want := range map[string]string{
		"":                                "",
		"at 6789":                         "at 6789",
		"sk-01234567":                     "[redacted]",
		"0123456789":                      "[redacted]",
		"23456789 and sk-01234":           "[redacted] and [redacted]",
		"3456789 and sk-0123":             "3456789 and sk-0123",
		"-0123456789sk-0123456789sk-0123": "[redacted][redacted]sk-0123",
		"a sk-0123456789 b":               "a [redacted] b",
	} {
		if got := RedactPart(text, key); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	// The cut key overlaps with a whole one.
	if got := RedactPart("b12345678ab12345678a", "ab12345678a"); got != "[redacted]" {
		t.Errorf("overlap: %q", got)
	}
	if got := RedactPart("abcdefgh", ""); got != "abcdefgh" {
		t.Errorf("no key: %q", got)
	}
}

// Wherever a read begins and ends, it gives what the whole has there.
func TestMasked(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, key := range []string{"sk-12345678", "aXaXa"} {
		text := key + "--" + key + key + "-" + key + key[len(key)-2:] + "-" + key[:4]
		whole := make([]byte, len(text))
		if n, err := Masked(strings.NewReader(text), key).ReadAt(whole, 0); n != len(text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if strings.Contains(string(whole), key) || strings.Count(string(whole), "-") < 4 || !strings.HasSuffix(string(whole), "-"+key[:4]) {
			t.Errorf("%q masked: %q", text, whole)
		}
		for range 1000 {
			from, n := random.IntN(len(text)+3), random.IntN(len(text)+3)
			b := make([]byte, n)
			m, err := Masked(strings.NewReader(text), key).ReadAt(b, int64(from))
			want := ""
			if from < len(text) {
				want = string(whole[from:min(from+n, len(text))])
			}
			if string(b[:m]) != want || (err == nil) != (m == n) {
				t.Fatalf("%d bytes at %d: %q, %v, want %q", n, from, b[:m], err, want)
			}
		}
	}
	r := strings.NewReader("abc")
	if Masked(r, "") != io.ReaderAt(r) {
		t.Error("without a key there is a mask")
	}
}
