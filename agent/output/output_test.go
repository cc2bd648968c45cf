package output

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
)

func TestSchemasThatAreRefused(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                  "read output schema: line 1, column 1: unexpected end of JSON input",
		"{\n \"type\": \"é\" 5}":            "read output schema: line 2, column 14: invalid character '5' after object key:value pair",
		"\uFEFF[1]":                         "read output schema: compile schema: #: found array, expected an object or a boolean",
		`{"properties":{"a":{"type":"x"}}}`: `read output schema: compile schema: #/properties/a/type: found string "x", expected the name of a type`,
		"{\"title\":\"\xff\"}":              "read output schema: it is no valid UTF-8",
		`{"title":"` + strings.Repeat("x", maxSchema) + `"}`: "read output schema: it has 65 KiB, more than 64",
	} {
		o, err := New(json.RawMessage(raw))
		if err == nil || o != nil || err.Error() != want || llm.CauseOf(err) != llm.CauseBadRequest {
			t.Errorf("%.40q: got %v, %v\nwant %s", raw, o, err, want)
		}
	}
	if o, err := New(nil); o != nil || err != nil || o.Unchecked() != nil || o.Prompt("x") != "x" {
		t.Errorf("no schema: got %v, %v", o, err)
	}
	o, err := New(json.RawMessage(`{"not":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Unchecked(); !slices.Equal(got, []string{"#/not"}) {
		t.Errorf("unchecked: %q", got)
	}
}
