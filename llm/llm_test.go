package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestCauseOf(t *testing.T) {
	inner := Errorf(CauseQuota, "used up: %w", io.EOF)
	for _, c := range []struct {
		err  error
		want Cause
	}{
		{nil, ""},
		{inner, CauseQuota},
		{fmt.Errorf("run: %w", inner), CauseQuota},
		{errors.Join(errors.New("other"), inner), CauseQuota},
		{context.Canceled, CauseInternal},
	} {
		if got := CauseOf(c.err); got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}

func TestErrorKeepsWhatItWraps(t *testing.T) {
	e := Errorf(CauseServer, "read body: %w", io.ErrUnexpectedEOF)
	hinted := e.WithHint("try again")
	if e.Hint != "" || hinted.Hint != "try again" {
		t.Errorf("hints: %q and %q", e.Hint, hinted.Hint)
	}
	if !errors.Is(hinted, io.ErrUnexpectedEOF) || hinted.Error() != "read body: unexpected EOF" {
		t.Errorf("got %v", hinted)
	}
}

func TestShown(t *testing.T) {
	for _, c := range []struct {
		m    Message
		want string
	}{
		{Message{Role: RoleUser, Text: "all"}, "all"},
		{Message{Role: RoleUser, Text: "all", Display: "typed"}, "typed"},
		{Message{Role: RoleAssistant, Text: "all", Display: "typed"}, "all"},
		{Message{Role: RoleTool, Text: "x", Display: "typed", Parts: []Part{{Type: PartText, Text: "all"}}}, "all"},
	} {
		if got := c.m.Shown(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.m, got, c.want)
		}
	}
}

func TestPlainText(t *testing.T) {
	text := func(s string) Part { return Part{Type: PartText, Text: s} }
	picture, block := Part{Type: PartImage, Data: []byte("x")}, Part{Type: PartUI, Block: []byte(`{}`)}
	for _, c := range []struct {
		m    Message
		want string
	}{
		{Message{Role: RoleUser, Text: "hi", Parts: []Part{text("no")}}, "hi"},
		{Message{Role: RoleTool, Text: "no"}, ""},
		{Message{Role: RoleTool, Parts: []Part{text("a")}}, "a"},
		{Message{Role: RoleTool, Parts: []Part{picture, text("a"), block, text("b")}}, "a\nb"},
		{Message{Role: RoleTool, Parts: []Part{picture, block}}, ""},
	} {
		if got := c.m.PlainText(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.m, got, c.want)
		}
	}
}

func TestRedact(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"sk-12345678", "a sk-12345678 b sk-12345678", "a [redacted] b [redacted]"},
		{"", "nothing", "nothing"},
		{"the", "the word", "the word"},
	} {
		if got := Redact(c.text, c.key); got != c.want {
			t.Errorf("%q: got %q, want %q", c.key, got, c.want)
		}
	}
}

func TestMayBegin(t *testing.T) {
	const key = "abcabcabd"
	for text, want := range map[string]int{
		"": 0, "x": 0, "xa": 1, "xab": 2, "abcabcab": 8, "abcabcabc": 6, "abcabcabd": 0, "abcabcabca": 7,
	} {
		if got := MayBegin([]byte(text), key); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
	if got := MayBegin([]byte("ab"), "abc"); got != 0 {
		t.Errorf("a short key: got %d", got)
	}
}

func TestDecodeStrict(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"a":1}`: true, ` {"a":1} `: true, `{"a":1}}`: false, `{"a":1} {}`: false, `{"a":1}]`: false,
		`{"a":1} x`: false, `{"b":1}`: false, `{"a":`: false, ``: false,
	} {
		var v struct{ A int }
		if err := DecodeStrict([]byte(text), &v); (err == nil) != ok {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestUsageAdds(t *testing.T) {
	got := Usage{1, 2, 3, 4}.Add(Usage{10, 20, 30, 40})
	if want := (Usage{11, 22, 33, 44}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTakesEffort(t *testing.T) {
	if !(Model{}).TakesEffort("high") || (Model{Efforts: []string{"low"}}).TakesEffort("high") {
		t.Error("a model without declared levels takes any, one with them only these")
	}
}

// What one server made does not go to another of the same provider and model; an
// older program did not say which server it was.
func TestOriginServes(t *testing.T) {
	now := Origin{Provider: "p", API: "a", Model: "m", Server: "here:1"}
	for _, c := range []struct {
		made Origin
		want bool
	}{
		{now, true},
		{Origin{Provider: "p", API: "a", Model: "m"}, true},
		{Origin{Provider: "p", API: "a", Model: "m", Server: "there:1"}, false},
		{Origin{Provider: "p", API: "a", Model: "n", Server: "here:1"}, false},
		{Origin{Provider: "p", API: "b", Model: "m"}, false},
		{Origin{}, false},
	} {
		if got := c.made.Serves(now); got != c.want {
			t.Errorf("%+v: got %v", c.made, got)
		}
	}
}
