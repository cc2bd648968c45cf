// Package doom notices a model that makes the same call again and again (spec runner.md,
// "Doom loop"). It decides nothing.
package doom

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"alisio/llm"
)

const (
	// Note is after how many equal calls in a row the model is told: two equal results
	// can be a check, the third is a habit.
	Note = 3
	// End is after how many the run ends: the model was told twice.
	End = 5
)

// Loop counts equal calls with equal results in a row.
type Loop struct {
	last  [sha256.Size]byte
	count int
}

// Seen notes a finished call and returns how often in a row it came. Results
// that differ only in how long something took count as equal: a test that fails
// in 0.41 s failed as it did in 0.38 s.
func (l *Loop) Seen(c llm.ToolCall, result string) int {
	result = withoutDurations(result)
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d\n%s%s%s", len(c.Name), len(c.Arguments), len(result), c.Name, c.Arguments, result)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	if sum != l.last {
		l.last, l.count = sum, 0
	}
	l.count++
	return l.count
}

// Text is what the model is told when it repeats itself.
func (l *Loop) Text() string {
	return fmt.Sprintf("\n[note: this call gave this very result %d times in a row; it will give the same again. Do something else, or say what is missing.]", l.count)
}

// withoutDurations replaces "0.41s", "2.1 s", "120 ms" and "1m3s" by "#s".
func withoutDurations(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !isDigit(s[i]) || i > 0 && isWord(s[i-1]) {
			i++
			continue
		}
		end := i
		for end < len(s) {
			n := duration(s[end:])
			if n == 0 {
				break
			}
			end += n
		}
		if end == i || end < len(s) && isWord(s[end]) {
			for i < len(s) && isDigit(s[i]) {
				i++
			}
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString("#s")
		i, done = end, end
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// duration returns the length of the number with a unit of time that s begins
// with, or 0.
func duration(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 0 {
		return 0
	}
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		for n++; n < len(s) && isDigit(s[n]); n++ {
		}
	}
	rest := s[n:]
	spaced := strings.HasPrefix(rest, " ")
	rest = strings.TrimPrefix(rest, " ")
	for _, unit := range []string{"ms", "µs", "us", "ns", "s", "m", "h"} {
		if spaced && (unit == "m" || unit == "h") || !strings.HasPrefix(rest, unit) {
			continue
		}
		return len(s) - len(rest) + len(unit)
	}
	return 0
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWord(b byte) bool {
	return isDigit(b) || b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z'
}
