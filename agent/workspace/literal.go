package workspace

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLits   = 16  // literals of a set
	maxLitLen = 256 // bytes of a literal that is put together
	maxRunes  = 8   // characters of a class that are multiplied out
)

// literals is a set of strings of which every match contains at least one.
// An empty set says nothing.
type literals struct {
	list  []string
	fold  bool // some match without regard to case; then all are lower case
	mixed bool // others do not: finding one does not mean that it matches
}

// shape is what is known of the strings that a part of an expression matches.
type shape struct {
	exact literals // all of them, when whole
	whole bool
	best  literals // required, when not whole
	also  literals // another set, of which one is required too
}

// require adds a set, of which only the two best are kept.
func (s *shape) require(set literals) {
	switch n := set.score(); {
	case n > s.best.score():
		s.best, s.also = set, s.best
	case n > s.also.score():
		s.also = set
	}
}

// need is the best set of the shape.
func (s shape) need() literals {
	if s.whole {
		return s.exact
	}
	return s.best
}

func shapeOf(re *syntax.Regexp) shape {
	switch re.Op {
	case syntax.OpLiteral:
		return literalShape(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return classShape(re.Rune)
	case syntax.OpEmptyMatch:
		return shape{exact: literals{list: []string{""}}, whole: true}
	case syntax.OpCapture:
		return shapeOf(re.Sub[0])
	case syntax.OpPlus: // what Simplify makes of {2,} is a concatenation
		s := shapeOf(re.Sub[0])
		return shape{best: s.need(), also: s.also}
	case syntax.OpConcat:
		return concatShape(re.Sub)
	case syntax.OpAlternate:
		return alternateShape(re.Sub)
	}
	return shape{}
}

func literalShape(runes []rune, fold bool) shape {
	var b strings.Builder
	cased := false
	for _, r := range runes {
		if r == utf8.RuneError {
			return shape{} // matches bytes that are no UTF-8, too
		}
		cased = cased || fold && unicode.SimpleFold(r) != r
		if fold {
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	if b.Len() > maxLitLen {
		return shape{}
	}
	return shape{exact: literals{list: []string{b.String()}, fold: cased}, whole: true}
}

func classShape(ranges []rune) shape {
	var list []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(list) == maxRunes || r == utf8.RuneError {
				return shape{}
			}
			if r != '\n' { // no line holds one
				list = append(list, string(r))
			}
		}
	}
	return shape{exact: literals{list: list}, whole: len(list) > 0}
}

// concatShape multiplies neighbours out as long as all their strings are known.
// Where they are not, the product so far is one candidate.
func concatShape(subs []*syntax.Regexp) shape {
	one := literals{list: []string{""}}
	run, out := one, shape{whole: true}
	for _, sub := range subs {
		s := shapeOf(sub)
		p, ok := product(run, s.exact)
		switch {
		case s.whole && ok:
			run = p
		case s.whole:
			out.require(run)
			run, out.whole = s.exact, false
		default:
			out.require(run)
			out.require(s.best)
			out.require(s.also)
			run, out.whole = one, false
		}
	}
	if out.whole {
		out.exact = run
	} else {
		out.require(run)
	}
	return out
}

func product(a, b literals) (literals, bool) {
	if len(a.list)*len(b.list) > maxLits {
		return literals{}, false
	}
	a, b = a.unify(b), b.unify(a)
	out := literals{fold: a.fold, mixed: a.mixed || b.mixed}
	for _, x := range a.list {
		for _, y := range b.list {
			if len(x)+len(y) > maxLitLen {
				return literals{}, false
			}
			out.list = append(out.list, x+y)
		}
	}
	return out, true
}

// unify gives a the case of the two together.
func (a literals) unify(b literals) literals {
	if !b.fold || a.fold {
		return a
	}
	out := literals{fold: true, mixed: a.mixed}
	for _, s := range a.list {
		low := strings.ToLower(s)
		out.list = append(out.list, low)
		out.mixed = out.mixed || low != strings.ToUpper(s)
	}
	return out
}

func alternateShape(subs []*syntax.Regexp) shape {
	whole := true
	var all literals
	for _, sub := range subs {
		s := shapeOf(sub)
		whole = whole && s.whole
		need := s.need()
		if len(need.list) == 0 || len(need.list)+len(all.list) > maxLits {
			return shape{}
		}
		all, need = all.unify(need), need.unify(all)
		all = literals{append(all.list, need.list...), all.fold || need.fold, all.mixed || need.mixed}
	}
	if whole {
		return shape{exact: all, whole: true}
	}
	return shape{best: all}
}

// score tells which set will stop at fewer places: rare, long, few. It is that of
// the weakest literal, less something for each further one that has to be
// searched for. A set with an empty string is worth nothing.
func (a literals) score() int {
	if len(a.list) == 0 {
		return 0
	}
	least := 1 << 20
	for _, s := range a.list {
		n := 0
		for i := range len(s) {
			n += rarity(s[i])
		}
		least = min(least, n)
	}
	if least == 0 {
		return 0
	}
	return max(1, least-2*(len(a.list)-1))
}

// rarity grades a byte by how seldom it is in source text.
func rarity(c byte) int {
	switch {
	case strings.IndexByte(" etaonirs", c) >= 0:
		return 2
	case c >= 'a' && c <= 'z', c == '_', c == '.', c == '(', c == ')', c == '\t', c == '0', c == '1':
		return 3
	case c >= 'A' && c <= 'Z', c < 0x80:
		return 4
	}
	return 3 // a byte of a rune of several
}
