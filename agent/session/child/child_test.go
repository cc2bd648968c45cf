package child

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// bench is a service over fakes that a test can change, with a root session.
type bench struct {
	*Sessions
	t       *testing.T
	store   *session.Memory
	ceiling perm.Ceiling
	tools   []string
	run     func(ctx context.Context, r Request) (plug.ChildOutcome, error)

	mu    sync.Mutex
	ids   int
	holds int // of any root, now
}

const root = "the-root"

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, store: session.NewMemory(), tools: []string{"shell", "read_file", "write_file"}}
	must(t, b.store.Create(context.Background(), session.Session{ID: root, Workspace: "/w", Provider: "p", Model: "m"}))
	b.run = func(context.Context, Request) (plug.ChildOutcome, error) {
		return plug.ChildOutcome{Status: plug.ChildCompleted, Text: "done"}, nil
	}
	b.Sessions = New(Options{
		Store:   b.store,
		Run:     func(ctx context.Context, r Request) (plug.ChildOutcome, error) { return b.run(ctx, r) },
		Ceiling: func(string) perm.Ceiling { return b.ceiling },
		Hold:    b.hold,
		Tools:   func() []string { return b.tools },
		Resolve: func(_ context.Context, root, name string) (llm.Model, error) {
			if name == "none" {
				return llm.Model{}, errors.New("no such model")
			}
			return llm.Model{ID: "resolved " + root + " " + name}, nil
		},
		Workspace: func(_ context.Context, parent, dir string) (string, error) {
			if !strings.HasPrefix(dir, "/w/") {
				return "", fmt.Errorf("%s is outside of what %s may use", dir, parent)
			}
			return dir + "/real", nil
		},
		NewID: b.id,
	})
	return b
}

func (b *bench) hold(context.Context, string) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holds++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.holds--
	}), nil
}

func (b *bench) held() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holds
}

func (b *bench) id() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids++
	return fmt.Sprintf("%08x-0000-4000-8000-000000000000", b.ids)
}

// spawn makes a child and returns its id.
func (b *bench) spawn(parent string, spec plug.ChildSpec) string {
	b.t.Helper()
	spec.Parent = parent
	c, err := b.Spawn(context.Background(), spec)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.ID
}

func (b *bench) status(id string) plug.ChildStatus {
	b.t.Helper()
	c, err := b.Get(context.Background(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.Status
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSpawn(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	const id = "6f1b1a52-4f0f-4a3e-9d0b-6a1f6f0f0a01"
	got, err := b.Spawn(ctx, plug.ChildSpec{
		Parent: root, ID: id, Title: " two\nlines\x1b[31m ", Agent: "general › root\u202e", Model: "p/x", Workspace: "/w/tree",
		Tools: plug.ToolFilter{Allow: []string{"mcp_*", "not_there_yet"}}, TimeoutMs: 60_000,
	})
	must(t, err)
	if got.ID != id || got.Parent != root || got.Depth != 1 || got.Title != "two lines" || got.Agent != "general - root" ||
		got.Status != plug.ChildQueued || got.Model != "resolved the-root p/x" || time.Since(got.Created) > time.Minute {
		t.Errorf("got %+v", got)
	}
	if again, err := b.Get(ctx, id); err != nil || again != got {
		t.Errorf("get: %+v, %v", again, err)
	}
	below := b.spawn(id, plug.ChildSpec{Agent: "explore"})
	if c, err := b.Get(ctx, below); err != nil || c.Depth != 2 || c.Title != "explore" || c.Model != "resolved the-root p/x" {
		t.Errorf("below: %+v, %v", c, err)
	}
	up, err := b.Ancestors(ctx, below)
	if err != nil || len(up) != 2 || up[0].ID != id || up[1].ID != root || up[1].Status != "" || up[1].Depth != 0 {
		t.Errorf("ancestors: %+v, %v", up, err)
	}
	second := b.spawn(root, plug.ChildSpec{})
	down, err := b.Children(ctx, root)
	if err != nil || len(down) != 2 || down[0].ID != id || down[1].ID != second {
		t.Errorf("children: %+v, %v", down, err)
	}
	if dir, err := b.Workspace(ctx, below); err != nil || dir != "/w/tree/real" {
		t.Errorf("workspace: %s, %v", dir, err)
	}
	if dir, err := b.Workspace(ctx, second); err != nil || dir != "/w" {
		t.Errorf("workspace of the root: %s, %v", dir, err)
	}
	for id, want := range map[string]string{below: "resolved the-root p/x", second: "resolved the-root ", root: "resolved the-root "} {
		if m, err := b.Model(ctx, id); err != nil || m.ID != want {
			t.Errorf("model of %s: %q, %v", id, m.ID, err)
		}
	}
	if label, err := b.labelOf(ctx, below); err != nil || label != "general - root › explore" {
		t.Errorf("label %q, %v", label, err)
	}
	if label, err := b.labelOf(ctx, root); err != nil || label != "" {
		t.Errorf("label of the root %q, %v", label, err)
	}
	if got := b.held(); got != 3 {
		t.Errorf("%d holds, want one a queued child", got)
	}
}

func TestSpawnRefuses(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	taken := b.spawn(root, plug.ChildSpec{})
	many := make([]string, maxPatterns+1)
	for i := range many {
		many[i] = "x"
	}
	for want, spec := range map[string]plug.ChildSpec{
		"parent: session : not found":           {},
		"parent: session none: not found":       {Parent: "none"},
		"parent has 401 bytes":                  {Parent: strings.Repeat("x", 401)},
		`id "x" is no UUIDv4`:                   {Parent: root, ID: "x"},
		"is no UUIDv4":                          {Parent: root, ID: strings.ToUpper("6f1b1a52-4f0f-4a3e-9d0b-6a1f6f0f0a01")},
		"exists already":                        {Parent: root, ID: taken},
		"instructions is 262145":                {Parent: root, Instructions: strings.Repeat("x", maxInstructions+1)},
		"tools allow has an empty name":         {Parent: root, Tools: plug.ToolFilter{Allow: []string{""}}},
		"tools deny has 1001 names":             {Parent: root, Tools: plug.ToolFilter{Deny: many}},
		"tools deny has 201 bytes":              {Parent: root, Tools: plug.ToolFilter{Deny: []string{strings.Repeat("x", 201)}}},
		`tools allow "a\n" has characters`:      {Parent: root, Tools: plug.ToolFilter{Allow: []string{"a\n"}}},
		"permission write is \"yes\"":           {Parent: root, Permission: plug.Permissions{Write: "yes"}},
		"permission process is \"Allow\"":       {Parent: root, Permission: plug.Permissions{Process: "Allow"}},
		"permission external is \"x\"":          {Parent: root, Permission: plug.Permissions{External: "x"}},
		`workspace "w/x" is not absolute`:       {Parent: root, Workspace: "w/x"},
		"workspace: /etc is outside":            {Parent: root, Workspace: "/etc"},
		"workspace has 4097 bytes":              {Parent: root, Workspace: "/" + strings.Repeat("x", maxPath)},
		"model none: no such model":             {Parent: root, Model: "none"},
		`model "a\x1b" has characters`:          {Parent: root, Model: "a\x1b"},
		"maxTurns is -1":                        {Parent: root, MaxTurns: -1},
		"timeoutMs is -1":                       {Parent: root, TimeoutMs: -1},
		"maxTokens is -5":                       {Parent: root, MaxTokens: -5},
		"maxOutputTokens is 2199023255552, all": {Parent: root, MaxOutputTokens: 2 << 40},
	} {
		if _, err := b.Spawn(ctx, spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.200v, want %q", err, want)
		}
	}
	if got := b.held(); got != 1 {
		t.Errorf("%d holds, want that of the one child", got)
	}
	at := root
	for range maxDepth {
		at = b.spawn(at, plug.ChildSpec{Agent: strings.Repeat("agent", 100)})
	}
	if _, err := b.Spawn(ctx, plug.ChildSpec{Parent: at}); err == nil || !strings.Contains(err.Error(), "would be 17 levels deep, at most 16") {
		t.Errorf("too deep: %v", err)
	}
	if label, err := b.labelOf(ctx, at); err != nil || len([]rune(label)) > maxDepth*(maxLabel+3) {
		t.Errorf("a label of %d characters, %v", len(label), err)
	}
}

// labelOf is the agent path of a session as its runs have it.
func (b *bench) labelOf(ctx context.Context, id string) (string, error) {
	l, err := b.lineage(ctx, id)
	return l.label(), err
}

func TestRun(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	parent := b.spawn(root, plug.ChildSpec{Agent: "general", Model: "x", Workspace: "/w/tree", Permission: plug.Permissions{Process: plug.PermissionAsk}})
	id := b.spawn(parent, plug.ChildSpec{Agent: "explore", ReadOnly: true, Instructions: "look", MaxTurns: 3, TimeoutMs: 1000, MaxTokens: 4, MaxOutputTokens: 5})
	var got Request
	b.run = func(ctx context.Context, r Request) (plug.ChildOutcome, error) {
		got = r
		if b.status(id) != plug.ChildRunning || !b.IsRunning(id) {
			t.Errorf("while it runs: %s", b.status(id))
		}
		if _, err := b.Run(ctx, id, "again"); !errors.As(err, new(*session.BusyError)) {
			t.Errorf("a second run: %v", err)
		}
		if err := b.SetStatus(ctx, id, plug.ChildFailed); !errors.As(err, new(*session.BusyError)) {
			t.Errorf("status of one that runs: %v", err)
		}
		return plug.ChildOutcome{RunID: "r", Status: plug.ChildCompleted, Text: "done", Turns: 2}, nil
	}
	out, err := b.Run(ctx, id, "go")
	if err != nil || out.Status != plug.ChildCompleted || out.Text != "done" || out.RunID != "r" || out.Turns != 2 {
		t.Errorf("outcome %+v, %v", out, err)
	}
	if b.status(id) != plug.ChildCompleted || b.IsRunning(id) || b.held() != 1 {
		t.Errorf("behind it: %s, %d holds", b.status(id), b.held())
	}
	if got.Session != id || got.Root != root || !slices.Equal(got.Ancestors, []string{parent, root}) || got.Label != "general › explore" ||
		got.Model != "x" || got.Workspace != "/w/tree/real/real" || got.Prompt != "go" {
		t.Errorf("request %+v", got)
	}
	if s := got.Spec; s.ID != id || s.Parent != parent || s.Instructions != "look" || s.MaxTurns != 3 || s.TimeoutMs != 1000 ||
		s.MaxTokens != 4 || s.MaxOutputTokens != 5 {
		t.Errorf("spec %+v", s)
	}
	if c := got.Ceiling; !c.ReadOnly || c.Process != perm.CapAsk || c.Write != perm.CapNone {
		t.Errorf("ceiling %+v", c)
	}
}

func TestHowRunsEnd(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	id := b.spawn(root, plug.ChildSpec{})
	for _, c := range []struct {
		name string
		out  plug.ChildOutcome
		err  error
		want plug.ChildStatus
		text string
	}{
		{"failed", plug.ChildOutcome{Status: plug.ChildFailed, Error: "x"}, nil, plug.ChildFailed, "x"},
		{"turn limit", plug.ChildOutcome{Status: plug.ChildFailed, TurnLimit: true}, nil, plug.ChildCompleted, ""},
		{"cancelled", plug.ChildOutcome{Status: plug.ChildCancelled}, nil, plug.ChildCancelled, ""},
		{"no status", plug.ChildOutcome{}, nil, plug.ChildFailed, `the run ended as "", which is no end`},
		{"still running", plug.ChildOutcome{Status: plug.ChildRunning}, nil, plug.ChildFailed, `the run ended as "running", which is no end`},
		{"not started", plug.ChildOutcome{Status: plug.ChildCompleted}, errors.New("no model"), plug.ChildFailed, "no model"},
	} {
		b.run = func(context.Context, Request) (plug.ChildOutcome, error) { return c.out, c.err }
		must(t, b.SetStatus(ctx, id, plug.ChildQueued))
		out, err := b.Run(ctx, id, "go")
		if !errors.Is(err, c.err) || out.Status != c.want || out.Error != c.text || out.TurnLimit != c.out.TurnLimit || b.status(id) != c.want {
			t.Errorf("%s: %+v, %v, stored %s", c.name, out, err, b.status(id))
		}
	}
	b.run = func(context.Context, Request) (plug.ChildOutcome, error) { panic("the engine") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		b.Run(ctx, id, "go")
	}()
	if b.status(id) != plug.ChildFailed || b.IsRunning(id) || b.held() != 0 {
		t.Errorf("after a panic: %s, %d holds", b.status(id), b.held())
	}
	if _, err := b.Run(ctx, root, "go"); !errors.Is(err, ErrNoChild) {
		t.Errorf("a root: %v", err)
	}
	if _, err := b.Run(ctx, "none", "go"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
}

// A plugin that spawned children and did not see that they were cancelled does not run
// them all the same: one that sets the status, and a person who goes on with one, do.
func TestCancelledChildren(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	ran := 0
	b.run = func(context.Context, Request) (plug.ChildOutcome, error) {
		ran++
		return plug.ChildOutcome{Status: plug.ChildCompleted}, nil
	}
	id, other := b.spawn(root, plug.ChildSpec{}), b.spawn(root, plug.ChildSpec{})
	if _, err := b.Cancel(ctx, root); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(ctx, id, "go"); !errors.Is(err, ErrCancelled) || ran != 0 || b.status(id) != plug.ChildCancelled || b.held() != 0 || b.IsRunning(id) {
		t.Errorf("got %v, %s, %d runs, %d holds", err, b.status(id), ran, b.held())
	}
	must(t, b.SetStatus(ctx, id, plug.ChildQueued))
	if _, err := b.Run(ctx, id, "go"); err != nil || ran != 1 || b.status(id) != plug.ChildCompleted || b.held() != 0 {
		t.Errorf("queued again: got %v, %s", err, b.status(id))
	}
	_, _, end, err := b.Begin(ctx, other, "go")
	if err != nil || b.status(other) != plug.ChildRunning {
		t.Fatalf("a person's: got %v, %s", err, b.status(other))
	}
	end(plug.ChildOutcome{Status: plug.ChildCompleted})
}

// cancelling cancels a child behind the reading of its status.
type cancelling struct {
	Store
	do func()
}

func (c *cancelling) SetStatus(ctx context.Context, id, status string, from ...string) (bool, error) {
	if do := c.do; do != nil {
		c.do = nil
		do()
	}
	return c.Store.SetStatus(ctx, id, status, from...)
}

func TestCancelledAsItBegins(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	b.run = func(context.Context, Request) (plug.ChildOutcome, error) {
		t.Error("it runs")
		return plug.ChildOutcome{}, nil
	}
	id := b.spawn(root, plug.ChildSpec{})
	store := b.o.Store
	b.o.Store = &cancelling{store, func() { store.SetStatus(ctx, id, string(plug.ChildCancelled)) }}
	if _, err := b.Run(ctx, id, "go"); !errors.Is(err, ErrCancelled) || b.status(id) != plug.ChildCancelled || b.held() != 0 || b.IsRunning(id) {
		t.Errorf("got %v, %s, %d holds", err, b.status(id), b.held())
	}
}

// A run that can not begin leaves nothing taken; a child of which nobody knows who
// has it keeps its status.
func TestRunsThatDoNotBegin(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	queued, ended := b.spawn(root, plug.ChildSpec{Workspace: "/w/x"}), b.spawn(root, plug.ChildSpec{})
	b.run = func(context.Context, Request) (plug.ChildOutcome, error) {
		return plug.ChildOutcome{Status: plug.ChildCompleted}, nil
	}
	if _, err := b.Run(ctx, ended, "go"); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Run(gone, queued, "go"); !errors.Is(err, context.Canceled) || b.status(queued) != plug.ChildQueued || b.held() != 1 {
		t.Errorf("cancelled before: %v, %s", err, b.status(queued))
	}
	b.o.Workspace = func(context.Context, string, string) (string, error) { return "", errors.New("a link leads out") }
	if _, err := b.Run(ctx, queued, "go"); err == nil || b.status(queued) != plug.ChildFailed || b.held() != 0 || b.IsRunning(queued) {
		t.Errorf("workspace: %v, %s, %d holds", err, b.status(queued), b.held())
	}
	busy := &session.BusyError{Session: root}
	b.o.Hold = func(context.Context, string) (func(), error) { return nil, busy }
	if _, err := b.Run(ctx, ended, "go"); !errors.Is(err, busy) || b.status(ended) != plug.ChildCompleted || b.IsRunning(ended) {
		t.Errorf("another process: %v, %s", err, b.status(ended))
	}
	if _, err := b.Spawn(ctx, plug.ChildSpec{Parent: root}); !errors.Is(err, busy) {
		t.Errorf("spawn: %v", err)
	}
	if err := b.SetStatus(ctx, ended, plug.ChildQueued); !errors.Is(err, busy) {
		t.Errorf("status: %v", err)
	}
}

// untilStopped is a run of the engine that a person can stop, and no more.
func (b *bench) untilStopped(ctx context.Context, r Request) (plug.ChildOutcome, error) {
	ctx, end := b.Running(ctx, r.Session)
	defer end()
	<-ctx.Done()
	return plug.ChildOutcome{Status: plug.ChildCancelled, Error: context.Cause(ctx).Error()}, nil
}

// C162
// Symptom: Esc stops the parent, the subagent goes on.
// Trigger: a person stops a run while children work for it, in the background too,
// and others wait.
func TestC162StopOfARunStopsWhatIsBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.run = b.untilStopped
		esc, cancel := context.WithCancel(context.Background())
		ctx, end := b.Running(esc, root)
		one := b.spawn(root, plug.ChildSpec{})
		two := b.spawn(one, plug.ChildSpec{})
		waits := b.spawn(two, plug.ChildSpec{})
		var elsewhere session.Session
		elsewhere.ID = "another-root"
		must(t, b.store.Create(ctx, elsewhere))
		stranger := b.spawn("another-root", plug.ChildSpec{})
		for _, id := range []string{one, two, stranger} {
			go b.Run(context.Background(), id, "go") // not of the root's context
		}
		synctest.Wait()
		if !b.IsRunning(root) || !b.IsRunning(one) || !b.IsRunning(two) || !b.IsRunning(stranger) {
			t.Fatal("not all are running")
		}
		begun := time.Now()
		cancel()
		synctest.Wait()
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if ctx.Err() == nil {
			t.Error("the run's own context goes on")
		}
		for id, want := range map[string]plug.ChildStatus{
			one: plug.ChildCancelled, two: plug.ChildCancelled, waits: plug.ChildCancelled, stranger: plug.ChildRunning,
		} {
			if got := b.status(id); got != want {
				t.Errorf("%s is %s, want %s", id, got, want)
			}
		}
		// Until the run has ended nothing new begins below it.
		if _, err := b.Run(context.Background(), two, "go"); !errors.Is(err, ErrStopped) {
			t.Errorf("a run below a stopped one: %v", err)
		}
		if _, err := b.Spawn(context.Background(), plug.ChildSpec{Parent: one}); !errors.Is(err, ErrStopped) {
			t.Errorf("a child below a stopped one: %v", err)
		}
		end()
		if b.IsRunning(root) {
			t.Error("the root still runs")
		}
		again := b.spawn(one, plug.ChildSpec{})
		if b.status(again) != plug.ChildQueued || b.held() != 2 {
			t.Errorf("%s, %d holds", b.status(again), b.held())
		}
		must(t, b.Close(context.Background()))
	})
}

func TestEndOfARunStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.run = b.untilStopped
		esc, cancel := context.WithCancel(context.Background())
		_, end := b.Running(esc, root)
		id := b.spawn(root, plug.ChildSpec{})
		go b.Run(context.Background(), id, "go")
		synctest.Wait()
		end()
		cancel() // as a deferred cancel does
		synctest.Wait()
		if b.status(id) != plug.ChildRunning {
			t.Errorf("the child is %s", b.status(id))
		}
		must(t, b.Close(context.Background()))
		if b.status(id) != plug.ChildCancelled || b.held() != 0 {
			t.Errorf("closed: %s, %d holds", b.status(id), b.held())
		}
	})
}

// A child's own stop reaches what is below it, and nothing beside it.
func TestStopOfAChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.run = b.untilStopped
		one, beside := b.spawn(root, plug.ChildSpec{}), b.spawn(root, plug.ChildSpec{})
		below := b.spawn(one, plug.ChildSpec{})
		ctx, cancel := context.WithCancel(context.Background())
		go b.Run(ctx, one, "go")
		go b.Run(context.Background(), below, "go")
		go b.Run(context.Background(), beside, "go")
		synctest.Wait()
		cancel()
		synctest.Wait()
		if b.status(one) != plug.ChildCancelled || b.status(below) != plug.ChildCancelled || b.status(beside) != plug.ChildRunning {
			t.Errorf("%s, below %s, beside %s", b.status(one), b.status(below), b.status(beside))
		}
		must(t, b.Close(context.Background()))
	})
}

// C163
// Symptom: a new state "cancelled" is no end to a waiter, which polls to its timeout.
// Trigger: cancel a child while somebody waits for its run.
func TestC163CancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ctx := newBench(t), context.Background()
		b.run = b.untilStopped
		one, waits := b.spawn(root, plug.ChildSpec{}), b.spawn(root, plug.ChildSpec{})
		two := b.spawn(one, plug.ChildSpec{})
		below := b.spawn(two, plug.ChildSpec{})
		outcomes := make(chan plug.ChildOutcome, 2)
		for _, id := range []string{one, two} {
			go func() {
				out, err := b.Run(ctx, id, "go")
				if err != nil {
					t.Error(err)
				}
				outcomes <- out
			}()
		}
		rootCtx, end := b.Running(ctx, root)
		synctest.Wait()
		if n, err := b.Cancel(ctx, one); n != 2 || err != nil {
			t.Errorf("%d were running, %v", n, err)
		}
		for range 2 {
			if out := <-outcomes; out.Status != plug.ChildCancelled || out.Error != ErrStopped.Error() {
				t.Errorf("outcome %+v", out)
			}
		}
		if n, err := b.Cancel(ctx, one); n != 0 || err != nil {
			t.Errorf("again: %d, %v", n, err)
		}
		if b.status(below) != plug.ChildCancelled || b.status(waits) != plug.ChildQueued || rootCtx.Err() != nil {
			t.Errorf("below %s, beside %s, root %v", b.status(below), b.status(waits), rootCtx.Err())
		}
		if n, err := b.Cancel(ctx, root); n != 1 || err != nil || rootCtx.Err() == nil || b.status(waits) != plug.ChildCancelled {
			t.Errorf("root: %d, %v, %v; beside %s", n, err, rootCtx.Err(), b.status(waits))
		}
		end()
		if _, err := b.Cancel(ctx, "none"); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("no session: %v", err)
		}
		if b.held() != 0 {
			t.Errorf("%d holds", b.held())
		}
	})
}

func TestSetStatus(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	id := b.spawn(root, plug.ChildSpec{})
	for _, c := range []struct {
		to    plug.ChildStatus
		want  string
		holds int
	}{
		{plug.ChildQueued, "", 1}, {plug.ChildInterrupted, "", 0}, {plug.ChildQueued, "", 1}, {plug.ChildCompleted, "", 0},
		{plug.ChildFailed, "", 0}, {plug.ChildCancelled, "", 0},
		{plug.ChildRunning, "can be given", 0}, {"", "can be given", 0}, {"done", "can be given", 0},
	} {
		before := b.status(id)
		err := b.SetStatus(ctx, id, c.to)
		if c.want == "" && (err != nil || b.status(id) != c.to) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || b.status(id) != before) {
			t.Errorf("to %q: %v, now %s", c.to, err, b.status(id))
		}
		if b.held() != c.holds {
			t.Errorf("%q: %d holds, want %d", c.to, b.held(), c.holds)
		}
	}
	if err := b.SetStatus(ctx, root, plug.ChildFailed); !errors.Is(err, ErrNoChild) {
		t.Errorf("a root: %v", err)
	}
	if err := b.SetStatus(ctx, "none", plug.ChildFailed); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ctx := newBench(t), context.Background()
		ends := make(chan struct{})
		b.run = func(ctx context.Context, r Request) (plug.ChildOutcome, error) {
			<-ctx.Done()
			<-ends // a tool that takes its time
			return plug.ChildOutcome{Status: plug.ChildCancelled}, nil
		}
		queued, running := b.spawn(root, plug.ChildSpec{}), b.spawn(root, plug.ChildSpec{})
		go b.Run(ctx, running, "go")
		synctest.Wait()
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := b.Close(short); !errors.Is(err, context.DeadlineExceeded) || b.status(queued) != plug.ChildInterrupted {
			t.Errorf("%v, the queued one is %s", err, b.status(queued))
		}
		close(ends)
		must(t, b.Close(ctx))
		if b.status(running) != plug.ChildCancelled || b.held() != 0 {
			t.Errorf("%s, %d holds", b.status(running), b.held())
		}
		if _, err := b.Run(ctx, queued, "go"); !errors.Is(err, ErrClosed) {
			t.Errorf("run: %v", err)
		}
		if _, err := b.Spawn(ctx, plug.ChildSpec{Parent: root}); !errors.Is(err, ErrClosed) || b.held() != 0 {
			t.Errorf("spawn: %v", err)
		}
	})
}

func TestAPIIsWhole(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	api := b.API()
	c, err := api.Spawn(ctx, plug.ChildSpec{Parent: root})
	must(t, err)
	must(t, api.Enqueue(ctx, c.ID, "more"))
	if got, err := b.store.Queued(ctx, c.ID); err != nil || !slices.Equal(got, []string{"more"}) {
		t.Errorf("queued %q, %v", got, err)
	}
	out, err := api.Run(ctx, c.ID, "go")
	_, err1 := api.Get(ctx, c.ID)
	_, err2 := api.Children(ctx, c.ID)
	_, err3 := api.Ancestors(ctx, c.ID)
	_, err4 := api.Cancel(ctx, c.ID)
	_, err5 := api.Capabilities(ctx, c.ID)
	_, err6 := api.Model(ctx, c.ID)
	_, err7 := api.Workspace(ctx, c.ID)
	must(t, errors.Join(err, err1, err2, err3, err4, err5, err6, err7, api.SetStatus(ctx, c.ID, plug.ChildFailed)))
	if out.Status != plug.ChildCompleted || api.IsRunning(c.ID) {
		t.Errorf("outcome %+v", out)
	}
}
