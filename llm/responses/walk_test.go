package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"alisio/llm/wire"
)

const typical = `{"type":"response.output_text.delta","sequence_number":142,"item_id":"msg_68a2f0c1d7a881a09b1f2e3d4c5b6a79",` +
	`"output_index":1,"content_index":0,"delta":" hello","logprobs":[]}`

// What the walker reads and what it leaves alone.
var walked = []struct {
	in   string
	kind deltaKind // 0 for what it leaves alone
	want string
}{
	{typical, textDelta, " hello"},
	{`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a\n\t\"\\\/\b\f\r\u00e9\ud83d\ude00","obfuscation":"xY"}`, textDelta, "a\n\t\"\\/\b\f\ré😀"},
	{` { "delta" : "台" , "output_index" : 12 , "type" : "response.refusal.delta" , "error" : null } `, textDelta, "台"},
	{`{"type":"response.reasoning_text.delta","output_index":0,"content_index":3,"delta":"r"}`, thoughtDelta, "r"},
	{`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":3,"delta":"r"}`, summaryDelta, "r"},
	{`{"type":"response.function_call_arguments.delta","output_index":9999,"delta":"{"}`, argumentsDelta, "{"},
	{`{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":""}`, inputDelta, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a","logprobs":null}`, textDelta, "a"},

	{`{"type":"response.output_text.done","output_index":0,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0}`, 0, ""},
	{`{"output_index":0,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":null}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":["a"]}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a","delta":"b"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a","Delta":"b"}`, 0, ""},
	{`{"type":"response.output_text.delta","type":"error","output_index":0,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"output_index":1,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":01,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":-1,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":10000,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":1.5,"delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":"0","delta":"a"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a","error":"x"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a","logprobs":[{"token":"a"}]}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a` + "\n" + `"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a` + "\xff" + `"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"\ud800"}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a"}}`, 0, ""},
	{`{"type":"response.output_text.delta","output_index":0,"delta":"a"`, 0, ""},
	{`[DONE]`, 0, ""},
	{``, 0, ""},
}

func TestWalk(t *testing.T) {
	for _, c := range walked {
		var w walker
		ok := w.walk([]byte(c.in))
		if ok != (c.kind != 0) || ok && (w.kind != c.kind || string(w.delta) != c.want) {
			t.Errorf("%s: got %v, %d, %q, want %d, %q", c.in, ok, w.kind, w.delta, c.kind, c.want)
		}
	}
}

// Where the walker answers, encoding/json says the same.
func FuzzDelta(f *testing.F) {
	for _, c := range walked {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var w walker
		if !w.walk(data) {
			return
		}
		var e event
		err := json.Unmarshal(data, &e)
		kind := kindOf([]byte(wire.Text(e.Type)))
		if err != nil || kind != w.kind || wire.Text(e.Delta) != string(w.delta) || index(e.OutputIndex) != w.index || e.part(kind) != w.part() || wire.Faulty(e.Error) {
			t.Errorf("%q: the walker got %d, %q, %d, %d; encoding/json %+v, %v", data, w.kind, w.delta, w.index, w.part(), e, err)
		}
	})
}

func TestWalkerDoesNotAllocate(t *testing.T) {
	var w walker
	data := []byte(typical)
	escaped := []byte(strings.Replace(typical, " hello", `\n\"hello`, 1))
	summary := []byte(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":3,"delta":"r"}`)
	w.walk(escaped)
	got := testing.AllocsPerRun(100, func() {
		if !w.walk(data) || !w.walk(escaped) || !w.walk(summary) {
			t.Error("the walker gave up")
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkDelta(b *testing.B) {
	data := []byte(typical)
	b.Run("plain", func(b *testing.B) {
		var w walker
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if !w.walk(data) {
				b.Fatal("the walker gave up")
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var e event
			if err := json.Unmarshal(data, &e); err != nil {
				b.Fatal(err)
			}
		}
	})
}
