package schema

import (
	"fmt"
	"strings"
	"testing"
)

func compile(t testing.TB, raw string) *Schema {
	t.Helper()
	s, err := Compile([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const editSchema = `{
	"type": "object",
	"description": "edits", "$schema": "x", "title": 7,
	"properties": {
		"path": {"type": "string", "minLength": 1, "default": "."},
		"edits": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/$defs/edit"}},
		"limit": {"type": "integer", "minimum": 1, "maximum": 100},
		"mode": {"enum": ["a", "b", 3, null]},
		"deep": {"type": ["object", "null"], "additionalProperties": {"type": "boolean"}}
	},
	"required": ["path", "edits"],
	"additionalProperties": false,
	"$defs": {"edit": {"type": "object", "required": ["newText"], "properties": {"newText": {"type": "string"}, "sub": {"$ref": "#/$defs/edit"}}}}
}`

func TestValidate(t *testing.T) {
	tests := []struct {
		name, schema, args string
		want               []string
	}{
		{"valid", editSchema, `{"path":"x","edits":[{"newText":""}],"limit":1,"mode":null,"deep":{"a":true}}`, nil},
		{"path of a nested value", editSchema, `{"path":"x","edits":[{"newText":3}]}`,
			[]string{"path: /edits/0/newText: found number 3, expected string"}},
		{"recursive reference", editSchema, `{"path":"x","edits":[{"newText":"","sub":{"newText":"","sub":{"newText":true}}}]}`,
			[]string{"path: /edits/0/sub/sub/newText: found boolean true, expected string"}},
		{"missing, then in the order of the arguments", editSchema, `{"limit":0,"x/y~":1,"path":""}`, []string{
			"path: /edits: found nothing, expected array",
			"path: /limit: found number 0, expected at least 1",
			"path: /x~1y~0: found a property that does not exist, expected one of path, edits, limit, mode, deep",
			"path: /path: found 0 characters, expected at least 1"}},
		{"enum", editSchema, `{"path":"x","edits":[{"newText":""}],"mode":"c"}`,
			[]string{`path: /mode: found string "c", expected one of "a", "b", 3, null`}},
		{"too few items", editSchema, `{"path":"x","edits":[]}`, []string{"path: /edits: found 0 items, expected at least 1"}},
		{"too many items", editSchema, `{"path":"x","edits":[{"newText":""},{"newText":""},{"newText":""}]}`,
			[]string{"path: /edits: found 3 items, expected at most 2"}},
		{"schema of other properties", editSchema, `{"path":"x","edits":[{"newText":""}],"deep":{"a":1}}`,
			[]string{"path: /deep/a: found number 1, expected boolean"}},
		{"the whole", editSchema, `[1]`, []string{"path: /: found array, expected object"}},
		{"cut off", editSchema, `{"path":"x`, []string{"path: /: found no JSON (unexpected end of JSON input), expected object"}},
		{"nothing", editSchema, ``, []string{"path: /: found no JSON (unexpected end of JSON input), expected object"}},
		{"names that draw", `{"additionalProperties":false}`, `{"\u001b[2J":1}`,
			[]string{`path: /\x1b[2J: found a property that does not exist, expected no properties`}},
		{"texts that draw", `{"type":"integer"}`, `"\u001b[2J\u202e"`,
			[]string{`path: /: found string "\x1b[2J\u202e", expected integer`}},
		{"last of two wins", `{"properties":{"a":{"type":"string"}}}`, `{"a":"x","b":1,"\u0061":2}`,
			[]string{"path: /a: found number 2, expected string"}},

		{"true", `true`, `1`, nil},
		{"false", `false`, `1`, []string{"path: /: found number 1, expected nothing here"}},
		{"const", `{"const":{"a":[1,2.0]}}`, `{"a":[1.0,2]}`, nil},
		{"const differs", `{"const":{"a":[1]}}`, `{"a":[2]}`, []string{"path: /: found object, expected object"}},
		{"integer as float", `{"type":"integer"}`, `3.0`, nil},
		{"exponent integer", `{"type":"integer"}`, `1.5e1`, nil},
		{"huge integer", `{"type":"integer"}`, `1e400`, nil},
		{"fraction", `{"type":"integer"}`, `3.5`, []string{"path: /: found number 3.5, expected integer"}},
		{"integer or number", `{"type":["integer","number"]}`, `3.5`, nil},
		{"several types", `{"type":["integer","null"]}`, `"x"`, []string{`path: /: found string "x", expected null or integer`}},
		{"exclusive", `{"exclusiveMinimum":1,"exclusiveMaximum":3}`, `1`, []string{"path: /: found number 1, expected more than 1"}},
		{"exclusive above", `{"exclusiveMinimum":1,"exclusiveMaximum":3}`, `3.0`, []string{"path: /: found number 3.0, expected less than 3"}},
		{"exclusive inside", `{"exclusiveMinimum":1,"exclusiveMaximum":3}`, `2.999`, nil},
		{"exclusive of draft 4", `{"minimum":1,"exclusiveMinimum":true}`, `1`, []string{"path: /: found number 1, expected more than 1"}},
		{"inclusive", `{"minimum":1,"maximum":1}`, `1.0`, nil},
		{"maximum", `{"maximum":-5}`, `-4`, []string{"path: /: found number -4, expected at most -5"}},
		{"large integers are exact", `{"maximum":9007199254740993}`, `9007199254740994`,
			[]string{"path: /: found number 9007199254740994, expected at most 9007199254740993"}},
		{"characters, not bytes", `{"maxLength":2,"minLength":2}`, `"éé"`, nil},
		{"maxLength", `{"maxLength":2}`, `"abc"`, []string{"path: /: found 3 characters, expected at most 2"}},
		{"pattern", `{"pattern":"^a+$"}`, `"b"`, []string{`path: /: found string "b", expected a match of the pattern ^a+$`}},
		{"pattern is not anchored", `{"pattern":"b"}`, `"abc"`, nil},
		{"pattern of another engine", `{"pattern":"(?=x)y"}`, `"z"`, nil},
		{"anyOf", `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `3`, nil},
		{"anyOf, none", `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `true`,
			[]string{"path: /: found boolean true, expected string or integer"}},
		{"anyOf, the form that was meant", `{"anyOf":[{"type":"null"},{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}]}`, `{"a":1}`,
			[]string{"path: /a: found number 1, expected string"}},
		{"anyOf of constants", `{"anyOf":[{"const":"a"},{"const":"b"}]}`, `"c"`, []string{`path: /: found string "c", expected "a" or "b"`}},
		{"oneOf", `{"oneOf":[{"type":"string"},{"type":"number"}]}`, `3`, nil},
		{"oneOf, two", `{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `3`,
			[]string{"path: /: found number 3, expected exactly one of the forms to fit, not 2"}},
		{"allOf", `{"allOf":[{"minimum":1},{"maximum":2}]}`, `3`, []string{"path: /: found number 3, expected at most 2"}},
		{"beside a reference", `{"$ref":"#/definitions/a~1b%20c","maxLength":1,"definitions":{"a/b c":{"type":"string"}}}`, `"xx"`,
			[]string{"path: /: found 2 characters, expected at most 1"}},
		{"keywords of other types", `{"minLength":9,"minItems":9,"required":["a"]}`, `1`, nil},
		{"patternProperties opens the object", `{"additionalProperties":false,"patternProperties":{"^x":{}}}`, `{"xa":1}`, nil},
		{"prefixItems opens the list", `{"items":false,"prefixItems":[{}]}`, `[1]`, nil},
		{"tuple of older drafts", `{"items":[{"type":"string"}]}`, `[1]`, nil},
		{"nullable of OpenAPI", `{"nullable":true,"type":"string"}`, `null`, nil},
		{"required of draft 3", `{"properties":{"a":{"required":true}}}`, `{}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range compile(t, tt.schema).Validate([]byte(tt.args)) {
				got = append(got, p.Error())
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"nothing", ``, "unexpected end"},
		{"no JSON", `{"type":`, "unexpected end"},
		{"a text", `"x"`, `#: found string "x", expected an object or a boolean`},
		{"unknown type", `{"type":"str\u001b"}`, `#/type: found string "str\x1b", expected the name of a type`},
		{"type of no kind", `{"type":{}}`, "#/type: found object"},
		{"no types", `{"type":[]}`, "#/type: found array"},
		{"number among types", `{"type":["string",1]}`, "#/type: found number 1"},
		{"enum", `{"enum":[]}`, "#/enum: found array, expected a list of values"},
		{"required", `{"required":"a"}`, "#/required"},
		{"required number", `{"required":[1]}`, "#/required: found number 1, expected a name"},
		{"properties", `{"properties":[]}`, "#/properties"},
		{"property", `{"properties":{"a/b":1}}`, "#/properties/a~1b: found number 1"},
		{"items", `{"items":1}`, "#/items"},
		{"negative size", `{"minItems":-1}`, "#/minItems: found number -1"},
		{"broken size", `{"maxLength":1.5}`, "#/maxLength: found number 1.5"},
		{"minimum", `{"minimum":"1"}`, "#/minimum"},
		{"pattern", `{"pattern":1}`, "#/pattern"},
		{"anyOf", `{"anyOf":[]}`, "#/anyOf"},
		{"anyOf item", `{"anyOf":[{},1]}`, "#/anyOf/1: found number 1"},
		{"foreign reference", `{"$ref":"http://evil/x"}`, "#/$ref: found string"},
		{"missing target", `{"$ref":"#/$defs/x"}`, "expected a place that exists"},
		{"target in no list", `{"$ref":"#/enum/-1","enum":[1]}`, "expected a place that exists"},
		{"target that is no schema", `{"$ref":"#/enum/0","enum":[1]}`, "#/enum/0: found number 1"},
		{"reference of no kind", `{"$ref":1}`, "#/$ref: found number 1"},
		{"deep", strings.Repeat(`{"items":`, 200) + "1" + strings.Repeat("}", 200), "nested deeper than 128"},
		{"very deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "depth"},
		{"large", `{"description":"` + strings.Repeat("x", maxSchema) + `"}`, "larger than"},
		{"many", `{"anyOf":[` + strings.Repeat("{},", maxSchemas) + `{}]}`, "more schemas"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile([]byte(tt.schema))
			if err == nil || s != nil || !strings.HasPrefix(err.Error(), "compile schema: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// Each of these asks for unbounded work; each must end with a problem.
func TestHostileSchemasEnd(t *testing.T) {
	doubling := `{"$defs":{`
	for i := range 60 {
		doubling += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	doubling += `"d60":{}},"$ref":"#/$defs/d0"}`
	tests := []struct{ name, schema, args string }{
		{"doubling", doubling, `{}`},
		{"long text", `{"enum":[` + strings.Repeat(`"a",`, 9999) + `"b"]}`, "\"\\t" + strings.Repeat("x", 1<<20) + `"`},
		{"many names", `{"required":["` + strings.Repeat(`","`, 9999) + `"]}`, `{"x":[` + strings.Repeat("{},", 9999) + `{}],` + manyMembers(30000) + `}`},
		{"costly pattern", `{"items":{"pattern":"(x?){900}y"}}`, `["` + strings.Repeat("x", 1<<20) + `"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, tt.schema)
			got := s.Validate([]byte(tt.args))
			if len(got) == 0 || !strings.Contains(got[0].Expected, "bounded time") {
				t.Errorf("got %v, want that it can not be checked", got)
			}
			if fixed, notes := s.Repair([]byte(tt.args)); string(fixed) != tt.args || notes != nil {
				t.Errorf("repaired with %q", notes)
			}
		})
	}
}

func manyMembers(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"m%d":1`, i))
	}
	return strings.Join(all, ",")
}

func TestPatternsShareABudget(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `{"pattern":"%s%d"},`, strings.Repeat("a{1000}", 100), i)
	}
	compile(t, `{"allOf":[`+b.String()+`{}]}`)
}

func TestProblemsAreBounded(t *testing.T) {
	s := compile(t, `{"type":"array","items":{"type":"string"}}`)
	got := s.Validate([]byte("[" + strings.Repeat("1,", 500) + "1]"))
	if len(got) != maxProblems || got[maxProblems-1].Path != "/19" {
		t.Errorf("got %d problems, want the first %d", len(got), maxProblems)
	}
}

func TestDeepArgumentsAndLongNumbersAreRefused(t *testing.T) {
	s := compile(t, `{}`)
	deep := strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2)
	if got := s.Validate([]byte(deep)); len(got) != 1 || !strings.Contains(got[0].Found, "nested deeper") {
		t.Errorf("got %v", got)
	}
	if got := s.Validate([]byte("1" + strings.Repeat("0", maxNumber))); len(got) != 1 || !strings.Contains(got[0].Found, "more than 1000 characters") {
		t.Errorf("long number: got %v", got)
	}
	fits := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if got := s.Validate([]byte(fits)); got != nil {
		t.Errorf("got %v, want none", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"1", "2", -1}, {"-1", "1", -1}, {"1", "-1", 1}, {"-2", "-1", -1}, {"-10", "-9", -1}, {"10", "9", 1},
		{"0", "-0", 0}, {"-0", "0", 0}, {"1", "1.0", 0}, {"1e400", "5", 1}, {"-1e400", "5", -1}, {"0.1", "0.2", -1},
		{"123456789012345678901234567890", "123456789012345678901234567891", -1},
	} {
		if got := compare(tt.a, tt.b); got != tt.want {
			t.Errorf("compare(%s, %s): got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	for in, want := range map[string]string{
		"3": "3", "3.0": "3", "-3.00": "-3", "3e2": "300", "3E+2": "300", "1.25e2": "125", "12.50e1": "125", "1500e-2": "15",
		"0.0": "0", "-0.0": "0", "0e5": "0", "1e29": "1" + strings.Repeat("0", 29), "100": "100",
		"3.5": "", "1e-1": "", "1.25e1": "", "1e31": "", "1e999999999999999999999": "", "1e-999999999": "", "0.001e2": "",
	} {
		if got, ok := integer(in); got != want || ok != (want != "") {
			t.Errorf("integer(%s): got %q, %v, want %q", in, got, ok, want)
		}
	}
}
