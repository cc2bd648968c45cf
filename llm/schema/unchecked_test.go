package schema

import (
	"slices"
	"strings"
	"testing"
)

func TestUnchecked(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		want         []string
	}{
		{"all is checked", editSchema, nil},
		{"annotations", `{"format":"date","title":"x","default":1,"examples":[1],"x-own":{"not":{}},"uniqueItems":false}`, nil},
		{"at the top", `{"not":{},"uniqueItems":true}`, []string{"#/not", "#/uniqueItems"}},
		{"deep down", `{"properties":{"a/b":{"items":{"multipleOf":2}}},"$defs":{"unused":{"not":{}}}}`, []string{"#/properties/a~1b/items/multipleOf"}},
		{"behind a reference", `{"$ref":"#/$defs/a","$defs":{"a":{"if":{}}}}`, []string{"#/$defs/a/if"}},
		{"an open object", `{"additionalProperties":false,"patternProperties":{"^x":{}}}`, []string{"#/patternProperties"}},
		{"tuples", `{"allOf":[{"items":[{}]},{"items":false,"prefixItems":[{}]}]}`, []string{"#/allOf/0/items", "#/allOf/1/items", "#/allOf/1/prefixItems"}},
		{"patterns of another engine", `{"pattern":"(?=x)y"}`, []string{"#/pattern"}},
		{"a pattern that is checked", `{"pattern":""}`, nil},
		{"names that draw", `{"properties":{"\u001b[2J":{"not":{}}}}`, []string{`#/properties/\x1b[2J/not`}},
	} {
		if got := compile(t, c.schema).Unchecked(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	many := `{"allOf":[` + strings.Repeat(`{"not":{}},`, 500) + `{}]}`
	if got := compile(t, many).Unchecked(); len(got) != maxProblems {
		t.Errorf("got %d places, want the first %d", len(got), maxProblems)
	}
}

func TestValidateStrict(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"items":{"type":"object"}}}}`)
	for _, c := range []struct{ text, want string }{
		{` {"a":1,"b":[{"a":1},{"a":1}]} `, ""},
		{`{"a":"x"}`, `path: /a: found string "x", expected integer`},
		{`{"a":1,"\u0061":1}`, `path: /: found an object with "a" twice, expected each name once`},
		{`{"b":[{},{"x\u001b":1,"y":2,"x\u001b":1}]}`, `path: /: found an object with "x\x1b" twice, expected each name once`},
		{`{"a":NaN}`, "path: /: found no JSON (invalid character 'N' looking for beginning of value), expected object"},
		{`{"a":1,}`, "path: /: found no JSON (invalid character '}' looking for beginning of object key string), expected object"},
		{`{"a":1} {}`, "path: /: found no JSON (invalid character '{' after top-level value), expected object"},
		{"{'a':1}", `path: /: found no JSON (invalid character '\'' looking for beginning of object key string), expected object`},
		{`{"a":1 /* one */}`, "path: /: found no JSON (invalid character '/' after object key:value pair), expected object"},
		{`{"a":01}`, "path: /: found no JSON (invalid character '1' after object key:value pair), expected object"},
		{"", "path: /: found no JSON (unexpected end of JSON input), expected object"},
		{strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), "path: /: found no JSON (nested deeper than 128), expected object"},
	} {
		got := ""
		if all := s.ValidateStrict([]byte(c.text)); len(all) > 0 {
			got = all[0].Error()
		}
		if got != c.want {
			t.Errorf("%.40s: got %s, want %s", c.text, got, c.want)
		}
	}
}
