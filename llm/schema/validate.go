package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxProblems is how many problems Validate tells.
const maxProblems = 20

// Problem is one thing that is wrong with arguments.
type Problem struct {
	// Path is a JSON pointer, empty for the arguments as a whole. Names that
	// could draw on a terminal are escaped.
	Path string
	// Found and Expected are short texts for people and models.
	Found    string
	Expected string
}

// Error says it in one line: "path: /edits/0/newText: found number 3,
// expected string".
func (p Problem) Error() string {
	path := p.Path
	if path == "" {
		path = "/"
	}
	return "path: " + path + ": found " + p.Found + ", expected " + p.Expected
}

// Validate checks arguments and returns what is wrong with them, at most
// twenty things, in the order of the arguments. No problem means valid.
func (s *Schema) Validate(args []byte) []Problem {
	v, err := parse(args)
	if err != nil {
		return []Problem{s.noJSON(err)}
	}
	return s.validate(v, &budget{steps: steps(args)}, "", 0)
}

// ValidateStrict is Validate for JSON that programs of others will read: an
// object that says a name twice is a problem too, since each reader understands
// it in its own way (RFC 8259, section 4).
func (s *Schema) ValidateStrict(text []byte) []Problem {
	v, twice, err := scan(text)
	switch {
	case err != nil:
		return []Problem{s.noJSON(err)}
	case twice != nil:
		return []Problem{{Found: fmt.Sprintf("an object with %q twice", clip(*twice)), Expected: "each name once"}}
	}
	return s.validate(v, &budget{steps: steps(text)}, "", 0)
}

func (s *Schema) noJSON(err error) Problem {
	return Problem{Found: "no JSON (" + plain(err.Error()) + ")", Expected: s.wants()}
}

// budget is the work that one validation may cost. Schemas that branch and
// refer to themselves can ask for any amount. Once spent it stays spent, and
// whatever was not checked counts as wrong.
type budget struct {
	steps int
	spent bool
}

// steps is a budget that every honest pair of schema and arguments stays in.
func steps(args []byte) int { return 100_000 + 4*len(args) }

// maxRefs is how deep schemas may apply one inside the other. It is above
// maxDepth, as references use up levels without going down in the value.
const maxRefs = 3 * maxDepth

// spend takes n steps and reports whether they were there.
func (b *budget) spend(n, depth int) bool {
	b.steps -= n
	if b.steps < 0 || depth > maxRefs {
		b.spent = true
	}
	return !b.spent
}

// cost is the work of one look at v, in steps.
func (v value) cost() int { return 1 + len(v.raw)/64 }

// found collects the problems of one value.
type found struct {
	path string
	all  []Problem
}

func (f *found) add(what, want string) {
	f.all = append(f.all, Problem{Path: f.path, Found: what, Expected: want})
}

func (f *found) join(more []Problem) { f.all = append(f.all, more...) }

// validate checks v, which stands at path. A value of the wrong type is told
// once, not again by every keyword.
func (s *Schema) validate(v value, b *budget, path string, depth int) []Problem {
	f := &found{path: path}
	switch {
	case !b.spend((1+len(s.enum))*v.cost(), depth):
		f.add(v.describe(), "a value that can be checked in bounded time")
		return f.all
	case s.never:
		f.add(v.describe(), "nothing here")
		return f.all
	case !s.takes(v):
		f.add(v.describe(), s.wants())
		return f.all
	case len(s.enum) > 0 && !s.listed(v):
		f.add(v.describe(), s.wants())
		return f.all
	}
	switch v.kind {
	case number:
		s.checkNumber(v, f)
	case text:
		s.checkText(v, b, f)
	case array:
		s.checkArray(v, b, f, depth)
	case object:
		s.checkObject(v, b, f, depth)
	}
	s.checkForms(v, b, f, depth)
	// What could not be checked to its end is not valid.
	if b.spent && len(f.all) == 0 {
		f.add(v.describe(), "a value that can be checked in bounded time")
	}
	if len(f.all) > maxProblems {
		f.all = f.all[:maxProblems]
	}
	return f.all
}

// takes reports whether the type of v is one of the schema's.
func (s *Schema) takes(v value) bool {
	if s.types == 0 {
		return true
	}
	if v.kind == number && s.whole && !isInteger(string(v.raw)) {
		return false
	}
	return s.types&v.kind != 0
}

// listed reports whether v is one of the enum.
func (s *Schema) listed(v value) bool {
	for _, e := range s.enum {
		if e.equal(v) {
			return true
		}
	}
	return false
}

// checkNumber checks the limits of numbers.
func (s *Schema) checkNumber(v value, f *found) {
	for _, b := range s.bounds {
		c := compare(string(v.raw), b.limit)
		if c != b.order && (c != 0 || !b.exclusive) {
			continue
		}
		words := map[int]string{-1: "at least ", 1: "at most "}
		if b.exclusive {
			words = map[int]string{-1: "more than ", 1: "less than "}
		}
		f.add(v.describe(), words[b.order]+clip(b.limit))
	}
}

// checkText checks length, in characters, and pattern. Matching costs text times
// program in the worst case, and is paid for like that.
func (s *Schema) checkText(v value, b *budget, f *found) {
	if s.minLength < 0 && s.maxLength < 0 && s.pattern == nil {
		return
	}
	t := decode(v.raw)
	if n := utf8.RuneCountInString(t); n < s.minLength {
		f.add(fmt.Sprintf("%d characters", n), fmt.Sprintf("at least %d", s.minLength))
	} else if s.maxLength >= 0 && n > s.maxLength {
		f.add(fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d", s.maxLength))
	}
	if s.pattern == nil {
		return
	}
	if !b.spend(len(t)*s.size/16, 0) {
		f.add("a string", "one that can be matched in bounded time")
	} else if !s.pattern.MatchString(t) {
		f.add(v.describe(), "a match of the pattern "+plain(s.pattern.String()))
	}
}

// checkArray checks the number of items and each of them.
func (s *Schema) checkArray(v value, b *budget, f *found, depth int) {
	if n := len(v.items); n < s.minItems {
		f.add(fmt.Sprintf("%d items", n), fmt.Sprintf("at least %d", s.minItems))
	} else if s.maxItems >= 0 && n > s.maxItems {
		f.add(fmt.Sprintf("%d items", n), fmt.Sprintf("at most %d", s.maxItems))
	}
	if s.items == nil {
		return
	}
	for i, item := range v.items {
		if b.spent || len(f.all) > maxProblems {
			return
		}
		f.join(s.items.validate(item, b, f.path+"/"+strconv.Itoa(i), depth+1))
	}
}

// checkObject checks what is missing, in the order of the schema, then what is
// there, in the order of the arguments.
func (s *Schema) checkObject(v value, b *budget, f *found, depth int) {
	if !b.spend(len(v.members)*(len(s.required)+len(s.properties))/16, depth) {
		f.add(v.describe(), "an object that can be checked in bounded time")
		return
	}
	for _, name := range s.required {
		if _, ok := v.get(name); !ok && len(f.all) <= maxProblems {
			f.join([]Problem{{f.path + "/" + plain(escape(name)), "nothing", s.wantsOf(name)}})
		}
	}
	for _, m := range v.members {
		if b.spent || len(f.all) > maxProblems {
			return
		}
		path := f.path + "/" + plain(escape(m.name))
		switch p, ok := s.property(m.name); {
		case ok:
			f.join(p.validate(m.value, b, path, depth+1))
		case s.extra != nil && s.extra.never:
			f.join([]Problem{{path, "a property that does not exist", s.names()}})
		case s.extra != nil:
			f.join(s.extra.validate(m.value, b, path, depth+1))
		}
	}
}

// checkForms checks references and combinations.
func (s *Schema) checkForms(v value, b *budget, f *found, depth int) {
	if s.ref != nil {
		f.join(s.ref.validate(v, b, f.path, depth+1))
	}
	for _, form := range s.allOf {
		if b.spent || len(f.all) > maxProblems {
			return
		}
		f.join(form.validate(v, b, f.path, depth+1))
	}
	if len(s.anyOf) > 0 {
		if n, best := fits(s.anyOf, v, b, f.path, depth); n == 0 {
			f.join(best)
		}
	}
	if len(s.oneOf) > 0 {
		switch n, best := fits(s.oneOf, v, b, f.path, depth); {
		case n == 0:
			f.join(best)
		case n > 1:
			f.add(v.describe(), fmt.Sprintf("exactly one of the forms to fit, not %d", n))
		}
	}
}

// fits counts the forms that v has. When it has none, best are the problems
// with the form that was most likely meant: of those that take its type the
// one with the fewest.
func fits(forms []*Schema, v value, b *budget, path string, depth int) (n int, best []Problem) {
	var wants []string
	for _, form := range forms {
		all := form.validate(v, b, path, depth+1)
		if len(all) == 0 {
			n++
			continue
		}
		wants = append(wants, form.wants())
		mismatch := len(all) == 1 && all[0].Path == path && all[0].Expected == form.wants()
		if !mismatch && (best == nil || len(all) < len(best)) {
			best = all
		}
	}
	if n == 0 && best == nil {
		best = []Problem{{path, v.describe(), clip(strings.Join(wants, " or "))}}
	}
	return n, best
}
