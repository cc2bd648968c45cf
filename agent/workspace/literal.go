package workspace

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxLits   = 16  // strings of a set
	maxLitLen = 256 // bytes of a string that is put together
	maxRunes  = 8   // characters of a class that are multiplied out
)

// shape is what is known of the strings that a part of an expression matches.
// Nothing is known of a zero shape.
type shape struct {
	lits  []string // each of them contains one of these
	whole bool     // and these are all of them
}

// shapeOf analyses a part of an expression. With fold its strings have a–z for
// A–Z: they are for text that is written so, too.
func shapeOf(re *syntax.Regexp, fold bool) shape {
	switch re.Op {
	case syntax.OpLiteral:
		return literalShape(re.Rune, fold)
	case syntax.OpCharClass:
		return classShape(re.Rune, fold)
	case syntax.OpEmptyMatch:
		return shape{lits: []string{""}, whole: true}
	case syntax.OpCapture:
		return shapeOf(re.Sub[0], fold)
	case syntax.OpPlus: // what Simplify makes of {2,} is a concatenation
		s := shapeOf(re.Sub[0], fold)
		s.whole = false
		return s
	case syntax.OpConcat:
		return concatShape(re.Sub, fold)
	case syntax.OpAlternate:
		return alternateShape(re.Sub, fold)
	}
	return shape{}
}

func literalShape(runes []rune, fold bool) shape {
	s := []byte(string(runes))
	// U+FFFD matches bytes that are no UTF-8, too.
	if len(s) > maxLitLen || slices.Contains(runes, utf8.RuneError) {
		return shape{}
	}
	if fold {
		lower(s, s)
	}
	return shape{lits: []string{string(s)}, whole: true}
}

func classShape(ranges []rune, fold bool) shape {
	var out shape
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(out.lits) == maxRunes || r == utf8.RuneError {
				return shape{}
			}
			if r != '\n' { // no line holds one
				out.lits = append(out.lits, literalShape([]rune{r}, fold).lits...)
			}
		}
	}
	out.whole = len(out.lits) > 0
	return out
}

// concatShape multiplies neighbours out as long as all their strings are known.
// Where they are not, the product so far is one candidate.
func concatShape(subs []*syntax.Regexp, fold bool) shape {
	one := shape{lits: []string{""}, whole: true}
	run, best, whole := one, []string(nil), true
	for _, sub := range subs {
		s := shapeOf(sub, fold)
		if p, ok := product(run, s); ok {
			run = p
			continue
		}
		best, whole = better(best, run.lits), false
		if run = s; !s.whole {
			best, run = better(best, s.lits), one
		}
	}
	if whole {
		return run
	}
	return shape{lits: better(best, run.lits)}
}

func product(a, b shape) (out shape, ok bool) {
	if !b.whole || len(a.lits)*len(b.lits) > maxLits {
		return out, false
	}
	out.whole = true
	for _, x := range a.lits {
		for _, y := range b.lits {
			if len(x)+len(y) > maxLitLen {
				return out, false
			}
			out.lits = append(out.lits, x+y)
		}
	}
	return out, true
}

func alternateShape(subs []*syntax.Regexp, fold bool) shape {
	out := shape{whole: true}
	for _, sub := range subs {
		s := shapeOf(sub, fold)
		if len(s.lits) == 0 || len(s.lits)+len(out.lits) > maxLits {
			return shape{}
		}
		out.lits = append(out.lits, s.lits...)
		out.whole = out.whole && s.whole
	}
	return out
}

func better(a, b []string) []string {
	if score(b) > score(a) {
		return b
	}
	return a
}

// score tells which set will stop at fewer places: rare, long, few. It is that of
// the weakest string, less something for each further one that has to be
// searched for. An empty set, or one with an empty string, is worth nothing.
func score(set []string) int {
	if len(set) == 0 || slices.Contains(set, "") {
		return 0
	}
	least := 1 << 20
	for _, s := range set {
		n := 0
		for i := range len(s) {
			n += rarity(s[i])
		}
		least = min(least, n)
	}
	return max(1, least-2*(len(set)-1))
}

// rarity grades a byte by how seldom it is in source text.
func rarity(c byte) int {
	switch {
	case strings.IndexByte(" etaonirs", c) >= 0:
		return 2
	case c >= 'a' && c <= 'z', c == '_', c == '.', c == '(', c == ')', c == '\t', c == '0', c == '1':
		return 3
	case c < utf8.RuneSelf:
		return 4
	}
	return 3 // a byte of a rune of several
}
