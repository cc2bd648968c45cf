package workspace

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wildcard is a compiled pattern of one alternative. Each step is taken from all
// the places at once where the one before can end, so that time is bounded by the
// length of the pattern times that of the text, whatever both hold.
type wildcard struct {
	steps []step
	tail  string // what follows them literally
}

// step is one part of a wildcard.
type step struct {
	kind   kind
	not    bool      // set: of any but these
	ranges [][2]rune // lit, set
}

type kind uint8

const (
	lit  kind = iota // a certain character
	set              // a character of some, never a slash: "[a-z]", "?"
	star             // any characters but slashes: "*"
	deep             // any characters: a last "**"
	dirs             // nothing, or anything that ends in a slash: "**/"
)

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

func compileWildcard(a alphabet, p string) (w wildcard, err error) {
	w.tail = p
	keep := 0 // steps that are not of the tail
	for i := 0; i < len(p); {
		r, n := a.next(p[i:])
		s, plain := step{ranges: [][2]rune{{r, r}}}, false
		switch r {
		case '*':
			s.kind, n = compileStar(p, i)
		case '?':
			s = step{kind: set, not: true}
		case '[':
			s, n, err = compileClass(a, p[i:])
		case '\\':
			if i++; i == len(p) {
				return w, errors.New(`a \ stands at the end`)
			}
			r, n = a.next(p[i:])
			s.ranges[0] = [2]rune{r, r}
		default:
			plain = true
		}
		if err != nil {
			return w, err
		}
		i += n
		if w.steps = append(w.steps, s); !plain {
			keep, w.tail = len(w.steps), p[i:]
		}
	}
	w.steps = w.steps[:keep]
	return w, nil
}

// compileStar reads a run of stars at p[i:]. Two or more span directories when
// they are a whole name, else they are one.
func compileStar(p string, i int) (kind, int) {
	n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
	rest := p[i+n:]
	switch {
	case n == 1 || i > 0 && p[i-1] != '/':
	case strings.HasPrefix(rest, "/"):
		return dirs, n + 1
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return deep, n
	}
	return star, n
}

// compileClass reads a bracket expression at the start of p, as wildmatch.c of
// git does.
func compileClass(a alphabet, p string) (step, int, error) {
	c, start := step{kind: set}, 1
	if len(p) > 1 && (p[1] == '!' || p[1] == '^') {
		c.not, start = true, 2
	}
	prev := rune(-1) // what a "-" would make a range from
	for i := start; i < len(p); {
		if p[i] == ']' && i > start {
			return c, i + 1, nil
		}
		if name, ok := posixName(p[i:]); ok {
			list := posixClass(name)
			if list == "" {
				return c, 0, errors.New("unknown class [:" + name + ":]")
			}
			for ; list != ""; list = list[2:] {
				c.ranges = append(c.ranges, [2]rune{rune(list[0]), rune(list[1])})
			}
			i, prev = i+len(name)+4, -1
			continue
		}
		isRange := p[i] == '-' && prev >= 0 && i+1 < len(p) && p[i+1] != ']'
		if isRange {
			i++
		}
		if p[i] == '\\' {
			i++
		}
		if i == len(p) {
			break
		}
		r, n := a.next(p[i:])
		if i += n; !isRange {
			prev = r
		}
		c.ranges = append(c.ranges, [2]rune{prev, r})
		if isRange {
			prev = -1
		}
	}
	return c, 0, errors.New("a [ has no ]")
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
	return map[string]string{
		"alnum":  "09azAZ",
		"alpha":  "azAZ",
		"blank":  "  \t\t",
		"cntrl":  "\x00\x1f\x7f\x7f",
		"digit":  "09",
		"graph":  "!~",
		"lower":  "az",
		"print":  " ~",
		"punct":  "!/:@[`{~",
		"space":  "  \t\r",
		"upper":  "AZ",
		"xdigit": "09afAF",
	}[name]
}

// has tells whether a step of one character takes it.
func (t *step) has(r rune) bool {
	for _, x := range t.ranges {
		if r >= x[0] && r <= x[1] {
			return !t.not && (r != '/' || t.kind == lit)
		}
	}
	return t.not && r != '/'
}

// match tells whether the whole of s matches.
func (w *wildcard) match(a alphabet, s string) bool {
	s, ok := strings.CutSuffix(s, w.tail)
	if !ok || len(w.steps) == 0 {
		return ok && s == ""
	}
	var small [2][256]bool
	at, next := small[0][:], small[1][:] // i: s[:i] is matched by the steps so far
	if len(s) >= len(at) {
		at, next = make([]bool, len(s)+1), make([]bool, len(s)+1)
	}
	at, next = at[:len(s)+1], next[:len(s)+1]
	at[0] = true
	for i := range w.steps {
		if !w.steps[i].take(a, s, at, next) {
			return false
		}
		at, next = next, at
	}
	return at[len(s)]
}

// take finds the places where a step from any place in at ends, and tells
// whether there are any.
func (t *step) take(a alphabet, s string, at, next []bool) (any bool) {
	clear(next)
	open := false // it may have begun at or before i
	for i := 0; ; {
		open = open || at[i]
		switch t.kind {
		case star, deep:
			next[i] = open
		case dirs:
			next[i] = open && (at[i] || s[i-1] == '/')
		}
		any = any || next[i]
		if i == len(s) {
			return any
		}
		r, n := a.next(s[i:])
		switch t.kind {
		case lit, set:
			next[i+n] = at[i] && t.has(r)
		case star:
			open = open && r != '/'
		}
		i += n
	}
}
