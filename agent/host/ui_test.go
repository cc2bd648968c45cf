package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/plug"
)

func TestStatusesAndPanelsAreKeptForASurface(t *testing.T) {
	h := toyHost(t, Options{})
	z := plugin(t, h, "z", func(api *plug.API) error { api.UI.Status("early"); return nil })
	a := plugin(t, h, "a", nil)
	z.UI.Panel(plug.Panel{Title: "t", Nodes: []plug.PanelNode{{ID: "1", Label: "one"}}})
	a.UI.Status("mem\x1b[31m 12\n" + strings.Repeat("x", 100))
	changed := 0
	unbind := h.Bind(Surface{Changed: func() { changed++; h.Statuses() }})
	if got := h.Statuses(); len(got) != 2 || got[0] != (Status{"a", "mem 12 " + strings.Repeat("x", 32) + "…"}) || got[1] != (Status{"z", "early"}) {
		t.Errorf("got %v", got)
	}
	if got := h.Panels(); len(got) != 1 || got[0].Plugin != "z" || got[0].Title != "t" || got[0].Nodes[0].Label != "one" {
		t.Errorf("got %+v", got)
	}
	a.UI.Status("")
	z.UI.Panel(plug.Panel{Title: "no nodes"})
	if changed != 2 || len(h.Statuses()) != 1 || len(h.Panels()) != 0 {
		t.Errorf("changed %d times: %v, %v", changed, h.Statuses(), h.Panels())
	}
	unbind()
	z.UI.Status("x")
	if changed != 2 {
		t.Errorf("the surface that left is told: %d", changed)
	}
	if err := h.Close(context.Background()); err != nil || len(h.Statuses()) != 0 {
		t.Errorf("after close: %v, %v", h.Statuses(), err)
	}
}

func TestUnbindEndsItsOwnTimeAlone(t *testing.T) {
	h := toyHost(t, Options{Ask: func(context.Context, plug.Question) (plug.Answer, error) { return plug.Answer{}, nil }})
	api := plugin(t, h, "p", nil)
	opened := ""
	first := h.Bind(Surface{})
	second := h.Bind(Surface{Open: func(id string) error { opened = id; return nil }})
	first()
	if err := api.UI.Open("s"); err != nil || opened != "s" || !api.UI.Interactive() {
		t.Errorf("got %v, opened %q, interactive %v", err, opened, api.UI.Interactive())
	}
	second()
	second()
	if err := api.UI.Open("s"); err == nil || api.UI.Interactive() {
		t.Errorf("without a surface: got %v, interactive %v", err, api.UI.Interactive())
	}
}

func TestPanelIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		api := plugin(t, h, "p", nil)
		var nodes []plug.PanelNode
		nodes = append(nodes,
			plug.PanelNode{ID: "a", Parent: "b", Label: "a"}, plug.PanelNode{ID: "b", Parent: "c"}, plug.PanelNode{ID: "c", Parent: "a"}, // a ring
			plug.PanelNode{ID: "d", Parent: "nobody"}, plug.PanelNode{ID: "e", Parent: "d"}, plug.PanelNode{ID: "self", Parent: "self"},
			plug.PanelNode{ID: "d", Label: "again"}, plug.PanelNode{Label: "no id"}, plug.PanelNode{ID: strings.Repeat("x", 201)},
			plug.PanelNode{ID: "f", Label: "x\x1b[31m\ny" + strings.Repeat("é", 300), Color: "\x1b[31m", Status: "odd", Detail: "\a", Tokens: -1,
				Session: "a\nb", Actions: []string{"cancel", "Rm -rf", "", "background", "1"}},
			plug.PanelNode{ID: "g", Color: "red", Status: "waiting", Session: "s", Tokens: 3},
		)
		for i := range 2 * plug.MaxNodes {
			nodes = append(nodes, plug.PanelNode{ID: fmt.Sprint(i)})
		}
		act := ""
		api.UI.Panel(plug.Panel{Title: "a\tb", Nodes: nodes, Act: func(_ context.Context, node, action string) error {
			act = node + " " + action
			if action == "panic" {
				panic("no luck")
			}
			if action == "hang" {
				time.Sleep(time.Hour)
			}
			return nil
		}})
		nodes[0].Label = "changed later"
		p := h.Panels()[0]
		var tree []string
		for _, n := range p.Nodes[:8] {
			tree = append(tree, n.ID+"<"+n.Parent)
		}
		// One node of the ring becomes a root, and the others stand below it.
		if want := []string{"a<", "b<c", "c<a", "d<", "e<d", "self<", "f<", "g<"}; !slices.Equal(tree, want) {
			t.Errorf("got %v, want %v", tree, want)
		}
		if p.Title != "a b" || len(p.Nodes) != plug.MaxNodes || p.Nodes[0].Label != "a" {
			t.Errorf("got title %q, %d nodes, %q", p.Title, len(p.Nodes), p.Nodes[0].Label)
		}
		f := p.Nodes[6]
		if f.Label != "x y"+strings.Repeat("é", maxLabel-4)+"…" || f.Color != "" || f.Status != "" || f.Detail != "" || f.Tokens != 0 || f.Session != "" || !slices.Equal(f.Actions, []string{"cancel", "background"}) {
			t.Errorf("got %+v", f)
		}
		if g := p.Nodes[7]; g.Color != "red" || g.Status != "waiting" || g.Session != "s" || g.Tokens != 3 {
			t.Errorf("got %+v", g)
		}
		if err := p.Act(t.Context(), "g", "cancel"); err != nil || act != "g cancel" {
			t.Errorf("got %v, %q", err, act)
		}
		if err := p.Act(t.Context(), "g", "panic"); err == nil || err.Error() != "plugin p: panic: no luck" {
			t.Errorf("got %v", err)
		}
		begin := time.Now()
		if err := p.Act(t.Context(), "g", "hang"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != actionLimit {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		h.Close(context.Background())
		if err := p.Act(t.Context(), "g", "cancel"); !errors.Is(err, ErrGone) {
			t.Errorf("after close: got %v", err)
		}
		time.Sleep(time.Hour)
	})
}

func TestQuestionsOfPlugins(t *testing.T) {
	var asked plug.Question
	var answer plug.Answer
	var fail error
	h := toyHost(t, Options{
		Ask:         func(_ context.Context, q plug.Question) (plug.Answer, error) { asked = q; return answer, fail },
		Interactive: func() bool { return true },
	})
	api := plugin(t, h, "a-long-plugin-id", nil)
	options := []plug.Option{{Label: "yes\n", Description: "d"}, {Label: "no"}, {Label: "later"}}
	two := []plug.Choice{{Header: "H", Question: "one?", Options: options}, {Question: "two\x07?", Options: options, Multiple: true}}
	ask := func(chosen ...plug.Chosen) ([]plug.Chosen, error) {
		answer = plug.Answer{Decision: plug.Once, Chosen: chosen}
		return api.UI.AskQuestions(t.Context(), "s", two)
	}
	got, err := ask(plug.Chosen{Options: []int{2}}, plug.Chosen{Options: []int{0, 1}, Text: "a\x1b[31mb"})
	if err != nil || fmt.Sprint(got) != "[{[2] } {[0 1] ab}]" {
		t.Errorf("got %v, %v", got, err)
	}
	if asked.Kind != plug.AskQuestions || asked.SessionID != "s" || asked.Questions[0].Header != "H" || asked.Questions[1].Header != "a-long-plug…" ||
		asked.Questions[1].Question != "two?" || asked.Questions[0].Options[0].Label != "yes" || !api.UI.Interactive() {
		t.Errorf("asked %+v", asked)
	}
	answer = plug.Answer{Decision: plug.Once, Chosen: []plug.Chosen{{Options: []int{1}}}}
	if n, err := api.UI.Select(t.Context(), "s", "which?", options); n != 1 || err != nil {
		t.Errorf("select: got %d, %v", n, err)
	}
	answer = plug.Answer{Decision: plug.Deny, Chosen: make([]plug.Chosen, 1)}
	if n, err := api.UI.Select(t.Context(), "s", "which?", options); n != -1 || err == nil {
		t.Errorf("select that is denied: got %d, %v", n, err)
	}
	fail = plug.ErrNoSurface
	if _, err := api.UI.Select(t.Context(), "s", "which?", options); !errors.Is(err, plug.ErrNoSurface) {
		t.Errorf("headless: got %v", err)
	}
	fail = context.Canceled
	if _, err := api.UI.Select(t.Context(), "s", "which?", options); !errors.Is(err, context.Canceled) {
		t.Errorf("withdrawn: got %v", err)
	}
	many := slices.Repeat(options, 7)
	for name, do := range map[string]func() error{
		"one option": func() error { _, err := api.UI.Select(t.Context(), "s", "w?", options[:1]); return err },
		"21 options": func() error { _, err := api.UI.Select(t.Context(), "s", "w?", many); return err },
		"no title":   func() error { _, err := api.UI.Select(t.Context(), "s", " ", options); return err },
		"an empty label": func() error {
			_, err := api.UI.Select(t.Context(), "s", "w?", []plug.Option{{Label: "a"}, {}})
			return err
		},
		"no question": func() error { _, err := api.UI.AskQuestions(t.Context(), "s", nil); return err },
		"five": func() error {
			_, err := api.UI.AskQuestions(t.Context(), "s", slices.Repeat(two, 3)[:5])
			return err
		},
	} {
		asked = plug.Question{}
		if err := do(); err == nil || asked.Kind != "" {
			t.Errorf("%s: got %v, asked %v", name, err, asked)
		}
	}
}

func TestWithoutAnEngineMembersAreErrors(t *testing.T) {
	h := toyHost(t, Options{})
	var during *plug.API
	check := func(api *plug.API, want string) {
		t.Helper()
		ctx := context.Background()
		e := func(_ any, err error) error { return err }
		for name, err := range map[string]error{
			"exec": e(api.Exec(ctx, "s", plug.Command{})), "git": e(api.Git(ctx, "s", "/", "status")), "complete": e(api.Complete(ctx, plug.Completion{})),
			"list": e(api.Models.List(ctx)), "resolve": e(api.Models.Resolve(ctx, "m")), "spawn": e(api.Sessions.Spawn(ctx, plug.ChildSpec{})),
			"run": e(api.Sessions.Run(ctx, "s", "p")), "get": e(api.Sessions.Get(ctx, "s")), "children": e(api.Sessions.Children(ctx, "s")),
			"ancestors": e(api.Sessions.Ancestors(ctx, "s")), "cancel": e(api.Sessions.Cancel(ctx, "s")), "enqueue": api.Sessions.Enqueue(ctx, "s", "t"),
			"capabilities": e(api.Sessions.Capabilities(ctx, "s")), "model": e(api.Sessions.Model(ctx, "s")), "workspace": e(api.Sessions.Workspace(ctx, "s")),
			"status": api.Sessions.SetStatus(ctx, "s", plug.ChildFailed), "open": api.UI.Open("s"),
			"ask": e(api.UI.AskQuestions(ctx, "s", []plug.Choice{{Question: "q?"}})), "select": e(api.UI.Select(ctx, "s", "q?", make([]plug.Option, 2))),
		} {
			if err == nil || want != "" && !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ": ") {
				t.Errorf("%s: got %v, want %q", name, err, want)
			}
		}
		if api.UI.Interactive() || api.Sessions.IsRunning("s") || api.HTTP(plug.PurposeProvider) != nil {
			t.Error("something is there")
		}
		for name, err := range map[string]error{
			"get": e(api.State.Get(ctx, "k")), "set": api.State.Set(ctx, "k", []byte("1")), "delete": api.State.Delete(ctx, "k"), "keys": e(api.State.Keys(ctx, "")),
			"config": e(api.Paths.Config()), "state": e(api.Paths.State()), "cache": e(api.Paths.Cache()), "sql": e(api.SQL(ctx, "x")),
			"provider": e(api.AddProvider(plug.ProviderRegistration{})),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
	during = plugin(t, h, "p", func(api *plug.API) error { check(api, ErrSetup.Error()); return nil })
	check(during, "")
	h.Close(context.Background())
	check(during, ErrGone.Error())
}

func TestMembersReachTheEngine(t *testing.T) {
	var got []string
	say := func(parts ...any) { got = append(got, fmt.Sprint(parts...)) }
	h := toyHost(t, Options{
		Exec: func(_ context.Context, p, s string, c plug.Command) (plug.Exit, error) {
			say("exec ", p, " ", s, " ", c.Shell)
			return plug.Exit{Code: 3}, nil
		},
		Git: func(_ context.Context, p, s, dir string, args ...string) (plug.Exit, error) {
			say("git ", p, " ", s, " ", dir, " ", args)
			return plug.Exit{}, nil
		},
		Complete: func(_ context.Context, p string, c plug.Completion) (plug.Completed, error) {
			say("complete ", p, " ", c.SessionID)
			return plug.Completed{}, nil
		},
		Sessions: plug.Sessions{
			Get: func(_ context.Context, id string) (plug.Child, error) {
				say("get ", id)
				return plug.Child{ID: id}, nil
			},
			IsRunning: func(id string) bool { return id == "s" },
		},
	})
	api := plugin(t, h, "p", func(api *plug.API) error {
		if api.Sessions.IsRunning("s") {
			t.Error("it is asked during setup")
		}
		return nil
	})
	ctx := t.Context()
	exit, err := api.Exec(ctx, "s", plug.Command{Shell: "ls"})
	_, err2 := api.Git(ctx, "s", "/d", "status", "-s")
	_, err3 := api.Complete(ctx, plug.Completion{SessionID: "s"})
	child, err4 := api.Sessions.Get(ctx, "s")
	if err := errors.Join(err, err2, err3, err4); err != nil || exit.Code != 3 || child.ID != "s" || !api.Sessions.IsRunning("s") {
		t.Errorf("got %v, %v, %v", exit, child, err)
	}
	if want := []string{"exec p s ls", "git p s /d [status -s]", "complete p s", "get s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
