package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// recorder is a store that notes what passes and can break.
type recorder struct {
	*session.Memory
	log []string
	// breaks is the entry of the log that fails; empty: none.
	breaks string
	runs   map[string]session.Run
}

// with says which messages are stored along with something.
func with(messages []llm.Message) string {
	s := ""
	for _, m := range messages {
		s += " with " + string(m.Role)
	}
	return s
}

var errFull = errors.New("the disk is full")

func (r *recorder) note(format string, args ...any) error {
	entry := fmt.Sprintf(format, args...)
	r.log = append(r.log, entry)
	if r.breaks != "" && strings.HasPrefix(entry, r.breaks) {
		return errFull
	}
	return nil
}

func (r *recorder) Append(ctx context.Context, id, run string, messages ...llm.Message) error {
	for _, m := range messages {
		if err := r.note("append %s", m.Role); err != nil {
			return err
		}
	}
	return r.Memory.Append(ctx, id, run, messages...)
}

func (r *recorder) AddEvent(ctx context.Context, e plug.Event, messages ...llm.Message) (int64, error) {
	if err := r.note("event %s%s", e.Data.EventType(), with(messages)); err != nil {
		return 0, err
	}
	return r.Memory.AddEvent(ctx, e, messages...)
}

func (r *recorder) BeginCall(ctx context.Context, c session.Call, events ...plug.Event) ([]int64, error) {
	if err := r.note("begin call %s %s%s", c.Name, c.Effect, types(events)); err != nil {
		return nil, err
	}
	return r.Memory.BeginCall(ctx, c, events...)
}

func (r *recorder) EndCall(ctx context.Context, c session.Call, e plug.Event, messages ...llm.Message) (int64, error) {
	if err := r.note("end call %s %s %v%s", c.Name, c.Effect, c.Result.IsError, with(messages)); err != nil {
		return 0, err
	}
	return r.Memory.EndCall(ctx, c, e, messages...)
}

func (r *recorder) BeginRun(ctx context.Context, b session.Begin) (session.Run, []int64, error) {
	if err := r.note("begin run%s%s", types(b.Events), with(b.Messages)); err != nil {
		return session.Run{}, nil, err
	}
	for _, known := range r.runs {
		if known.RequestID != "" && known.RequestID == b.Run.RequestID && known.ID != b.Continues {
			return known, nil, nil
		}
	}
	r.runs[b.Run.ID] = b.Run
	if b.Fresh != nil {
		if err := r.Memory.Create(ctx, *b.Fresh); err != nil {
			return session.Run{}, nil, err
		}
	}
	if err := r.Memory.Append(ctx, b.Run.Session, b.Run.ID, b.Messages...); err != nil {
		return session.Run{}, nil, err
	}
	var numbers []int64
	for _, e := range b.Events {
		n, err := r.Memory.AddEvent(ctx, e)
		if err != nil {
			return session.Run{}, nil, err
		}
		numbers = append(numbers, n)
	}
	return b.Run, numbers, nil
}

func (r *recorder) EndRun(ctx context.Context, end session.RunEnd, last ...plug.Event) (numbers []int64, err error) {
	if err := r.note("end run %s%s%s", end.Status, types(last), with(end.Messages)); err != nil {
		return nil, err
	}
	if err := r.Memory.Append(ctx, last[0].SessionID, end.ID, end.Messages...); err != nil {
		return nil, err
	}
	for _, e := range last {
		n, err := r.Memory.AddEvent(ctx, e)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// types are those of events, each after a space.
func types(events []plug.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(" " + string(e.Data.EventType()))
	}
	return b.String()
}

func (r *recorder) RunByRequest(context.Context, session.RequestKey) (session.Run, error) {
	return session.Run{}, session.ErrNotFound
}

// record puts a recorder before the bench's store.
func (b *bench) record() *recorder {
	r := &recorder{Memory: b.store, runs: map[string]session.Run{}}
	b.o.Store = r
	return r
}

func TestTheJournalBeginsBeforeTheEffect(t *testing.T) {
	p := &fake{answers: []answerFunc{says("", call("1", "look", `{}`), call("2", "put", `{}`), call("3", "gone", `{}`)), says("done")}}
	var b *bench
	state := func(id string) string {
		rows, err := b.store.Calls(context.Background(), "s", id)
		switch {
		case err != nil:
			return err.Error()
		case len(rows) == 0:
			return "none"
		case rows[0].Done:
			return "done"
		}
		return "pending"
	}
	during := map[string]string{}
	look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		during["1"] = state("1")
		return plug.Text("seen"), nil
	})
	put := newToy("put", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
		during["2"] = state("2")
		return plug.Text("put"), nil
	})
	b = newBench(t, p, all, nil, look, put)
	r := b.record()
	if out := b.run(context.Background(), "go"); out.Status != Completed {
		t.Fatalf("got %+v", out)
	}
	if during["1"] != "none" || during["2"] != "pending" {
		t.Errorf("while the tools ran: %v", during)
	}
	for _, id := range []string{"1", "2", "3"} {
		if got := state(id); got != "done" {
			t.Errorf("call %s is %s at the end", id, got)
		}
	}
	want := []string{
		"begin run run_started with user", "event turn_completed with assistant",
		"event tool_started", "end call look read false",
		"begin call put write tool_started approval_resolved", "end call put write false",
		"event tool_started", "end call gone external true",
		"append tool", "append tool", "append tool",
		"end run completed turn_completed run_completed with assistant",
	}
	if !slices.Equal(r.log, want) {
		t.Errorf("got  %q\nwant %q", r.log, want)
	}
}

// What can not be kept does not happen: no tool runs whose call is not in the
// journal, and a run whose end is not stored has failed.
func TestABrokenStoreEndsTheRunWithOneEnd(t *testing.T) {
	for _, c := range []struct {
		breaks string
		effect plug.Effect
		ran    bool
	}{
		{"event turn_completed", plug.EffectWrite, false},
		{"event tool_started", plug.EffectRead, false},
		{"begin call put", plug.EffectWrite, false},
		{"end call put", plug.EffectWrite, true},
		{"end run", plug.EffectWrite, true},
	} {
		t.Run(c.breaks, func(t *testing.T) {
			ran := false
			b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "put", `{}`)), says("done")}}, all, nil,
				newToy("put", c.effect, func(context.Context, *plug.Call) (plug.Result, error) {
					ran = true
					return plug.Text("put"), nil
				}))
			b.record().breaks = c.breaks
			var events []plug.Event
			out, err := Do(context.Background(), b.o, Input{SessionID: "s", Prompt: "go", OnEvent: func(e plug.Event) { events = append(events, e) }})
			if err != nil {
				t.Fatal(err)
			}
			if out.Status != Failed || out.Code != llm.CauseStore || !errors.Is(out.Err, errFull) {
				t.Errorf("got %+v", out)
			}
			if ran != c.ran {
				t.Errorf("the tool ran: %v", ran)
			}
			ends := 0
			for i, e := range events {
				if e.Seq != int64(i+1) {
					t.Errorf("event %d has seq %d", i, e.Seq)
				}
				last := e.Data.EventType().Ends()
				if last {
					ends++
				}
				if e.ID == 0 && !e.Data.EventType().Ephemeral() && !last {
					t.Errorf("%s was shown and not stored", e.Data.EventType())
				}
			}
			if ends != 1 || events[len(events)-1].Data.EventType() != plug.TypeRunFailed {
				t.Errorf("%d ends, the last event is %s", ends, events[len(events)-1].Data.EventType())
			}
		})
	}
}

func TestARunThatCanNotBeginIsNoRun(t *testing.T) {
	p := &fake{answers: []answerFunc{says("hi")}}
	b := newBench(t, p, perm.Policy{}, nil)
	b.record().breaks = "begin run"
	_, err := Do(context.Background(), b.o, Input{SessionID: "s", Prompt: "go", OnEvent: func(e plug.Event) { t.Errorf("event %s", e.Data.EventType()) }})
	if llm.CauseOf(err) != llm.CauseStore || len(p.requests) > 0 {
		t.Errorf("got %v, %d requests", err, len(p.requests))
	}
}

func TestARequestIDThatIsTakenStartsNothing(t *testing.T) {
	p := &fake{answers: []answerFunc{says("hi")}}
	b := newBench(t, p, perm.Policy{}, nil)
	r := b.record()
	r.runs["first"] = session.Run{ID: "first", Session: "s", RequestID: "q"}
	_, err := Do(context.Background(), b.o, Input{SessionID: "s", Prompt: "go", RequestID: "q"})
	var exists *ExistsError
	if !errors.As(err, &exists) || exists.Run.ID != "first" || len(p.requests) > 0 || len(b.history()) > 0 {
		t.Errorf("got %v, %d requests, %d messages", err, len(p.requests), len(b.history()))
	}
}

// A run that a dead process left goes on where it stood, and asks nobody for
// what is stored already.
func TestAnInterruptedRunGoesOnWhereItStood(t *testing.T) {
	asked := llm.Message{Role: llm.RoleUser, Text: "go"}
	for _, c := range []struct {
		name     string
		history  []llm.Message
		requests int
		text     string
	}{
		{"nothing but the prompt", []llm.Message{asked}, 1, "new"},
		{"with a result", []llm.Message{asked,
			{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "look", `{}`)}},
			session.ResultMessage("1", plug.Text("seen"))}, 1, "new"},
		{"a call without result", []llm.Message{asked,
			{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "look", `{}`)}}}, 1, "new"},
		{"answered", []llm.Message{asked, {Role: llm.RoleAssistant, Text: "old"}}, 0, "old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &fake{answers: []answerFunc{says("new")}}
			b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("seen")))
			b.record()
			if err := b.store.Append(context.Background(), "s", "", c.history...); err != nil {
				t.Fatal(err)
			}
			said := ""
			out, err := Do(context.Background(), b.o, Input{SessionID: "s", Continues: "dead", RequestID: "q", OnEvent: func(e plug.Event) {
				if d, ok := e.Data.(plug.Delta); ok {
					said += d.Delta
				}
			}})
			if err != nil || out.Status != Completed || out.Text != c.text || said != c.text || len(p.requests) != c.requests {
				t.Errorf("got %+v, %v, said %q, %d requests", out, err, said, len(p.requests))
			}
			prompts := 0
			for _, m := range b.history() {
				if m.Role == llm.RoleUser {
					prompts++
				}
			}
			if prompts != 1 {
				t.Errorf("the history holds %d prompts", prompts)
			}
			if err := valid(b.history()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnUncertainSessionDoesNotRun(t *testing.T) {
	p := &fake{answers: []answerFunc{says("fine")}}
	b := newBench(t, p, all, nil, newToy("put", plug.EffectWrite, ok("put")))
	ctx := context.Background()
	if err := b.store.Append(ctx, "s", "", llm.Message{Role: llm.RoleUser, Text: "go"},
		llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "put", `{}`)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.BeginCall(ctx, session.Call{Session: "s", ID: "1", Name: "put"}); err != nil {
		t.Fatal(err)
	}
	_, err := Do(ctx, b.o, Input{SessionID: "s", Prompt: "again"})
	var e *llm.Error
	var uncertain *session.UncertainError
	if !errors.As(err, &e) || e.Cause != llm.CauseUncertain || !errors.As(err, &uncertain) || len(uncertain.Calls) != 1 || len(p.requests) > 0 {
		t.Fatalf("got %v", err)
	}
	out, err := Do(ctx, b.o, Input{SessionID: "s", Prompt: "again", Acknowledge: true})
	if err != nil || out.Status != Completed || !strings.Contains(b.results()[0], "not known whether") {
		t.Errorf("got %+v, %v, %q", out, err, b.results())
	}
}

// A compaction takes messages out of the history; their call ids stay used.
func TestAnIDThatOnlyTheJournalKnowsIsUsed(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("", call("call_0", "look", `{}`)), says("done")}}, all, nil,
		newToy("look", plug.EffectRead, ok("seen")))
	ctx := context.Background()
	if _, err := b.store.EndCall(ctx, session.Call{Session: "s", ID: "call_0", Result: plug.Text("long ago")}, plug.Event{}); err != nil {
		t.Fatal(err)
	}
	b.run(ctx, "go")
	id := b.history()[1].Calls[0].ID
	if id == "call_0" || len(id) != 9 {
		t.Errorf("the call has id %q", id)
	}
	rows, err := b.store.Calls(ctx, "s", "call_0", id)
	if err != nil || len(rows) != 2 || rows[0].Result.PlainText() != "long ago" {
		t.Errorf("the journal holds %+v, %v", rows, err)
	}
}

func TestOldCallsWithBrokenArgumentsAreSentAsJSON(t *testing.T) {
	p := &fake{answers: []answerFunc{says("fine")}}
	b := newBench(t, p, all, nil)
	stored := []llm.Message{{Role: llm.RoleUser, Text: "go"},
		{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "look", `{}`), call("2", "look", `{"a": "cut`)}},
		session.ResultMessage("1", plug.Text("x")), session.ResultMessage("2", plug.Text("y"))}
	if err := b.store.Append(context.Background(), "s", "", stored...); err != nil {
		t.Fatal(err)
	}
	if _, err := Do(context.Background(), b.o, Input{SessionID: "s", Prompt: "again"}); err != nil {
		t.Fatal(err)
	}
	if err := valid(p.requests[0].Messages); err != nil {
		t.Error(err)
	}
	if got := b.history()[1].Calls[1].Arguments; got != `{"a": "cut` {
		t.Errorf("the stored message was changed: %s", got)
	}
}

func TestTheWholeOfACutResultIsKept(t *testing.T) {
	long := strings.Repeat("é", 60_000)
	short := strings.Repeat("s", 47_000)
	b := newBench(t, &fake{answers: []answerFunc{
		says("", call("1", "long", `{}`), call("2", "short", `{}`), call("3", "short", `{"n":1}`), call("4", "short", `{"n":2}`), call("5", "short", `{"n":3}`)),
		says("done"),
	}}, all, nil, newToy("long", plug.EffectRead, ok(long)), newToy("short", plug.EffectRead, ok(short)))
	var kept []string
	b.o.Keep = func(_ context.Context, id, text string) (string, error) {
		if id != "s" {
			t.Errorf("kept for session %q", id)
		}
		kept = append(kept, text)
		return fmt.Sprintf("blob:%d", len(kept)), nil
	}
	b.run(context.Background(), "go")
	if len(kept) != 2 || kept[0] != long || kept[1] != short {
		t.Fatalf("%d texts were kept", len(kept))
	}
	got := b.results()
	total := 0
	for i, want := range []string{"60000 characters in all; read_file opens the whole, blob:1", "", "", "", "47000 characters in all; read_file opens the whole, blob:2"} {
		if !strings.Contains(got[i], want) || strings.Contains(got[i], "blob:") != (want != "") {
			t.Errorf("result %d: %.80q", i, got[i])
		}
		total += len([]rune(got[i]))
	}
	if total > maxBatchChars {
		t.Errorf("%d characters in a batch", total)
	}
}

func TestAResultThatCanNotBeKeptIsCutAllTheSame(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "long", `{}`)), says("done")}}, all, nil,
		newToy("long", plug.EffectRead, ok(strings.Repeat("x", 60_000))))
	b.o.Keep = func(context.Context, string, string) (string, error) { return "", errFull }
	b.run(context.Background(), "go")
	if got := b.results()[0]; len(got) > maxResultChars+10 || !strings.Contains(got, "cut here, 60000 characters in all …]") {
		t.Errorf("%d bytes", len(got))
	}
}
