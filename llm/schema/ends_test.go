package schema

import (
	"fmt"
	"strings"
	"testing"
)

// Symptom: a run with an output schema asked twice and failed, whatever the answer.
// Trigger: a schema that leads back to itself, which no answer can fit.
func TestASchemaWithoutAnEndIsRefused(t *testing.T) {
	const back, inside = "found a reference that leads back to itself", "#: found that each value needs another one inside"
	for _, tt := range []struct{ name, schema, want string }{
		{"itself", `{"$ref":"#"}`, "#: " + back},
		{"each other", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "#/$defs/a: " + back},
		{"allOf itself", `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, "#: " + back},
		{"anyOf itself", `{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, "#: " + back},
		{"oneOf itself", `{"oneOf":[{"$ref":"#"},{"type":"string"}]}`, "#: " + back},
		{"in a property", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, "#/properties/a: " + back},
		{"in items", `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "#/$defs/a: " + back},
		{"below a draw", `{"$ref":"#/$defs/\u001b","$defs":{"\u001b":{"$ref":"#/$defs/\u001b"}}}`, `#/$defs/\x1b: ` + back},
		{"required", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`, inside},
		{"required of any name", `{"type":"object","required":["a"],"additionalProperties":{"$ref":"#"}}`, inside},
		{"required by another", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":1,"items":{"$ref":"#"}}}}`, inside},
		{"every form", `{"anyOf":[{"$ref":"#/$defs/a"},{"type":"array","minItems":2,"items":{"$ref":"#"}}],"$defs":{"a":{"type":"object","required":["b"],"properties":{"b":{"$ref":"#"}}}}}`, inside},
		{"a part of all", `{"allOf":[{"type":["object","array"],"minItems":1,"items":{"$ref":"#"},"required":["a"],"properties":{"a":{"$ref":"#"}}},{}]}`, inside},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile([]byte(tt.schema))
			if s != nil || err == nil || !strings.HasPrefix(err.Error(), "compile schema: "+tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// What some value fits is taken, however it refers to itself.
func TestARecursiveSchemaWithAnEndIsTaken(t *testing.T) {
	for _, tt := range []struct{ name, schema, value string }{
		{"optional", `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`},
		{"items", `{"type":"array","items":{"$ref":"#"}}`, `[[],[[]]]`},
		{"required, with another type", `{"type":["object","null"],"required":["a"],"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":null}}`},
		{"required, without a type", `{"required":["a"],"properties":{"a":{"$ref":"#"}}}`, `{"a":1}`},
		{"required, any other", `{"type":"object","required":["a"],"properties":{"b":{"$ref":"#"}}}`, `{"a":1}`},
		{"one form ends", `{"anyOf":[{"type":"integer"},{"type":"array","minItems":1,"items":{"$ref":"#"}}]}`, `[[3]]`},
		{"a list", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["next"],"properties":{"next":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/n"}]}}}}}`, `{"next":{"next":null}}`},
		{"the same target twice", `{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"string"}}}`, `"x"`},
		{"what nobody refers to", `{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := compile(t, tt.schema).Validate([]byte(tt.value)); got != nil {
				t.Errorf("%s: got %v", tt.value, got)
			}
		})
	}
	if s := compile(t, `{"type":"object","required":["a"],"properties":{"a":false}}`); s.Validate([]byte(`{"a":1}`)) == nil {
		t.Error("false took a value")
	}
}

// chain is a schema of n definitions, each of which refers to another.
func chain(n int, to func(i int) int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, to(i))
	}
	return `{"$defs":{` + b.String() + fmt.Sprintf(`"%d":{}},"allOf":[`, n) + `{"$ref":"#/$defs/0"}]}`
}

// The look for an end is bounded like the rest.
func TestALongChainIsFollowed(t *testing.T) {
	compile(t, chain(9000, func(i int) int { return i + 1 }))
	if _, err := Compile([]byte(chain(9000, func(i int) int { return (i + 1) % 9000 }))); err == nil || !strings.Contains(err.Error(), "leads back") {
		t.Errorf("a ring: got %v", err)
	}
}
