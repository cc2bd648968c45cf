package schema

import "strings"

// wants says what values the schema takes, for Problem.Expected.
func (s *Schema) wants() string { return s.wantsAt(0) }

// maxWants is how many alternatives a text names.
const maxWants = 12

// wantsAt goes a few levels into references and forms: a recursive schema
// would never end.
func (s *Schema) wantsAt(depth int) string {
	var words []string
	switch {
	case s.never:
		return "nothing here"
	case len(s.enum) > 0:
		for _, e := range s.enum[:min(len(s.enum), maxWants+1)] {
			words = append(words, e.show())
		}
		if len(words) == 1 {
			return words[0]
		}
		return "one of " + listed(words, ", ")
	case s.types != 0:
		for k := null; k <= object; k <<= 1 {
			switch {
			case s.types&k == 0:
			case k == number && s.whole:
				words = append(words, "integer")
			default:
				words = append(words, k.String())
			}
		}
		return strings.Join(words, " or ")
	case depth > 2:
		return "a fitting value"
	case s.ref != nil:
		return s.ref.wantsAt(depth + 1)
	}
	for _, form := range append(s.anyOf[:len(s.anyOf):len(s.anyOf)], s.oneOf...) {
		if len(words) <= maxWants {
			words = append(words, form.wantsAt(depth+1))
		}
	}
	if len(words) == 0 {
		return "a fitting value"
	}
	return clip(listed(words, " or "))
}

// wantsOf says what a missing property should be.
func (s *Schema) wantsOf(name string) string {
	if p, ok := s.property(name); ok {
		return p.wants()
	}
	return "a value"
}

// names says which properties exist.
func (s *Schema) names() string {
	if len(s.properties) == 0 {
		return "no properties"
	}
	var names []string
	for _, p := range s.properties {
		names = append(names, plain(p.name))
		if len(names) > maxWants {
			break
		}
	}
	return "one of " + listed(names, ", ")
}

// listed joins words, the first of them if they are many.
func listed(words []string, separator string) string {
	if len(words) > maxWants {
		words = append(words[:maxWants:maxWants], "…")
	}
	return strings.Join(words, separator)
}
