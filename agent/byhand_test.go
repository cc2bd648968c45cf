package agent

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/agent/config"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// reader is a model that knows what stands in a request and nothing else. Its
// checkpoints hold nothing of what was said.
type reader struct {
	mu        sync.Mutex
	requests  []llm.Request
	summaries []llm.Request
}

func (r *reader) ID() string   { return "reader" }
func (r *reader) Close() error { return nil }

var launchCode = regexp.MustCompile(`launch code is (\S+)\.`)

func (r *reader) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	req.Messages = slices.Clone(req.Messages)
	all := said(req)
	answer := strings.Repeat("words ", 200)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch last := req.Messages[len(req.Messages)-1].Text; {
	case strings.Contains(last, "is about to be replaced by a checkpoint"):
		r.summaries = append(r.summaries, req)
		answer = fmt.Sprintf(`{"goal":"to chat","accomplished":["part %d"]}`, len(r.summaries))
	case last == "What is my launch code?":
		answer = "I do not know."
		if m := launchCode.FindStringSubmatch(all); m != nil {
			answer = m[1]
		}
		fallthrough
	default:
		r.requests = append(r.requests, req)
	}
	return func(yield func(llm.Event, error) bool) {
		if yield(llm.Event{Kind: llm.TextDelta, Text: answer}, nil) {
			yield(llm.Event{Kind: llm.Completed, Message: &llm.Message{Text: answer}, Usage: &llm.Usage{Input: len(all) / 4, Output: len(answer) / 4}}, nil)
		}
	}
}

// said is all text of a request.
func said(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.PlainText() + "\n")
	}
	return b.String()
}

// talked is a session of so many turns.
func talked(t *testing.T, a *App, id, first string, turns int) string {
	t.Helper()
	id = went(t, a, id, first, nil).SessionID
	for i := 1; i < turns; i++ {
		went(t, a, id, fmt.Sprint("question ", i), nil)
	}
	return id
}

// A session of 300 turns that is compacted four times and more, by itself and by hand,
// in two processes, still answers a question whose answer stands in its first message.
func TestThreeHundredTurnsAnswerFromTheFirstMessage(t *testing.T) {
	dir := realPath(t.TempDir())
	cfg := config.Default()
	cfg.Limits.MaxContextChars = 60_000
	ctx := context.Background()
	var id string
	of := func(first string, turns int) (compactions int) {
		p := &reader{}
		a := engine(t, "sqlite", dir, Options{Provider: p, Config: cfg})
		defer a.Close(ctx)
		id = talked(t, a, id, first, turns)
		before := len(p.summaries)
		if out, err := a.Compact(ctx, id, ""); err != nil || out.Done == nil {
			t.Fatalf("by hand: got %+v, %v", out, err)
		}
		if got := went(t, a, id, "What is my launch code?", nil).Text; got != "7-tango-31" {
			t.Errorf("behind %d turns the model says %q", turns, got)
		}
		if last := said(p.requests[len(p.requests)-1]); strings.Count(last, "launch code is") != 1 || strings.Contains(last, first+"\nwords") {
			t.Error("the answer comes of the first message itself, which was to be replaced")
		}
		return before
	}
	if n := of("My launch code is 7-tango-31.", 200); n < 4 {
		t.Errorf("%d compactions", n)
	}
	if n := of("and on", 100); n < 2 {
		t.Errorf("%d compactions behind the resume", n)
	}
}

// What a person compacts joins the hooks of plugins, is counted, has a run id of its
// own that is no run's, and images in it are described.
func TestCompactByHand(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		p, ctx := &reader{}, context.Background()
		var reasons []string
		hooks := plugged("ours", nil, func(api *plug.API) error {
			_, err := api.OnCompaction(plug.CompactionHooks{
				Before: func(_ context.Context, c plug.CompactionInput) (plug.CompactionWish, error) {
					reasons = append(reasons, "before "+c.Reason)
					return plug.CompactionWish{Instructions: "note the names"}, nil
				},
				After: func(_ context.Context, c plug.CompactionResult) (plug.CompactionReport, error) {
					reasons = append(reasons, "after "+c.Reason)
					return plug.CompactionReport{Inject: "remember the names"}, nil
				},
			})
			return err
		})
		a := engine(t, kind, dir, Options{Provider: p, Plugins: []plug.Plugin{hooks}})
		out, err := a.Run(ctx, "", "look at it", RunOptions{Attachments: []llm.Attachment{{MIMEType: "image/png", Data: make([]byte, 2_000), Width: 3, Height: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		id := talked(t, a, out.SessionID, "and then", 4)
		before, err := a.Stats(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		done, err := a.Compact(ctx, id, "keep the list of failing tests")
		if err != nil || done.Done == nil || done.Done.Replaced != 6 {
			t.Fatalf("got %+v, %v", done, err)
		}
		if want := []string{"before manual", "after manual"}; !slices.Equal(reasons, want) {
			t.Errorf("hooks: %q", reasons)
		}
		asked := p.summaries[0]
		for _, want := range []string{"[image: image/png, 3 × 4, 2 KiB, no longer shown]", "keep the list of failing tests", "note the names"} {
			if !strings.Contains(said(asked), want) {
				t.Errorf("%q is not in %s", want, said(asked))
			}
		}
		for _, m := range asked.Messages {
			if len(m.Attachments) > 0 {
				t.Error("the image was sent again")
			}
		}
		went(t, a, id, "on", nil)
		next := p.requests[len(p.requests)-1]
		if !next.Messages[0].Summary || !strings.Contains(said(next), "[image: image/png, 3 × 4") || !strings.Contains(said(next), "remember the names") {
			t.Errorf("the next request says %s", said(next))
		}
		// C157: nothing writes a call as text.
		if got := next.Messages[0].Text; strings.Contains(got, "tool call:") || strings.Contains(got, `"arguments"`) {
			t.Errorf("the checkpoint says %s", got)
		}
		events, _ := storedEvents(t, a, id)
		for i, e := range events {
			if d, ok := e.Data.(plug.CompactionStarted); ok && (e.Seq != 1 || d.Reason != plug.CompactManual || e.RunID == events[i-1].RunID) {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		after, err := a.Stats(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if kind == "sqlite" && after.Runs != before.Runs+1 {
			t.Errorf("%d runs became %d", before.Runs, after.Runs)
		}
		for _, r := range after.Account.Rows {
			if r.What == "compactions" && r.Requests == 1 && r.Usage.Output == done.Usage.Output {
				return
			}
		}
		if kind == "sqlite" {
			t.Errorf("it is not counted: %+v", after.Account.Rows)
		}
	})
}

// It is told which compaction holds, also where another as large was undone, and undo
// goes back one by one, whatever was said since.
func TestUndoneCompactions(t *testing.T) {
	p, ctx := &reader{}, context.Background()
	a := engine(t, "sqlite", realPath(t.TempDir()), Options{Provider: p})
	id := talked(t, a, "", "first", 5)
	var told []int
	for range 3 {
		out, err := a.Compact(ctx, id, "")
		if err != nil || out.Done == nil {
			t.Fatalf("got %+v, %v", out, err)
		}
		told = append(told, out.Done.Before)
		talked(t, a, id, "more", 4)
	}
	n := len(p.requests)
	for i, goal := range []string{"part 3", "part 2", "part 1"} {
		r, err := a.LastCompaction(ctx, id)
		if err != nil || r.Told == nil || r.Told.Before != told[2-i] || !strings.Contains(r.Checkpoint.Text, goal) {
			t.Fatalf("got %+v, %v, want %s", r, err, goal)
		}
		if back, err := a.UndoCompaction(ctx, id); err != nil || back.Restored != len(r.Messages) || back.Due {
			t.Fatalf("undo: %+v, %v", back, err)
		}
	}
	for _, failed := range []error{func() error { _, err := a.UndoCompaction(ctx, id); return err }(), func() error { _, err := a.LastCompaction(ctx, id); return err }()} {
		if llm.CauseOf(failed) != llm.CauseBadRequest || failed.Error() != "no compaction is in effect in this session" {
			t.Errorf("got %v", failed)
		}
	}
	went(t, a, id, "last", nil)
	last := p.requests[n]
	if got := strings.Count(said(last), "more\n"); got != 3 || strings.Contains(said(last), "[checkpoint") || !strings.Contains(said(last), "first\n") {
		t.Errorf("%d prompts are back in %s", got, said(last))
	}
	for i, m := range last.Messages[1:] {
		if m.Role == last.Messages[i].Role {
			t.Errorf("two of %s in a row", m.Role)
		}
	}
}

// What is too long again behind an undo is told, where the next run would see to it.
func TestAnUndoTellsThatACompactionIsDue(t *testing.T) {
	for _, auto := range []bool{true, false} {
		dir, ctx := realPath(t.TempDir()), context.Background()
		long := engine(t, "sqlite", dir, Options{Provider: &reader{}})
		id := talked(t, long, "", "first", 20)
		if out, err := long.Compact(ctx, id, ""); err != nil || out.Done == nil {
			t.Fatalf("got %+v, %v", out, err)
		}
		cfg, p := config.Default(), &reader{}
		cfg.Limits.MaxContextChars, cfg.Compaction.Auto = 28_000, auto
		a := engine(t, "sqlite", dir, Options{Provider: p, Config: cfg})
		if u, err := a.UndoCompaction(ctx, id); err != nil || u.Due != auto {
			t.Errorf("auto %t: got %+v, %v", auto, u, err)
		}
		if went(t, a, id, "on", nil); len(p.summaries) > 0 != auto {
			t.Errorf("auto %t: %d compactions", auto, len(p.summaries))
		}
	}
}

// Who may not compact, and what is said: one whose session is in use, one of whose calls
// nobody knows the end, one that another session started.
func TestCompactionsByHandThatAreRefused(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		ctx := context.Background()
		p := newScripts(t, map[string]string{"go": `{"text":"1"}`})
		a, api, root := one(t, kind, dir, Options{Provider: p})
		child := spawn(t, api, plug.ChildSpec{Parent: root, Agent: "explore", Title: "look"})
		for name, do := range map[string]func(id string) error{
			"compact": func(id string) error { _, err := a.Compact(ctx, id, ""); return err },
			"undo":    func(id string) error { _, err := a.UndoCompaction(ctx, id); return err },
		} {
			if err := do(child); llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "is a child of another") {
				t.Errorf("%s of a child: %v", name, err)
			}
			unlock, _, err := a.lock(ctx, root, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := do(root); llm.CauseOf(err) != llm.CauseStore || !strings.Contains(err.Error(), "busy") {
				t.Errorf("%s while a run works: %v", name, err)
			}
			unlock()
		}
		if _, err := a.Compact(ctx, root, strings.Repeat("w", 4_001)); llm.CauseOf(err) != llm.CauseBadRequest {
			t.Errorf("a wish without end: %v", err)
		}
		c := llm.ToolCall{ID: "c1", Name: "write_file", Arguments: `{"path":"a"}`}
		if err := a.store.Append(ctx, root, "r", llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{c}}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.store.BeginCall(ctx, session.Call{Session: root, ID: c.ID, RunID: "r", Name: c.Name, Effect: plug.EffectWrite}); err != nil {
			t.Fatal(err)
		}
		before, _ := a.store.Messages(ctx, root)
		if _, err := a.Compact(ctx, root, ""); llm.CauseOf(err) != llm.CauseUncertain {
			t.Errorf("an uncertain session: %v", err)
		}
		if now, _ := a.store.Messages(ctx, root); len(now) != len(before) || len(p.of("go")) != 1 {
			t.Errorf("%d messages became %d, %d requests", len(before), len(now), len(p.of("go")))
		}
	})
}
