package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

const maxPattern = 16 << 10 // bytes

// pattern finds matches in lines. It is read-only once it is made.
type pattern struct {
	re *regexp.Regexp
	// lits: every line that matches contains one; empty: any line may match.
	lits [][]byte
	rare []int // of each literal, where its rarest byte stands
	// also: and one of these, if there are any.
	also [][]byte
	// exact: a line that contains a literal matches, the expression is not asked.
	exact bool
	// fold: the literals are lower case and are looked for in lower-cased text.
	fold bool
	// narrow: in text that is not ASCII other characters may be of the same
	// letter (the Kelvin sign is a k): literals are of no use there.
	narrow bool
}

// compilePattern reads a pattern. A pattern that only a line end could match is
// refused rather than never found.
func compilePattern(text string, literal, ignoreCase bool) (*pattern, error) {
	switch {
	case text == "":
		return nil, errors.New("the pattern is empty")
	case len(text) > maxPattern:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	expr := text
	if literal {
		expr = regexp.QuoteMeta(text)
	}
	if ignoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", show(text), err)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", show(text), err)
	}
	if hasLineEnd(tree) {
		return nil, fmt.Errorf("pattern %s: holds a line end, but lines are searched one by one", show(text))
	}
	p := &pattern{re: re}
	p.use(shapeOf(tree.Simplify()))
	return p, nil
}

func hasLineEnd(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, hasLineEnd)
}

// use takes literals over if they help.
func (p *pattern) use(s shape) {
	if !s.also.fold && s.also.score() > 0 {
		for _, l := range s.also.list {
			p.also = append(p.also, []byte(l))
		}
	}
	set := s.need()
	if len(set.list) == 0 || slices.Contains(set.list, "") {
		return
	}
	slices.Sort(set.list)
	// A carriage return may be a line's end, which is not searched.
	noReturn := !slices.ContainsFunc(set.list, func(l string) bool { return strings.Contains(l, "\r") })
	p.exact, p.fold = s.whole && !set.mixed && noReturn, set.fold
	for _, s := range slices.Compact(set.list) {
		p.lits = append(p.lits, []byte(s))
		at := 0
		for i := range len(s) {
			if rarity(s[i]) > rarity(s[at]) {
				at = i
			}
		}
		p.rare = append(p.rare, at)
		ascii := strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
		p.narrow = p.narrow || set.fold && (!ascii || strings.ContainsAny(s, "ks"))
	}
}

// find looks for literal i in text from a position on; -1 when there is none. It
// stops at each of its rarest byte, where bytes.Index would at each of its first:
// up to twenty times faster.
func (p *pattern) find(text []byte, i, from int) int {
	l, at := p.lits[i], p.rare[i]
	for from+len(l) <= len(text) {
		j := bytes.IndexByte(text[from+at:len(text)-len(l)+at+1], l[at])
		if j < 0 {
			return -1
		}
		from += j
		if bytes.Equal(text[from:from+len(l)], l) {
			return from
		}
		from++
	}
	return -1
}

// may tells whether a line holds what else it must.
func (p *pattern) may(line []byte) bool {
	return len(p.also) == 0 || slices.ContainsFunc(p.also, func(l []byte) bool { return bytes.Contains(line, l) })
}

// lower writes text with A–Z as a–z to dst, which is as long, and tells whether
// all of it is ASCII. Eight bytes at a time: this is what searching without
// regard to case costs.
func lower(dst, text []byte) (ascii bool) {
	const ones = 0x0101010101010101
	high := uint64(0)
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		high |= x
		low := x &^ (0x80 * ones)
		// Bit 7 of a byte of the sums tells that it is at least 'A', above 'Z'.
		upper := (low + (0x80-'A')*ones) &^ (low + (0x80-'Z'-1)*ones) &^ x & (0x80 * ones)
		binary.LittleEndian.PutUint64(dst[i:], x|upper>>2)
	}
	for ; i < len(text); i++ {
		c := text[i]
		high |= uint64(c)
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst[i] = c
	}
	return high&(0x80*ones) == 0
}
