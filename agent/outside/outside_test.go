package outside

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"alisio/agent/clock"
	"alisio/agent/gate"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// room is a recorder with what it published, how often the session was held, and a gate.
type room struct {
	*Recorder
	published []plug.Event
	held      int
	gate      *gate.Gate
}

func enter(t *testing.T, policy perm.Policy) *room {
	t.Helper()
	files, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	memory := session.NewMemory()
	if err := memory.Create(t.Context(), session.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	m := &room{gate: gate.New(gate.Options{Policy: policy, Files: files, Tree: gate.NewTree(nil, &clock.HumanWaits{})})}
	m.Recorder = &Recorder{
		Store: memory, Log: slog.New(slog.DiscardHandler), Publish: func(e plug.Event) { m.published = append(m.published, e) },
		Hold: func(context.Context, string) (func(), error) {
			m.held++
			return func() { m.held-- }, nil
		},
	}
	return m
}

func TestEventsOutsideOfRuns(t *testing.T) {
	m := enter(t, perm.Policy{})
	one, other, none := m.Events("s"), m.Events("s"), m.Events("unsaid")
	for _, e := range []*Events{one, one, other, none} {
		if err := e.Emit(t.Context(), plug.ModelChanged{Model: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := m.Store.Events(t.Context(), "s")
	if err != nil || len(stored) != 3 || len(m.published) != 3 {
		t.Fatalf("got %+v, %v; published %+v", stored, err, m.published)
	}
	for i, seq := range []int64{1, 2, 1} {
		if e := stored[i]; e.Seq != seq || e.ID != m.published[i].ID || e.ID == 0 || (e.RunID == stored[0].RunID) != (i < 2) {
			t.Errorf("event %d: got %+v, published %+v", i, e, m.published[i])
		}
	}
}

func TestCarry(t *testing.T) {
	broken := errors.New("no such program")
	for _, c := range []struct {
		name    string
		session string
		policy  perm.Policy
		fails   error
		words   string // of the error, empty: none
		rows    int
	}{
		{"allowed", "s", perm.Policy{AllowProcess: true}, nil, "", 1},
		{"denied", "s", perm.Policy{}, nil, "not allowed: --allow-process allows it", 0},
		{"failed", "s", perm.Policy{AllowProcess: true}, broken, "no such program", 1},
		{"no session yet", "", perm.Policy{AllowProcess: true}, nil, "nothing was said yet: the session does not exist", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := enter(t, c.policy)
			carried := false
			exit, err := m.Carry(t.Context(), Effect{
				Session: c.session, Root: c.session, Plugin: "toy", Tool: "exec", Gate: m.gate,
				Plan: plug.Plan{Effect: plug.EffectProcess, Title: "make\x1b[2J", Argv: []string{"make"}},
				Do: func(ctx context.Context) (plug.Exit, error) {
					carried = true
					pending, err := m.Store.Pending(ctx, "s")
					if err != nil || len(pending) != 1 || !m.Alive(pending[0].ID) || m.held != 1 {
						t.Errorf("while it goes on: %+v, %v, held %d times", pending, err, m.held)
					}
					return plug.Exit{Code: 2, Output: "out"}, c.fails
				},
			})
			if got := fmt.Sprint(err); c.words == "" && err != nil || c.words != "" && got != c.words {
				t.Errorf("got %v, want %q", err, c.words)
			}
			if carried != (c.rows == 1) || carried && exit.Code != 2 || m.held != 0 || len(m.live) != 0 {
				t.Errorf("carried out: %t, %+v, held %d times, alive %v", carried, exit, m.held, m.live)
			}
			if c.session == "" {
				return
			}
			begun := m.published[0].Data.(plug.ToolStarted)
			ended := m.published[len(m.published)-1].Data.(plug.ToolCompleted)
			if begun.Name != "toy/exec" || begun.Title == "make\x1b[2J" || ended.ID != begun.ID || !ended.IsError {
				t.Errorf("got %+v, %+v", begun, ended)
			}
			rows, err := m.Store.Calls(t.Context(), "s", begun.ID)
			if err != nil || len(rows) != c.rows || slices.ContainsFunc(rows, func(r session.Call) bool { return !r.Done }) {
				t.Errorf("journal %+v, %v", rows, err)
			}
		})
	}
}

// Another process has the session: nothing is asked, told or done.
func TestCarryHoldsTheSession(t *testing.T) {
	m := enter(t, perm.Policy{AllowProcess: true})
	busy := &session.BusyError{Session: "s", PID: 1}
	m.Hold = func(context.Context, string) (func(), error) { return nil, busy }
	_, err := m.Carry(t.Context(), Effect{Session: "s", Root: "s", Do: func(context.Context) (plug.Exit, error) {
		t.Error("carried out")
		return plug.Exit{}, nil
	}})
	if !errors.Is(err, busy) || llm.CauseOf(err) != llm.CauseStore || len(m.published) != 0 {
		t.Errorf("got %v, published %+v", err, m.published)
	}
}
