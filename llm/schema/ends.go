package schema

import (
	"fmt"
	"maps"
	"slices"
)

// endless refuses a schema that no value ever fits because it goes on for ever:
// one that applies to a value again what it is just applying (JSON Schema 2020-12,
// core, section 9.4.1), and one that asks of each value for another one inside.
// Whatever else is impossible (false, a type beside another) is left to its author.
func (c *compiler) endless(root *Schema) error {
	all := root.reach(make(map[*Schema]bool), nil)
	done := make(map[*Schema]bool, len(all))
	for _, ref := range slices.Sorted(maps.Keys(c.refs)) { // of each circle one is in it
		if back := c.refs[ref].circle(done); back != nil {
			return fmt.Errorf("%s: found a reference that leads back to itself without an end, expected one below properties or items", c.place(back))
		}
	}
	fits := make(map[*Schema]bool, len(all))
	for range maxPasses {
		before := len(fits)
		for _, s := range all {
			if !fits[s] && s.ends(fits) {
				fits[s] = true
			}
		}
		if fits[root] {
			return nil
		}
		if len(fits) == before {
			return fmt.Errorf("#: found that each value needs another one inside without an end, expected a form that ends")
		}
	}
	return nil
}

// maxPasses bounds the work on a schema that is made to need many: what is not
// known by then is taken for one that ends.
const maxPasses = 100

// place is the pointer of the target of a reference.
func (c *compiler) place(target *Schema) string {
	at := ""
	for ref, s := range c.refs {
		if s == target && (at == "" || ref < at) {
			at = ref
		}
	}
	return plain(at)
}

// here are the schemas that apply to the same value.
func (s *Schema) here() []*Schema {
	var all []*Schema
	if s.ref != nil {
		all = append(all, s.ref)
	}
	return append(append(append(all, s.allOf...), s.anyOf...), s.oneOf...)
}

// reach appends what a schema leads to and then the schema, each once.
func (s *Schema) reach(seen map[*Schema]bool, all []*Schema) []*Schema {
	if s == nil || seen[s] {
		return all
	}
	seen[s] = true
	for _, next := range s.here() {
		all = next.reach(seen, all)
	}
	for _, p := range s.properties {
		all = p.schema.reach(seen, all)
	}
	all = s.extra.reach(seen, all)
	all = s.items.reach(seen, all)
	return append(all, s)
}

// circle returns a schema that applies to a value again before that has been
// looked into, or nil. It is the target of a reference, as s is: only those are
// reached twice. Done holds false while a schema is being followed.
func (s *Schema) circle(done map[*Schema]bool) *Schema {
	if ended, seen := done[s]; seen {
		if ended {
			return nil
		}
		return s
	}
	done[s] = false
	for _, next := range s.here() {
		if back := next.circle(done); back != nil {
			return back
		}
	}
	done[s] = true
	return nil
}

// ends reports whether some value fits, as far as those below are known to end.
func (s *Schema) ends(fits map[*Schema]bool) bool {
	if s.ref != nil && !fits[s.ref] {
		return false
	}
	for _, part := range s.allOf {
		if !fits[part] {
			return false
		}
	}
	return anyEnds(s.anyOf, fits) && anyEnds(s.oneOf, fits) && s.someKindEnds(fits)
}

func anyEnds(forms []*Schema, fits map[*Schema]bool) bool {
	for _, form := range forms {
		if fits[form] {
			return true
		}
	}
	return len(forms) == 0
}

// someKindEnds looks at what must be inside arrays and objects; all other values
// hold nothing.
func (s *Schema) someKindEnds(fits map[*Schema]bool) bool {
	switch {
	case s.types == 0 || s.types&^(array|object) != 0:
		return true
	case s.types&array != 0 && (s.minItems <= 0 || s.items == nil || fits[s.items]):
		return true
	case s.types&object == 0:
		return false
	}
	for _, name := range s.required {
		inside, declared := s.property(name)
		if !declared {
			inside = s.extra
		}
		if inside != nil && !fits[inside] {
			return false
		}
	}
	return true
}
