package callid

import (
	"encoding/json"
	"strings"
	"testing"

	"alisio/llm"
)

// Only an id that nobody else has, and that everybody keeps as it is, stays; the provider's
// own form of the answer gets the new one, where it can be told from other text.
func TestClaim(t *testing.T) {
	for _, c := range []struct {
		name, id, data string
		used           bool
		stays, dropped bool
	}{
		{name: "a fresh one stays", id: "call_0", data: `{"id":"call_0"}`, stays: true},
		{name: "a used one goes", id: "dup", data: `{"id":"dup","x":"dup","call_id":"dup"}`, used: true},
		{name: "none", id: "", data: `{"id":""}`, dropped: true},
		{name: "with a quote", id: `a"b`, data: `{"id":"a\"b"}`, used: true, dropped: true},
		{name: "no UTF-8", id: "a\xffb", data: `{}`, dropped: true},
		{name: "too long", id: strings.Repeat("x", MaxChars+1), data: `{"id":"` + strings.Repeat("x", MaxChars+1) + `"}`},
	} {
		m := llm.Message{Calls: []llm.ToolCall{{ID: c.id}}, ProviderData: []json.RawMessage{json.RawMessage(c.data)}}
		used := map[string]bool{}
		if c.used {
			used[c.id] = true
		}
		Claim(&m, used)
		id := m.Calls[0].ID
		if (id == c.id) != c.stays || !Fits(id) || !used[id] {
			t.Errorf("%s: became %q", c.name, id)
		}
		want := strings.ReplaceAll(c.data, `id":"`+c.id+`"`, `id":"`+id+`"`)
		switch {
		case c.dropped && m.ProviderData != nil:
			t.Errorf("%s: kept %s", c.name, m.ProviderData)
		case !c.dropped && string(m.ProviderData[0]) != want:
			t.Errorf("%s: got %s, want %s", c.name, m.ProviderData[0], want)
		}
	}
}

// Two calls of one answer with one id: nothing tells them apart in the provider's data.
func TestTwoCallsOfOneID(t *testing.T) {
	m := llm.Message{Calls: []llm.ToolCall{{ID: "two"}, {ID: "two"}}, ProviderData: []json.RawMessage{json.RawMessage(`{"id":"two"}`)}}
	Claim(&m, map[string]bool{})
	if m.Calls[0].ID != "two" || m.Calls[1].ID == "two" || m.ProviderData != nil {
		t.Errorf("got %+v", m)
	}
}
