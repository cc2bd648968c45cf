// Package schema checks the arguments of tool calls, and answers that must have a
// form, against a subset of JSON Schema. It repairs of arguments what can be
// repaired without losing anything.
//
// The subset: type, enum, const, required, properties, additionalProperties,
// items, the minimum and maximum keywords of numbers, strings and arrays,
// pattern, anyOf, oneOf, allOf and local $ref. Other keywords are ignored; one
// that would make a neighbour stricter than it was meant (patternProperties,
// prefixItems) switches that neighbour off. Unchecked tells of them.
//
// Schemas come from foreign servers and arguments from models: sizes, depths
// and steps are bounded, a recursive schema ends or is refused, nothing is fetched.
// It checks form alone and never allows a call.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	// never is the schema false.
	never bool
	// types is a set of kinds, zero for all; whole asks numbers to be integers.
	types kind
	whole bool

	enum []value

	required   []string
	properties []property
	// extra is the schema of other properties, nil for any.
	extra *Schema

	items *Schema
	// minItems and the like are -1 when unset.
	minItems, maxItems   int
	minLength, maxLength int

	bounds  []bound
	pattern *regexp.Regexp
	// size is the number of instructions of pattern.
	size int

	anyOf, oneOf, allOf []*Schema
	// ref is what $ref points to; it may lead back here.
	ref *Schema

	// unchecked is set in the root alone.
	unchecked []string
}

type property struct {
	name   string
	schema *Schema
}

// bound is one of minimum, maximum and their exclusive forms.
type bound struct {
	limit string
	// order is what compare(number, limit) may not be: -1 below, 1 above.
	order     int
	exclusive bool
}

// Bounds of a schema.
const (
	maxSchema  = 512 << 10 // bytes
	maxSchemas = 20000     // compiled schemas in one
	maxPattern = 1 << 10   // bytes of one pattern
	maxProgram = 100_000   // instructions of all patterns together
)

// Compile reads a schema. The error names the keyword and its place.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("compile schema: larger than %d bytes", maxSchema)
	}
	root, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	c := &compiler{root: root, refs: map[string]*Schema{}}
	s, err := c.compile(root, "#")
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	if err := c.endless(s); err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	s.unchecked = c.unchecked
	return s, nil
}

// property returns the schema of a declared property.
func (s *Schema) property(name string) (*Schema, bool) {
	for _, p := range s.properties {
		if p.name == name {
			return p.schema, true
		}
	}
	return nil, false
}

var errSchemas = errors.New("more schemas in one than allowed")
