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
	"unicode/utf8"
)

const (
	maxPattern = 16 << 10 // bytes
	maxProgram = 50_000   // instructions: what repeats makes of a pattern
)

// pattern finds matches in lines. It is read-only once it is made.
type pattern struct {
	re   *regexp.Regexp
	cost int // instructions of the expression: a byte takes so many steps at most
	// lits: every line that matches contains one; empty: any line may match.
	lits []literal
	// starts: every match begins with one of these, and here finds one that
	// begins where it is asked; empty: that is not known.
	starts []string
	here   *regexp.Regexp
	// exact: a line that contains the literal matches, the expression is not asked.
	exact bool
	// fold: the literals are lower case and are looked for in lower-cased text.
	fold bool
	// narrow: in text that is not ASCII other characters may be of the same
	// letter (the Kelvin sign is a k): literals are of no use there.
	narrow bool
}

// literal is a string to look for. rare is where its rarest byte stands.
type literal struct {
	text []byte
	rare int
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
	p := new(pattern)
	if err := p.compile(expr); err != nil {
		return nil, fmt.Errorf("pattern %s: %w", show(text), err)
	}
	return p, nil
}

func (p *pattern) compile(expr string) error {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return err
	}
	if has(tree, func(re *syntax.Regexp) bool { return slices.Contains(re.Rune, '\n') }) {
		return errors.New("holds a line end, but lines are searched one by one")
	}
	tree = tree.Simplify()
	prog, err := syntax.Compile(tree)
	if err != nil {
		return err
	}
	if p.cost = len(prog.Inst); p.cost > maxProgram {
		return errors.New("repeats too much")
	}
	if p.re, err = regexp.Compile(expr); err != nil {
		return err
	}
	p.prefilter(tree)
	p.starts = startsOf(tree)
	p.here, err = regexp.Compile("^(?:" + expr + ")")
	return err
}

// maxStarts is how many strings are worth looking for one after another.
const maxStarts = 4

// startsOf returns the strings that every match begins with. None where a match
// depends on what stands before it, which is cut off then, or on case, and where
// a string could begin inside of a character.
func startsOf(tree *syntax.Regexp) []string {
	looksBack := func(re *syntax.Regexp) bool {
		switch re.Op {
		case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
			return true
		}
		return re.Flags&syntax.FoldCase != 0
	}
	if tree.Op != syntax.OpConcat || anywhere(tree, looksBack) {
		return nil
	}
	s := shapeOf(tree.Sub[0], false)
	inside := func(l string) bool { return l == "" || l[0] >= utf8.RuneSelf }
	if !s.whole || len(s.lits) > maxStarts || slices.ContainsFunc(s.lits, inside) {
		return nil
	}
	return s.lits
}

// anywhere tells whether a part of an expression is as asked.
func anywhere(re *syntax.Regexp, asked func(*syntax.Regexp) bool) bool {
	return asked(re) || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return anywhere(sub, asked) })
}

// has tells whether a literal of an expression is as asked.
func has(re *syntax.Regexp, asked func(*syntax.Regexp) bool) bool {
	return anywhere(re, func(re *syntax.Regexp) bool { return re.Op == syntax.OpLiteral && asked(re) })
}

// prefilter finds out what lines that match contain.
func (p *pattern) prefilter(tree *syntax.Regexp) {
	p.fold = has(tree, func(re *syntax.Regexp) bool { return re.Flags&syntax.FoldCase != 0 })
	s := shapeOf(tree, p.fold)
	if score(s.lits) == 0 {
		return
	}
	slices.Sort(s.lits)
	for _, l := range slices.Compact(s.lits) {
		lit := literal{text: []byte(l)}
		for i := range len(l) {
			if rarity(l[i]) > rarity(l[lit.rare]) {
				lit.rare = i
			}
		}
		p.lits = append(p.lits, lit)
		p.narrow = p.narrow || p.fold && strings.ContainsFunc(l, func(r rune) bool { return r >= 0x80 || r == 'k' || r == 's' })
	}
	// A carriage return may be of a line's end, which is not searched.
	p.exact = tree.Op == syntax.OpLiteral && !slices.Contains(tree.Rune, '\r')
}

// find looks for the literal in text from a position on; len(text) when there is
// none. It stops at each of its rarest byte, where bytes.Index would at each of
// its first: up to twenty times faster.
func (l literal) find(text []byte, from int) int {
	for from+len(l.text) <= len(text) {
		i := bytes.IndexByte(text[from+l.rare:len(text)-len(l.text)+l.rare+1], l.text[l.rare])
		if i < 0 {
			break
		}
		from += i
		if bytes.Equal(text[from:from+len(l.text)], l.text) {
			return from
		}
		from++
	}
	return len(text)
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
