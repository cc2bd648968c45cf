package session

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"alisio/agent/session/mend"
	"alisio/llm"
	"alisio/plug"
)

func calls(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "tool_" + id, Arguments: "{}"})
	}
	return m
}

func result(id, text string) llm.Message { return ResultMessage(id, plug.Text(text)) }

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

// reconciled is what becomes of messages in a session whose journal has rows.
func reconciled(t *testing.T, messages []llm.Message, rows ...Call) []llm.Message {
	t.Helper()
	ctx := context.Background()
	m := NewMemory()
	must(t, m.Create(ctx, Session{ID: "s"}))
	must(t, m.Append(ctx, "s", "", messages...))
	for _, r := range rows {
		r.Session = "s"
		if r.Done {
			_, err := m.EndCall(ctx, r, plug.Event{})
			must(t, err)
			continue
		}
		beginCall(t, m, r)
	}
	r := Recovery{Effect: effects, Acknowledge: true}
	got, err := Reconcile(ctx, m, "s", messages, r)
	must(t, err)
	stored, err := m.Messages(ctx, "s")
	must(t, err)
	again, err := Reconcile(ctx, m, "s", stored, r)
	must(t, err)
	if !reflect.DeepEqual(again, got) {
		t.Errorf("a second time gives %+v\nafter %+v", again, got)
	}
	if left, err := m.Pending(ctx, "s"); err != nil || len(left) > 0 {
		t.Errorf("still pending: %+v, %v", left, err)
	}
	paired(t, got)
	return got
}

// paired checks what servers demand of a history.
func paired(t *testing.T, messages []llm.Message) {
	t.Helper()
	if !mend.Intact(messages) {
		t.Errorf("calls and results do not pair: %+v", messages)
	}
}

var (
	lost  = plug.Error("the result of this call is no longer known")
	never = verdict(Call{}, false)
)

// The repair handled calls without results only; a result without its call was
// sent again and again, and servers refuse it.
// Trigger: the store was edited so that a tool message stands without its call.
func TestC051MendPairsBothWays(t *testing.T) {
	lost := ResultMessage("a", lost)
	for _, c := range []struct {
		name     string
		in, want []llm.Message
	}{
		{"nothing", nil, nil},
		{"whole", []llm.Message{user("u"), calls("a", "b"), result("b", "2"), result("a", "1")}, nil},
		{"open at the end", []llm.Message{user("u"), calls("a", "b"), result("b", "2")},
			[]llm.Message{user("u"), calls("a", "b"), result("b", "2"), ResultMessage("a", never)}},
		{"result at the front", []llm.Message{result("a", "1"), user("u")}, []llm.Message{user("u")}},
		{"result of another call", []llm.Message{user("u"), calls("a"), result("x", "0"), result("a", "1")},
			[]llm.Message{user("u"), calls("a"), result("a", "1")}},
		{"result twice", []llm.Message{calls("a"), result("a", "1"), result("a", "2"), user("u")},
			[]llm.Message{calls("a"), result("a", "1"), user("u")}},
		{"result too late", []llm.Message{calls("a"), user("u"), result("a", "1")}, []llm.Message{calls("a"), lost, user("u")}},
		{"call without result", []llm.Message{calls("a"), user("u")}, []llm.Message{calls("a"), lost, user("u")}},
		{"one of two", []llm.Message{calls("b", "a"), result("b", "2"), calls("c"), result("c", "3")},
			[]llm.Message{calls("b", "a"), result("b", "2"), lost, calls("c"), result("c", "3")}},
		{"one id in two answers", []llm.Message{calls("a"), result("a", "1"), calls("a"), result("a", "2")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == nil {
				want = c.in
			}
			before := append([]llm.Message(nil), c.in...)
			if got := reconciled(t, c.in); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			if !reflect.DeepEqual(c.in, before) {
				t.Error("the caller's messages were changed")
			}
		})
	}
}

// The result was in the journal, and the model was told that it is not known.
func TestGapsInTheMiddleGetWhatTheJournalHolds(t *testing.T) {
	done := Call{ID: "a", Done: true, Result: plug.Text("written")}
	for _, c := range []struct {
		name string
		in   []llm.Message
		row  Call
		want string
	}{
		{"completed", []llm.Message{calls("a"), user("u")}, done, "written"},
		{"pending write", []llm.Message{calls("a"), user("u")}, Call{ID: "a", Effect: plug.EffectWrite}, "not known whether"},
		{"pending read", []llm.Message{calls("a"), user("u")}, Call{ID: "a", Effect: plug.EffectRead}, "interrupted"},
		{"nobody knows whose", []llm.Message{calls("a"), calls("a"), result("a", "2"), user("u")}, done, "no longer known"},
	} {
		got := reconciled(t, c.in, c.row)
		if !strings.Contains(got[1].PlainText(), c.want) || len(got) != len(c.in)+1 {
			t.Errorf("%s: got %+v, want %q", c.name, got, c.want)
		}
	}
}

// An id stands for one call. Sessions that an older program or a model left with
// one for two got the earlier result twice, or ended each run with an error.
func TestCallsOfOneIDAreToldApart(t *testing.T) {
	data := func(m llm.Message) llm.Message {
		m.ProviderData = []json.RawMessage{json.RawMessage(`{"id":"a"}`)}
		return m
	}
	done := Call{ID: "a", Done: true, Result: plug.Text("first")}
	for _, c := range []struct {
		name string
		in   []llm.Message
		rows []Call
		// want are the texts of all results, in order.
		want []string
	}{
		{"used again at the end", []llm.Message{calls("a"), result("a", "first"), data(calls("a"))}, []Call{done}, []string{"first", "not executed"}},
		{"used again, in flight", []llm.Message{calls("a"), result("a", "first"), data(calls("a"))},
			[]Call{{ID: "a", Effect: plug.EffectWrite}}, []string{"first", "not known whether"}},
		{"used again in the middle", []llm.Message{calls("a"), result("a", "first"), data(calls("a")), user("u")}, []Call{done},
			[]string{"first", "no longer known"}},
		{"twice in an answer", []llm.Message{data(calls("a", "a")), result("a", "first"), result("a", "second"), user("u")}, nil,
			[]string{"first", "second"}},
		{"twice at the end", []llm.Message{data(calls("a", "a"))}, []Call{{ID: "a", Effect: plug.EffectWrite}},
			[]string{"not known whether", "not executed"}},
		{"none", []llm.Message{data(calls("", "")), result("", "first"), user("u")}, nil, []string{"first", "no longer known"}},
		{"none at the end", []llm.Message{data(calls(""))}, nil, []string{"not executed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reconciled(t, c.in, c.rows...)
			var texts []string
			used := map[string]bool{}
			for _, m := range got {
				for _, call := range m.Calls {
					if used[call.ID] || call.ID == "" {
						t.Errorf("id %q stands for two calls, or none", call.ID)
					}
					used[call.ID] = true
				}
				if m.ProviderData != nil {
					t.Error("the provider's data still has the old id")
				}
				if m.Role == llm.RoleTool {
					texts = append(texts, m.PlainText())
				}
			}
			if len(texts) != len(c.want) {
				t.Fatalf("got %q", texts)
			}
			for i, want := range c.want {
				if !strings.Contains(texts[i], want) {
					t.Errorf("result %d: got %q, want %q", i, texts[i], want)
				}
			}
			// What follows changes nothing of what was sent.
			longer := reconciled(t, append(slices.Clone(got), user("more"), calls("z"), result("z", "1")))
			if !reflect.DeepEqual(longer[:len(got)], got) {
				t.Errorf("later: %+v\nwas %+v", longer[:len(got)], got)
			}
		})
	}
}

// The row of an effect was forgotten when no last message showed its call: a
// compaction took it away, its body can not be read, or a prompt stands behind.
func TestPendingEffectsAreFoundWhereverTheyAre(t *testing.T) {
	ctx := context.Background()
	for name, messages := range map[string][]llm.Message{
		"no message":     {user("go")},
		"another answer": {user("go"), calls("b"), result("b", "1")},
		"in the middle":  {user("go"), calls("put"), user("more")},
		"answered":       {user("go"), calls("put"), result("put", "1")},
	} {
		m := NewMemory()
		must(t, m.Create(ctx, Session{ID: "s"}))
		must(t, m.Append(ctx, "s", "", messages...))
		beginCall(t, m, Call{Session: "s", ID: "put", Name: "write_file", Effect: plug.EffectWrite})
		beginCall(t, m, Call{Session: "s", ID: "look", Name: "read_file", Effect: plug.EffectRead})
		_, err := Reconcile(ctx, m, "s", messages, Recovery{Effect: effects})
		var uncertain *UncertainError
		if !errors.As(err, &uncertain) || len(uncertain.Calls) != 1 || uncertain.Calls[0].ID != "put" || uncertain.Calls[0].Name != "write_file" {
			t.Fatalf("%s: got %v", name, err)
		}
		got, err := Reconcile(ctx, m, "s", messages, Recovery{Effect: effects, Acknowledge: true})
		must(t, err)
		paired(t, got)
		if now, err := m.Messages(ctx, "s"); err != nil || len(now) != len(messages) {
			t.Errorf("%s: %d messages are stored, %v; nothing was to be added", name, len(now), err)
		}
		rows, err := m.Calls(ctx, "s", "put", "look")
		if err != nil || len(rows) != 2 || !rows[0].Done || !strings.Contains(rows[0].Result.PlainText(), "not known whether") ||
			!rows[1].Done || !strings.Contains(rows[1].Result.PlainText(), "interrupted") {
			t.Errorf("%s: the journal holds %+v, %v", name, rows, err)
		}
	}
}

// died makes a session whose last answer has the calls of the journal's rows,
// and one that never began.
func died(t *testing.T, rows ...Call) (*Memory, []llm.Message) {
	t.Helper()
	ctx := context.Background()
	m := NewMemory()
	must(t, m.Create(ctx, Session{ID: "s"}))
	var ids []string
	for _, r := range rows {
		r.Session = "s"
		beginCall(t, m, r)
		if r.Done {
			_, err := m.EndCall(ctx, r, plug.Event{})
			must(t, err)
		}
		ids = append(ids, r.ID)
	}
	must(t, m.Append(ctx, "s", "", user("go"), calls(append(ids, "never")...)))
	messages, err := m.Messages(ctx, "s")
	must(t, err)
	return m, messages
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func effects(tool string) plug.Effect {
	switch tool {
	case "tool_look":
		return plug.EffectRead
	case "tool_note":
		return plug.EffectInternal
	}
	return plug.EffectExternal
}

func TestReconcileByWhatTheJournalSays(t *testing.T) {
	ctx := context.Background()
	m, messages := died(t,
		Call{ID: "done", Name: "tool_done", Effect: plug.EffectWrite, Done: true, Result: plug.Text("written")},
		Call{ID: "look", Name: "tool_look"}, Call{ID: "note", Effect: plug.EffectInternal})
	all, err := Reconcile(ctx, m, "s", messages, Recovery{Effect: effects})
	must(t, err)
	add := all[len(messages):]
	want := []string{"written", "interrupted", "interrupted", "not executed"}
	if len(add) != len(want) {
		t.Fatalf("got %+v", add)
	}
	for i, w := range want {
		if !strings.Contains(add[i].PlainText(), w) || add[i].IsError != (i > 0) {
			t.Errorf("result %d: got %+v, want %q", i, add[i], w)
		}
	}
	stored, err := m.Messages(ctx, "s")
	must(t, err)
	if !reflect.DeepEqual(stored, append(messages, add...)) {
		t.Errorf("stored %+v", stored)
	}
	if again, err := Reconcile(ctx, m, "s", stored, Recovery{Effect: effects}); err != nil || !reflect.DeepEqual(again, stored) {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	rows, err := m.Calls(ctx, "s", "done", "look", "note", "never")
	must(t, err)
	for _, r := range rows {
		if !r.Done {
			t.Errorf("row %s is still pending", r.ID)
		}
	}
	if len(rows) != 4 {
		t.Errorf("got %d rows, want one for each call: the ids are used", len(rows))
	}
}

func TestAnUncertainCallStopsTheSession(t *testing.T) {
	ctx := context.Background()
	for _, effect := range []plug.Effect{plug.EffectWrite, plug.EffectProcess, plug.EffectExternal, "", "unheard_of"} {
		m, messages := died(t, Call{ID: "look", Effect: plug.EffectRead}, Call{ID: "edit", Effect: effect})
		add, err := Reconcile(ctx, m, "s", messages, Recovery{Effect: effects})
		var uncertain *UncertainError
		if !errors.As(err, &uncertain) || len(uncertain.Calls) != 1 || uncertain.Calls[0].ID != "edit" || add != nil {
			t.Fatalf("%q: got %+v, %v", effect, add, err)
		}
		if !strings.Contains(err.Error(), "tool_edit (edit)") {
			t.Errorf("%q: %v", effect, err)
		}
		if stored, _ := m.Messages(ctx, "s"); len(stored) != len(messages) {
			t.Errorf("%q: something was stored", effect)
		}
		add, err = Reconcile(ctx, m, "s", messages, Recovery{Effect: effects, Acknowledge: true})
		must(t, err)
		if add = add[len(messages):]; len(add) != 3 || !strings.Contains(add[1].PlainText(), "not known whether") {
			t.Errorf("%q: acknowledged: %+v", effect, add)
		}
	}
}

// A store that fails between the steps leaves a state that the next time takes
// to the same end.
func TestReconcileInterruptedItself(t *testing.T) {
	ctx := context.Background()
	for fail := 1; fail <= 3; fail++ {
		m, messages := died(t, Call{ID: "look", Effect: plug.EffectRead})
		broken := &failing{Memory: m, left: fail}
		if _, err := Reconcile(ctx, broken, "s", messages, Recovery{Effect: effects}); !errors.Is(err, errBroken) {
			t.Fatalf("step %d: got %v", fail, err)
		}
		now, err := m.Messages(ctx, "s")
		must(t, err)
		if _, err := Reconcile(ctx, m, "s", now, Recovery{Effect: effects}); err != nil {
			t.Fatalf("step %d: %v", fail, err)
		}
		end, err := m.Messages(ctx, "s")
		must(t, err)
		var texts []string
		for _, r := range end[2:] {
			texts = append(texts, r.PlainText())
		}
		if len(texts) != 2 || !strings.Contains(texts[0], "interrupted") || !strings.Contains(texts[1], "not executed") {
			t.Errorf("step %d: got %q", fail, texts)
		}
	}
}

var errBroken = errors.New("the disk is full")

// failing is a store whose left-th write fails.
type failing struct {
	*Memory
	left int
}

func (f *failing) EndCall(ctx context.Context, c Call, e plug.Event, messages ...llm.Message) (int64, error) {
	if f.left--; f.left == 0 {
		return 0, errBroken
	}
	return f.Memory.EndCall(ctx, c, e, messages...)
}

func (f *failing) Append(ctx context.Context, id, run string, messages ...llm.Message) error {
	if f.left--; f.left == 0 {
		return errBroken
	}
	return f.Memory.Append(ctx, id, run, messages...)
}

// beginCall stores that a call was begun.
func beginCall(t *testing.T, s Store, c Call) {
	t.Helper()
	if _, err := s.BeginCall(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}
