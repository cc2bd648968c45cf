package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func parseText(text string) (node, []error) {
	return parse(&source{file: "/c.json", data: []byte(text)})
}

// Symptom: a comment makes the parse fail and the reader returns an empty
// object. Trigger: settings with a comment and a trailing comma.
func TestC168CommentsAndTrailingCommas(t *testing.T) {
	c, _, err := load(t, "// note\n{ /* a */ \"provider\": { // b\r\n\"model\": \"m\", }, /* c **/ }\n// end")
	if err != nil || c.Provider.Model != "m" {
		t.Errorf("got %q, %v, want m", c.Provider.Model, err)
	}
}

// Symptom: trailing commas and comments are removed by a regular expression
// that also works inside strings. Trigger: strings that look like both.
func TestC169StringsKeepTheirBytes(t *testing.T) {
	n, errs := parseText(`{"cmd":"echo ,}","u":"http://h//p", /* c */ "x":[1,],}`)
	if errs != nil {
		t.Fatal(errs)
	}
	for name, want := range map[string]string{"cmd": `"echo ,}"`, "u": `"http://h//p"`, "x": "[1]"} {
		v, _ := n.get(name)
		if got := string(v.json()); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestOffsetsSpanExactlyTheValue(t *testing.T) {
	const text = "\xef\xbb\xbf{ /* é */ \"a\" : \"x\\\"y\" , \"b\":[ 1 , ], \"c\": {\"d\": -1.5e3}, \"e\":true}"
	n, errs := parseText(text)
	if errs != nil {
		t.Fatal(errs)
	}
	for key, want := range map[string]string{"a": `"x\"y"`, "b": "[ 1 , ]", "c": `{"d": -1.5e3}`, "c.d": "-1.5e3", "e": "true"} {
		v, ok := n.find(key)
		if got := text[v.start:v.end]; !ok || got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	deep := strings.Repeat("[", maxDepth)
	tests := []struct{ name, text, want string }{
		{"empty", "", `line 1: column 1: found the end of the file, expected "{"`},
		{"comments alone", "// x\n", `line 2: column 1: found the end of the file, expected "{"`},
		{"list", "[]", `line 1: column 1: found "[", expected "{"`},
		{"two values", "{}\n{}", `line 2: column 1: found "{", expected the end of the file`},
		{"lone comma", "{,}", `line 1: column 2: found ",", expected a key in double quotes or "}"`},
		{"two commas", `{"a":[1,,]}`, `line 1: column 9: found ",", expected a value`},
		{"no comma", "{\"é\":1\n \"b\":2}", `line 2: column 2: found "\"", expected "," or "}"`},
		{"column in characters", `{"é" 1}`, `line 1: column 6: found "1", expected ":"`},
		{"single quotes", "{'a':1}", `line 1: column 2: found "'", expected a key in double quotes or "}"`},
		{"open object", `{"a":1`, `line 1: column 7: found the end of the file, expected "," or "}"`},
		{"open string", `{"a":"x`, `line 1: column 6: found a string without an end`},
		{"escaped end", `{"a":"x\"`, `line 1: column 6: found a string without an end`},
		{"open comment", "{}\n/* *", `line 2: column 1: found a comment without an end`},
		{"slash comment", "/*/", `line 1: column 1: found a comment without an end`},
		{"lone slash", "{}/", `line 1: column 3: found "/", expected the end of the file`},
		{"newline in string", "{\"a\":\"x\ny\"}", `line 1: column 8: found a control character in a string, write it as \u000a`},
		{"unknown escape", `{"a":"\q"}`, `line 1: column 6: found a string with an unknown escape after \`},
		{"leading zero", `{"a":01}`, `line 1: column 6: found "01", expected a value`},
		{"letters behind a number", `{"a":[1, 2x]}`, `line 1: column 10: found "2x", expected a value`},
		{"half a number", `{"a":1e}`, `line 1: column 6: found "1e", expected a value`},
		{"half a word", `{"a":tru`, `line 1: column 6: found "tru", expected a value`},
		{"half an escape", `{"a":"\u12"}`, `line 1: column 6: found a string with an unknown escape after \`},
		{"key without a value", `{"a":/* , */}`, `line 1: column 13: found "}", expected a value`},
		{"key alone", `{"a":1,"b",}`, `line 1: column 12: found "}", expected ":"`},
		{"wrong bracket", `{"a":[1}`, `line 1: column 8: found "}", expected "," or "]"`},
		{"word", `{"a":True}`, `line 1: column 6: found "True", expected a value`},
		{"NaN", `{"a":NaN}`, `line 1: column 6: found "NaN", expected a value`},
		{"control", "{\"a\":\x1b[2J}", `line 1: column 6: found "\x1b", expected a value`},
		{"NUL", "{\x00}", `line 1: column 2: found "\x00", expected a key in double quotes or "}"`},
		{"no UTF-8", "{\n\"a\":\"\xff\"}", `line 2: found a byte that is no UTF-8`},
		{"UTF-16", "\xff\xfe{\x00", `line 1: found a byte that is no UTF-8`},
		{"too deep", `{"a":` + deep, `line 1: column 69: nested deeper than 64`},
		{"same key twice", "{\"a\":1,\n\"b\":2,\"\\u0061\":3}", `line 2: key "a" stands twice in one object`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, errs := parseText(tt.text)
			want := `read config "/c.json": ` + tt.want
			if len(errs) != 1 || errs[0].Error() != want {
				t.Errorf("got  %v\nwant %s", errs, want)
			}
		})
	}
	nested := `{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + "}"
	if _, errs := parseText(nested); errs != nil {
		t.Errorf("nested exactly as deep as allowed: got %v", errs)
	}
}

func TestDuplicatesDoNotHideTheRest(t *testing.T) {
	_, errs := parseText("{\"a\":1,\"a\":2,\n\"b\":{\"c\":1,\"c\":2},\n!}")
	if len(errs) != 3 {
		t.Errorf("got %d errors, want 3: %v", len(errs), errs)
	}
}

func TestMembersAreBounded(t *testing.T) {
	text := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%q:1,", fmt.Sprint(i))
		}
		return "{" + b.String() + "}"
	}
	if _, errs := parseText(text(maxMembers)); errs != nil {
		t.Errorf("%d keys: got %v", maxMembers, errs)
	}
	if _, errs := parseText(text(maxMembers + 1)); len(errs) != 1 || !strings.Contains(errs[0].Error(), "more than 4096 keys") {
		t.Errorf("%d keys: got %v", maxMembers+1, errs)
	}
	if _, errs := parseText("{" + strings.Repeat(`"a":1,`, maxMembers) + "}"); len(errs) != maxErrors+1 {
		t.Errorf("duplicates: got %d errors, want %d", len(errs), maxErrors+1)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}]}`, "{//\n}", `{"a":"\ud800"}`, "\xef\xbb\xbf{}", `{"a":"\`, "{/**/", `{"a":1e`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, errs := parseText(text)
		if valid := json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && utf8.ValidString(text); valid && errs != nil {
			for _, err := range errs {
				if m := err.Error(); !strings.Contains(m, "stands twice") && !strings.Contains(m, "nested deeper") {
					t.Errorf("%q is JSON, got %v", text, err)
				}
			}
		}
		if errs == nil {
			if out := n.json(); !json.Valid(out) {
				t.Errorf("%q became %q, which is no JSON", text, out)
			}
		}
		c := Default()
		check(n, &c, nil)
	})
}
