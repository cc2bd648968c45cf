package script

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/llm"
)

func parse(t *testing.T, s string) *Script {
	t.Helper()
	sc, err := Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// ask runs one request and returns its events and its error.
func ask(ctx context.Context, p llm.Provider, req llm.Request) (evs []llm.Event, err error) {
	for ev, e := range p.Stream(ctx, req) {
		if e != nil {
			return evs, e
		}
		evs = append(evs, ev)
	}
	return evs, nil
}

func texts(evs []llm.Event, kind llm.EventKind) []string {
	var out []string
	for _, ev := range evs {
		if ev.Kind == kind {
			out = append(out, ev.Text)
		}
	}
	return out
}

func toolMessage(text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Type: llm.PartText, Text: text}}}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"turns":[{}]`, "read script: the JSON is cut short"},
		{"{\n\"turns\": [}", "read script: line 2: "},
		{`{"turns":[]} {}`, "read script: text follows the JSON value"},
		{`{"replies":[]}`, `unknown field "replies"`},
		{`{"turns":[{"text":"a"},{"txt":"b"}]}`, `turn 2: json: unknown field "txt"`},
		{`{"turns":[{"calls":[{"arguments":{}}]}]}`, "turn 1: call 1: name is missing"},
		{`{"turns":[{"calls":[{"name":"f","arguments":[1]}]}]}`, "call 1: arguments are neither"},
		{`{"turns":[{"calls":[{"name":"f","argument":{}}]}]}`, `unknown field "argument"`},
		{`{"turns":[{"capture":{"A":"x"}}]}`, "capture A: 0 groups, want one"},
		{`{"turns":[{"capture":{"A":"(x"}}]}`, "capture A: error parsing regexp"},
		{`{"turns":[{"capture":{"A B":"(x)"}}]}`, `capture "A B": a name is`},
		{`{"turns":[{"error":{"cause":"tired"}}]}`, `unknown cause "tired"`},
		{`{"turns":[{"error":{"cause":"stream","stream":"tired"}}]}`, `unknown end of a stream "tired"`},
		{`{"turns":[{"noEnd":true,"error":{"cause":"stream"}}]}`, "an error is an end"},
		{`{"turns":[{"endMs":-1}]}`, "can not be negative"},
		{`{"turns":[{"usage":{"inptu":1}}]}`, `unknown field "inptu"`},
		{`{"turns":[{"chunk":-1}]}`, "can not be negative"},
	} {
		_, err := Parse([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%s) = %v, want %q", tt.in, err, tt.want)
		}
	}
}

func TestWholeAnswer(t *testing.T) {
	p := parse(t, `{"turns":[{"reasoning":"hm","text":"añb∞c","chunk":2,"truncated":true,
		"usage":{"input":9,"output":3,"cachedInput":4,"reasoning":1},
		"calls":[{"name":"f","arguments":{"b": 1, "a": 2}},{"name":"g","id":"mine","arguments":"{br"},
		         {"name":"h"},{"name":"i","arguments":""}]}]}`).Provider("toy")
	evs, err := ask(t.Context(), p, llm.Request{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(evs, llm.TextDelta), []string{"añ", "b∞", "c"}; !slices.Equal(got, want) {
		t.Errorf("deltas = %q, want %q", got, want)
	}
	if got, want := texts(evs, llm.ReasoningDelta), []string{"hm"}; !slices.Equal(got, want) {
		t.Errorf("reasoning = %q, want %q", got, want)
	}
	// Heads of four calls and the fragments of {"b":1,"a":2}, {br and {}.
	if got, want := len(texts(evs, llm.CallDelta)), 4+7+2+1; got != want {
		t.Errorf("%d pieces of calls, want %d", got, want)
	}
	last := evs[len(evs)-1]
	if last.Kind != llm.Completed || *last.Usage != (llm.Usage{Input: 9, Output: 3, CachedInput: 4, Reasoning: 1}) {
		t.Errorf("last event %+v", last)
	}
	m := last.Message
	if m.Role != llm.RoleAssistant || m.Text != "añb∞c" || !m.Truncated {
		t.Errorf("message %+v", m)
	}
	if want := (llm.Origin{Provider: "toy", API: "script", Model: "m"}); m.Origin != want {
		t.Errorf("origin %+v, want %+v", m.Origin, want)
	}
	want := []llm.ToolCall{
		{ID: "call_1_1", Name: "f", Arguments: `{"b":1,"a":2}`},
		{ID: "mine", Name: "g", Arguments: `{br`},
		{ID: "call_1_3", Name: "h", Arguments: `{}`},
		{ID: "call_1_4", Name: "i", Arguments: `{}`},
	}
	if !slices.Equal(m.Calls, want) {
		t.Errorf("calls %+v, want %+v", m.Calls, want)
	}
}

func TestCapture(t *testing.T) {
	p := parse(t, `{"turns":[
		{"capture":{"SHA":"sha: (\\S+)","LINE":"line (.*)"},
		 "text":"got ${SHA} $${SHA} ${",
		 "calls":[{"name":"f","arguments":{"h":"${SHA}","l":"${LINE}"}}]},
		{"text":"still ${SHA}"}]}`).Provider("toy")
	req := llm.Request{Messages: []llm.Message{
		toolMessage("sha: old"),
		{Role: llm.RoleAssistant},
		toolMessage("sha: a1"),
		toolMessage(`line say "hi"\`),
	}}
	evs, err := ask(t.Context(), p, req)
	if err != nil {
		t.Fatal(err)
	}
	m := evs[len(evs)-1].Message
	if got, want := m.Text, "got a1 ${SHA} ${"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if got, want := m.Calls[0].Arguments, `{"h":"a1","l":"say \"hi\"\\"}`; got != want {
		t.Errorf("arguments %s, want %s", got, want)
	}
	evs, err = ask(t.Context(), p, llm.Request{})
	if err != nil || evs[len(evs)-1].Message.Text != "still a1" {
		t.Errorf("second turn %+v, %v", evs, err)
	}
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": `x"`, "_b1": "y"}
	for in, want := range map[string]string{
		"": "", "a$b": "a$b", "${A}${_b1}": `x"y`, "$${A}": "${A}", "$$${A}": "$${A}", "${A": "${A",
		"${1}${A}": `${1}x"`, "${}": "${}", "${${A}}": `${x"}`, "${a b} ${A}": `${a b} x"`, "$": "$",
	} {
		if got, err := expand(in, vars, asIs); got != want || err != nil {
			t.Errorf("expand(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if got, _ := expand("${A}", vars, escaped); got != `x\"` {
		t.Errorf("escaped: %q", got)
	}
}

func TestTurnErrors(t *testing.T) {
	for _, tt := range []struct {
		turn, want string
		cause      llm.Cause
	}{
		{`{"text":"${NO}"}`, "script turn 1: text: ${NO} was never captured", llm.CauseBadRequest},
		{`{"calls":[{"name":"f","arguments":{"a":"${NO}"}}]}`, "call 1: arguments: ${NO}", llm.CauseBadRequest},
		{`{"capture":{"A":"(zz)"}}`, "capture A: \"(zz)\" matches nothing", llm.CauseBadRequest},
		{`{"error":{"cause":"rate_limited","message":"slow down"}}`, "slow down", llm.CauseRateLimited},
	} {
		p := parse(t, `{"turns":[`+tt.turn+`]}`).Provider("toy")
		_, err := ask(t.Context(), p, llm.Request{Messages: []llm.Message{toolMessage("text")}})
		if err == nil || !strings.Contains(err.Error(), tt.want) || llm.CauseOf(err) != tt.cause {
			t.Errorf("%s: %v (%s), want %q (%s)", tt.turn, err, llm.CauseOf(err), tt.want, tt.cause)
		}
	}
}

func TestErrorComesAfterText(t *testing.T) {
	p := parse(t, `{"turns":[{"text":"so far","error":{"cause":"server","message":"fell over","status":503,"retryAfterMs":1500,"stream":"error","permanent":true}}]}`).Provider("toy")
	evs, err := ask(t.Context(), p, llm.Request{})
	if got := texts(evs, llm.TextDelta); len(evs) != 1 || got[0] != "so far" {
		t.Errorf("events %+v", evs)
	}
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 503 || e.RetryAfter != 1500*time.Millisecond || e.Stream != llm.StreamFailed || !e.Permanent {
		t.Errorf("error %+v", err)
	}
}

func TestRequestBeyondTheEnd(t *testing.T) {
	s := parse(t, `{"turns":[{"text":"only"}]}`)
	p := s.Provider("toy")
	if _, err := ask(t.Context(), p, llm.Request{}); err != nil {
		t.Fatal(err)
	}
	_, err := ask(t.Context(), p, llm.Request{})
	if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "the script is over") {
		t.Errorf("second request: %v", err)
	}
	if _, err := ask(t.Context(), s.Provider("toy"), llm.Request{}); err != nil {
		t.Errorf("a new provider: %v, want the first turn again", err)
	}
}

func TestStreamIsUsedOnce(t *testing.T) {
	seq := parse(t, `{"turns":[{"text":"a"},{"text":"b"}]}`).Provider("toy").Stream(t.Context(), llm.Request{})
	for range seq {
		break // An early break ends the request.
	}
	for _, err := range seq {
		if llm.CauseOf(err) != llm.CauseInternal {
			t.Errorf("second range: %v", err)
		}
	}
}

func TestDelayAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, `{"turns":[{"text":"abc","chunk":1,"delayMs":1000}]}`)
		start := time.Now()
		if _, err := ask(t.Context(), s.Provider("toy"), llm.Request{}); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(start), 2*time.Second; got != want {
			t.Errorf("three deltas took %v, want %v", got, want)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start = time.Now()
		evs, err := ask(ctx, s.Provider("toy"), llm.Request{})
		if len(evs) != 2 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: %d events, %v", len(evs), err)
		}
		if got, want := time.Since(start), 1500*time.Millisecond; got != want {
			t.Errorf("cancel took effect after %v, want %v", got, want)
		}
	})
}

// Where a model falls silent, and for how long; a cancel ends each silence.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		turn   string
		deltas int
		took   time.Duration
		cause  llm.Cause // of the error at the end
	}{
		{`{"text":"ab","chunk":1,"startMs":5000}`, 2, 5 * time.Second, ""},
		{`{"text":"ab","chunk":1,"delayMs":3000}`, 2, 3 * time.Second, ""},
		{`{"text":"ab","chunk":1,"endMs":7000}`, 2, 7 * time.Second, ""},
		{`{"startMs":1000,"endMs":1000}`, 0, 2 * time.Second, ""},
		{`{"startMs":1000,"error":{"cause":"stream","stream":"empty"}}`, 0, time.Second, llm.CauseStream},
		{`{"text":"ab","endMs":1000,"error":{"cause":"stream","stream":"lost"}}`, 1, time.Second, llm.CauseStream},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			evs, err := ask(t.Context(), parse(t, `{"turns":[`+c.turn+`]}`).Provider("toy"), llm.Request{})
			if took := time.Since(start); took != c.took || len(texts(evs, llm.TextDelta)) != c.deltas || llm.CauseOf(err) != c.cause {
				t.Errorf("%s: got %+v, %v after %v", c.turn, evs, err, took)
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.took-time.Millisecond)
			defer cancel()
			if _, err := ask(ctx, parse(t, `{"turns":[`+c.turn+`]}`).Provider("toy"), llm.Request{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: out of time: got %v", c.turn, err)
			}
		})
	}
}

func TestNoEnd(t *testing.T) {
	evs, err := ask(t.Context(), parse(t, `{"turns":[{"text":"a","noEnd":true}]}`).Provider("toy"), llm.Request{})
	if len(evs) != 1 || evs[0].Kind != llm.TextDelta || err != nil {
		t.Errorf("got %+v, %v, want a delta alone", evs, err)
	}
}

func TestCancelledBeforeTheFirstDelta(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	evs, err := ask(ctx, parse(t, `{"turns":[{}]}`).Provider("toy"), llm.Request{})
	if len(evs) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", evs, err)
	}
}

func TestModels(t *testing.T) {
	l, ok := parse(t, `{"model":"toy-1","turns":[]}`).Provider("toy").(llm.ModelLister)
	if !ok {
		t.Fatal("the provider lists no models")
	}
	ms, err := l.Models(t.Context())
	if err != nil || len(ms) != 1 || ms[0].ID != "toy-1" {
		t.Errorf("models %+v, %v", ms, err)
	}
}

func TestOriginFallsBackToScriptModel(t *testing.T) {
	evs, err := ask(t.Context(), parse(t, `{"model":"toy-1","turns":[{}]}`).Provider("toy"), llm.Request{})
	if err != nil || len(evs) != 1 || evs[0].Message.Origin.Model != "toy-1" {
		t.Errorf("got %+v, %v", evs, err)
	}
}
