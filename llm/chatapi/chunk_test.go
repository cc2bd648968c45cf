package chatapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/llm/wire"
)

// What goes back to a server in later requests holds no lone surrogate.
func TestLoneSurrogatesDoNotGoBack(t *testing.T) {
	bodies := twoTurns(t, `{"reasoning_details":[{"type":"t","signature":"s\ud800"}],"extra_content":{"e":"\udc00 \ud83d\ude00"},`+
		`"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":"{}"},"extra_content":{"thought_signature":"\uD800"}}]}`)
	for _, want := range []string{`"signature":"s\ufffd"`, `"extra_content":{"e":"\ufffd \ud83d\ude00"}`, `{"thought_signature":"\ufffd"}`} {
		if !strings.Contains(bodies[1], want) {
			t.Errorf("got %s, want %s in it", bodies[1], want)
		}
	}
}

// wide is one chunk with n small things in a list.
func wide(before, entry string, n int, after string) string {
	return "data: " + before + strings.Repeat(entry+",", n-1) + entry + after + "\n\n"
}

// A line may cost a few times its bytes, whatever stands in it. Joining n pieces
// one by one would cost n² bytes.
func TestLinesCostLittleMoreThanTheirBytes(t *testing.T) {
	delta := func(key string) string { return `{"choices":[{"delta":{"` + key + `":[` }
	cases := []struct {
		name, body string
		times      int // bytes of garbage and all, to those of the body
		want       string
	}{
		{"choices", wide(`{"choices":[`, `{}`, 1<<18, `]}`), 12, ""},
		{"choices in a whole answer", wide(`{"choices":[`, `{}`, 1<<18, `]}`)[len("data: "):], 12, ""},
		{"calls", wide(delta("tool_calls"), `{}`, 1<<18, `]}}]}`), 12, wire.ErrCalls.Error()},
		{"details", wide(delta("reasoning_details"), `{}`, 1<<20, `]}}]}`), 12, wire.ErrReasoning.Error()},
		{"keys of a detail", wide(delta("reasoning_details")+`{`, `"a":0`, 1<<17, `}]}}]}`), 12, wire.ErrReasoning.Error()},
		{"parts", wide(delta("content"), `{}`, 1<<20, `]}}]}`), 12, errParts.Error()},
		{"parts of thinking", wide(delta("content")+`{"type":"thinking","thinking":[`, `{}`, 1<<20, `]}]}}]}`), 12, errParts.Error()},
		{"no chunk", wide(`[`, `{}`, 1<<18, `]`), 12, "not valid"},
		{"text in parts", wide(delta("content"), `{"type":"text","text":"a"}`, 60_000, `]}}]}`), 200, ""},
		{"thoughts in parts", wide(delta("content")+`{"type":"thinking","thinking":[`, `{"text":"a"}`, 60_000, `]}]}}]}`), 200, ""},
		{"text in details", wide(delta("reasoning_details"), `{"text":"a"}`, 60_000, `]}}]}`), 200, ""},
	}
	for _, c := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := stream(client(), strings.NewReader(c.body))
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc-before.TotalAlloc) / len(c.body); got > c.times {
			t.Errorf("%s: got %d times the bytes of the line, want at most %d", c.name, got, c.times)
		}
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// A chunk means the same whether it is long or short.
func TestLongChunksAreReadAsShortOnes(t *testing.T) {
	const chunk = `{"choices":[7,{"index":1,"delta":{"content":"no"}},{"delta":{"content":"a","refusal":5},"finish_reason":"stop"},null,{"index":"x"}],` +
		`"usage":{"prompt_tokens":3},"object":7`
	for _, padding := range []int{0, 2 * maxNarrow} {
		events, err := stream(client(), strings.NewReader("data: "+chunk+`,"p":"`+strings.Repeat("p", padding)+`"}`+"\n\n"))
		if err != nil {
			t.Errorf("%d bytes more: %v", padding, err)
			continue
		}
		if last := events[len(events)-1]; last.Message.Text != "a" || last.Usage == nil || last.Usage.Input != 3 {
			t.Errorf("%d bytes more: got %+v", padding, last)
		}
	}
	var long strings.Builder
	for i := range 2 * maxNarrow / len(`{"index":1},`) {
		fmt.Fprintf(&long, `,{"index":%d}`, i+1)
	}
	if c, err := decode([]byte(`{"choices":[{"error":"x"}` + long.String() + `]}`)); err != nil || len(c.Choices) != maxChoices || c.fault(nil) == nil {
		t.Errorf("got %d choices, %v, want %d", len(c.Choices), err, maxChoices)
	}
	for _, other := range []string{"null", "7", `{"a":[]}`} {
		if c, err := decode([]byte(`{"choices":` + other + strings.Repeat(" ", maxNarrow) + `}`)); err != nil || len(c.Choices) > 0 {
			t.Errorf("%s: got %v, %v", other, c.Choices, err)
		}
	}
}

// Nothing of a list is lost below the limits.
func TestPartsAreWhole(t *testing.T) {
	body := wide(`{"choices":[{"delta":{"content":[`, `{"type":"text","text":"a"},7,{"type":"thinking","thinking":[{"text":"b"},null]}`, 5000, `]}}]}`)
	events, err := stream(client(), strings.NewReader(body+stop))
	if err != nil {
		t.Fatal(err)
	}
	if got := events[len(events)-1].Message.Text; got != strings.Repeat("a", 5000) {
		t.Errorf("got %d bytes of text", len(got))
	}
	thought := ""
	for _, ev := range events {
		if ev.Kind == llm.ReasoningDelta {
			thought += ev.Text
		}
	}
	if thought != strings.Repeat("b", 5000) {
		t.Errorf("got %d bytes of reasoning", len(thought))
	}
}

// A chunk with much in it is left between its parts when the turn is cancelled.
func TestCancelInsideAChunk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := client()
	body := `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b"}}]}}]}` + "\n\n" + stop
	c.endpoint.HTTP = &http.Client{Transport: &trip{body: io.NopCloser(&cancelling{strings.NewReader(body), cancel})}}
	for ev, err := range c.Stream(ctx, hello()) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %+v, %v", ev, err)
		}
	}
}

// cancelling cancels the turn when the first bytes are read.
type cancelling struct {
	io.Reader
	cancel func()
}

func (c *cancelling) Read(b []byte) (int, error) {
	c.cancel()
	return c.Reader.Read(b)
}
