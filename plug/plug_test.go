package plug

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"alisio/llm"
)

// line is a valid event with a part of it replaced.
func line(old, new string) []byte {
	e := Event{RunID: "r", SessionID: "s", Seq: 1, Time: time.UnixMilli(1_767_323_045_678), ID: 7, CorrelationID: "c",
		Data: RunCompleted{Tokens: 3, Text: "<done> & dusted"}}
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return []byte(strings.Replace(string(b), old, new, 1))
}

func TestDecodeEvent(t *testing.T) {
	e, err := DecodeEvent(line("", ""))
	if err != nil || e.ID != 7 || e.Seq != 1 || e.Time.UnixMilli() != 1_767_323_045_678 || !reflect.DeepEqual(e.Data, RunCompleted{Tokens: 3, Text: "<done> & dusted"}) {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestDecodeEventIsStrict(t *testing.T) {
	for name, c := range map[string][2]string{
		"unknown field of the envelope": {`"seq":1`, `"seq":1,"more":2`},
		"unknown field of the payload":  {`"tokens":3`, `"tokens":3,"more":2`},
		"unknown type":                  {`"run_completed"`, `"run_ended"`},
		"payload of another type":       {`"run_completed"`, `"run_failed"`},
		"newer schema":                  {`"schemaVersion":1`, `"schemaVersion":2`},
		"no time":                       {`2026-01-02T`, `today `},
		"event id that is no number":    {`"eventId":"7"`, `"eventId":"x"`},
		"two values":                    {`"correlationId":"c"}`, `"correlationId":"c"} {}`},
		"brace behind":                  {`"correlationId":"c"}`, `"correlationId":"c"}}`},
		"garbage behind":                {`"correlationId":"c"}`, `"correlationId":"c"}] garbage`},
		"cut":                           {`"correlationId":"c"}`, ``},
	} {
		if e, err := DecodeEvent(line(c[0], c[1])); err == nil {
			t.Errorf("%s: got %+v", name, e)
		}
		if string(line(c[0], c[1])) == string(line("", "")) {
			t.Errorf("%s: %q is not in the event", name, c[0])
		}
	}
}

func TestEveryTypeIsKnown(t *testing.T) {
	ends, ephemeral := 0, 0
	for _, typ := range EventTypes() {
		p, err := decodePayload(typ, []byte(`{}`))
		if err != nil || p.EventType() != typ {
			t.Errorf("%s decodes as %T, %v", typ, p, err)
		}
		if typ.Ends() {
			ends++
		}
		if typ.Ephemeral() {
			ephemeral++
		}
	}
	if ends != 4 || ephemeral != 3 {
		t.Errorf("%d types end a run, %d are ephemeral", ends, ephemeral)
	}
}

func TestResult(t *testing.T) {
	r := Text("a").WithBlock(Block{Kind: BlockDiff, Patch: "p"}).WithSummary("%d lines", 2)
	if r.PlainText() != "a" || r.Summary != "2 lines" || len(r.Parts) != 2 || r.IsError {
		t.Errorf("got %+v", r)
	}
	if got := string(r.Parts[1].Block); r.Parts[1].Type != llm.PartUI || got != `{"kind":"diff","patch":"p"}` {
		t.Errorf("block: got %s", got)
	}
	if e := Error("no %s", "luck"); !e.IsError || e.PlainText() != "no luck" {
		t.Errorf("got %+v", e)
	}
	// A block added to a copy does not show in the original.
	base := Text("a")
	_ = base.WithBlock(Block{Kind: BlockTerminal})
	if len(base.Parts) != 1 {
		t.Errorf("the original has %d parts", len(base.Parts))
	}
}

func TestDecodeArguments(t *testing.T) {
	var a struct{ N int }
	if err := (&Call{Args: []byte(`{"n":3}`)}).Decode(&a); err != nil || a.N != 3 {
		t.Errorf("got %+v, %v", a, err)
	}
	if err := (&Call{Args: []byte(`{`)}).Decode(&a); err == nil {
		t.Error("cut arguments decode")
	}
}
