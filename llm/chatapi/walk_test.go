package chatapi

import (
	"strings"
	"testing"

	"alisio/llm/wire"
)

const typical = `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,` +
	`"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":" hello"},"finish_reason":null}]}`

// What the walker reads and what it leaves alone.
var walked = []struct {
	in   string
	ok   bool
	want string // content, then reasoning in brackets
}{
	{typical, true, " hello"},
	{`{"choices":[{"delta":{"content":"a\n\t\"\\\/\b\f\r\u00e9\ud83d\ude00"}}]}`, true, "a\n\t\"\\/\b\f\ré😀"},
	{` { "choices" : [ { "delta" : { "content" : "a" , "role" : "assistant" } , "index" : 0 } ] , "usage" : null } `, true, "a"},
	{`{"usage":null,"choices":[{"finish_reason":"","delta":{"reasoning_content":"r","content":null},"logprobs":null,"stop_reason":null}],"p":"abc"}`, true, "[r]"},
	{`{"choices":[{"delta":{"reasoning":"b","reasoning_content":""}}]}`, true, "[b]"},
	{`{"choices":[{"delta":{"reasoning_text":"c","reasoning":"b","content":"t"}}]}`, true, "t[b]"},
	{`{"choices":[{"delta":{}}]}`, true, ""},
	{`{"choices":[{"delta":{"content":"台"}}],"error":null}`, true, "台"},

	{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}}],"usage":{}}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}}],"error":"x"}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}}],"type":"error"}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}}],"object":"error"}`, false, ""},
	{`{"choices":[{"delta":{"content":"a","tool_calls":[]}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":["a"]}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a","content":"b"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a","Content":"b"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a","reaſoning":"b"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"},"delta":{}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"},"index":1}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"},"index":00}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}},{"delta":{}}]}`, false, ""},
	{`{"choices":[],"choices":[{"delta":{"content":"a"}}]}`, false, ""},
	{`{"choices":[]}`, false, ""},
	{`{"choices":[{"delta":null}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}}]`, false, ""},
	{`{"choices":[{"delta":{"content":"a"}}]}}`, false, ""},
	{`{"choices":[{"delta":{"content":"a",}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a` + "\n" + `"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"a` + "\xff" + `"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"\ud800"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"\ud800\u0041"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"\x"}}]}`, false, ""},
	{`{"choices":[{"delta":{"content":"\u12"}}]}`, false, ""},
	{`{"created":01,"choices":[{"delta":{"content":"a"}}]}`, false, ""},
	{`{"created":1.5,"choices":[{"delta":{"content":"a"}}]}`, false, ""},
	{`[DONE]`, false, ""},
	{``, false, ""},
	{`null`, false, ""},
}

func found(w *walker) string {
	s := string(w.content)
	if _, r := w.thought(); len(r) > 0 {
		s += "[" + string(r) + "]"
	}
	return s
}

func TestWalk(t *testing.T) {
	for _, c := range walked {
		var w walker
		ok := w.walk([]byte(c.in))
		if got := found(&w); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: got %v, %q, want %v, %q", c.in, ok, got, c.ok, c.want)
		}
	}
}

// decoded is what encoding/json makes of the plain shape; ok is false for every
// other one.
func decoded(data []byte) (s string, ok bool) {
	c, err := decode(data)
	if err != nil || len(c.Choices) != 1 || c.fault(data) != nil || c.Usage != nil || c.Timings != nil || c.XGroq != nil {
		return "", false
	}
	ch := c.Choices[0]
	if ch.Delta == nil || ch.FinishReason != "" || ch.Usage != nil || ch.Index != nil && *ch.Index != 0 {
		return "", false
	}
	d := ch.Delta
	if calls, _ := d.fragments(); len(calls) > 0 || wire.Present(d.ReasoningDetails) || wire.Present(d.ExtraContent) || wire.Text(d.Refusal) != "" {
		return "", false
	}
	p, _ := content(d.Content)
	visible := string(p.text)
	if _, r := d.reasoning(); r != "" {
		visible += "[" + r + "]"
	}
	return visible, !p.thinking
}

func FuzzDelta(f *testing.F) {
	for _, c := range walked {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var w walker
		if !w.walk(data) {
			return
		}
		want, ok := decoded(data)
		if got := found(&w); !ok || got != want {
			t.Errorf("%q: the walker got %q, encoding/json %q, %v", data, got, want, ok)
		}
	})
}

func TestWalkerDoesNotAllocate(t *testing.T) {
	var w walker
	data := []byte(typical)
	escaped := []byte(strings.Replace(typical, " hello", `\n\"hello`, 1))
	w.walk(escaped)
	got := testing.AllocsPerRun(100, func() {
		if !w.walk(data) || !w.walk(escaped) {
			t.Error("the walker gave up")
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkDelta(b *testing.B) {
	for _, c := range []struct{ name, data string }{
		{"plain", typical},
		{"escapes", strings.Replace(typical, " hello", `\n\thello`, 1)},
	} {
		data := []byte(c.data)
		b.Run(c.name, func(b *testing.B) {
			var w walker
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !w.walk(data) {
					b.Fatal("the walker gave up")
				}
			}
		})
	}
	b.Run("encoding-json", func(b *testing.B) {
		data := []byte(typical)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
