package cmdcat

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/tools"
	"alisio/llm"
	"alisio/llm/script"
	"alisio/plug"
)

// bench is a catalog of a real application.
type bench struct {
	*Catalog
	t   *testing.T
	app *agent.App
	dir string // working directory, home directory and configuration lie in it
}

// kinds of stores that a test runs with.
var kinds = []string{"memory", "sqlite"}

func newBench(t *testing.T, kind string, change func(*agent.Options)) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	for _, d := range []string{"work", "home", "config", "state"} {
		if err := os.MkdirAll(b.at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := agent.Options{
		Dir: b.at("work"), Dirs: config.Dirs{Config: b.at("config"), State: b.at("state")}, Config: config.Default(),
		Tools: append(tools.All(), tools.Session()...), Model: llm.Model{ID: "toy"}, Changelog: "0.1.0 begins\n",
		Getenv: func(name string) string { return map[string]string{"HOME": b.at("home")}[name] },
	}
	answers(t, &o, 9)
	if change != nil {
		change(&o)
	}
	if kind == "sqlite" {
		s, err := agent.OpenStore(context.Background(), agent.StoreOptions{Dirs: o.Dirs})
		if err != nil {
			t.Fatal(err)
		}
		o.Store = s
	}
	app, err := agent.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	b.app, b.Catalog = app, New(app)
	return b
}

// answers gives an application a model that says "answer 1", "answer 2" and so on.
func answers(t *testing.T, o *agent.Options, n int) {
	t.Helper()
	var turns []string
	for i := range n {
		turns = append(turns, fmt.Sprintf(`{"text":"answer %d"}`, i+1))
	}
	p, err := script.Open("script", []byte(`{"model":"toy","turns":[`+strings.Join(turns, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	o.Provider = p
}

func (b *bench) at(path string) string { return filepath.Join(b.dir, filepath.FromSlash(path)) }

func (b *bench) write(path, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.at(path)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.at(path), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) skill(name, description, body string) {
	b.t.Helper()
	b.write("home/.agents/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+description+"\n---\n"+body)
}

func (b *bench) template(name, head, body string) {
	b.t.Helper()
	b.write("config/prompts/"+name+".md", "---\n"+head+"\n---\n"+body)
}

// session makes a session of one run.
func (b *bench) session(prompt string) string {
	b.t.Helper()
	out, err := b.app.Run(context.Background(), "", prompt, agent.RunOptions{})
	if err != nil || out.Status != agent.Completed {
		b.t.Fatalf("got %+v, %v", out, err)
	}
	return out.SessionID
}

// do gives a line as a person does.
func (b *bench) do(session, line string) (Result, error) {
	b.t.Helper()
	name, args, ok := Parse(line)
	if !ok {
		b.t.Fatalf("%q is no command", line)
	}
	r, err := b.Execute(context.Background(), name, Input{Args: args, SessionID: session, Conversation: true})
	if strings.ContainsFunc(r.Text, func(c rune) bool { return c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u202e') }) {
		b.t.Errorf("%s: the text could command a terminal: %q", line, r.Text)
	}
	if r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
		b.t.Errorf("%s: the last line has no end: %q", line, r.Text)
	}
	return r, err
}

// said does a line that must succeed, and returns its text.
func (b *bench) said(session, line string) string {
	b.t.Helper()
	r, err := b.do(session, line)
	if err != nil {
		b.t.Fatalf("%s: %v", line, err)
	}
	return r.Text
}

// fails does a line that must not succeed.
func (b *bench) fails(session, line, want string) {
	b.t.Helper()
	r, err := b.do(session, line)
	if err == nil || !strings.Contains(err.Error(), want) {
		b.t.Errorf("%s: got %+v, %v, want %q", line, r, err, want)
	}
}

// toyCommands is a plugin with commands that say what they were given.
func toyCommands(id string, names ...string) plug.Plugin {
	return plug.Plugin{ID: id, Name: id, Version: "1.0.0", APIVersion: 1, Setup: func(_ context.Context, api *plug.API) error {
		for _, name := range names {
			if _, err := api.AddSlashCommand(plug.SlashCommand{
				Name: name, Description: "of " + id, ArgumentHint: "[" + name + "]",
				Run: func(_ context.Context, args, session string) (string, error) {
					return name + " of " + id + ": " + args, nil
				},
			}); err != nil {
				return err
			}
		}
		return nil
	}}
}

// leaving counts the end hooks.
func leaving(ends *atomic.Int64) plug.Plugin {
	return plug.Plugin{ID: "leaving", Name: "leaving", Version: "1.0.0", APIVersion: 1, Setup: func(_ context.Context, api *plug.API) error {
		_, err := api.OnSession(plug.SessionHooks{OnEnd: func(context.Context, plug.SessionInfo) error {
			ends.Add(1)
			return nil
		}})
		return err
	}}
}

func (b *bench) dirs() config.Dirs { return config.Dirs{Config: b.at("config"), State: b.at("state")} }

func scripted(t *testing.T, text string) llm.Provider {
	t.Helper()
	p, err := script.Open("script", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// peek is a reading tool that does something of the test's.
type peek struct{ do func(*plug.Call) }

func tool(do func(*plug.Call)) plug.Tool { return peek{do} }

func (peek) Spec() plug.ToolSpec {
	return plug.ToolSpec{Name: "peek", Effect: plug.EffectRead, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (peek) Prepare(context.Context, *plug.Call) (plug.Plan, error) {
	return plug.Plan{Effect: plug.EffectRead, Title: "peek"}, nil
}

func (p peek) Execute(_ context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	p.do(c)
	return plug.Text("seen"), nil
}
