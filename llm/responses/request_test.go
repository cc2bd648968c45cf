package responses

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"alisio/agent/session/codec"
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

// given is a message as this provider gave it.
func given(m llm.Message, items ...string) llm.Message {
	m.Origin = llm.Origin{Provider: "test", API: API, Model: "m"}
	for _, it := range items {
		m.ProviderData = append(m.ProviderData, json.RawMessage(it))
	}
	return m
}

// build returns the body of a request, checked to be JSON.
func build(t *testing.T, cfg Config, req llm.Request, without ...string) string {
	t.Helper()
	cfg.ID = "test"
	b, err := New(cfg).body(req, without)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) || !utf8.Valid(b) {
		t.Fatalf("the body is no JSON: %s", b)
	}
	return string(b)
}

func input(t *testing.T, messages ...llm.Message) string {
	t.Helper()
	_, list, _ := strings.Cut(build(t, Config{}, llm.Request{Model: "m", Messages: messages}), `"input":[`)
	return strings.TrimSuffix(list, "]"+extra+"}")
}

const (
	frame = `{"model":"m","stream":true,"store":false`
	extra = `,"include":["reasoning.encrypted_content"],"stream_options":{"include_obfuscation":false}`
)

func TestBody(t *testing.T) {
	req := llm.Request{
		Model: "m", Instructions: "Be \"brief\"", Effort: "low", MaxOutputTokens: 99, SessionID: "s",
		Tools:    []llm.Tool{{Name: "b", Description: "B"}, {Name: "a", Description: "A", Schema: json.RawMessage(` {"type":"object"} `)}},
		Messages: []llm.Message{user("hi"), said("", call("c1", "a", "")), result("c1", "ok\n"), said("done", call("c2", "b", `{"x":1}`)), result("c2", "")},
	}
	want := frame + `,"tools":[` +
		`{"type":"function","name":"a","description":"A","parameters":{"type":"object"},"strict":false},` +
		`{"type":"function","name":"b","description":"B","parameters":{"type":"object","properties":{}},"strict":false}],` +
		`"instructions":"Be \"brief\"","input":[{"role":"user","content":"hi"},` +
		`{"type":"function_call","call_id":"c1","name":"a","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"ok\n"},` +
		`{"role":"assistant","content":"done"},{"type":"function_call","call_id":"c2","name":"b","arguments":"{\"x\":1}"},` +
		`{"type":"function_call_output","call_id":"c2","output":""}],"parallel_tool_calls":true` + extra + `,"prompt_cache_key":"s","reasoning":{"effort":"low","summary":"auto"},"max_output_tokens":99}`
	if got := build(t, Config{}, req); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	bare := llm.Request{Model: "m", MaxOutputTokens: 9, SessionID: strings.Repeat("s", 65)}
	got := build(t, Config{TokenParameter: "omit"}, bare, "include", "stream_options")
	if !strings.HasPrefix(got, frame+`,"input":[],"prompt_cache_key":"`) || strings.Contains(got, bare.SessionID) || strings.Contains(got, "include") || strings.Contains(got, "tokens") {
		t.Errorf("got %s", got)
	}
	got = build(t, Config{}, req, "reasoning.summary", "parallel_tool_calls", "prompt_cache_key")
	if !strings.Contains(got, `]`+extra+`,"reasoning":{"effort":"low"},"max_output_tokens"`) || strings.Contains(got, "parallel") || !strings.Contains(got, "store") {
		t.Errorf("got %s", got)
	}
}

// What a person adds stands before everything that grows, replaces nothing, and
// lets no server keep the conversation.
func TestExtraBody(t *testing.T) {
	cfg := Config{ExtraBody: json.RawMessage(`{"text": {"verbosity":"low"}, "STORE":true, "previous_response_id":"r", "background":true,
		"reasoning":{"effort":"max"}, "prompt_cache_key":"k", "max_output_tokens":1, "include":[]}`)}
	req := llm.Request{Model: "m", Effort: "low", SessionID: "s", MaxOutputTokens: 9, Messages: []llm.Message{user("hi")}}
	want := frame + `,"text":{"verbosity":"low"},"input":[{"role":"user","content":"hi"}]` + extra + `,"prompt_cache_key":"s","reasoning":{"effort":"low","summary":"auto"},"max_output_tokens":9}`
	if got := build(t, cfg, req); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want = frame + `,"text":{"verbosity":"low"},"reasoning":{"effort":"max"},"prompt_cache_key":"k","max_output_tokens":1,"input":[]` + extra + `}`
	if got := build(t, cfg, llm.Request{Model: "m"}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := build(t, cfg, req, "include"); strings.Contains(got, "include\"") {
		t.Errorf("a refused field came back: %s", got)
	}
	if _, err := New(Config{ExtraBody: json.RawMessage(`7`)}).body(req, nil); llm.CauseOf(err) != llm.CauseBadRequest {
		t.Errorf("a number: got %v", err)
	}
}

// What a server refuses stands behind the input: a new process learns of it by asking.
func TestRefusedFieldsChangeNoPrefix(t *testing.T) {
	req := llm.Request{Model: "m", Instructions: "i", Effort: "low", SessionID: "s", Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}}, Messages: []llm.Message{user("hi")}}
	want, _, _ := strings.Cut(build(t, Config{}, req), `],"parallel_tool_calls"`)
	for _, f := range optional() {
		if f.Name == "store" { // is never left out
			continue
		}
		if got := build(t, Config{}, req, f.Name); !strings.HasPrefix(got, want) || strings.Contains(got, f.Name+`"`) {
			t.Errorf("without %s: got\n%s\nwant the prefix\n%s", f.Name, got, want)
		}
	}
}

// The bytes up to the last stored message are those of the request before.
func TestStablePrefix(t *testing.T) {
	req := llm.Request{Model: "m", Instructions: "i", MaxOutputTokens: 9, Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}}}
	reasoned := given(said("", call("c3", "x", "{}")), `{"type":"reasoning","id":"rs"}`, `{"type":"function_call","call_id":"c3","name":"x","arguments":"{}"}`)
	image := result("c2", "")
	image.Parts = append(image.Parts, llm.Part{Type: llm.PartImage, MIMEType: "image/png", Data: []byte("P")})
	told := user("context")
	told.Context = "a/b"
	messages := []llm.Message{told, user("one"), told, said("", call("c1", "x", "{}"), call("c2", "y", "{}")), result("c1", "r"), image,
		said("two"), user("three"), reasoned, result("c3", "r"), said("four")}
	before := ""
	for n := 1; n <= len(messages); n++ {
		req.Messages = messages[:n]
		b, err := New(Config{ID: "test", ExtraBody: json.RawMessage(`{"text":{}}`)}).body(req, nil)
		if err != nil {
			continue // a call without its result is never sent
		}
		req.MaxOutputTokens *= 2
		if !strings.HasPrefix(string(b), before) {
			t.Errorf("with %d messages: got\n%s\nwant the prefix\n%s", n, b, before)
		}
		before = string(b[:strings.LastIndex(string(b), `],"parallel_tool_calls"`)])
	}
	if before == "" {
		t.Error("no body was built")
	}
}

func TestImages(t *testing.T) {
	ask := user("look")
	ask.Attachments = []llm.Attachment{{MIMEType: "image/png", Data: []byte{1, 2, 3}}, {MIMEType: "image/jpeg", Data: []byte{4}}}
	shot := result("c1", "saved")
	shot.Parts = append(shot.Parts, llm.Part{Type: llm.PartImage, MIMEType: "image/png", Data: []byte{9}}, llm.Part{Type: llm.PartUI, Block: json.RawMessage(`{"kind":"x"}`)})
	got := input(t, ask, said("", call("c1", "shot", "{}")), shot)
	want := `{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AQID"},{"type":"input_image","detail":"auto","image_url":"data:image/jpeg;base64,BA=="}]},` +
		`{"type":"function_call","call_id":"c1","name":"shot","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"saved"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,CQ=="}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

const (
	rsItem   = `{"id":"rs_1", "type":"reasoning","summary":[{"type":"summary_text","text":"a<b>&\u00e9"}],"encrypted_content":"gAAAAB+/="}`
	msgItem  = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Looking.","annotations":[],"logprobs":[]}],"new_key":1.50}`
	callItem = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"read","arguments":"{\"path\": \"a\"}"}`
)

// All items go back as they came, side by side and in order, and the result
// behind them; also when the message was stored in between.
func TestOutputGoesBackVerbatim(t *testing.T) {
	s := serve(t, func(n int, _ string) (int, string) {
		return 200, events(doneEvent(0, rsItem), doneEvent(1, msgItem), doneEvent(2, callItem), `{"type":"response.completed","response":{"status":"completed"}}`)
	})
	p := provider(s.URL, s.Client())
	m, err := complete(p, hello())
	if err != nil {
		t.Fatal(err)
	}
	if m.Text != "Looking." || len(m.Calls) != 1 || m.Calls[0] != call("c1", "read", `{"path": "a"}`) || m.Origin != (llm.Origin{Provider: "test", API: API, Model: "m", Server: strings.TrimPrefix(s.URL, "http://")}) {
		t.Errorf("got %+v", m)
	}
	body, err := codec.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := codec.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	want := rsItem + "," + msgItem + "," + callItem + `,{"type":"function_call_output","call_id":"c1","output":"ok"}`
	for name, m := range map[string]llm.Message{"as it came": m, "stored": stored} {
		req := hello()
		req.Messages = append(req.Messages, m, result("c1", "ok"))
		if _, err := complete(p, req); err != nil {
			t.Fatal(err)
		}
		if body := s.asked[len(s.asked)-1]; !strings.Contains(body, `{"role":"user","content":"hi"},`+want+"]") {
			t.Errorf("%s: got\n%s\nwant one with\n%s", name, body, want)
		}
	}
}

func TestReplay(t *testing.T) {
	args := `{"path": "a"}`
	output := func(kind string) string { return `,{"type":"` + kind + `","call_id":"c1","output":"r"}` }
	rebuilt := `{"role":"assistant","content":"Looking."},{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\": \"a\"}"}` + output("function_call_output")
	verbatim := rsItem + "," + msgItem + "," + callItem + output("function_call_output")
	bareMsg := `{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Looking.","annotations":[],"logprobs":[]}],"new_key":1.50}`
	custom := `{"type":"custom_tool_call","call_id":"c1","name":"run","input":"x"}`
	cases := []struct {
		name   string
		change func(m *llm.Message)
		want   string
	}{
		{"same origin", func(*llm.Message) {}, verbatim},
		{"other model", func(m *llm.Message) { m.Origin.Model = "m2" }, rebuilt},
		{"other protocol", func(m *llm.Message) { m.Origin.API = "chat" }, rebuilt},
		{"other provider", func(m *llm.Message) { m.Origin.Provider = "p" }, rebuilt},
		{"no data", func(m *llm.Message) { m.ProviderData = nil }, rebuilt},
		{"no JSON", func(m *llm.Message) { m.ProviderData[0] = json.RawMessage(`{`) }, rebuilt},
		{"no item", func(m *llm.Message) { m.ProviderData[0] = json.RawMessage(`{"role":"assistant","content":"x"}`) }, rebuilt},
		{"a user's message", func(m *llm.Message) {
			m.ProviderData[1] = json.RawMessage(`{"type":"message","role":"system","content":"x"}`)
		}, rebuilt},
		{"a result", func(m *llm.Message) {
			m.ProviderData[1] = json.RawMessage(`{"type":"function_call_output","call_id":"c9","output":"x"}`)
		}, rebuilt},
		{"calls dropped since", func(m *llm.Message) { m.Calls = nil }, bareMsg},
		{"id replaced since", func(m *llm.Message) { m.Calls[0].ID = "new" },
			bareMsg + `,{"type":"function_call","call_id":"new","name":"read","arguments":"{\"path\": \"a\"}"},{"type":"function_call_output","call_id":"new","output":"r"}`},
		{"arguments that were no JSON", func(m *llm.Message) {
			m.Calls[0].Arguments = `{"not_json":"{"}`
			m.ProviderData[2] = json.RawMessage(`{"id":"fc_1","type":"function_call","call_id":"c1","name":"read","arguments":"{"}`)
		}, bareMsg + `,{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"not_json\":\"{\"}"}` + output("function_call_output")},
		{"custom call", func(m *llm.Message) {
			m.Calls[0] = call("c1", "run", `{"input":"x"}`)
			m.ProviderData[2] = json.RawMessage(custom)
		}, rsItem + "," + msgItem + "," + custom + output("custom_tool_call_output")},
		{"custom call elsewhere", func(m *llm.Message) {
			m.Calls[0], m.Origin.Model = call("c1", "run", `{"input":"x"}`), "m2"
			m.ProviderData[2] = json.RawMessage(custom)
		}, `{"role":"assistant","content":"Looking."},{"type":"function_call","call_id":"c1","name":"run","arguments":"{\"input\":\"x\"}"}` + output("function_call_output")},
		{"neither text nor calls", func(m *llm.Message) { m.Text, m.Calls = "", nil }, ""},
	}
	for _, c := range cases {
		m := given(said("Looking.", call("c1", "read", args)), rsItem, msgItem, callItem)
		c.change(&m)
		messages := []llm.Message{m}
		for _, call := range m.Calls {
			messages = append(messages, result(call.ID, "r"))
		}
		if got := input(t, messages...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A message of another protocol goes as text and calls, with ids that are short
// enough.
func TestForeignMessages(t *testing.T) {
	long := "toolu_" + strings.Repeat("x", 60)
	m := said("t", call(long, "a.b", "[1]"))
	m.Origin = llm.Origin{Provider: "test", API: "chat", Model: "m"}
	m.ProviderData = []json.RawMessage{json.RawMessage(`{"role":"assistant","content":"t","reasoning":"secret"}`)}
	id := wire.ShortID(long, maxID)
	want := `{"role":"assistant","content":"t"},{"type":"function_call","call_id":"` + id + `","name":"a_b","arguments":"{}"},{"type":"function_call_output","call_id":"` + id + `","output":"r"}`
	if got := input(t, m, result(long, "r")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Symptom: a result without its call is resent for ever. Trigger: broken pairs
// in both directions; a schema that is none.
func TestC051PairingBothWays(t *testing.T) {
	one := call("c1", "x", "{}")
	for want, messages := range map[string][]llm.Message{
		`call "c1" has no result`:              {said("", one)},
		`the result of "c1" has no open call`:  {user("x"), result("c1", "")},
		`call "c1" before it has no result`:    {said("", one), user("y")},
		`call id "c1" is empty or used twice`:  {said("", one, one)},
		`message 1: unknown role "instructor"`: {{Role: "instructor"}},
	} {
		_, err := New(Config{}).body(llm.Request{Messages: messages}, nil)
		if llm.CauseOf(err) != llm.CauseInternal || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := New(Config{}).body(llm.Request{Tools: []llm.Tool{{Name: "x", Schema: json.RawMessage(`[]`)}}}, nil); llm.CauseOf(err) != llm.CauseInternal {
		t.Errorf("schema that is no object: got %v", err)
	}
}

func BenchmarkBody(b *testing.B) {
	req := llm.Request{Model: "m"}
	turn := given(said("Looking.", call("c1", "read", `{"path": "a"}`)), rsItem, msgItem, callItem)
	for range 200 {
		req.Messages = append(req.Messages, user("hi"), turn, result("c1", strings.Repeat("line of a file\n", 500)))
	}
	c := New(Config{ID: "test"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.body(req, nil); err != nil {
			b.Fatal(err)
		}
	}
}
