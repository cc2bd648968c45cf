package workspace

import (
	"errors"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wildcard is a compiled pattern of one alternative. It is matched as an
// automaton over all its states at once, so that time is bounded by the length
// of the pattern times that of the text, whatever both hold.
type wildcard []token

// token is one step of a wildcard.
type token struct {
	kind kind
	r    rune   // lit
	set  *class // set
}

type kind uint8

const (
	lit  kind = iota // the character r
	one              // any character but a slash: "?"
	set              // a character of a class, never a slash
	star             // any characters but slashes: "*"
	deep             // any characters: a last "**"
	dirs             // nothing, or anything that ends in a slash: "**/"
)

// class is a bracket expression.
type class struct {
	not    bool
	ranges [][2]rune
}

var errUnclosed = errors.New("a [ has no ]")

// alphabet cuts text into characters: bytes as git does, or runes where a byte
// that is no UTF-8 is a character of its own.
type alphabet bool

const (
	inBytes alphabet = false
	inRunes alphabet = true
)

func (a alphabet) next(s string) (rune, int) {
	if a == inBytes || s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return unicode.MaxRune + 1 + rune(s[0]), 1
	}
	return r, n
}

// compileWildcard reads a pattern. head is the length of what git would compare
// literally before it looks at wildcards: "**" right behind it counts as being
// at the start of a name, as in git (wildmatch.c is given the rest only).
func compileWildcard(a alphabet, p string, head int) (wildcard, error) {
	var w wildcard
	for i := 0; i < len(p); {
		r, n := a.next(p[i:])
		switch r {
		case '*':
			t, n := compileStar(p, i, head)
			w, i = append(w, t), i+n
			continue
		case '?':
			w = append(w, token{kind: one})
		case '[':
			c, n, err := compileClass(a, p[i:])
			if err != nil {
				return nil, err
			}
			w, i = append(w, token{kind: set, set: c}), i+n
			continue
		case '\\':
			if i++; i == len(p) {
				return nil, errors.New(`a \ stands at the end`)
			}
			r, n = a.next(p[i:])
			w = append(w, token{r: r})
		default:
			w = append(w, token{r: r})
		}
		i += n
	}
	return w, nil
}

// compileStar reads a run of stars at p[i:]. Two or more span directories when
// they are a whole name, else they are one.
func compileStar(p string, i, head int) (token, int) {
	n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
	rest := p[i+n:]
	if n == 1 || i > 0 && p[i-1] != '/' && i != head {
		return token{kind: star}, n
	}
	switch {
	case strings.HasPrefix(rest, "/"):
		return token{kind: dirs}, n + 1
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return token{kind: deep}, n
	}
	return token{kind: star}, n
}

// compileClass reads a bracket expression at the start of p, as wildmatch.c of
// git does.
func compileClass(a alphabet, p string) (*class, int, error) {
	c := &class{}
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		c.not = true
		i++
	}
	prev, hasPrev := rune(0), false
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, errUnclosed
		}
		if p[i] == ']' && !first {
			return c, i + 1, nil
		}
		if name, ok := posixName(p[i:]); ok {
			list := posixClass(name)
			if list == "" {
				return nil, 0, errors.New("unknown class [:" + name + ":]")
			}
			for ; list != ""; list = list[2:] {
				c.ranges = append(c.ranges, [2]rune{rune(list[0]), rune(list[1])})
			}
			i += len(name) + 4
			hasPrev = false
			continue
		}
		isRange := p[i] == '-' && hasPrev && i+1 < len(p) && p[i+1] != ']'
		if isRange {
			i++
		}
		if p[i] == '\\' {
			if i++; i >= len(p) {
				return nil, 0, errUnclosed
			}
		}
		r, n := a.next(p[i:])
		i += n
		if isRange {
			c.ranges = append(c.ranges, [2]rune{prev, r})
			hasPrev = false
			continue
		}
		c.ranges = append(c.ranges, [2]rune{r, r})
		prev, hasPrev = r, true
	}
}

// posixName reads "[:name:]". The name ends at the first "]".
func posixName(p string) (string, bool) {
	if !strings.HasPrefix(p, "[:") {
		return "", false
	}
	name, _, ok := strings.Cut(p[2:], "]")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, ":")
}

// posixClass is the ranges of a class, two characters each; "" for no class.
func posixClass(name string) string {
	switch name {
	case "alnum":
		return "09azAZ"
	case "alpha":
		return "azAZ"
	case "blank":
		return "  \t\t"
	case "cntrl":
		return "\x00\x1f\x7f\x7f"
	case "digit":
		return "09"
	case "graph":
		return "!~"
	case "lower":
		return "az"
	case "print":
		return " ~"
	case "punct":
		return "!/:@[`{~"
	case "space":
		return "  \t\r"
	case "upper":
		return "AZ"
	case "xdigit":
		return "09afAF"
	}
	return ""
}

func (c *class) has(r rune) bool {
	for _, x := range c.ranges {
		if r >= x[0] && r <= x[1] {
			return !c.not
		}
	}
	return c.not
}

// match tells whether the whole of s matches.
func (w wildcard) match(a alphabet, s string) bool {
	var small [2][4]uint64
	now, next := small[0][:], small[1][:]
	if words := len(w)/64 + 1; words > len(now) {
		now, next = make([]uint64, words), make([]uint64, words)
	}
	w.reach(now, 0)
	for len(s) > 0 {
		r, n := a.next(s)
		s = s[n:]
		if !w.step(now, next, r) {
			return false
		}
		now, next = next, now
	}
	return now[len(w)/64]>>(len(w)%64)&1 == 1
}

// reach adds state i, and those after it that need no character.
func (w wildcard) reach(states []uint64, i int) {
	for ; ; i++ {
		states[i/64] |= 1 << (i % 64)
		if i == len(w) || w[i].kind < star {
			return
		}
	}
}

// step reads one character and tells whether any state is left.
func (w wildcard) step(now, next []uint64, r rune) bool {
	clear(next)
	alive := uint64(0)
	for word, states := range now {
		for ; states != 0; states &= states - 1 {
			i := word*64 + bits.TrailingZeros64(states)
			if i < len(w) {
				w.advance(next, i, r)
			}
		}
	}
	for _, states := range next {
		alive |= states
	}
	return alive != 0
}

func (w wildcard) advance(next []uint64, i int, r rune) {
	t := w[i]
	on := false
	switch t.kind {
	case lit:
		on = r == t.r
	case one:
		on = r != '/'
	case set:
		on = r != '/' && t.set.has(r)
	case star:
		if r != '/' {
			w.reach(next, i)
		}
	case deep:
		w.reach(next, i)
	case dirs:
		// Here without reach: what follows is entered behind a slash only.
		next[i/64] |= 1 << (i % 64)
		on = r == '/'
	}
	if on {
		w.reach(next, i+1)
	}
}
