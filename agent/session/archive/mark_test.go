package archive

import (
	"testing"

	"alisio/db"
)

func TestTheMarkOfAnImportComesOffWhole(t *testing.T) {
	for _, tt := range []struct{ options, want string }{
		{"", ""}, {"{}", "{}"}, {"{ }", "{ }"}, {`{"readOnly":true}`, `{"readOnly":true}`}, {"{ \"a\" : [1] }", "{ \"a\" : [1] }"},
		// An export's own marks are none.
		{`{"imported":1}`, ""}, {`{"imported":1,"adopted":2}`, ""}, {`{"adopted":2}`, "{}"}, {`{"adopted":2,"a":1}`, `{"a":1}`},
		{`{"a":1,"\u0061dopted":2,"imported":null}`, `{"a":1}`}, {`{"imported":1 , "a":1}`, `{"a":1}`},
		{`{"imported":"x","a":1}`, `{"a":1}`},
	} {
		with, err := marked(tt.options, 1234)
		if err != nil || !(db.Session{Options: with}).Imported() || Adopted(with) {
			t.Errorf("%s: got %s, %v", tt.options, with, err)
		}
		if got := Unmark(with); got != tt.want {
			t.Errorf("%s: got %s back from %s, want %s", tt.options, got, with, tt.want)
		}
		here := Adopt(with, 5678)
		if got := Unmark(here); got != tt.want || !Adopted(here) || !(db.Session{Options: here}).Imported() {
			t.Errorf("%s, adopted: got %s back from %s, want %s", tt.options, got, here, tt.want)
		}
	}
	for _, options := range []string{"null", "[]", `"imported"`, "{", "{} {}"} {
		if got, err := marked(options, 1); err == nil {
			t.Errorf("%s: got %s", options, got)
		}
	}
}
