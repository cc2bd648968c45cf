package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// one makes an application with a plugin and a session of one run.
func one(t *testing.T, kind, dir string, o Options) (a *App, api *plug.API, id string) {
	t.Helper()
	if o.Provider == nil {
		o.Provider = newScripts(t, map[string]string{"go": `{"text":"1"},{"text":"2"},{"text":"3"}`})
	}
	o.Plugins = append(o.Plugins, plugged("toy", &api, nil))
	a = engine(t, kind, dir, o)
	return a, api, went(t, a, "", "go", nil).SessionID
}

// callsOf are the events of calls that a plugin made, without the session's runs.
func callsOf(t *testing.T, a *App, id string) (events []plug.Event, types []plug.EventType) {
	t.Helper()
	all, kinds := storedEvents(t, a, id)
	at := slices.Index(kinds, plug.TypeRunCompleted) + 1
	return all[at:], kinds[at:]
}

func TestAPluginsProgramGoesThroughTheGate(t *testing.T) {
	denied := []plug.EventType{plug.TypeToolStarted, plug.TypeApprovalResolved, plug.TypeToolCompleted}
	asked := []plug.EventType{plug.TypeToolStarted, plug.TypeApprovalRequested, plug.TypeApprovalResolved, plug.TypeToolCompleted}
	for _, c := range []struct {
		name   string
		policy perm.Policy
		asker  plug.Asker
		fails  string
		types  []plug.EventType
	}{
		{"allowed", perm.Policy{AllowProcess: true}, nil, "", denied},
		{"a yes", perm.Policy{}, always(plug.Once), "", asked},
		{"a no", perm.Policy{}, always(plug.Deny), "not allowed: the person said no", asked},
		{"nobody", perm.Policy{}, nil, "not allowed: --allow-process allows it", denied},
		{"read-only", perm.Policy{ReadOnly: true, AllowProcess: true}, always(plug.Once), "not allowed: the run is --read-only", denied},
	} {
		forEachStore(t, func(t *testing.T, kind, dir string) {
			a, api, id := one(t, kind, dir, Options{Policy: c.policy, Asker: c.asker})
			exit, err := api.Exec(context.Background(), id, plug.Command{Shell: "pwd; echo x >made; exit 3"})
			events, types := callsOf(t, a, id)
			if !slices.Equal(types, c.types) {
				t.Fatalf("%s: got %v, %v", c.name, types, err)
			}
			for i, e := range events {
				if e.Seq != int64(i+1) || e.RunID != events[0].RunID {
					t.Errorf("%s: got %+v", c.name, e)
				}
			}
			began, ended := events[0].Data.(plug.ToolStarted), events[len(events)-1].Data.(plug.ToolCompleted)
			if began.Name != "toy/exec" || began.Effect != plug.EffectProcess || ended.ID != began.ID || !ended.IsError {
				t.Errorf("%s: %+v, %+v", c.name, began, ended)
			}
			rows, rowsErr := a.store.Calls(context.Background(), id, began.ID)
			_, made := os.Stat(filepath.Join(dir, "work", "made"))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || made == nil || len(rows) != 0 {
					t.Errorf("%s: got %v, %v, %v", c.name, err, made, rows)
				}
				return
			}
			if err != nil || exit.Code != 3 || exit.Output != filepath.Join(dir, "work")+"\n" || made != nil {
				t.Errorf("%s: got %+v, %v", c.name, exit, err)
			}
			if rowsErr != nil || len(rows) != 1 || !rows[0].Done || rows[0].Effect != plug.EffectProcess || rows[0].RunID != events[0].RunID {
				t.Errorf("%s: journal %+v, %v", c.name, rows, rowsErr)
			}
			// It is no message, and the session goes on.
			if out := went(t, a, id, "go", nil); out.Text != "2" {
				t.Errorf("%s: got %+v", c.name, out)
			}
		})
	}
}

func TestWhatAPluginCanNotRun(t *testing.T) {
	a, api, id := one(t, "sqlite", realPath(t.TempDir()), Options{Policy: perm.Policy{AllowProcess: true}})
	for _, c := range []struct {
		session, want string
		cmd           plug.Command
	}{
		{"", "nothing was said yet", plug.Command{Shell: "true"}},
		{"nobody", "not found", plug.Command{Shell: "true"}},
		{id, "either a program or a shell line", plug.Command{}},
		{id, "not allowed: outside the workspace", plug.Command{Shell: "true", Dir: "/"}},
		{id, "no-such-program", plug.Command{Argv: []string{"no-such-program"}}},
	} {
		if _, err := api.Exec(context.Background(), c.session, c.cmd); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c.cmd, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := api.Exec(ctx, id, plug.Command{Shell: "true"}); err == nil {
		t.Error("it ran though it was cancelled")
	}
	// What failed is no uncertain call.
	if pending, err := a.store.Pending(context.Background(), id); err != nil || len(pending) != 0 {
		t.Errorf("got %+v, %v", pending, err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// gitWork makes dir/work a repository with one commit.
func gitWork(t *testing.T, dir string) (work string) {
	t.Helper()
	work = filepath.Join(dir, "work")
	put(t, filepath.Join(work, "a.txt"), "one\n")
	git(t, work, "init", "-q", "-b", "main")
	git(t, work, "add", ".")
	git(t, work, "commit", "-q", "-m", "first")
	return work
}

// Reading needs no permission, in worktrees neither; what changes the repository is a
// call like every other.
func TestAPluginsGit(t *testing.T) {
	dir := realPath(t.TempDir())
	work := gitWork(t, dir)
	tree := filepath.Join(dir, "cache", "worktrees", "one")
	ctx := context.Background()
	add := []string{"worktree", "add", "-b", "alisio/one", tree, "HEAD"}

	for name, policy := range map[string]perm.Policy{"--allow-write allows it": {}, "the run is --read-only": {ReadOnly: true, AllowWrite: true, Mode: perm.ModeFull}} {
		other := realPath(t.TempDir())
		gitWork(t, other)
		_, api, id := one(t, "sqlite", other, Options{Policy: policy})
		if _, err := api.Git(ctx, id, "", "worktree", "add", filepath.Join(other, "cache", "worktrees", "one")); err == nil ||
			!strings.Contains(err.Error(), "not allowed: "+name) {
			t.Errorf("got %v, want %s", err, name)
		}
		if _, err := os.Stat(filepath.Join(other, "cache", "worktrees")); err == nil {
			t.Error("it was made")
		}
	}

	a, api, id := one(t, "sqlite", dir, Options{Policy: perm.Policy{AllowWrite: true}})
	run := func(where string, args ...string) plug.Exit {
		t.Helper()
		e, err := api.Git(ctx, id, where, args...)
		if err != nil || e.Code != 0 {
			t.Fatalf("git %v: %+v, %v", args, e, err)
		}
		return e
	}
	run("", add...)
	put(t, filepath.Join(tree, "b.txt"), "two\n")
	if e := run(tree, "status", "--porcelain=v1"); e.Output != "?? b.txt\n" {
		t.Errorf("got %+v", e)
	}
	if e := run(tree, "rev-parse", "--abbrev-ref", "HEAD"); e.Output != "alisio/one\n" {
		t.Errorf("got %+v", e)
	}
	git(t, tree, "add", ".")
	git(t, tree, "commit", "-q", "-m", "second")
	run(work, "diff", "--no-ext-diff", "--no-textconv", "main", "alisio/one")
	events, types := callsOf(t, a, id)
	if len(events) != 3 || types[0] != plug.TypeToolStarted {
		t.Errorf("reading was told of: %v", types)
	}
	if began := events[0].Data.(plug.ToolStarted); began.Name != "toy/git" || began.Effect != plug.EffectWrite || !strings.HasPrefix(began.Title, "git worktree add -b alisio/one ") {
		t.Errorf("got %+v", began)
	}
	run("", "worktree", "remove", "--force", tree)
	run("", "branch", "-D", "alisio/one")
	// Elsewhere, and by other words, nothing is made.
	for _, c := range []struct {
		dir, want string
		args      []string
	}{
		{"", "not allowed: outside the workspace", []string{"worktree", "add", filepath.Join(t.TempDir(), "w")}},
		{"", "not allowed: ", []string{"worktree", "add", filepath.Join(dir, "cache", "worktrees")}},
		{"", "not allowed: ", []string{"worktree", "add", filepath.Join(dir, "cache", "worktrees", "..", "w")}},
		{"", "not a command that plugins may use", []string{"push"}},
		{"", "not a command that plugins may use", []string{"branch", "--edit-description"}},
		{"", "the directory must be absolute", []string{"worktree", "add", "w"}},
		{"sub", "is not absolute", []string{"status"}},
		{"/", "", []string{"status"}},
	} {
		e, err := api.Git(ctx, id, c.dir, c.args...)
		if c.want == "" {
			if err == nil && e.Code == 0 {
				t.Errorf("git %v in %s: got %+v", c.args, c.dir, e)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("git %v in %q: got %+v, %v", c.args, c.dir, e, err)
		}
	}
	if got := git(t, work, "branch", "--format=%(refname:short)"); got != "main\n" {
		t.Errorf("branches %q", got)
	}
}

func TestStateOfAPlugin(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		a, api, _ := one(t, kind, dir, Options{})
		ctx := context.Background()
		if v, err := api.State.Get(ctx, "k"); v != nil || err != nil {
			t.Errorf("got %s, %v", v, err)
		}
		for key, v := range map[string]string{"k": `{"a":[1]}`, "k2": `"x"`, "other": "1"} {
			if err := api.State.Set(ctx, key, json.RawMessage(v)); err != nil {
				t.Fatal(err)
			}
		}
		if v, err := api.State.Get(ctx, "k"); string(v) != `{"a":[1]}` || err != nil {
			t.Errorf("got %s, %v", v, err)
		}
		if keys, err := api.State.Keys(ctx, "k"); !slices.Equal(keys, []string{"k", "k2"}) || err != nil {
			t.Errorf("got %v, %v", keys, err)
		}
		if err := api.State.Delete(ctx, "k"); err != nil {
			t.Error(err)
		}
		if keys, err := api.State.Keys(ctx, ""); !slices.Equal(keys, []string{"k2", "other"}) || err != nil {
			t.Errorf("got %v, %v", keys, err)
		}
		// The application's own tools keep theirs apart, by session.
		one, two := a.ownState("one"), a.ownState("two")
		if err := one.Set(ctx, "k2", json.RawMessage("1")); err != nil {
			t.Fatal(err)
		}
		if v, err := two.Get(ctx, "k2"); v != nil || err != nil {
			t.Errorf("got %s, %v", v, err)
		}
		if keys, err := one.Keys(ctx, ""); !slices.Equal(keys, []string{"k2"}) || err != nil {
			t.Errorf("got %v, %v", keys, err)
		}
		if v, _ := api.State.Get(ctx, "k2"); string(v) != `"x"` {
			t.Errorf("got %s", v)
		}
	})
}

func TestCompletionsOfAPlugin(t *testing.T) {
	p := newScripts(t, map[string]string{"go": `{"text":"hi"}`, "a": `{"text":"A"}`, "b": `{"text":"B"}`, "c": `{"text":"C"}`})
	_, api, id := one(t, "memory", realPath(t.TempDir()), Options{Provider: p})
	ctx := context.Background()
	for text, q := range map[string]plug.Completion{"a": {}, "b": {Model: "inherit"}, "c": {SessionID: id}} {
		q.Messages = []llm.Message{{Role: llm.RoleUser, Text: text}}
		if done, err := api.Complete(ctx, q); err != nil || done.Text != strings.ToUpper(text) || done.Model != "toy" {
			t.Errorf("%+v: got %+v, %v", q, done, err)
		}
	}
	for name, want := range map[string]string{"": "toy", "inherit": "toy", p.ID() + "/x": "x", "y": "y"} {
		if m, err := api.Models.Resolve(ctx, name); err != nil || m.ID != want {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
}

func TestModelsOfAPlugin(t *testing.T) {
	_, api, _ := one(t, "memory", realPath(t.TempDir()), Options{Provider: listing{newScripts(t, map[string]string{"go": `{"text":"1"}`})}})
	list, err := api.Models.List(context.Background())
	if err != nil || len(list) != 2 || list[0].ID != "large" && list[0].ID != "toy" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestQuestionsOfAPlugin(t *testing.T) {
	choices := []plug.Choice{{Question: "tea?", Options: []plug.Option{{Label: "yes"}, {Label: "no"}}}}
	ctx := context.Background()
	_, api, id := one(t, "sqlite", realPath(t.TempDir()), Options{})
	for _, session := range []string{id, ""} {
		if _, err := api.UI.AskQuestions(ctx, session, choices); !errors.Is(err, plug.ErrNoSurface) || api.UI.Interactive() {
			t.Errorf("got %v", err)
		}
	}
	var asked []plug.Question
	_, api, id = one(t, "sqlite", realPath(t.TempDir()), Options{Asker: answering(func(_ context.Context, q plug.Question) (plug.Answer, error) {
		asked = append(asked, q)
		return plug.Answer{Decision: plug.Once, Chosen: []plug.Chosen{{Options: []int{1}}}}, nil
	})})
	for _, session := range []string{id, ""} { // a command can be given before the first prompt
		got, err := api.UI.AskQuestions(ctx, session, choices)
		if err != nil || len(got) != 1 || !slices.Equal(got[0].Options, []int{1}) || !api.UI.Interactive() {
			t.Errorf("%q: got %+v, %v", session, got, err)
		}
	}
	if n, err := api.UI.Select(ctx, id, "tea?", choices[0].Options); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := api.UI.AskQuestions(ctx, "nobody", choices); err == nil {
		t.Error("a session that there is not was asked in")
	}
	if len(asked) != 3 || asked[0].SessionID != id || asked[0].Questions[0].Header != "toy" || asked[1].SessionID != "" || asked[0].Label != "" {
		t.Errorf("asked %+v", asked)
	}
}

// An observer that falls behind misses ephemeral events, and finds the others in the
// store: in order, each once.
func TestAnObserverCatchesUp(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		long := `{"chunk":1,"text":"` + strings.Repeat("x", 400) + `","calls":[{"name":"list_files"}]}`
		p := newScripts(t, map[string]string{"go": long + "," + long + "," + long + `,{"text":"end"}`})
		quick, slow := newSeen(), newSeen()
		goOn := make(chan struct{})
		a := engine(t, kind, dir, Options{Provider: p, Plugins: []plug.Plugin{plugged("toy", nil, func(api *plug.API) error {
			lags := slow.observer()
			take := lags.Event
			lags.Event = func(ctx context.Context, e plug.Event) {
				<-goOn
				take(ctx, e)
			}
			if _, err := api.Observe(lags); err != nil {
				return err
			}
			_, err := api.Observe(quick.observer(plug.TypeRunStarted, plug.TypeToolStarted, plug.TypeRunCompleted))
			return err
		})}})
		var shown []plug.Event
		out := went(t, a, "", "go", func(e plug.Event) { shown = append(shown, e) })
		close(goOn)
		ends := func(e plug.Event) bool { return e.Data.EventType().Ends() }
		got := slow.wait(t, ends)
		if want := durable(t, shown); !slices.Equal(durable(t, got), want) {
			t.Errorf("got %d events %v\nwant %d", len(got), durable(t, got), len(want))
		}
		if len(got) >= len(shown) {
			t.Errorf("it missed nothing: %d of %d", len(got), len(shown))
		}
		var types []plug.EventType
		for _, e := range quick.wait(t, ends) {
			types = append(types, e.Data.EventType())
			if e.SessionID != out.SessionID || e.ID == 0 {
				t.Errorf("got %+v", e)
			}
		}
		if want := []plug.EventType{"run_started", "tool_started", "tool_started", "tool_started", "run_completed"}; !slices.Equal(types, want) {
			t.Errorf("got %v", types)
		}
	})
}
