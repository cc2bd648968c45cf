package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// maxNotes is how many repairs are told.
const maxNotes = 20

// Repair reads arguments as they were meant where that loses nothing, and says
// what it read how. It makes no other change:
//
//   - a string that is a number or a boolean, where only that is wanted;
//   - a number where a string is wanted: its digits are kept;
//   - a string that is the JSON of an object or an array, where that is wanted;
//   - 3.0 where an integer is wanted;
//   - null for an optional property that may not be null: left out.
//
// Without a repair the bytes come back as they are. Repaired arguments can
// still be wrong: Validate decides.
func (s *Schema) Repair(args []byte) (fixed []byte, notes []string) {
	v, err := parse(args)
	if err != nil {
		return args, nil
	}
	r := &repairer{budget: &budget{steps: steps(args)}}
	v = r.fix(s, v, "", 0)
	if len(r.notes) == 0 || r.budget.spent {
		return args, nil
	}
	if len(r.notes) > maxNotes {
		r.notes = append(r.notes[:maxNotes:maxNotes], fmt.Sprintf("%d more repairs", len(r.notes)-maxNotes))
	}
	return v.render(nil), r.notes
}

// repairer collects the notes of repairs.
type repairer struct {
	budget *budget
	notes  []string
}

// note records a repair under the path without its first slash.
func (r *repairer) note(path, format string, args ...any) {
	if path == "" {
		path = "/arguments"
	}
	r.notes = append(r.notes, path[1:]+": "+fmt.Sprintf(format, args...))
}

// fix returns v as the schema wants it; v itself is never written to, since
// form tries several readings of the same value.
func (r *repairer) fix(s *Schema, v value, path string, depth int) value {
	if !r.budget.spend(v.cost(), depth) {
		return v
	}
	v = r.scalar(s, v, path)
	switch v.kind {
	case array:
		v = r.items(s, v, path, depth)
	case object:
		v = r.members(s, v, path, depth)
	}
	if s.ref != nil {
		v = r.fix(s.ref, v, path, depth+1)
	}
	for _, form := range s.allOf {
		v = r.fix(form, v, path, depth+1)
	}
	v = r.form(s.anyOf, v, path, depth)
	return r.form(s.oneOf, v, path, depth)
}

// scalar repairs the type of v itself.
func (r *repairer) scalar(s *Schema, v value, path string) value {
	switch {
	case s.types == 0:
		return v
	case v.kind == number && s.types&number != 0:
		return r.integer(s, v, path)
	case v.kind == number && s.types&text != 0:
		w := value{kind: text, raw: encode(string(v.raw))}
		r.note(path, "read %s as %s", v.show(), w.show())
		return w
	case v.kind == text && s.types&text == 0:
		return r.text(s, v, path)
	}
	return v
}

// integer writes 3.0 as 3 where an integer is wanted.
func (r *repairer) integer(s *Schema, v value, path string) value {
	digits, ok := integer(string(v.raw))
	if !s.whole || !ok || digits == string(v.raw) {
		return v
	}
	r.note(path, "read %s as %s", v.show(), digits)
	return value{kind: number, raw: []byte(digits)}
}

// text reads a string as the value that was meant. A number must stand there
// exactly as JSON writes it: "007" and " 3" are left to the model.
func (r *repairer) text(s *Schema, v value, path string) value {
	t := decode(v.raw)
	first := byte(0)
	if trimmed := strings.TrimLeft(t, " \t\r\n"); trimmed != "" {
		first = trimmed[0]
	}
	var want kind
	switch {
	case first == '{':
		want = object
	case first == '[':
		want = array
	case t == "true" || t == "false":
		want = boolean
	case first == '-' || '0' <= first && first <= '9':
		want = number
	}
	if s.types&want == 0 || !r.budget.spend(len(t)/16, 0) {
		return v
	}
	w, err := parse([]byte(t))
	if err != nil || !s.takes(w) || want == number && string(w.raw) != t {
		return v
	}
	if want == number && s.whole {
		if digits, ok := integer(t); ok {
			w.raw = []byte(digits)
		}
	}
	if want == object || want == array {
		r.note(path, "read a string as the %s that it holds", want)
	} else {
		r.note(path, "read %s as %s", v.show(), w.show())
	}
	return w
}

// items repairs each item of an array.
func (r *repairer) items(s *Schema, v value, path string, depth int) value {
	if s.items == nil {
		return v
	}
	items := make([]value, len(v.items))
	for i, item := range v.items {
		items[i] = r.fix(s.items, item, path+"/"+strconv.Itoa(i), depth+1)
	}
	v.items = items
	return v
}

// members repairs each member, and leaves out a null that says "not given".
func (r *repairer) members(s *Schema, v value, path string, depth int) value {
	if !r.budget.spend(len(v.members)*len(s.properties)/16, depth) {
		return v
	}
	members := make([]member, 0, len(v.members))
	for _, m := range v.members {
		at := path + "/" + plain(escape(m.name))
		p, declared := s.property(m.name)
		if !declared {
			p = s.extra
		}
		if p != nil {
			if declared && m.value.kind == null && r.optional(s, m.name) && len(p.validate(m.value, r.budget, "", depth+1)) > 0 {
				r.note(at, "left out null")
				continue
			}
			m.value = r.fix(p, m.value, at, depth+1)
		}
		members = append(members, m)
	}
	v.members = members
	return v
}

func (r *repairer) optional(s *Schema, name string) bool {
	for _, n := range s.required {
		if n == name {
			return false
		}
	}
	return r.budget.spend(len(s.required)/16, 0)
}

// form repairs v towards the first form that it then has. A value that has one
// of the forms already is only touched up to that form.
func (r *repairer) form(forms []*Schema, v value, path string, depth int) value {
	for _, form := range forms {
		if len(form.validate(v, r.budget, path, depth+1)) == 0 {
			return r.fix(form, v, path, depth+1)
		}
	}
	for _, form := range forms {
		try := &repairer{budget: r.budget}
		w := try.fix(form, v, path, depth+1)
		if len(try.notes) > 0 && len(form.validate(w, r.budget, path, depth+1)) == 0 {
			r.notes = append(r.notes, try.notes...)
			return w
		}
	}
	return v
}
