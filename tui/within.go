package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is bytes of a line.
type span struct{ from, to int }

// alike is the share of two lines that must be common to mark their differences: below
// it everything is another line.
const alike = 0.4

// longest bounds, in words, the lines that are compared within: the work is its square.
const longest = 256

// within is what is new in the line after and what is gone from the line before, by
// words; nil for both where the lines have too little in common to say so.
func within(before, after string) (gone, fresh []span) {
	a, b := words(before), words(after)
	if len(a) > longest || len(b) > longest {
		return nil, nil
	}
	// The ends that are the same are most of most lines.
	head := 0
	for head < min(len(a), len(b)) && before[a[head].from:a[head].to] == after[b[head].from:b[head].to] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && word(before, a, tail) == word(after, b, tail) {
		tail++
	}
	keepA, keepB := common(before, after, a[head:len(a)-tail], b[head:len(b)-tail])
	same := 0
	for i, w := range a {
		if i < head || i >= len(a)-tail || keepA[i-head] {
			same += len(strings.TrimSpace(before[w.from:w.to]))
		}
	}
	if total := len(strings.TrimSpace(before)) + len(strings.TrimSpace(after)); float64(2*same) < alike*float64(total) {
		return nil, nil
	}
	return changed(a[head:len(a)-tail], keepA), changed(b[head:len(b)-tail], keepB)
}

// word is the word so many before the last.
func word(s string, words []span, back int) string {
	w := words[len(words)-1-back]
	return s[w.from:w.to]
}

// common tells which words of both belong to their longest common subsequence.
func common(before, after string, a, b []span) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	length := make([][]uint16, len(a)+1) // of the tails from i and j
	for i := range length {
		length[i] = make([]uint16, len(b)+1)
	}
	equal := func(i, j int) bool { return before[a[i].from:a[i].to] == after[b[j].from:b[j].to] }
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if equal(i, j) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case equal(i, j):
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// changed joins the words that are not kept to spans.
func changed(words []span, keep []bool) []span {
	var spans []span
	for i, w := range words {
		switch n := len(spans); {
		case keep[i]:
		case n > 0 && spans[n-1].to == w.from:
			spans[n-1].to = w.to
		default:
			spans = append(spans, w)
		}
	}
	return spans
}

// words cuts a line into names and numbers, runs of spaces, and single other characters.
func words(s string) []span {
	var out []span
	last := -1
	for i, r := range s {
		kind := -2 - i // like no other
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			kind = 0
		case r == ' ':
			kind = 1
		}
		size := max(utf8.RuneLen(r), 1)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		if kind == last {
			out[len(out)-1].to = i + size
		} else {
			out = append(out, span{i, i + size})
		}
		last = kind
	}
	return out
}
