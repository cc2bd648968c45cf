package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// What the pieces of a pass say has to be what the whole text says.
func TestSurveyOverPieceBorders(t *testing.T) {
	const piece = pieceSize
	for name, text := range map[string]string{
		"empty":         "",
		"one piece":     "a\nb\r\nc",
		"rune over":     strings.Repeat("a", piece-1) + "é\n" + strings.Repeat("b", piece-4) + "\U0001F600x",
		"crlf over":     strings.Repeat("a", piece-1) + "\r\nb",
		"newline last":  strings.Repeat("a", piece-1) + "\nb\n",
		"broken over":   strings.Repeat("a", piece-1) + "\xc3a",
		"broken at end": strings.Repeat("a", piece-2) + "\xe2\x82",
		"cut and whole": strings.Repeat("é", piece) + "\xe2\x82\xac",
		"many lines":    strings.Repeat("zeile\r\nline\n", 40000),
	} {
		for _, line := range []int64{1, 2, 3, 12000, 12001} {
			s := surveyor{startLine: line, startByte: -1}
			h := sha256.New()
			if err := s.run(t.Context(), strings.NewReader(text), h); err != nil {
				t.Fatal(err)
			}
			want := -1
			if rest := strings.SplitAfterN(text, "\n", int(line)); len(rest) == int(line) && rest[line-1] != "" {
				want = len(text) - len(rest[line-1])
			}
			if s.found != (want >= 0) || s.found && (s.at != int64(want) || s.line != line) {
				t.Errorf("%s: line %d: found %v at %d, want %d", name, line, s.found, s.at, want)
			}
			sum := sha256.Sum256([]byte(text))
			if !s.whole || s.size != int64(len(text)) || s.lines != int64(countLines([]byte(text))) ||
				s.crlf != int64(strings.Count(text, "\r\n")) || s.invalid == utf8.ValidString(text) || !bytes.Equal(h.Sum(nil), sum[:]) {
				t.Errorf("%s: %+v", name, s.survey)
			}
		}
		for at := int64(0); at < int64(len(text)); at += 4999 {
			s := surveyor{startByte: at}
			if err := s.run(t.Context(), iotest.HalfReader(strings.NewReader(text)), nil); err != nil {
				t.Fatal(err)
			}
			if want := int64(1 + strings.Count(text[:at], "\n")); !s.found || s.at != at || s.line != want {
				t.Errorf("%s: byte %d: %+v, want line %d", name, at, s.survey, want)
			}
		}
	}
}

func TestSurveyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := surveyor{startLine: 1, startByte: -1}
	if err := s.run(ctx, strings.NewReader("a"), nil); err != ctx.Err() || err == nil {
		t.Errorf("got %v, want %v", err, ctx.Err())
	}
}
