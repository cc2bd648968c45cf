package cmdcat

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"alisio/agent"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// Every core command, without a screen, in no session, in one, and with arguments
// that are wrong. An empty want is a text that need hold nothing.
func TestCoreCommands(t *testing.T) {
	for _, kind := range kinds {
		b := newBench(t, kind, func(o *agent.Options) {
			o.Plugins = []plug.Plugin{toyCommands("toy", "hello")}
			o.Model.Efforts = []string{"low", "high"}
		})
		b.skill("pdf", "reads PDFs", "Read it.")
		id := b.session("do something")
		lasting := kind == "sqlite"
		for _, c := range []struct {
			line string
			// session: in the session; else in none.
			session bool
			want    string
			fails   string
		}{
			{"/agents", false, "* build  works on the task", ""},
			{"/agents", true, "  plan   reads and plans", ""},
			{"/agents plan", true, "the agent is plan now", ""},
			{"/agents", true, "* plan ", ""},
			{"/agents", false, "* build ", ""},
			{"/agents pln", true, "", `/agents: there is no agent "pln"; did you mean "plan"?`},
			{"/agents build", true, "the agent is build now", ""},
			{"/agent:plan", false, "the agent is plan now", ""},
			{"/agent:build", false, "the agent is build now", ""},
			{"/btw", true, "", "say what to ask"},
			{"/btw why?", true, "answer 2", ""},
			{"/btw why?", false, "answer 3", ""},
			{"/changelog", false, "0.1.0 begins", ""},
			{"/changelog x", false, "", `it takes nothing behind the name, found "x"`},
			{"/effort", true, "effort as the server has it with toy; its levels: low, high", ""},
			{"/effort high", true, "the effort is high now", ""},
			{"/effort", true, "effort high with toy", ""},
			{"/effort", false, "effort as the server has it", ""},
			{"/effort most", true, "", `toy has no level "most"; its levels: low, high`},
			{"/model", true, "* toy", ""},
			{"/model", false, "* toy", ""},
			{"/models", false, "* toy", ""},
			{"/model tyo", true, "", `/model: there is no model "tyo"; did you mean "toy"?`},
			{"/model zz", true, "", `/model: there is no model "zz"; the server offers toy`},
			{"/skill:pd", false, "", "unknown command /skill:pd; did you mean /skill:pdf?"},
			{"/skill:zzzzzzzzzz", false, "", "unknown command /skill:zzzzzzzzzz; /skills lists the skills"},
			{"/model a b", true, "", "is no name of a model"},
			{"/model toy", true, "the model is toy now", ""},
			{"/model script/toy", false, "the model is toy now", ""},
			{"/permission", true, "mode ask\nwrite     denied, --allow-write allows it\n", ""},
			{"/permissions", false, "process   denied, --allow-process allows it\n", ""},
			{"/permission x", false, "", "it takes nothing"},
			{"/plugins", false, "toy  1.0.0  1 command\n", ""},
			{"/plugins x", false, "", "it takes nothing"},
			{"/skills", false, "pdf  reads PDFs  user\n", ""},
			{"/skills x", false, "", "it takes nothing"},
			{"/stats", true, "model     toy\nagent     build\n", ""},
			{"/stats", false, "messages  0\n", ""},
			{"/stats x", true, "", "it takes nothing"},
			{"/tools", true, "read_file          read      offered\n", ""},
			{"/tools", false, "shell              process   --allow-process allows it\n", ""},
			{"/tools x", false, "", "it takes nothing"},
			{"/hello you", false, "hello of toy: you\n", ""},
		} {
			in := ""
			if c.session {
				in = id
			}
			r, err := b.do(in, c.line)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%s, %s: got %q, %v, want %q", kind, c.line, r.Text, err, c.fails)
				}
				continue
			}
			if err != nil || !strings.Contains(r.Text, c.want) || r.Switch != nil {
				t.Errorf("%s, %s: got %q, %v, want %q", kind, c.line, r.Text, err, c.want)
			}
		}
		// Nothing of the questions beside is kept: there are the list of skills, prompt, answer.
		if text := b.said(id, "/stats"); !strings.Contains(text, "messages  3\n") {
			t.Errorf("%s: got %s", kind, text)
		}
		for _, line := range []string{"/sessions", "/resume"} {
			if lasting {
				if text := b.said(id, line); !strings.Contains(text, "* "+id[:8]) || !strings.Contains(text, "do something") {
					t.Errorf("got %q", text)
				}
			} else {
				b.fails(id, line, "sessions are not kept by this program")
			}
		}
	}
}

func TestChoicesAreOfStoredSessions(t *testing.T) {
	for _, kind := range kinds {
		b := newBench(t, kind, nil)
		for _, line := range []string{"/model toy", "/agents plan", "/effort high"} {
			b.fails("no-such-session", line, "not found")
		}
		b.fails("", "/effort silly", "there is no effort \"silly\"")
		for _, line := range []string{"/tools", "/permission", "/agents"} {
			b.said("no-such-session", line)
		}
		// What was chosen before the first prompt holds in it.
		b.said("", "/agents plan")
		b.said("", "/effort low")
		id := b.session("go")
		if agent := b.app.AgentOf(id); agent != "plan" || !strings.Contains(b.said(id, "/effort"), "effort low") {
			t.Errorf("%s: %s", kind, agent)
		}
		b.said(id, "/agents build")
		// The session has taken it over: the next new one begins without.
		if b.app.AgentOf("") != "build" || b.app.AgentOf(id) != "build" {
			t.Errorf("%s: the choice of one session is another's", kind)
		}
	}
}

// With arguments /agents is the command of a plugin that has the name.
func TestAgentsWithArgumentsIsThePlugins(t *testing.T) {
	b := newBench(t, "memory", func(o *agent.Options) { o.Plugins = []plug.Plugin{toyCommands("crew", "agents")} })
	if got := b.said("", "/agents"); !strings.Contains(got, "* build") {
		t.Errorf("got %q", got)
	}
	if got := b.said("", "/Agents merge 7"); got != "agents of crew: merge 7\n" {
		t.Errorf("got %q", got)
	}
	_, hidden, err := b.List(context.Background())
	d, found := b.Find(context.Background(), "agents")
	if err != nil || found != nil || len(hidden) != 0 || d.Source != FromBuiltIn || d.ArgumentHint != "[agents]" {
		t.Errorf("%+v, %v, %v, %v", d, hidden, err, found)
	}
}

func TestClearAndResume(t *testing.T) {
	var ends atomic.Int64
	b := newBench(t, "sqlite", func(o *agent.Options) { o.Plugins = []plug.Plugin{leaving(&ends)} })
	first, second := b.session("the first"), b.session("the second")
	r, err := b.do(first, "/clear")
	if err != nil || r.Switch == nil || *r.Switch != "" || !strings.Contains(r.Text, first[:8]) || ends.Load() != 1 {
		t.Errorf("got %+v, %v, %d ends", r, err, ends.Load())
	}
	if r, err := b.do("", "/new"); err != nil || *r.Switch != "" || r.Text != "a new session\n" || ends.Load() != 1 {
		t.Errorf("got %+v, %v, %d ends", r, err, ends.Load())
	}
	b.fails(second, "/clear x", "it takes nothing")
	if r, err := b.do(second, "/resume "+first[:8]); err != nil || *r.Switch != first || !strings.Contains(r.Text, "the first") || ends.Load() != 2 {
		t.Errorf("got %+v, %v, %d ends", r, err, ends.Load())
	}
	// It is the one that one is in: nobody leaves.
	if r, err := b.do(first, "/resume "+first); err != nil || r.Switch != nil || ends.Load() != 2 {
		t.Errorf("got %+v, %v, %d ends", r, err, ends.Load())
	}
	b.fails(first, "/resume zzz", "/sessions lists those of this workspace")
	b.fails(first, "/resume "+strings.Repeat("z", 5000), "not found")
}

// Symptom: a session went on in a directory in which nothing of it lies. Trigger:
// /resume with the id of another workspace's session.
func TestResumeKeepsToTheWorkspace(t *testing.T) {
	b := newBench(t, "sqlite", nil)
	id := b.session("here")
	other := b.at("elsewhere")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := agent.OpenStore(context.Background(), agent.StoreOptions{Dirs: b.dirs()})
	if err != nil {
		t.Fatal(err)
	}
	o := agent.Options{Dir: other, Dirs: b.dirs(), Store: s, Model: llm.Model{ID: "toy"}}
	answers(t, &o, 2)
	app, err := agent.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	there, err := app.Run(context.Background(), "", "there", agent.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.do(id, "/resume "+there.SessionID)
	var told *llm.Error
	if err == nil || !errors.As(err, &told) || !strings.Contains(err.Error(), "belongs to another workspace, "+other) ||
		told.Hint != "alisio resume "+there.SessionID+" goes on with it there" {
		t.Errorf("got %v", err)
	}
	if text := b.said(id, "/sessions"); strings.Contains(text, there.SessionID[:8]) {
		t.Errorf("got %q", text)
	}
}

func TestExport(t *testing.T) {
	b := newBench(t, "sqlite", nil)
	b.fails("", "/export a.md", "nothing was said yet")
	b.fails("no-such", "/export a.md", "not found")
	id := b.session("write this down")
	for _, line := range []string{"/export", "/export markdown", "/export jsonl "} {
		b.fails(id, line, "name the file")
	}
	b.fails(id, "/export pdf x.pdf", "unknown format \"pdf\"")
	b.fails(id, "/export sub/a.md", "no such file or directory")
	for line, file := range map[string]string{
		"/export a b.md": "a b.md", "/export markdown\tc.md": "c.md", "/export jsonl d.jsonl": "d.jsonl", "/export " + b.at("e.md"): "../e.md",
	} {
		path := filepath.Join(b.at("work"), file)
		if text := b.said(id, line); text != "written to "+path+"\n" {
			t.Errorf("%s: got %q", line, text)
		}
		data, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || !strings.Contains(string(data), "write this down") || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %.200q, %v", line, data, err)
		}
		b.fails(id, line, "is there already, and only a new file is written")
	}
	if entries, _ := os.ReadDir(b.at("work")); len(entries) != 3 {
		t.Errorf("a failed export left %v", entries)
	}
	newBench(t, "memory", nil).fails("x", "/export a.md", "sessions are not kept")
	only := newBench(t, "sqlite", func(o *agent.Options) { o.Policy = perm.Policy{ReadOnly: true} })
	id = only.session("look")
	only.fails(id, "/export a.md", "read-only")
}

// What is asked beside a run that works, or what is exported, finds a history that
// fits, and disturbs nothing.
func TestCommandsWhileARunWorks(t *testing.T) {
	for _, kind := range kinds {
		var b *bench
		done := false
		look := plug.Plugin{ID: "toy", APIVersion: 1, Version: "1.0.0", Setup: func(_ context.Context, api *plug.API) error {
			_, err := api.AddTool(tool(func(c *plug.Call) {
				done = true
				if text := b.said(c.SessionID, "/btw how far?"); text != "beside\n" {
					t.Errorf("%s: got %q", kind, text)
				}
				b.said(c.SessionID, "/stats")
				b.said(c.SessionID, "/tools")
				b.said(c.SessionID, "/model other")
				if kind == "sqlite" {
					b.said(c.SessionID, "/export now.md")
				}
			}))
			return err
		}}
		b = newBench(t, kind, func(o *agent.Options) {
			o.Plugins = []plug.Plugin{look}
			o.Provider = scripted(t, `{"turns":[{"text":"I look.","calls":[{"name":"peek"}]},{"text":"beside"},{"text":"the end"}]}`)
		})
		out, err := b.app.Run(context.Background(), "", "go", agent.RunOptions{})
		if err != nil || out.Text != "the end" || !done {
			t.Fatalf("%s: got %+v, %v", kind, out, err)
		}
		model, _, err := b.app.ModelOf(context.Background(), out.SessionID)
		if err != nil || model.ID != "other" {
			t.Errorf("%s: %+v, %v", kind, model, err)
		}
	}
}

// A child of one of the workspace's sessions can be gone on with, bounded as it is; what
// it works with can not be chosen anew.
func TestResumeOfAChild(t *testing.T) {
	var api *plug.API
	b := newBench(t, "sqlite", func(o *agent.Options) {
		o.Plugins = []plug.Plugin{{ID: "toy", APIVersion: 1, Version: "1.0.0", Setup: func(_ context.Context, own *plug.API) error {
			api = own
			return nil
		}}}
	})
	id := b.session("go")
	child, err := api.Sessions.Spawn(context.Background(), plug.ChildSpec{Parent: id, Title: "Look", Tools: plug.ToolFilter{Allow: []string{"read_file"}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := b.do(id, "/resume "+child.ID); err != nil || *r.Switch != child.ID || !strings.Contains(r.Text, "Look") {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, line := range []string{"/model toy", "/agents plan", "/effort low"} {
		b.fails(child.ID, line, "is a child")
	}
	if text := b.said(child.ID, "/tools"); !strings.Contains(text, "list_files         read      not of") || !strings.Contains(text, "read_file          read      offered") {
		t.Errorf("got %s", text)
	}
	b.said(child.ID, "/stats")
	if text := b.said(id, "/sessions"); strings.Contains(text, "Look") {
		t.Errorf("got %s", text)
	}
}

// Whoever calls a template that was left out is told why, and not of another one.
func TestALeftOutTemplateIsNamed(t *testing.T) {
	b := newBench(t, "memory", nil)
	b.write("config/prompts/broken.md", "---\nargument-hint: X\n---\nbody")
	b.fails("", "/broken", "description")
	for _, line := range []string{"/stats", "/plugins"} { // how many are wrong, and not each of them
		if text := b.said("", line); !strings.HasSuffix(text, "templates: 1 problem; alisio templates validate tells of each\n") || strings.Contains(text, "broken") {
			t.Errorf("%s: got %q", line, text)
		}
	}
	b.fails("", "/brokn", "unknown command /brokn")
}

// Nobody knows what commands a plugin would have that failed, or is off: it is named
// where nothing else may have been meant. What is certain goes before a near name.
func TestACommandOfWhatWasLeftOut(t *testing.T) {
	b := newBench(t, "memory", func(o *agent.Options) {
		o.Plugins = []plug.Plugin{{ID: "ops", APIVersion: 1, Version: "1.0.0", Setup: func(context.Context, *plug.API) error { return errors.New("no \x07way") }}}
	})
	b.fails("", "/zzzzzzzz", "unknown command /zzzzzzzz: it may be one of the plugin ops, which failed: set up plugin ops: no way; alisio plugins doctor")
	b.fails("", "/modle", "unknown command /modle; did you mean /model?")
	b.fails("", "/ops", "which failed")
	left := func(name string) (string, bool) { return "that is \x07off", name == "modle" }
	b = newBench(t, "memory", func(o *agent.Options) { o.LeftOut = left })
	b.fails("", "/zzzzzzzz", "unknown command /zzzzzzzz: that is off")
	b.fails("", "/modle", "unknown command /modle: that is off")
	b.fails("", "/stast", "unknown command /stast; did you mean /stats?")
}

func TestHelpOfWhatThereIsNot(t *testing.T) {
	b := newBench(t, "memory", nil)
	_, err := New(b.app).Execute(t.Context(), "help", Input{Args: "nope", Conversation: true})
	var told *llm.Error
	if !errors.As(err, &told) || told.Hint != "/help alone lists the commands" || !strings.Contains(err.Error(), "unknown command /nope") {
		t.Errorf("got %v, %+v", err, told)
	}
}

func TestAccessLine(t *testing.T) {
	for want, a := range map[string]agent.Access{
		"read-only": {ReadOnly: true, Write: "allow"},
		"write asks · commands ask · network denied":      {Write: "ask", Process: "ask", External: "deny"},
		"write allowed · commands denied · network asks":  {Write: "allow", Process: "deny", External: "ask"},
		"write denied · commands denied · network denied": {},
	} {
		if got := AccessLine(a); got != want {
			t.Errorf("%+v: got %q, want %q", a, got, want)
		}
	}
}
