package chatapi

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"alisio/llm"
	"alisio/llm/wire"
)

func user(s string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: s} }

func said(s string, calls ...llm.ToolCall) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Text: s, Calls: calls}
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: args}
}

func result(id, s string) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: id, Parts: []llm.Part{{Type: llm.PartText, Text: s}}}
}

// build returns the body of a request, checked to be JSON.
func build(t *testing.T, cfg Config, req llm.Request) string {
	t.Helper()
	cfg.ID = "test"
	b, err := New(cfg).body(req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) || !utf8.Valid(b) {
		t.Fatalf("the body is no JSON: %s", b)
	}
	return string(b)
}

func TestBody(t *testing.T) {
	req := llm.Request{
		Model: "m", Instructions: "Be \"brief\"", Effort: "low", MaxOutputTokens: 99, SessionID: "s",
		Tools:    []llm.Tool{{Name: "b", Description: "B"}, {Name: "a", Description: "A", Schema: json.RawMessage(` {"type":"object"} `)}},
		Messages: []llm.Message{user("hi"), said("", call("c1", "a", "")), result("c1", "ok\n"), said("done")},
	}
	want := `{"model":"m","stream":true,"tools":[` +
		`{"type":"function","function":{"name":"a","description":"A","parameters":{"type":"object"}}},` +
		`{"type":"function","function":{"name":"b","description":"B","parameters":{"type":"object","properties":{}}}}],` +
		`"messages":[{"role":"system","content":"Be \"brief\""},{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"ok\n"},{"role":"assistant","content":"done"}],"stream_options":{"include_usage":true},"reasoning_effort":"low","max_completion_tokens":99}`
	if got := build(t, Config{StreamUsage: true, TokenParameter: "max_completion_tokens"}, req); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := build(t, Config{TokenParameter: "omit"}, llm.Request{Model: "m", MaxOutputTokens: 9}), `{"model":"m","stream":true,"messages":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := build(t, Config{}, llm.Request{Model: "m", MaxOutputTokens: 9}); !strings.HasSuffix(got, `"max_tokens":9}`) {
		t.Errorf("got %s, want max_tokens last", got)
	}
}

// What a person adds stands before everything that grows, and replaces nothing.
func TestExtraBody(t *testing.T) {
	cfg := Config{StreamUsage: true, ExtraBody: json.RawMessage(`{"top_k": 5, "Stream":false, "max_tokens":1, "reasoning_effort":"max", "messages":[], "stream_options":null}`)}
	req := llm.Request{Model: "m", Effort: "low", MaxOutputTokens: 9, Messages: []llm.Message{user("hi")}}
	const head, usage = `{"model":"m","stream":true`, `,"stream_options":{"include_usage":true}`
	if got, want := build(t, cfg, req), head+`,"top_k":5,"messages":[{"role":"user","content":"hi"}]`+usage+`,"reasoning_effort":"low","max_tokens":9}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	req.Effort, req.MaxOutputTokens = "", 0
	if got, want := build(t, cfg, req), head+`,"top_k":5,"max_tokens":1,"reasoning_effort":"max","messages":[{"role":"user","content":"hi"}]`+usage+`}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A field that the server refused does not come back, and stood behind the messages: a
	// new process learns of it by asking.
	if got, err := New(cfg).body(req, wire.Names{"stream_options"}); err != nil || string(got) != head+`,"top_k":5,"max_tokens":1,"reasoning_effort":"max","messages":[{"role":"user","content":"hi"}]}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := New(Config{ExtraBody: json.RawMessage(`[1]`)}).body(req, nil); llm.CauseOf(err) != llm.CauseBadRequest {
		t.Errorf("a list: got %v", err)
	}
}

// The bytes up to the last stored message are those of the request before.
func TestStablePrefix(t *testing.T) {
	req := llm.Request{Model: "m", Instructions: "i", MaxOutputTokens: 9,
		Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}}}
	reasoned := said("", call("c3", "x", "{}"))
	reasoned.Origin = llm.Origin{Provider: "test", API: API, Model: "m"}
	reasoned.ProviderData = []json.RawMessage{json.RawMessage(`{"role":"assistant","content":"","reasoning":"r","tool_calls":[{"id":"c3","type":"function","function":{"name":"x","arguments":"{}"}}]}`)}
	image := result("c2", "")
	image.Parts = append(image.Parts, llm.Part{Type: llm.PartImage, MIMEType: "image/png", Data: []byte("P")})
	messages := []llm.Message{told("zero"), user("one"), said("", call("c1", "x", "{}"), call("c2", "y", "{}")), result("c1", "r"), image,
		said("two"), user("three"), told("more"), reasoned, result("c3", "r"), told("else"), user("failed"), user("four"), told("x"), said("five")}
	before := ""
	for n := 1; n <= len(messages); n++ {
		req.Messages = messages[:n]
		b, err := New(Config{ID: "test", ExtraBody: json.RawMessage(`{"top_k":5}`)}).body(req, nil)
		if err != nil {
			continue // a call without its result is never sent
		}
		if n < len(messages) && (messages[n-1].Context != "" && n == 1 || messages[n].Context != "" && messages[n-1].Role == llm.RoleUser) {
			continue // they are stored, and sent, together
		}
		req.MaxOutputTokens *= 2
		if !strings.HasPrefix(string(b), before) {
			t.Errorf("with %d messages: got\n%s\nwant the prefix\n%s", n, b, before)
		}
		before = string(b[:strings.LastIndex(string(b), `],"max_tokens"`)])
	}
}

func told(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Text: text, Context: "a/b"}
}

// Symptom: a model's template answers 500, "conversation roles must alternate".
// Trigger: context beside the prompt. What was sent before stays byte for byte.
func TestContextGoesWithThePromptAndOpensNothingAgain(t *testing.T) {
	picture := user("look")
	picture.Attachments = []llm.Attachment{{MIMEType: "image/png", Data: []byte{1, 2, 3}}}
	const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}}`
	for name, tt := range map[string]struct {
		messages []llm.Message
		want     string
	}{
		"a session's start": {[]llm.Message{told("c1"), told("c2"), user("p"), told("c3")},
			`[{"role":"user","content":"c1\n\nc2\n\np\n\nc3"}]`},
		"with an image": {[]llm.Message{told("c1"), picture, told("c2")},
			`[{"role":"user","content":[{"type":"text","text":"c1"},{"type":"text","text":"look"},` + image + `,{"type":"text","text":"c2"}]}]`},
		"a prompt after a failed one": {[]llm.Message{told("c1"), user("p"), user("q"), told("c2"), user("r")},
			`[{"role":"user","content":"c1\n\np"},{"role":"user","content":"q\n\nc2"},{"role":"user","content":"r"}]`},
		"between turns": {[]llm.Message{user("p"), said("", call("1", "x", "{}")), result("1", "r"), told("c1"), told("c2"), user("q"), said("a"), told("c3")},
			`{"role":"tool","tool_call_id":"1","content":"r"},{"role":"user","content":"c1\n\nc2"},{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"c3"}]`},
	} {
		if got := build(t, Config{}, llm.Request{Messages: tt.messages}); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestImages(t *testing.T) {
	ask := user("look")
	ask.Attachments = []llm.Attachment{{MIMEType: "image/png", Data: []byte{1, 2, 3}}, {MIMEType: "image/jpeg", Data: []byte{4}}}
	mute := user("")
	mute.Attachments = ask.Attachments[1:]
	shot := result("c1", "")
	shot.Parts = []llm.Part{{Type: llm.PartImage, MIMEType: "image/png", Data: []byte{9}}, {Type: llm.PartUI, Block: json.RawMessage(`{"kind":"x"}`)}}
	got := build(t, Config{}, llm.Request{Messages: []llm.Message{ask, mute, said("", call("c1", "shot", "{}"), call("c2", "read", "{}")), shot, result("c2", "r")}})
	for _, want := range []string{
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,BA=="}}]}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,BA=="}}]}`,
		// The image follows behind all results of the batch.
		`{"role":"tool","tool_call_id":"c1","content":"The result is an image; it follows in the next message."},{"role":"tool","tool_call_id":"c2","content":"r"},` +
			`{"role":"user","content":[{"type":"text","text":"Image from the result of call c1 (shot):"},{"type":"image_url","image_url":{"url":"data:image/png;base64,CQ=="}}]}]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant one with\n%s", got, want)
		}
	}
	if strings.Contains(got, "kind") {
		t.Error("a display block was sent")
	}
}

// Symptom: the repair handles calls without results only; a result without its
// call is resent for ever. Trigger: broken pairs in both directions.
func TestC051PairingBothWays(t *testing.T) {
	one, two := call("c1", "x", "{}"), call("c2", "x", "{}")
	cases := []struct {
		name     string
		messages []llm.Message
		want     string // "" for a valid history
	}{
		{"results in another order", []llm.Message{said("", one, two), result("c2", ""), result("c1", ""), user("x")}, ""},
		{"no result at the end", []llm.Message{said("", one)}, `call "c1" has no result`},
		{"no result before the user", []llm.Message{said("", one, two), result("c1", ""), user("x")}, `call "c2" before it has no result`},
		{"no result before the assistant", []llm.Message{said("", one), said("y")}, `call "c1" before it has no result`},
		{"result without call", []llm.Message{user("x"), result("c1", "")}, `the result of "c1" has no open call`},
		{"result twice", []llm.Message{said("", one), result("c1", ""), result("c1", "")}, `the result of "c1" has no open call`},
		{"id twice", []llm.Message{said("", one, one)}, `call id "c1" is empty or used twice`},
		{"no id", []llm.Message{said("", call("", "x", "{}"))}, `call id "" is empty or used twice`},
		{"unknown role", []llm.Message{{Role: "system", Text: "x"}}, `unknown role "system"`},
	}
	for _, c := range cases {
		_, err := New(Config{}).body(llm.Request{Messages: c.messages}, nil)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) || llm.CauseOf(err) != llm.CauseInternal {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := New(Config{}).body(llm.Request{Tools: []llm.Tool{{Name: "x", Schema: json.RawMessage(`[]`)}}}, nil); llm.CauseOf(err) != llm.CauseInternal {
		t.Errorf("schema that is no object: got %v", err)
	}
}

// Symptom: bad replayed arguments come back as HTTP 500 for ever. Trigger:
// arguments in the history that are no JSON object, also in provider data.
func TestC048NoInvalidArgumentsInHistory(t *testing.T) {
	for _, args := range []string{"", " ", `{"path":"a","content":"xx`, "null", "[1]", `"x"`, "{} {}"} {
		m := said("", call("c1", "x", args))
		m.Origin = llm.Origin{Provider: "test", API: API, Model: "m"}
		m.ProviderData = []json.RawMessage{json.RawMessage(`{"role":"assistant","content":"","reasoning":"r","tool_calls":[{"id":"c1","type":"function","function":{"name":"x","arguments":` + string(wire.AppendString(nil, args)) + `}}]}`)}
		got := build(t, Config{}, llm.Request{Model: "m", Messages: []llm.Message{m, result("c1", "not valid")}})
		if want := `"tool_calls":[{"id":"c1","type":"function","function":{"name":"x","arguments":"{}"}}]`; !strings.Contains(got, want) {
			t.Errorf("arguments %q: got %s, want one with %s", args, got, want)
		}
	}
}

func TestNamesInHistory(t *testing.T) {
	for in, want := range map[string]string{"": "unknown", "mcp.read file": "mcp_read_file", "ok-1_A": "ok-1_A", "ü": "_", strings.Repeat("n", 80): strings.Repeat("n", 64)} {
		if got := wire.CallName(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestReplay(t *testing.T) {
	raw := json.RawMessage(`{"role":"assistant","content":"x","reasoning":"r","tool_calls":[{"id":"c1","function":{"name":"x","arguments":"{}"}}]}`)
	m := said("x", call("c1", "x", "{}"))
	m.Origin = llm.Origin{Provider: "test", API: API, Model: "m"}
	m.ProviderData = []json.RawMessage{raw}
	rebuilt := `{"role":"assistant","content":"x","tool_calls":[{"id":"c1","type":"function","function":{"name":"x","arguments":"{}"}}]}`
	cases := []struct {
		name   string
		change func(m *llm.Message)
		model  string
		want   string
	}{
		{"same origin", func(*llm.Message) {}, "m", string(raw)},
		{"other model", func(*llm.Message) {}, "m2", rebuilt},
		{"other protocol", func(m *llm.Message) { m.Origin.API = "responses" }, "m", rebuilt},
		{"other provider", func(m *llm.Message) { m.Origin.Provider = "p" }, "m", rebuilt},
		{"calls dropped since", func(m *llm.Message) { m.Calls = nil }, "m", `{"role":"assistant","content":"x","reasoning":"r"}`},
		{"id replaced since", func(m *llm.Message) { m.Calls = []llm.ToolCall{call("new", "x", "{}")} }, "m",
			`{"role":"assistant","content":"x","reasoning":"r","tool_calls":[{"id":"new","type":"function","function":{"name":"x","arguments":"{}"}}]}`},
		{"several items", func(m *llm.Message) { m.ProviderData = []json.RawMessage{raw, raw} }, "m", rebuilt},
		{"no JSON", func(m *llm.Message) { m.ProviderData = []json.RawMessage{json.RawMessage(`{`)} }, "m", rebuilt},
		{"other role", func(m *llm.Message) { m.ProviderData = []json.RawMessage{json.RawMessage(`{"role":"user"}`)} }, "m", rebuilt},
	}
	for _, c := range cases {
		m := m
		c.change(&m)
		messages := []llm.Message{m}
		for _, call := range m.Calls {
			messages = append(messages, result(call.ID, "r"))
		}
		if got := build(t, Config{}, llm.Request{Model: c.model, Messages: messages}); !strings.Contains(got, `"messages":[`+c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestForeignIDs(t *testing.T) {
	long := "toolu_" + strings.Repeat("x", 60)
	m := said("", call(long, "x", "{}"))
	m.Origin.Provider = "other"
	req := llm.Request{Messages: []llm.Message{m, result(long, "r")}}
	got := build(t, Config{}, req)
	if strings.Contains(got, long) || strings.Count(got, wire.ShortID(long, maxID)) != 2 || got != build(t, Config{}, req) {
		t.Errorf("got %s, want one short id in both messages, the same each time", got)
	}
	m.Origin.Provider = "test"
	req.Messages[0] = m
	if got := build(t, Config{}, req); strings.Count(got, long) != 2 {
		t.Errorf("own ids go back as they came: got %s", got)
	}
}

func TestEmptyAssistantIsDropped(t *testing.T) {
	if got := build(t, Config{}, llm.Request{Messages: []llm.Message{user("a"), said(""), user("b")}}); strings.Contains(got, "assistant") {
		t.Errorf("got %s", got)
	}
}

func BenchmarkBody(b *testing.B) {
	req := llm.Request{Model: "m"}
	for range 200 {
		req.Messages = append(req.Messages, user("hi"), said("", call("c1", "read", `{"path":"a"}`)), result("c1", strings.Repeat("line of a file\n", 500)))
	}
	c := New(Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.body(req, nil); err != nil {
			b.Fatal(err)
		}
	}
}
