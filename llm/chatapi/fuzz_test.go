package chatapi

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"alisio/llm"
)

// Whatever a server sends, a sequence ends with one completed message or one
// error, and the message can be stored and sent back.
func FuzzStream(f *testing.F) {
	for _, c := range walked {
		f.Add("data: " + c.in + "\n\n" + stop)
	}
	for _, delta := range []string{
		`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{"}},{"id":"a","function":{"name":"x","arguments":{}}},{}]}`,
		`{"reasoning":"r","reasoning_details":[{"type":"t","text":"a","index":0},{"type":"t","signature":"s","index":0}]}`,
		`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"}]},{"type":"text","text":"x"}]}`,
		`{"content":"x","extra_content":{"a":[1]},"refusal":"no"}`,
	} {
		f.Add(`data: {"choices":[{"delta":` + delta + `,"finish_reason":"length"}],"usage":{"prompt_tokens":1}}` + "\n\ndata: [DONE]\n\n")
	}
	f.Add(`{"choices":[{"message":{"content":"x"}}]}`)
	f.Add("{\"choices\":[{\"message\":{\"content\":\"x\",\"extra_content\":{\"a\":\"\xff\"}}}]}")
	f.Add("event: error\ndata: boom\n\n")
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, body string) {
		c := client()
		c.endpoint.Limits.Grace = 1 << 40
		events, err := stream(c, strings.NewReader(body))
		if err != nil {
			message := err.Error()
			if llm.CauseOf(err) == llm.CauseInternal || !utf8.ValidString(message) || strings.ContainsFunc(message, unicode.IsControl) || len(message) > 3000 {
				t.Errorf("%q: got %s, %q", body, llm.CauseOf(err), message)
			}
			return
		}
		shown := ""
		for i, ev := range events {
			if (ev.Kind == llm.Completed) != (i == len(events)-1) {
				t.Fatalf("%q: got %+v", body, events)
			}
			if ev.Kind == llm.TextDelta {
				shown += ev.Text
			}
		}
		m := *events[len(events)-1].Message
		if m.Text != shown || !utf8.ValidString(m.Text) {
			t.Errorf("%q: text %q, shown %q", body, m.Text, shown)
		}
		history := []llm.Message{user("x"), m}
		for _, call := range m.Calls {
			history = append(history, result(call.ID, "r"))
		}
		next, err := c.body(llm.Request{Model: "m", Messages: history}, nil)
		if err != nil || !json.Valid(next) || !utf8.Valid(next) {
			t.Errorf("%q: next request %s, %v", body, next, err)
		}
	})
}
