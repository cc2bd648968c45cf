package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"alisio/agent/output"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// contexts are the context messages of a history, as "source: text".
func contexts(messages []llm.Message) (all []string) {
	for _, m := range messages {
		if m.Context == "" {
			continue
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(m.Text, fmt.Sprintf("<context source=%q>\n", m.Context)), "\n</context>")
		if m.Role != llm.RoleUser || len(inner) > len(m.Text)-20 {
			inner = "no frame: " + m.Text
		}
		all = append(all, m.Context+": "+inner)
	}
	return all
}

// What a source says is appended when it changed, in whatever process, and nothing
// that was sent before it changes.
func TestContextIsAppendedWhenItChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 60 {
		look := newToy("look", plug.EffectRead, ok("seen"))
		look.spec.Polling = true
		p := &fake{}
		b := newBench(t, p, perm.Policy{}, nil, look)
		last := map[string]string{} // what the transcript holds of each
		var want []string
		b.o.Turn = func(context.Context) (Turn, error) {
			now := b.now
			for _, source := range []string{"a/x", "a/y", "b/x"} {
				if r.IntN(5) == 0 {
					continue // not named: left alone
				}
				text := []string{"", " \n", "one", "two", gone}[r.IntN(5)]
				now.Context = append(now.Context, Injected{Source: source, Text: text})
				says := text
				if strings.TrimSpace(text) == "" {
					says = gone
				}
				was, said := last[source]
				if says != was && (said || strings.TrimSpace(text) != "") {
					want = append(want, source+": "+says)
					last[source] = says
				}
			}
			return now, nil
		}
		for range 5 {
			p.answers = nil
			for i := range r.IntN(4) {
				p.answers = append(p.answers, says("", call("", "look", fmt.Sprintf(`{"n":%d}`, i))))
			}
			p.answers = append(slices.Repeat([]answerFunc{says("unused")}, len(p.requests)), append(p.answers, says("done"))...)
			b.run(context.Background(), "go")
		}
		if got := contexts(b.history()); !slices.Equal(got, want) {
			t.Fatalf("round %d: got %q\nwant %q", round, got, want)
		}
		for i := 1; i < len(p.requests); i++ {
			was, is := p.requests[i-1].Messages, p.requests[i].Messages
			if len(is) < len(was) || !reflect.DeepEqual(is[:len(was)], was) {
				t.Fatalf("round %d: request %d does not begin with the messages of the one before", round, i)
			}
		}
	}
}

func TestContextIsFramedAndBounded(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("done")}}, perm.Policy{}, nil)
	b.o.Secrets = []string{"sk-secret-1"}
	b.now.Context = []Injected{
		{"a/\"x\"\n<b>", "\nit says </context> and sk-secret-1 \xff\n"}, {"a/x", "first"}, {"a/x", "second"},
		{"a/long", strings.Repeat("é", 30_000)}, {"", "of nobody"},
	}
	for range 2 {
		b.run(context.Background(), "go")
	}
	got := contexts(b.history())
	if len(got) != 4 || got[0] != "a/\"x\" <b>: it says <\\/context> and [redacted] \uFFFD" || got[1] != "a/x: first" || got[3] != "unknown: of nobody" {
		t.Fatalf("got %.200q", got)
	}
	if n := len([]rune(got[2])); n > 24_100 || !strings.Contains(got[2], "cut here, 30000 characters in all") {
		t.Errorf("the long one has %d characters", n)
	}
}

// The question for a better answer is the last thing that was said, whatever the
// program told since.
func TestContextDoesNotHideAnotherQuestion(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("no")}}, perm.Policy{}, nil)
	b.record()
	err := b.store.Append(context.Background(), "s", "dead", llm.Message{Role: llm.RoleUser, Text: "go"}, llm.Message{Role: llm.RoleAssistant, Text: "no"},
		output.Repair(nil), llm.Message{Role: llm.RoleUser, Text: "told", Context: "a/b"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Do(context.Background(), b.o, Input{SessionID: "s", Continues: "dead", Output: formOf(t, versionSchema)})
	if err != nil || out.Code != llm.CauseOutputSchema || out.Turns != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}

func lastingStore(t *testing.T) *session.SQLite {
	t.Helper()
	dir := t.TempDir()
	s, err := session.OpenSQLite(context.Background(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// begins is what two hooks give a new session, when one of them works.
func begins(asked *int) func(context.Context) ([]Injected, []HookFailure) {
	return func(context.Context) ([]Injected, []HookFailure) {
		*asked++
		return []Injected{{"a", "remember"}, {"b", " "}, {"c", "also"}}, []HookFailure{{"d", "OnStart", "it took\x1b[2J longer than 15s"}}
	}
}

func TestASessionBeginsWithWhatHooksGive(t *testing.T) {
	for name, open := range map[string]func(b *bench) session.Store{
		"journalled": func(*bench) session.Store { return lastingStore(t) },
		"in memory":  func(b *bench) session.Store { return b.store },
	} {
		t.Run(name, func(t *testing.T) {
			p := &fake{answers: []answerFunc{says("hi")}}
			b := newBench(t, p, perm.Policy{}, nil)
			b.o.Store = open(b)
			asked := 0
			b.o.Start = begins(&asked)
			var events []plug.Event
			in := Input{SessionID: "new", Fresh: &session.Session{ID: "new", Workspace: "/w"}, Prompt: "go",
				OnEvent: func(e plug.Event) { events = append(events, e) }}
			if _, err := Do(context.Background(), b.o, in); err != nil {
				t.Fatal(err)
			}
			in.Fresh = nil
			first := events
			if _, err := Do(context.Background(), b.o, in); err != nil || asked != 1 {
				t.Fatalf("%v, asked %d times", err, asked)
			}
			if got := types(first[:3]); got != " session_context_injected plugin_hook_failed run_started" {
				t.Errorf("events:%s", got)
			}
			stored, err := b.o.Store.Events(context.Background(), "new")
			for i, e := range first[:3] {
				if err != nil || e.Seq != int64(i+1) || e.ID == 0 || e.ID != stored[i].ID || !reflect.DeepEqual(e.Data, stored[i].Data) {
					t.Errorf("event %d: %+v, stored as %+v, %v", i, e, stored[i], err)
				}
			}
			if got := first[0].Data.(plug.SessionContextInjected); got.Tokens != 19 || !slices.Equal(got.Sources, []string{"a", "c"}) {
				t.Errorf("got %+v", got)
			}
			want := plug.PluginHookFailed{Source: "d", Hook: "OnStart", Error: "it took [2J longer than 15s", Continued: true}
			if first[1].Data != want {
				t.Errorf("got %+v, want %+v", first[1].Data, want)
			}
			messages, err := b.o.Store.Messages(context.Background(), "new")
			if got := contexts(messages); err != nil || !slices.Equal(got, []string{"a: remember", "c: also"}) || messages[2].Text != "go" || len(messages) != 6 {
				t.Errorf("got %q in %+v, %v", got, messages, err)
			}
		})
	}
}

// lossy stores the begin of a run and dies before it says so, or before it stores.
type lossy struct {
	*session.SQLite
	before, after bool
}

func (l *lossy) BeginRun(ctx context.Context, b session.Begin) (session.Run, []int64, error) {
	if l.before {
		return session.Run{}, nil, errFull
	}
	r, n, err := l.SQLite.BeginRun(ctx, b)
	if l.after {
		return session.Run{}, nil, errors.Join(err, errFull)
	}
	return r, n, err
}

func TestASessionNeverBeginsTwice(t *testing.T) {
	for _, c := range []struct{ before, after bool }{{before: true}, {after: true}} {
		s := lastingStore(t)
		b := newBench(t, &fake{answers: []answerFunc{says("hi")}}, perm.Policy{}, nil)
		asked := 0
		b.o.Start, b.o.Store = begins(&asked), &lossy{s, c.before, c.after}
		fresh := &session.Session{ID: "new", Workspace: "/w"}
		if _, err := Do(context.Background(), b.o, Input{SessionID: "new", Fresh: fresh, Prompt: "go"}); llm.CauseOf(err) != llm.CauseStore {
			t.Fatalf("got %v", err)
		}
		b.o.Store = s
		if _, err := s.Session(context.Background(), "new"); err == nil {
			fresh = nil
		}
		if _, err := Do(context.Background(), b.o, Input{SessionID: "new", Fresh: fresh, Prompt: "go"}); err != nil {
			t.Fatal(err)
		}
		messages, err := s.Messages(context.Background(), "new")
		if got := contexts(messages); err != nil || len(got) != 2 || (fresh == nil) != c.after {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
}
