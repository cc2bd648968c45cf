package schema

import (
	"bytes"
	"strings"
	"testing"
)

func TestRepair(t *testing.T) {
	const readSchema = `{"type":"object","required":["path","note"],"properties":{
		"path":{"type":"string"}, "note":{"type":["string","null"]},
		"startLine":{"type":"integer"}, "ratio":{"type":"number"}, "all":{"type":"boolean"},
		"edits":{"type":"array","items":{"$ref":"#/$defs/e"}}, "opt":{"$ref":"#/$defs/e"},
		"id":{"anyOf":[{"type":"integer"},{"type":"null"}]}, "any":{}, "mixed":{"type":["string","integer"]}
	},"$defs":{"e":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}}}`
	tests := []struct {
		name, args, want string
		notes            []string
	}{
		{"number", `{"startLine":"3"}`, `{"startLine":3}`, []string{`startLine: read "3" as 3`}},
		{"negative", `{"ratio":"-0.50"}`, `{"ratio":-0.50}`, []string{`ratio: read "-0.50" as -0.50`}},
		{"many digits", `{"startLine":"123456789012345678901"}`, `{"startLine":123456789012345678901}`,
			[]string{`startLine: read "123456789012345678901" as 123456789012345678901`}},
		{"boolean", `{"all":"true"}`, `{"all":true}`, []string{`all: read "true" as true`}},
		{"string", `{"path":1.10}`, `{"path":"1.10"}`, []string{`path: read 1.10 as "1.10"`}},
		{"float", `{"startLine":3.0}`, `{"startLine":3}`, []string{"startLine: read 3.0 as 3"}},
		{"float in a string", `{"startLine":"3.0"}`, `{"startLine":3}`, []string{`startLine: read "3.0" as 3`}},
		{"list in a string", `{"edits":"[{\"n\":\"1\"}]"}`, `{"edits":[{"n":1}]}`,
			[]string{"edits: read a string as the array that it holds", `edits/0/n: read "1" as 1`}},
		{"object in a string behind a reference", `{"opt":" {\"s\": \"\\u0041\" }"}`, `{"opt":{"s":"\u0041"}}`,
			[]string{"opt: read a string as the object that it holds"}},
		{"all in a string", `"{\"startLine\":\"3\"}"`, `{"startLine":3}`,
			[]string{"arguments: read a string as the object that it holds", `startLine: read "3" as 3`}},
		{"null", `{"path":"x","startLine":null}`, `{"path":"x"}`, []string{"startLine: left out null"}},
		{"anyOf", `{"id":"7"}`, `{"id":7}`, []string{`id: read "7" as 7`}},
		{"the rest stays as written", `{"any":"<\u003c\/\ud800>", "big":12345678901234567890.10, "startLine":"3"}`,
			`{"any":"<\u003c\/\ud800>","big":12345678901234567890.10,"startLine":3}`, []string{`startLine: read "3" as 3`}},
	}
	s := compile(t, readSchema)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.args)
			got, notes := s.Repair(in)
			if string(got) != tt.want || strings.Join(notes, "|") != strings.Join(tt.notes, "|") {
				t.Errorf("got %s with %q\nwant %s with %q", got, notes, tt.want, tt.notes)
			}
			if string(in) != tt.args {
				t.Errorf("the input became %s", in)
			}
		})
	}
	for name, args := range map[string]string{
		"nothing wrong":            ` { "path" : "3", "note": null, "startLine" : 3 } `,
		"number with a space":      `{"startLine":" 3"}`,
		"hexadecimal":              `{"startLine":"0x10"}`,
		"fraction for an integer":  `{"startLine":"3.5"}`,
		"words":                    `{"startLine":"three","all":"yes"}`,
		"boolean for a string":     `{"path":true}`,
		"object for a string":      `{"path":{"a":1}}`,
		"other JSON in a string":   `{"edits":"{\"a\":1}"}`,
		"broken JSON in a string":  `{"edits":"[1"}`,
		"two values in a string":   `{"edits":"[] []"}`,
		"string is one of several": `{"mixed":"3"}`,
		"null that must be there":  `{"path":null}`,
		"null that may be":         `{"note":null,"id":null,"any":null}`,
		"null of no property":      `{"other":null}`,
		"empty string":             `{"startLine":""}`,
		"no JSON":                  `{"startLine":"3"`,
		"nothing":                  ``,
	} {
		t.Run(name, func(t *testing.T) {
			if got, notes := s.Repair([]byte(args)); string(got) != args || notes != nil {
				t.Errorf("got %s with %q, want it unchanged", got, notes)
			}
		})
	}
}

func TestRepairPicksTheFormThatThenFits(t *testing.T) {
	s := compile(t, `{"oneOf":[
		{"type":"object","required":["kind","n"],"properties":{"kind":{"const":"num"},"n":{"type":"integer"}}},
		{"type":"object","required":["kind","n"],"properties":{"kind":{"const":"flag"},"n":{"type":"boolean"}}}]}`)
	got, notes := s.Repair([]byte(`{"kind":"flag","n":"true"}`))
	if want := `{"kind":"flag","n":true}`; string(got) != want || len(notes) != 1 {
		t.Errorf("got %s with %q, want %s", got, notes, want)
	}
	const hopeless = `{"kind":"num","n":"true"}`
	if got, notes := s.Repair([]byte(hopeless)); string(got) != hopeless || notes != nil {
		t.Errorf("got %s with %q, want it unchanged", got, notes)
	}
}

func TestNotesAreBounded(t *testing.T) {
	s := compile(t, `{"items":{"type":"integer"}}`)
	got, notes := s.Repair([]byte("[" + strings.Repeat(`"1",`, 99) + `"1"]`))
	if len(notes) != maxNotes+1 || notes[maxNotes] != "80 more repairs" {
		t.Errorf("got %d notes, the last %q", len(notes), notes[len(notes)-1])
	}
	if string(got) != "["+strings.Repeat("1,", 99)+"1]" {
		t.Errorf("got %s", got)
	}
}

// FuzzArguments holds whatever the schema and the arguments: nothing panics,
// valid arguments stay valid, unchanged ones keep their bytes, and no problem
// draws on a terminal.
func FuzzArguments(f *testing.F) {
	f.Add(editSchema, `{"path":1,"edits":"[{\"newText\":3}]","limit":"7","deep":null}`)
	f.Add(`{"anyOf":[{"type":"integer"},{"items":{"$ref":"#"}}]}`, `["3"]`)
	f.Add(`{"type":["object","array"],"items":{"type":"boolean"}}`, `"[\"true\"]"`)
	f.Add(`{"oneOf":[{"const":1.0},{"minimum":-1e9,"type":"integer"}]}`, `1e0`)
	f.Add(`{"allOf":[{"type":"string"},{"type":"integer"}]}`, `"1"`)
	f.Add(`{"pattern":"^\\p{L}+$","maxLength":3}`, "\"\xff\"")
	f.Fuzz(func(t *testing.T, raw, args string) {
		s, err := Compile([]byte(raw))
		if err != nil {
			return
		}
		problems := s.Validate([]byte(args))
		fixed, notes := s.Repair([]byte(args))
		if len(notes) == 0 && !bytes.Equal(fixed, []byte(args)) {
			t.Fatalf("%s: %s became %s without a note", raw, args, fixed)
		}
		if after := s.Validate(fixed); len(problems) == 0 && len(after) > 0 {
			t.Fatalf("%s: valid %s became %s: %v", raw, args, fixed, after)
		}
		for _, p := range problems {
			if strings.ContainsAny(p.Error(), "\x1b\n\u202e") {
				t.Fatalf("%s: %s: problem draws: %q", raw, args, p.Error())
			}
		}
	})
}

func BenchmarkArguments(b *testing.B) {
	s := compile(b, editSchema)
	args := []byte(`{"path":"a/b.go","edits":[{"newText":"` + strings.Repeat(`line\n`, 2000) + `"}],"limit":10}`)
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		if _, notes := s.Repair(args); notes != nil {
			b.Fatal(notes)
		}
		if p := s.Validate(args); p != nil {
			b.Fatal(p)
		}
	}
}
