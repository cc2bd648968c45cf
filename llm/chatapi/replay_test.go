package chatapi

import (
	"encoding/json"
	"testing"

	"alisio/llm"
)

func TestReplayKeepsWhatStandsBesideTheCalls(t *testing.T) {
	origin := llm.Origin{Provider: "p", API: API, Model: "m"}
	const whole = `{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"sig":1}},` +
		`{"id":"b","type":"function","function":{"name":"read.file","arguments":"{bad"},"extra_content":{"sig":2}}]}`
	a, b := llm.ToolCall{ID: "a", Name: "read", Arguments: "{}"}, llm.ToolCall{ID: "b", Name: "read.file", Arguments: `{"not_json":"{bad"}`}
	const head = `{"role":"assistant","content":"","reasoning_content":"hm"`
	const callA = `{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"sig":1}}`
	for name, c := range map[string]struct {
		data  string
		calls []llm.ToolCall
		want  string
	}{
		"as it was":       {head + `,"tool_calls":[` + callA + `]}`, []llm.ToolCall{a}, head + `,"tool_calls":[` + callA + `]}`},
		"one was damaged": {whole, []llm.ToolCall{a, b}, head + `,"tool_calls":[` + callA + `,{"id":"b","type":"function","function":{"name":"read_file","arguments":"{\"not_json\":\"{bad\"}"},"extra_content":{"sig":2}}]}`},
		"one was cut":     {whole, []llm.ToolCall{a}, head + `,"tool_calls":[` + callA + `]}`},
		"all were cut":    {whole, nil, head + `}`},
		"another id":      {head + `,"tool_calls":[` + callA + `]}`, []llm.ToolCall{{ID: "z", Name: "read", Arguments: "{}"}}, head + `,"tool_calls":[{"id":"z","type":"function","function":{"name":"read","arguments":"{}"}}]}`},
		"no message":      {`[1]`, []llm.ToolCall{a}, ``},
		"another role":    {`{"role":"user"}`, []llm.ToolCall{a}, ``},
	} {
		m := llm.Message{Role: llm.RoleAssistant, Calls: c.calls, Origin: origin, ProviderData: []json.RawMessage{json.RawMessage(c.data)}}
		got := string(replay(m, origin))
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
		if got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%s: no JSON: %s", name, got)
		}
		m.Origin.Model = "other"
		if replay(m, origin) != nil {
			t.Errorf("%s: it is replayed to another model", name)
		}
	}
}
