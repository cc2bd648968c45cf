package mend

import (
	"testing"

	"alisio/llm"
)

func call(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "read_file"})
	}
	return m
}

func result(id string) llm.Message { return llm.Message{Role: llm.RoleTool, CallID: id} }

// What is filled is intact, whatever was broken; what was intact stays as it is.
func TestFilledIsIntact(t *testing.T) {
	user := llm.Message{Role: llm.RoleUser, Text: "x"}
	for name, c := range map[string]struct {
		messages []llm.Message
		intact   bool
		gaps     int
	}{
		"empty":                {nil, true, 0},
		"paired":               {[]llm.Message{user, call("a", "b"), result("b"), result("a"), user}, true, 0},
		"no result at the end": {[]llm.Message{user, call("a", "b"), result("a")}, false, 1},
		"no result within":     {[]llm.Message{call("a"), user}, false, 1},
		"no call":              {[]llm.Message{user, result("a"), user}, false, 0},
		"no id":                {[]llm.Message{call(""), result("")}, false, 0},
		"one id twice":         {[]llm.Message{call("a", "a"), result("a")}, false, 1},
		"an id used before":    {[]llm.Message{call("a"), result("a"), call("a")}, false, 1},
	} {
		if got := Intact(c.messages); got != c.intact {
			t.Errorf("%s: intact %v", name, got)
		}
		h := New(c.messages)
		if len(h.Gaps) != c.gaps {
			t.Errorf("%s: gaps %+v", name, h.Gaps)
		}
		var results []llm.Message
		for _, g := range h.Gaps {
			results = append(results, result(g.Call.ID))
		}
		if filled := h.Filled(results); !Intact(filled) || c.intact && len(filled) != len(c.messages) {
			t.Errorf("%s: filled %+v", name, filled)
		}
	}
}
