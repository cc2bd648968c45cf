package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// spawn makes a child, or ends the test.
func spawn(t *testing.T, api *plug.API, spec plug.ChildSpec) string {
	t.Helper()
	c, err := api.Sessions.Spawn(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func status(t *testing.T, api *plug.API, id string) plug.ChildStatus {
	t.Helper()
	c, err := api.Sessions.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c.Status
}

// What a child's spec takes away is not offered, and denied when the model calls it
// all the same, whoever starts the run: a plugin, a person, and a person in another
// process.
func TestAChildIsNarrow(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		turns := `
			{"calls":[{"name":"write_file","arguments":{"path":"a","content":"x","expectedHash":null}}]},
			{"calls":[{"name":"shell","arguments":{"command":"touch b"}}]},
			{"calls":[{"name":"list_files"}]},
			{"text":"found","usage":{"input":5,"output":2}}`
		p := newScripts(t, map[string]string{"go": `{"text":"1"}`, "look": turns + "," + turns})
		policy := perm.Policy{AllowWrite: true, AllowProcess: true}
		a, api, root := one(t, kind, dir, Options{Provider: p, Policy: policy})
		ctx := context.Background()
		spec := plug.ChildSpec{
			Parent: root, Agent: "explore", Title: "Look around", Instructions: "You explore.", Model: "small",
			Tools:      plug.ToolFilter{Deny: []string{"write_*"}},
			Permission: plug.Permissions{Process: plug.PermissionDeny, External: plug.PermissionAllow},
		}
		id := spawn(t, api, spec)
		if status(t, api, id) != plug.ChildQueued || api.Sessions.IsRunning(id) {
			t.Errorf("it is %s", status(t, api, id))
		}
		out, err := api.Sessions.Run(ctx, id, "look")
		if err != nil || out.Status != plug.ChildCompleted || out.Text != "found" || out.Turns != 4 || out.Usage.Output < 2 || out.RunID == "" {
			t.Fatalf("got %+v, %v", out, err)
		}
		check := func(requests []llm.Request, results []string) {
			t.Helper()
			for _, r := range requests {
				if names := offered(r); slices.Contains(names, "write_file") || slices.Contains(names, "shell") || !slices.Contains(names, "edit_file") {
					t.Errorf("offered: %v", names)
				}
				if !strings.Contains(r.Instructions, "You explore.") || r.Model != "small" {
					t.Errorf("model %s, instructions %s", r.Model, r.Instructions)
				}
			}
			if len(results) != 3 || results[0] != "not allowed: this session was started without that tool" ||
				results[1] != "not allowed: this session was started without that permission" {
				t.Errorf("got %q", results)
			}
			for _, name := range []string{"a", "b"} {
				if _, err := os.Stat(filepath.Join(dir, "work", name)); err == nil {
					t.Errorf("%s was made", name)
				}
			}
		}
		check(p.of("look"), resultsOf(t, a, id))
		caps, err := api.Sessions.Capabilities(ctx, id)
		if err != nil || caps.Permission.Write != plug.PermissionAllow || caps.Permission.Process != plug.PermissionDeny ||
			slices.Contains(caps.Tools, "write_file") {
			t.Errorf("got %+v, %v", caps, err)
		}
		// What is shown of it is the child's.
		why := map[string]string{}
		for _, tool := range a.Tools(id) {
			why[tool.Name] = tool.Why
		}
		if why["write_file"] == "" || why["shell"] == "" || why["edit_file"] != "" || a.Access(id).Process != "deny" {
			t.Errorf("got %v, %+v", why, a.Access(id))
		}
		for _, err := range []error{a.SetAgent(id, "plan"), a.SetEffort(id, "low")} {
			if llm.CauseOf(err) != llm.CauseBadRequest {
				t.Errorf("got %v", err)
			}
		}
		if _, err := a.SetModel(ctx, id, "toy"); llm.CauseOf(err) != llm.CauseBadRequest {
			t.Errorf("got %v", err)
		}
		// A person goes on with it.
		went(t, a, id, "look", nil)
		check(p.of("look")[4:], resultsOf(t, a, id)[3:])
		if kids, err := api.Sessions.Children(ctx, root); err != nil || len(kids) != 1 || kids[0].ID != id || kids[0].Title != "Look around" || kids[0].Depth != 1 {
			t.Errorf("got %+v, %v", kids, err)
		}
		if kind != "sqlite" {
			return
		}
		if err := a.Close(ctx); err != nil {
			t.Fatal(err)
		}
		p = newScripts(t, map[string]string{"look": turns})
		b := engine(t, kind, dir, Options{Provider: p, Policy: policy})
		if why := b.Tools(id); !slices.ContainsFunc(why, func(x Tool) bool { return x.Name == "write_file" && x.Why != "" }) {
			t.Errorf("got %+v", why)
		}
		went(t, b, id, "look", nil)
		check(p.of("look"), resultsOf(t, b, id)[6:])
	})
}

// What a child would have to ask for is denied where nobody is.
func TestAChildThatMustAskHeadless(t *testing.T) {
	p := newScripts(t, map[string]string{"go": `{"text":"1"}`, "work": `
		{"calls":[{"name":"write_file","arguments":{"path":"a","content":"x","expectedHash":null}}]},{"text":"end"}`})
	a, api, root := one(t, "sqlite", realPath(t.TempDir()), Options{Provider: p, Policy: perm.Policy{AllowWrite: true}})
	id := spawn(t, api, plug.ChildSpec{Parent: root, Permission: plug.Permissions{Write: plug.PermissionAsk}})
	out, err := api.Sessions.Run(context.Background(), id, "work")
	if err != nil || out.Status != plug.ChildCompleted || slices.Contains(offered(p.of("work")[0]), "write_file") {
		t.Errorf("got %+v, %v", out, err)
	}
	wantPrefix(t, "write", resultsOf(t, a, id)[0], "not allowed: ")
}

// Two children that ask at once are told apart by their agent path, and each gets the
// answer that it was given.
func TestTwoChildrenAskAtOnce(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		var mu sync.Mutex
		wrote := make(map[string]bool)
		write := toyTool{"put", plug.EffectWrite, func(_ context.Context, c *plug.Call) (plug.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			wrote[c.SessionID] = true
			return plug.Text("written"), nil
		}}
		turns := `{"calls":[{"name":"put"}]},{"text":"end"}`
		p := newScripts(t, map[string]string{"go": `{"text":"1"}`, "one": turns, "two": turns})
		var both sync.WaitGroup // each has sent its request before one may go on
		both.Add(2)
		p.before = func(_ context.Context, prompt string) {
			if prompt != "go" && len(p.of(prompt)) == 1 {
				both.Done()
				both.Wait()
			}
		}
		var questions []plug.Question
		a, api, root := one(t, kind, dir, Options{Provider: p, Tools: []plug.Tool{write},
			Asker: answering(func(_ context.Context, q plug.Question) (plug.Answer, error) {
				questions = append(questions, q) // the queue lets one at a time through
				if q.Label == "general › second" {
					return plug.Answer{Decision: plug.Deny, Reason: "not you"}, nil
				}
				return plug.Answer{Decision: plug.Once}, nil
			})})
		parent := spawn(t, api, plug.ChildSpec{Parent: root, Agent: "general"})
		ids := []string{spawn(t, api, plug.ChildSpec{Parent: parent, Agent: "first"}), spawn(t, api, plug.ChildSpec{Parent: parent, Agent: "second"})}
		var runs sync.WaitGroup
		for i, prompt := range []string{"one", "two"} {
			runs.Go(func() {
				if out, err := api.Sessions.Run(context.Background(), ids[i], prompt); err != nil || out.Status != plug.ChildCompleted {
					t.Errorf("%s: got %+v, %v", prompt, out, err)
				}
			})
		}
		runs.Wait()
		if len(questions) != 2 || !wrote[ids[0]] || wrote[ids[1]] {
			t.Errorf("%d questions, wrote %v", len(questions), wrote)
		}
		if got := resultsOf(t, a, ids[0])[0] + ", " + resultsOf(t, a, ids[1])[0]; got != "written, not allowed: not you" {
			t.Errorf("got %q", got)
		}
		for i, label := range []string{"general › first", "general › second"} {
			events, types := storedEvents(t, a, ids[i])
			at := slices.Index(types, plug.TypeApprovalRequested)
			if at < 0 || events[at].Data.(plug.ApprovalRequested).Label != label {
				t.Errorf("%s: got %v", label, types)
			}
		}
	})
}

// C162. Symptom: the parent is stopped and its children go on. Trigger: a child in the
// background, when the person stops the parent's run.
func TestC162ABackgroundChildEndsWithItsParent(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		var api *plug.API
		ended := make(chan plug.ChildOutcome, 1)
		began := make(chan struct{})
		p := newScripts(t, map[string]string{"start": `{"calls":[{"name":"background"}]},{"text":"never"}`, "long": `{"text":"never"}`})
		p.before = func(ctx context.Context, prompt string) {
			if prompt == "long" {
				close(began)
				<-ctx.Done()
			} else if len(p.of("start")) == 2 {
				<-ctx.Done()
			}
		}
		a := engine(t, kind, dir, Options{Provider: p, Plugins: []plug.Plugin{plugged("toy", &api, nil)}, Tools: []plug.Tool{
			toyTool{"background", plug.EffectRead, func(_ context.Context, c *plug.Call) (plug.Result, error) {
				child, err := api.Sessions.Spawn(context.Background(), plug.ChildSpec{Parent: c.SessionID, Agent: "worker"})
				if err != nil {
					return plug.Result{}, err
				}
				go func() {
					out, err := api.Sessions.Run(context.Background(), child.ID, "long")
					if err != nil {
						t.Error(err)
					}
					ended <- out
				}()
				return plug.Text("started"), nil
			}},
		}})
		ctx, cancel := context.WithCancel(context.Background())
		var stopped time.Time
		go func() {
			<-began
			stopped = time.Now()
			cancel()
		}()
		out, err := a.Run(ctx, "", "start", RunOptions{})
		if err != nil || out.Status != Cancelled {
			t.Errorf("got %+v, %v", out, err)
		}
		child := <-ended
		if took := time.Since(stopped); took > time.Second || child.Status != plug.ChildCancelled {
			t.Errorf("%+v after %v", child, took)
		}
		kids, err := api.Sessions.Children(context.Background(), out.SessionID)
		if err != nil || len(kids) != 1 || kids[0].Status != plug.ChildCancelled {
			t.Errorf("got %+v, %v", kids, err)
		}
	})
}

// What is queued for a child while it works is in its next request.
func TestWhatIsQueuedForAChildIsItsNextTurns(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		var api *plug.API
		p := newScripts(t, map[string]string{"go": `{"text":"1"}`, "work": `{"calls":[{"name":"pause"}]},{"text":"end"}`})
		a := engine(t, kind, dir, Options{Provider: p, Plugins: []plug.Plugin{plugged("toy", &api, nil)}, Tools: []plug.Tool{
			toyTool{"pause", plug.EffectRead, func(ctx context.Context, c *plug.Call) (plug.Result, error) {
				return plug.Text("paused"), api.Sessions.Enqueue(ctx, c.SessionID, "and mind the tests")
			}},
		}})
		root := went(t, a, "", "go", nil).SessionID
		id := spawn(t, api, plug.ChildSpec{Parent: root})
		if out, err := api.Sessions.Run(context.Background(), id, "work"); err != nil || out.Text != "end" {
			t.Fatalf("got %+v, %v", out, err)
		}
		second := p.of("work")[1].Messages
		if last := second[len(second)-1]; last.Role != llm.RoleUser || last.Text != "and mind the tests" {
			t.Errorf("got %+v", last)
		}
	})
}

// A child with a workspace of its own stays in it: it writes there, be it a worktree in
// the cache, and sees nothing of its parent's; and no child of its own gets out.
func TestAChildsWorkspaceConfinesIt(t *testing.T) {
	dir := realPath(t.TempDir())
	work := gitWork(t, dir)
	tree := filepath.Join(dir, "cache", "worktrees", "one")
	turns := `
		{"calls":[{"name":"write_file","arguments":{"path":"b.txt","content":"two","expectedHash":null}}]},
		{"calls":[{"name":"read_file","arguments":{"path":"` + filepath.Join(work, "secret.txt") + `"}}]},
		{"calls":[{"name":"write_file","arguments":{"path":"` + filepath.Join(work, "c.txt") + `","content":"x","expectedHash":null}}]},
		{"calls":[{"name":"git_status"}]},
		{"calls":[{"name":"shell","arguments":{"command":"pwd"}}]},
		{"text":"end"}`
	p := newScripts(t, map[string]string{"go": `{"text":"1"}`, "work": turns + "," + turns})
	a, api, root := one(t, "sqlite", dir, Options{Provider: p, Policy: perm.Policy{AllowWrite: true, AllowProcess: true}})
	ctx := context.Background()
	put(t, filepath.Join(work, "secret.txt"), "the parent's\n")
	put(t, filepath.Join(work, "sub", "x"), "")
	if _, err := api.Git(ctx, root, "", "worktree", "add", "-b", "alisio/one", tree); err != nil {
		t.Fatal(err)
	}
	id := spawn(t, api, plug.ChildSpec{Parent: root, Agent: "worker", Workspace: tree})
	if where, err := api.Sessions.Workspace(ctx, id); err != nil || where != tree {
		t.Errorf("it works in %s, %v", where, err)
	}
	if out, err := api.Sessions.Run(ctx, id, "work"); err != nil || out.Status != plug.ChildCompleted {
		t.Fatalf("got %+v, %v", out, err)
	}
	for i, want := range []string{"b.txt: created", "not allowed: outside the workspace", "not allowed: outside the workspace", "## alisio/one", tree} {
		if got := resultsOf(t, a, id)[i]; !strings.Contains(got, want) {
			t.Errorf("call %d: got %q, want %q", i+1, got, want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(tree, "b.txt")); err != nil || string(got) != "two" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if !strings.Contains(p.of("work")[0].Instructions, "Working directory: "+tree) {
		t.Error("it is not told where it works")
	}
	// Its files are closed by now; a plugin that holds on to it is told.
	if _, err := api.Exec(ctx, id, plug.Command{Shell: "true"}); err == nil || !strings.Contains(err.Error(), "is a child that does not run") {
		t.Errorf("got %v", err)
	}
	for parent, dirs := range map[string][]string{
		id:   {work, filepath.Join(work, "sub"), filepath.Join(dir, "cache"), filepath.Join(dir, "cache", "worktrees"), "/"},
		root: {filepath.Join(dir, "cache", "worktrees"), filepath.Join(dir, "state"), "/", filepath.Join(work, "secret.txt"), filepath.Join(work, "none")},
	} {
		for _, d := range dirs {
			if c, err := api.Sessions.Spawn(ctx, plug.ChildSpec{Parent: parent, Workspace: d}); err == nil {
				t.Errorf("%s below %s: %+v", d, parent, c)
			}
		}
	}
	sub := spawn(t, api, plug.ChildSpec{Parent: root, Workspace: filepath.Join(work, "sub")})
	if _, err := api.Sessions.Spawn(ctx, plug.ChildSpec{Parent: sub, Workspace: work}); err == nil || !strings.Contains(err.Error(), "is not in the parent's workspace") {
		t.Errorf("got %v", err)
	}
}

// A child's time is its own: who waits for its run gets it back.
func TestAChildsTimeIsBounded(t *testing.T) {
	p := newScripts(t, map[string]string{"go": `{"text":"1"}`, "long": `{"text":"never"}`})
	p.before = func(ctx context.Context, prompt string) {
		if prompt == "long" {
			<-ctx.Done()
		}
	}
	_, api, root := one(t, "sqlite", realPath(t.TempDir()), Options{Provider: p})
	id := spawn(t, api, plug.ChildSpec{Parent: root, TimeoutMs: 20})
	out, err := api.Sessions.Run(context.Background(), id, "long")
	if err != nil || out.Status != plug.ChildFailed || out.Code != llm.CauseTimeout || !strings.Contains(out.Error, "used up its 20 ms while") {
		t.Errorf("got %+v, %v", out, err)
	}
	if status(t, api, id) != plug.ChildFailed {
		t.Errorf("it is %s", status(t, api, id))
	}
}
