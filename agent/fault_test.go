package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// A process is killed at every step of its journal (spec runner.md, "Crash
// safety"), and what it leaves is checked, taken on, and checked again:
//
//	victim ─ killed at step n ─► store whole, all that was shown is in it
//	     └─► the same request again ─► refused while uncertain ─► acknowledged
//	           ─► completed; no call ran twice; calls and results pair
func TestAKillAtEveryStepLosesAndRepeatsNothing(t *testing.T) {
	steps := countSteps(t)
	for n := int64(1); n <= steps; n += faultStride {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := &scene{t: t, dir: faultDirs(t)}
			if !s.kill(fault{Step: n}) {
				t.Fatalf("the victim ended by itself at step %d of %d", n, steps)
			}
			s.finish()
		})
	}
}

// The recovery can be killed as well: what it has stored by then, the next one
// finds. The steps are those around its own work, before the run goes on.
func TestAKillOfTheRecoveryLosesAndRepeatsNothing(t *testing.T) {
	const recovery = 14
	for _, first := range recoverable(t) {
		for n := int64(1); n <= recovery; n += faultStride {
			t.Run(fmt.Sprintf("%d then %d", first, n), func(t *testing.T) {
				t.Parallel()
				s := &scene{t: t, dir: faultDirs(t)}
				s.kill(fault{Step: first})
				s.kill(fault{Step: n, Acknowledge: true})
				s.finish()
			})
		}
	}
}

// countSteps runs a victim that nobody kills.
func countSteps(t *testing.T) int64 {
	t.Helper()
	s := &scene{t: t, dir: faultDirs(t)}
	if s.kill(fault{}) {
		t.Fatalf("the victim died at %q", s.last)
	}
	var n int64
	if _, err := fmt.Sscanf(s.last, "end %d", &n); err != nil || n < 60 {
		t.Fatalf("the victim ended with %q: too few steps, or none", s.last)
	}
	s.finish()
	return n
}

// recoverable returns a step of each kind that a recovery has work with: a call
// without a row, a pending one that ran and one that did not, one that completed
// and has no message, and a run whose calls are answered and which has no end.
func recoverable(t *testing.T) []int64 {
	t.Helper()
	want := []string{
		"after AddEvent turn_completed", "after BeginCall c2", "before EndCall c3", "after EndCall c8", "before EndRun",
	}
	s := &scene{t: t, dir: faultDirs(t)}
	s.kill(fault{})
	var steps []int64
	for _, name := range want {
		at := slices.Index(s.steps, name)
		if at < 0 {
			t.Fatalf("no step is called %q in %q", name, s.steps)
		}
		steps = append(steps, int64(at)+1)
	}
	return steps
}

// scene is the state that victims leave, and what they showed.
type scene struct {
	t     *testing.T
	dir   string
	shown []plug.Event
	// steps are the names of all steps of the last victim, last its last line.
	steps []string
	last  string
}

// kill runs a victim and reports whether it was killed.
func (s *scene) kill(f fault) bool {
	s.t.Helper()
	f.Dir = s.dir
	env, err := json.Marshal(f)
	if err != nil {
		s.t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), faultEnv+"="+string(env))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	s.steps = strings.Split(strings.TrimSpace(stderr.String()), "\n")
	s.last = s.steps[len(s.steps)-1]
	for line := range bytes.Lines(stdout.Bytes()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the kill tore it
		}
		e, err := plug.DecodeEvent(bytes.TrimSpace(line))
		if err != nil {
			s.t.Fatalf("the victim showed %q: %v", line, err)
		}
		s.shown = append(s.shown, e)
	}
	var ended *exec.ExitError
	switch {
	case err == nil:
		return false
	case !errors.As(err, &ended) || ended.Exited():
		s.t.Fatalf("the victim failed: %v\n%s", err, stderr.String())
	}
	return true
}

// finish checks what is there, takes the request to its end, and checks again.
func (s *scene) finish() {
	s.t.Helper()
	s.healthy()
	ctx := context.Background()
	a, store, err := faultApp(ctx, s.dir, func(st *Store) session.Store { return st })
	if err != nil {
		s.t.Fatalf("after %q: open: %v", s.last, err)
	}
	defer func() {
		if err := a.Close(ctx); err != nil {
			s.t.Error(err)
		}
	}()
	s.kept(store)
	left := s.left(store)
	said := ""
	o := RunOptions{RequestID: faultRequest, OnEvent: func(e plug.Event) {
		if d, ok := e.Data.(plug.Delta); ok {
			said += d.Delta
		}
	}}
	out, err := a.Run(ctx, "", "Do it.", o)
	if len(left.uncertain) > 0 {
		s.refused(store, left, err)
		o.AcknowledgeUncertain = true
		out, err = a.Run(ctx, "", "Do it.", o)
	}
	if !strings.HasSuffix(said, faultAnswer) {
		s.t.Errorf("after %q: a person who watches reads %q, want the answer at its end", s.last, said)
	}
	if err != nil || out.Status != Completed || out.Text != faultAnswer {
		s.t.Fatalf("after %q: the request ended with %+v, %v", s.last, out, err)
	}
	s.kept(store)
	s.runs(store, out)
	s.told(store, out.SessionID, left)
	said = ""
	again, err := a.Run(ctx, "", "Do it.", o)
	if !strings.HasSuffix(said, faultAnswer) {
		s.t.Errorf("after %q: shown again, a person who watches reads %q", s.last, said)
	}
	if err != nil || !again.Replayed || again.Text != faultAnswer || again.RunID != out.RunID {
		s.t.Errorf("after %q: the request again gave %+v, %v", s.last, again, err)
	}
	s.counted(store, out.SessionID)
	s.healthy()
}

// healthy checks the database file, integrity_check among others.
func (s *scene) healthy() {
	s.t.Helper()
	r, err := CheckStore(context.Background(), faultStore(s.dir))
	if err != nil {
		s.t.Errorf("after %q: check: %v", s.last, err)
	}
	for _, f := range r.Findings {
		if f.Level == Problem {
			s.t.Errorf("after %q: %+v", s.last, f)
		}
	}
}

// session is the only one there is, or nothing.
func (s *scene) session(store *Store) string {
	s.t.Helper()
	list, err := store.List(context.Background(), Query{All: true, Limit: 10})
	if err != nil || len(list) > 1 {
		s.t.Fatalf("after %q: %d sessions, %v", s.last, len(list), err)
	}
	if len(list) == 0 {
		return ""
	}
	return list[0].ID
}

// kept checks that every event that was shown is stored as it was, and that the
// events of a run are numbered without doubles.
func (s *scene) kept(store *Store) {
	s.t.Helper()
	id := s.session(store)
	stored := make(map[int64]plug.Event)
	lastSeq := make(map[string]int64)
	if id != "" {
		events, err := store.Events(context.Background(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			first := lastSeq[e.RunID] == 0
			if e.Seq <= lastSeq[e.RunID] || first && (e.Seq != 1 || e.Data.EventType() != plug.TypeRunStarted) {
				s.t.Errorf("after %q: run %s has %s with seq %d after %d", s.last, e.RunID, e.Data.EventType(), e.Seq, lastSeq[e.RunID])
			}
			lastSeq[e.RunID] = e.Seq
			stored[e.ID] = e
		}
	}
	for _, e := range s.shown {
		if e.ID == 0 {
			if !e.Data.EventType().Ephemeral() {
				s.t.Errorf("after %q: %s was shown and has no eventId", s.last, e.Data.EventType())
			}
			continue
		}
		got, want := wire(s.t, stored[e.ID]), wire(s.t, e)
		if got != want {
			s.t.Errorf("after %q: event %d\n got %s\nwant %s", s.last, e.ID, got, want)
		}
	}
}

func wire(t *testing.T, e plug.Event) string {
	t.Helper()
	if e.Data == nil {
		return "nothing"
	}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// leftover is what a victim left open: results by call id as the rules demand
// them, and the calls of which nobody knows.
type leftover struct {
	messages  int
	results   map[string]string
	uncertain []string
}

// left works out from the journal what the rules say about the calls without a
// result.
func (s *scene) left(store *Store) leftover {
	s.t.Helper()
	out := leftover{results: make(map[string]string)}
	id := s.session(store)
	if id == "" {
		return out
	}
	ctx := context.Background()
	messages, err := store.Messages(ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	out.messages = len(messages)
	answered := make(map[string]bool)
	for _, m := range messages {
		answered[m.CallID] = true
	}
	for _, m := range messages {
		for _, c := range m.Calls {
			if answered[c.ID] {
				continue
			}
			rows, err := store.Calls(ctx, id, c.ID)
			switch {
			case err != nil:
				s.t.Fatal(err)
			case len(rows) == 0:
				out.results[c.ID] = "was not executed"
			case rows[0].Done:
				out.results[c.ID] = rows[0].Result.PlainText()
			default:
				out.results[c.ID] = "not known whether it took effect"
				out.uncertain = append(out.uncertain, c.ID)
			}
		}
	}
	return out
}

// refused checks that an uncertain session did not run, and was left alone.
func (s *scene) refused(store *Store, left leftover, err error) {
	s.t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || e.Cause != llm.CauseUncertain {
		s.t.Fatalf("after %q: %q are uncertain, and the run ended with %v", s.last, left.uncertain, err)
	}
	for _, id := range left.uncertain {
		if !strings.Contains(e.Message, "("+id+")") {
			s.t.Errorf("after %q: the refusal does not name %s: %s", s.last, id, e.Message)
		}
	}
	if again := s.left(store); !reflect.DeepEqual(again, left) {
		s.t.Errorf("after %q: the refused run changed %+v to %+v", s.last, left, again)
	}
}

// runs checks that the request is one completed run, and all others interrupted.
func (s *scene) runs(store *Store, out Outcome) {
	s.t.Helper()
	list, err := store.Runs(context.Background(), out.SessionID, 20)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, r := range list {
		want := session.RunInterrupted
		if i == 0 {
			want = session.RunCompleted
		}
		if r.Status != want || (r.RequestID == faultRequest) != (i == 0) || r.Ended.IsZero() {
			s.t.Errorf("after %q: run %d of %d is %+v, want %s", s.last, i, len(list), r, want)
		}
	}
}

// told checks that calls and results pair, in order, and that calls that were
// left open have the result that the rules demand.
func (s *scene) told(store *Store, id string, left leftover) {
	s.t.Helper()
	messages, err := store.Messages(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	var open []string
	seen := make(map[string]bool)
	for _, m := range messages {
		if m.Role == llm.RoleTool {
			if len(open) == 0 || m.CallID != open[0] {
				s.t.Fatalf("after %q: a result of %s where %q are open", s.last, m.CallID, open)
			}
			open = open[1:]
			if want, ok := left.results[m.CallID]; ok && !strings.Contains(m.PlainText(), want) {
				s.t.Errorf("after %q: the result of %s is %.80q, want %.80q", s.last, m.CallID, m.PlainText(), want)
			}
			continue
		}
		if len(open) > 0 {
			s.t.Fatalf("after %q: a message of %s where %q are open", s.last, m.Role, open)
		}
		for _, c := range m.Calls {
			if seen[c.ID] {
				s.t.Errorf("after %q: call %s is in the history twice", s.last, c.ID)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 || len(seen) != 9 {
		s.t.Errorf("after %q: %q are open at the end, of %d calls", s.last, open, len(seen))
	}
}

// counted checks how often the tools ran against what the history says.
func (s *scene) counted(store *Store, id string) {
	s.t.Helper()
	ran, err := counts(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for call, n := range ran {
		if n > 1 {
			s.t.Errorf("after %q: %s ran %d times", s.last, call, n)
		}
	}
	messages, err := store.Messages(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range messages {
		effect := m.CallID == "c2" || m.CallID == "c3" || m.CallID == "c8"
		switch text := m.PlainText(); {
		case m.Role != llm.RoleTool:
		case !m.IsError && ran[m.CallID] != 1:
			s.t.Errorf("after %q: %s is told as done and ran %d times", s.last, m.CallID, ran[m.CallID])
		case effect && strings.Contains(text, "was not executed") && ran[m.CallID] != 0:
			s.t.Errorf("after %q: %s is told as not executed and ran", s.last, m.CallID)
		case m.CallID == "c6" && !m.IsError:
			s.whole(store, id, text)
		}
	}
}

// whole checks that the result that was cut can be read whole.
func (s *scene) whole(store *Store, id, text string) {
	s.t.Helper()
	_, rest, ok := strings.Cut(text, "blob:")
	if !ok || len(rest) < 64 {
		s.t.Errorf("after %q: the result that was cut names no blob", s.last)
		return
	}
	got, err := store.OpenBlob(context.Background(), id, rest[:64])
	if want := bigText() + "c6"; err != nil || string(got) != want {
		s.t.Errorf("after %q: the blob holds %d bytes, want %d, %v", s.last, len(got), len(want), err)
	}
}
