package schema

// Unchecked lists, as pointers and safe to print, keywords that can refuse a
// value and are not checked here: at most twenty.
func (s *Schema) Unchecked() []string { return s.unchecked }

// leave notes a keyword that is not enforced.
func (c *compiler) leave(at string) {
	if len(c.unchecked) < maxProblems {
		c.unchecked = append(c.unchecked, plain(at))
	}
}

// asserts reports whether a keyword that is not known here can refuse a value.
// The others describe it, or mean nothing without one of these.
func asserts(m member) bool {
	switch m.name {
	case "not", "if", "patternProperties", "propertyNames", "minProperties", "maxProperties",
		"dependencies", "dependentRequired", "dependentSchemas", "prefixItems", "contains",
		"unevaluatedItems", "unevaluatedProperties", "multipleOf", "$dynamicRef", "$recursiveRef":
		return true
	case "uniqueItems":
		return string(m.value.raw) == "true"
	}
	return false
}
