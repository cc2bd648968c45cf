package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"alisio/llm"
	"alisio/plug"
)

// plain lets reflect.DeepEqual compare: an empty list is as good as none.
func plain(m llm.Message) llm.Message {
	if len(m.Attachments) == 0 {
		m.Attachments = nil
	}
	if len(m.Calls) == 0 {
		m.Calls = nil
	}
	if len(m.ProviderData) == 0 {
		m.ProviderData = nil
	}
	if len(m.Parts) == 0 {
		m.Parts = nil
	}
	return m
}

func TestBodiesAreThoseOfTheSpec(t *testing.T) {
	png := llm.Attachment{MIMEType: "image/png", Data: []byte("\x89PNG"), Width: 2, Height: 3}
	raw := func(items ...string) (all []json.RawMessage) {
		for _, s := range items {
			all = append(all, json.RawMessage(s))
		}
		return all
	}
	tests := []struct {
		name string
		m    llm.Message
		want string
	}{
		{"user", llm.Message{Role: llm.RoleUser, Text: "a<b>&\"\\\n\x01é"},
			`{"role":"user","text":"a<b>&\"\\\n\u0001é"}`},
		{"image", llm.Message{Role: llm.RoleUser, Attachments: []llm.Attachment{png}},
			`{"role":"user","text":"","attachments":[{"kind":"image","mimeType":"image/png","data":"iVBORw==","bytes":4,"width":2,"height":3}]}`},
		{"typed", llm.Message{Role: llm.RoleUser, Text: "long", Display: "/short"}, `{"role":"user","text":"long","display":"/short"}`},
		{"context", llm.Message{Role: llm.RoleUser, Text: "x", Context: "p/n"}, `{"role":"user","text":"x","context":"p/n"}`},
		{"checkpoint", llm.Message{Role: llm.RoleUser, Text: "x", Summary: true}, `{"role":"user","text":"x","summary":true}`},
		{"answer", llm.Message{Role: llm.RoleAssistant, Text: "x"}, `{"role":"assistant","text":"x","calls":[]}`},
		{"everything of an answer", llm.Message{
			Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"a": 1`}},
			ProviderData: raw(`{"b": 1.0,  "a":"\u00e9"}`, `"x"`, "{\n}"), Truncated: true,
			Origin: llm.Origin{Provider: "p", API: "chat", Model: "m"}, Interrupted: true,
		}, `{"role":"assistant","text":"","calls":[{"id":"1","name":"f","arguments":"{\"a\": 1"}],"providerData":[{"b": 1.0,  "a":"\u00e9"},"x",` + "{\n}" +
			`],"truncated":true,"origin":{"provider":"p","api":"chat","model":"m"},"interrupted":true}`},
		{"result", llm.Message{Role: llm.RoleTool, CallID: "1", IsError: true, Parts: []llm.Part{
			{Type: llm.PartText, Text: "t"}, {Type: llm.PartImage, MIMEType: "image/gif", Data: []byte("G")},
			{Type: llm.PartUI, Block: json.RawMessage(`{"kind":"code", "code":"c"}`)}, {Type: "chart"},
		}}, `{"role":"tool","callId":"1","result":{"content":[{"type":"text","text":"t"},{"type":"image","mimeType":"image/gif","data":"Rw=="},` +
			`{"type":"ui","block":{"kind":"code", "code":"c"}},{"type":"chart"}],"isError":true}}`},
		{"empty result", llm.Message{Role: llm.RoleTool, CallID: "1"}, `{"role":"tool","callId":"1","result":{"content":[]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Encode(tt.m)
			if err != nil || string(got) != tt.want {
				t.Fatalf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			back, err := Decode(got)
			if err != nil || back.Stored != nil || !reflect.DeepEqual(plain(back), plain(tt.m)) {
				t.Errorf("read again: got %+v, %v\nwant %+v", back, err, tt.m)
			}
		})
	}
}

func TestEncodeRefusesWhatNobodyCouldRead(t *testing.T) {
	deep := func(n int) json.RawMessage { return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	answer := func(item json.RawMessage) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, ProviderData: []json.RawMessage{item}}
	}
	ui := func(block json.RawMessage) llm.Message {
		return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Type: llm.PartUI, Block: block}}}
	}
	for name, m := range map[string]llm.Message{
		"role": {Role: "system"}, "no item": answer(nil), "cut item": answer(json.RawMessage(`{"a":`)),
		"item that closes the list": answer(json.RawMessage(`1],"x":[2`)), "deep item": answer(deep(99)),
		"broken block": ui(json.RawMessage(`{`)), "deep block": ui(deep(97)),
	} {
		if b, err := Encode(m); err == nil {
			t.Errorf("%s: got %.60s, want an error", name, b)
		}
	}
	b, err := Encode(answer(deep(98)))
	if _, err2 := Decode(b); err != nil || err2 != nil {
		t.Errorf("just deep enough: %v, %v", err, err2)
	}
	if _, err := EncodeResult(plug.Result{Parts: ui(deep(98)).Parts}); err == nil {
		t.Error("deep result: got no error")
	}
}

// TestC114LineEnds: a raw U+2028 in a user message splits a record for readers
// with a wide idea of a line. Trigger: the prompt `a\u2028b\u0085c`.
func TestC114LineEnds(t *testing.T) {
	const text = "a\u2028b\u0085c\u2029\r\nd\x7f\u202e"
	body, err := Encode(llm.Message{Role: llm.RoleUser, Text: text})
	if err != nil || strings.ContainsAny(string(body), "\u2028\u2029\u0085\r\n\x7f") {
		t.Errorf("got %q, %v", body, err)
	}
	if m, err := Decode(body); err != nil || m.Text != text {
		t.Errorf("read again: got %q, %v, want %q", m.Text, err, text)
	}
}

func TestInvalidTextBecomesReplacements(t *testing.T) {
	body, err := Encode(llm.Message{Role: llm.RoleUser, Text: "a\xff\xc3b\xed\xa0\x80"})
	m, err2 := Decode(body)
	if want := "a\uFFFD\uFFFDb\uFFFD\uFFFD\uFFFD"; err != nil || err2 != nil || m.Text != want || !utf8.Valid(body) {
		t.Errorf("got %q %v %v, want %q", m.Text, err, err2, want)
	}
}

func TestDecodeTakesWhatOthersWrite(t *testing.T) {
	call := func(args string) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: args}}}
	}
	text := func(s string) llm.Message {
		return llm.Message{Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: llm.PartText, Text: s}}}
	}
	user := llm.Message{Role: llm.RoleUser, Text: "x"}
	tests := []struct {
		name, body string
		want       llm.Message
		stored     bool
	}{
		{"spaces and order", " {\n\"text\" : \"x\" , \"role\":\"user\" } ", user, false},
		{"missing and null", `{"role":"assistant","calls":null,"text":null,"origin":null,"truncated":null}`, llm.Message{Role: llm.RoleAssistant}, false},
		{"no result", `{"role":"tool","callId":"1"}`, llm.Message{Role: llm.RoleTool, CallID: "1"}, false},
		{"escapes", `{"role":"\u0075ser","te\u0078t":"\u0078"}`, user, false},
		{"unknown field", `{"role":"user","text":"x","pinned":true}`, user, true},
		{"no checkpoint", `{"role":"user","text":"x","summary":false}`, user, false},
		{"checkpoint of no kind", `{"role":"user","text":"x","summary":1}`, user, true},
		{"typed text of no kind", `{"role":"user","text":"x","display":["y"]}`, user, true},
		{"context of no kind", `{"role":"user","text":"x","context":1}`, user, true},
		{"no context", `{"role":"user","text":"x","context":""}`, user, true},
		{"nothing typed", `{"role":"user","text":"x","display":""}`, user, true},
		{"nothing typed at all", `{"role":"user","text":"x","display":null}`, user, false},
		{"field of another role", `{"role":"user","text":"x","calls":[]}`, user, true},
		{"another case is another field", `{"role":"user","text":"x","Text":"y"}`, user, true},
		{"wrong types", `{"role":"user","text":5,"attachments":{"a":1}}`, llm.Message{Role: llm.RoleUser}, true},
		{"half a surrogate", `{"role":"user","text":"\ud800"}`, llm.Message{Role: llm.RoleUser, Text: "\uFFFD"}, true},
		{"arguments as object", `{"role":"assistant","calls":[{"id":"1","name":"f","arguments":{"a": [1]}}]}`, call(`{"a": [1]}`), true},
		{"call with more", `{"role":"assistant","calls":[{"id":"1","name":"f","arguments":"{}","x":1}, 7]}`, call("{}"), true},
		{"broken base64", `{"role":"user","text":"x","attachments":[{"kind":"image","mimeType":"image/png","data":"?","bytes":4}]}`, user, true},
		{"no image", `{"role":"user","text":"x","attachments":[{"kind":"pdf","mimeType":"image/png","data":"AAAA","bytes":3}]}`, user, true},
		{"no format for models", `{"role":"user","text":"x","attachments":[{"kind":"image","mimeType":"image/svg+xml","data":"AAAA","bytes":3}]}`, user, true},
		{"bare result", `{"role":"tool","callId":"1","result":"r"}`, text("r"), true},
		{"bare content", `{"role":"tool","callId":"1","result":{"content":"r"}}`, text("r"), true},
		{"image without data", `{"role":"tool","callId":"1","result":{"content":[{"type":"text","text":"r"},{"type":"image"}]}}`, text("r"), true},
		{"first type counts", `{"role":"tool","callId":"1","result":{"content":[{"type":"text","type":"image","text":"r"}]}}`, text("r"), false},
		{"unknown part", `{"role":"tool","callId":"1","result":{"content":[{"type":"chart","text":"r"}]}}`,
			llm.Message{Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: "chart"}}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.body))
			if err != nil || !Same(got, tt.want) || (got.Stored != nil) != tt.stored {
				t.Fatalf("got %+v, %v\nwant %+v, stored %v", got, err, tt.want, tt.stored)
			}
			if again, err := Encode(got); tt.stored && (err != nil || string(again) != tt.body) {
				t.Errorf("unchanged: got %s %v\nwant %s", again, err, tt.body)
			}
		})
	}
	for _, body := range []string{"", "{", "null", "[]", `"user"`, "7", "{}", `{"role":"system","text":""}`, `{"role":5}`, `{"Role":"user"}`, `{"role":"user"} x`} {
		if m, err := Decode([]byte(body)); err == nil {
			t.Errorf("%q: got %+v, want an error", body, m)
		}
	}
}

func TestUnknownFieldsSurviveAChange(t *testing.T) {
	tests := []struct {
		name, body, want string
		change           func(m *llm.Message)
	}{
		{"text", `{"x":{"k":1},"role":"user","text":"old","pinned":true}`,
			`{"role":"user","text":"new","x":{"k":1},"pinned":true}`, func(m *llm.Message) { m.Text = "new" }},
		{"typed text taken back", `{"role":"user","text":"x","display":"y","pinned":true}`, `{"role":"user","text":"x","pinned":true}`,
			func(m *llm.Message) { m.Display = "" }},
		{"context taken away", `{"role":"user","text":"x","context":"a/b","pinned":true}`, `{"role":"user","text":"x","pinned":true}`,
			func(m *llm.Message) { m.Context = "" }},
		{"calls by id", `{"role":"assistant","text":"","calls":[{"id":"1","name":"f","arguments":"{}","x":1},{"id":"2","name":"g","arguments":"{}","x":2}],"origin":{"provider":"p","api":"a","model":"m","r":1}}`,
			`{"role":"assistant","text":"","calls":[{"id":"2","name":"g","arguments":"{}","x":2}],"origin":{"provider":"p","api":"a","model":"m","r":1}}`,
			func(m *llm.Message) { m.Calls = m.Calls[1:] }},
		{"broken attachments keep their place", `{"role":"user","text":"old","attachments":[{"kind":"x"},{"kind":"image","mimeType":"image/png","data":"AAAA","bytes":3,"name":"n"},7]}`,
			`{"role":"user","text":"new","attachments":[{"kind":"x"},{"kind":"image","mimeType":"image/png","data":"AAAA","bytes":3,"name":"n"},7]}`,
			func(m *llm.Message) { m.Text = "new" }},
		{"broken attachments alone", `{"role":"user","text":"old","attachments":[{"kind":"x"},{"kind":"image","mimeType":"image/png","data":"AAAA","bytes":3}]}`,
			`{"role":"user","text":"old","attachments":[{"kind":"x"}]}`, func(m *llm.Message) { m.Attachments = nil }},
		{"result", `{"role":"tool","callId":"1","result":{"content":[{"type":"chart","d":[1]},{"type":"text","text":"old","lang":"go"}],"meta":2}}`,
			`{"role":"tool","callId":"1","result":{"content":[{"type":"chart","d":[1]},{"type":"text","text":"new","lang":"go"}],"meta":2}}`,
			func(m *llm.Message) { m.Parts[1].Text = "new" }},
		{"part of another type", `{"role":"tool","callId":"1","result":{"content":[{"type":"chart","d":[1]}]},"y":0}`,
			`{"role":"tool","callId":"1","result":{"content":[{"type":"text","text":"t"}]},"y":0}`,
			func(m *llm.Message) { m.Parts[0] = llm.Part{Type: llm.PartText, Text: "t"} }},
		{"flag taken back", `{"role":"assistant","text":"t","calls":[],"truncated":true,"y":0}`,
			`{"role":"assistant","text":"t","calls":[],"y":0}`, func(m *llm.Message) { m.Truncated = false }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Decode([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			tt.change(&m)
			got, err := Encode(m)
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			if !json.Valid(got) {
				t.Error("no JSON")
			}
		})
	}
}

func TestStoredOfAnotherMessageIsNotUsed(t *testing.T) {
	for _, stored := range []string{"{", `{"role":"tool","x":1}`, "[]"} {
		got, err := Encode(llm.Message{Role: llm.RoleUser, Text: "x", Stored: json.RawMessage(stored)})
		if want := `{"role":"user","text":"x"}`; err != nil || string(got) != want {
			t.Errorf("%s: got %s %v, want %s", stored, got, err, want)
		}
	}
}

// A few bytes of JSON become many in memory: a row, or a line of an import, of 45 MB
// with 15 million calls took gigabytes. What can not be read can not be written.
func TestAMessageHoldsNoMoreThanItsBounds(t *testing.T) {
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for _, tt := range []struct {
		most        int
		start, end  string
		one, broken string
	}{
		{MaxCalls, `{"role":"assistant","text":"","calls":[`, `]}`, `{"id":"1"}`, `7`},
		{MaxProviderData, `{"role":"assistant","text":"","providerData":[`, `]}`, `{}`, `1`},
		{MaxAttachments, `{"role":"user","attachments":[`, `]}`, `{"kind":"image","mimeType":"image/png","data":"eA=="}`, `{}`},
		{MaxParts, `{"role":"tool","callId":"1","result":{"content":[`, `]}}`, `{"type":"text","text":""}`, `7`},
		{MaxNesting - 1, `{"role":"assistant","x":`, `}`, "", ""},
	} {
		body := func(n int, one string) []byte {
			if one == "" {
				return []byte(tt.start + strings.Repeat("[", n) + strings.Repeat("]", n) + tt.end)
			}
			return []byte(tt.start + many(n, one) + tt.end)
		}
		m, err := Decode(body(tt.most, tt.one))
		if err != nil {
			t.Errorf("%s: %d: %v", tt.start, tt.most, err)
		}
		if _, err := Encode(m); err != nil {
			t.Errorf("%s: %d are not written: %v", tt.start, tt.most, err)
		}
		for _, one := range []string{tt.one, tt.broken} {
			if _, err := Decode(body(tt.most+1, one)); !errors.Is(err, ErrTooMuch) {
				t.Errorf("%s: one more: got %v", tt.start, err)
			}
		}
	}
	if r := DecodeResult(`{"content":[` + many(MaxParts+1, "{}") + `]}`); !r.IsError {
		t.Error("a result of the journal has no bound")
	}
	if _, err := Encode(llm.Message{Role: llm.RoleAssistant, Calls: make([]llm.ToolCall, MaxCalls+1)}); !errors.Is(err, ErrTooMuch) {
		t.Errorf("more calls than are read are written: %v", err)
	}
}

func TestDecodeIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 1<<17)
	for _, body := range []string{deep, `{"role":"user","x":` + deep, `{"role":"user","x":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + "}"} {
		if _, err := Decode([]byte(body)); err == nil {
			t.Errorf("%.30s…: got no error", body)
		}
	}
	wide := []byte(`{"role":"assistant","x":1,"calls":[` + strings.Repeat(`{"id":"1","y":[[],{}]},`, MaxCalls-1) + `7]}`)
	m, err := Decode(wide)
	if err != nil || len(m.Calls) != MaxCalls-1 {
		t.Fatalf("got %d calls, %v", len(m.Calls), err)
	}
	m.Text = "changed"
	if b, err := Encode(m); err != nil || !json.Valid(b) || len(b) < len(wide) {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
}

// randomMessage makes any message that can be stored without a loss.
func randomMessage(r *rand.Rand) llm.Message {
	word := func() string {
		letters := []rune("ab\"\\/<>&\n\r\t\x00\x1f\x7f\u0085\u2028é在\U0001F600\uFFFD\u202e")
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	blob := func() []byte { return []byte(word() + "x") }
	items := []string{"null", "1.50e+3", `"\u00e9\/"`, `{"b":1, "a":[ ],"b":2}`, "[\n1]"}
	m := llm.Message{Role: []llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool}[r.IntN(3)]}
	some := func(add func()) {
		for range r.IntN(4) {
			add()
		}
	}
	switch m.Role {
	case llm.RoleUser:
		m.Text, m.Display, m.Context = word(), word(), word()
		some(func() {
			m.Attachments = append(m.Attachments, llm.Attachment{MIMEType: "image/webp", Data: blob(), Width: r.IntN(3), Height: r.IntN(3)})
		})
	case llm.RoleAssistant:
		m.Text, m.Truncated, m.Interrupted = word(), r.IntN(2) == 0, r.IntN(2) == 0
		m.Origin = llm.Origin{Provider: word(), API: word(), Model: word(), Server: word()}
		some(func() { m.Calls = append(m.Calls, llm.ToolCall{ID: word(), Name: word(), Arguments: word()}) })
		some(func() { m.ProviderData = append(m.ProviderData, json.RawMessage(items[r.IntN(len(items))])) })
	case llm.RoleTool:
		m.CallID, m.IsError = word(), r.IntN(2) == 0
		some(func() {
			m.Parts = append(m.Parts, []llm.Part{
				{Type: llm.PartText, Text: word()}, {Type: llm.PartImage, MIMEType: "image/png", Data: blob()},
				{Type: llm.PartUI, Block: json.RawMessage(items[r.IntN(len(items))])}, {Type: llm.PartType("x" + word())},
			}[r.IntN(4)])
		})
	}
	return m
}

func TestRandomMessagesComeBackWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		m := randomMessage(r)
		body, err := Encode(m)
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		back, err := Decode(body)
		if err != nil || back.Stored != nil || !reflect.DeepEqual(plain(back), plain(m)) {
			t.Fatalf("got %+v %v\nwant %+v\nbody %s", back, err, m, body)
		}
		again, err := Encode(back)
		if err != nil || !bytes.Equal(again, body) {
			t.Fatalf("second time: got %s %v\nwant %s", again, err, body)
		}
		// The same body as another program prints it, with more in it.
		var loose bytes.Buffer
		if err := json.Indent(&loose, append(body[:len(body)-1:len(body)-1], `,"x":{"y":[null]}}`...), "", " "); err != nil {
			t.Fatal(err)
		}
		more, err := Decode(loose.Bytes())
		if err != nil || more.Stored == nil {
			t.Fatalf("more: %v", err)
		}
		if kept, err := Encode(more); err != nil || !bytes.Equal(kept, loose.Bytes()) {
			t.Fatalf("more: got %s %v\nwant %s", kept, err, loose.Bytes())
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"role":"user","text":"a","x":{"y":[1]},"attachments":[{"kind":"image","mimeType":"image/png","data":"AAAA","bytes":3},7]}`))
	f.Add([]byte(`{"role":"assistant","calls":[{"id":"1","arguments":{"a":1}},{"id":5}],"providerData":[ {"a" : 1} ,null],"origin":[]}`))
	f.Add([]byte(`{"role":"tool","callId":"1","result":{"content":[{"type":"ui","block":1,"q":2},{"type":7},"s"],"isError":1}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := Decode(body)
		if err != nil {
			return
		}
		b, err := Encode(m)
		if err != nil {
			t.Fatalf("what was read can not be written: %v", err)
		}
		if m.Stored != nil && !bytes.Equal(b, body) {
			t.Fatalf("unchanged: got %q, want %q", b, body)
		}
		m.Text, m.CallID = m.Text+"é", m.CallID+"é"
		b, err = Encode(m)
		if err != nil || !json.Valid(b) {
			t.Fatalf("got %q %v", b, err)
		}
		back, err := Decode(b)
		want := m
		if m.Role == llm.RoleTool {
			want.Text = ""
		} else {
			want.CallID = ""
		}
		if err != nil || !Same(back, want) {
			t.Fatalf("got %+v %v\nwant %+v\nbody %q", back, err, want, b)
		}
	})
}

func TestBrokenJournalResultIsAFailure(t *testing.T) {
	if r := DecodeResult(`{"content":[`); !r.IsError || r.PlainText() == "" {
		t.Errorf("got %+v", r)
	}
	if r := DecodeResult(`{"content": [{"type": "text", "text": "a"}]}`); r.IsError || r.PlainText() != "a" {
		t.Errorf("got %+v", r)
	}
}

func benchMessage() llm.Message {
	return llm.Message{
		Role: llm.RoleAssistant, Text: strings.Repeat("Some text of an answer.\n", 40),
		Calls:        []llm.ToolCall{{ID: "call_1", Name: "read_file", Arguments: `{"path":"tax/rates.go"}`}},
		ProviderData: []json.RawMessage{json.RawMessage(`{"type":"reasoning","encrypted_content":"` + base64.StdEncoding.EncodeToString(make([]byte, 900)) + `"}`)},
		Origin:       llm.Origin{Provider: "openai", API: "responses", Model: "m"},
	}
}

func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	m := benchMessage()
	var buf []byte
	for b.Loop() {
		buf, _ = appendMessage(buf[:0], m)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	body, _ := Encode(benchMessage())
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}
