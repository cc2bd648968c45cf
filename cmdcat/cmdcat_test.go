package cmdcat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"alisio/agent"
	"alisio/llm"
	"alisio/plug"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line, name, args string
		ok               bool
	}{
		{"/help", "help", "", true},
		{"  \t\n/model  m1 ", "model", "m1", true},
		{"/btw one\ntwo", "btw", "one\ntwo", true},
		{"/btw\nwhy", "btw", "why", true},
		{"/btw\twhy\r\n", "btw", "why", true},
		{"/skill:pdf-forms fill it", "skill:pdf-forms", "fill it", true},
		{"/agent:plan", "agent:plan", "", true},
		{"/Model X", "Model", "X", true},
		{"/usr/bin is missing", "", "", false},
		{"/usr/bin", "", "", false},
		{"/tmp", "tmp", "", true}, // which is no command, and is told so
		{"/a.b_c", "a.b_c", "", true},
		{"//comment", "", "", false},
		{"/", "", "", false},
		{"/ help", "", "", false},
		{"", "", "", false},
		{"  ", "", "", false},
		{"help", "", "", false},
		{"see /help", "", "", false},
		{"\\/help", "", "", false},
		{"/é", "", "", false},
		{"/модель x", "", "", false},
		{"/he\u200blp", "", "", false},
		{"/help\u00a0x", "", "", false},
		{"/help\x00", "", "", false},
		{"/he\x1b[31mlp", "", "", false},
		{"/\xff", "", "", false},
		{"/*.go", "", "", false},
		{"/" + strings.Repeat("a", maxName), strings.Repeat("a", maxName), "", true},
		{"/" + strings.Repeat("a", maxName+1), "", "", false},
		{"/" + strings.Repeat("a", maxName) + " x", strings.Repeat("a", maxName), "x", true},
		{"/btw " + strings.Repeat("x", 1<<20), "btw", strings.Repeat("x", 1<<20), true},
	} {
		name, args, ok := Parse(c.line)
		if name != c.name || args != c.args || ok != c.ok {
			t.Errorf("%.60q: got %.60q, %.60q, %v", c.line, name, args, ok)
		}
	}
}

// A line without an end is looked at no further than a name can go.
func BenchmarkParseHugeLine(b *testing.B) {
	line := "/" + strings.Repeat("a", 64<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := Parse(line); ok {
			b.Fatal("taken for a command")
		}
	}
}

func names(list []Descriptor) []string {
	var all []string
	for _, d := range list {
		all = append(all, d.Name)
	}
	return all
}

func TestBuiltInNamesAreOnesOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range builtIn() {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if seen[name] || name != strings.ToLower(name) {
				t.Errorf("%s is there twice, or not in lower case", name)
			}
			if parsed, _, ok := Parse("/" + name); !ok || parsed != name {
				t.Errorf("nobody can type /%s", name)
			}
			seen[name] = true
		}
		if e.run == nil || e.Execution == AsPrompt || e.Owner != "" || e.Source != FromBuiltIn || e.Description == "" {
			t.Errorf("%+v", e.Descriptor)
		}
	}
}

// The first source that has a name wins it, with the aliases of built-in commands and
// in every case of them; who is hidden is told of.
func TestTheFirstSourceWinsAName(t *testing.T) {
	for _, kind := range kinds {
		b := newBench(t, kind, func(o *agent.Options) {
			o.Plugins = []plug.Plugin{
				toyCommands("p1", "stats", "new", "quit", "deploy", "agents"), toyCommands("p2", "help", "fine"),
				{ID: "p3", APIVersion: 1, Version: "1.0.0", Setup: func(_ context.Context, api *plug.API) error {
					_, err := api.AddAgent(plug.Agent{ID: "own", Description: "mine"})
					return err
				}},
			}
		})
		for _, name := range []string{"deploy", "models", "review", "fine"} {
			b.template(name, "description: d", "text")
		}
		b.skill("pdf", "reads PDFs", "Read it.")
		list, hidden, err := b.List(context.Background())
		if err != nil || !slices.IsSorted(names(list)) {
			t.Fatalf("%v, %v", names(list), err)
		}
		var told []string
		for _, h := range hidden {
			told = append(told, h.String())
			if (h.Plugin != "") != strings.Contains(h.String(), " of plugin "+h.Plugin+" is hidden") {
				t.Errorf("%s: of plugin %q", h, h.Plugin)
			}
		}
		slices.Sort(told)
		if want := []string{
			"/deploy of template user is hidden by that of plugin p1",
			"/fine of template user is hidden by that of plugin p2",
			"/help of plugin p2 is hidden by that of built-in",
			"/models of template user is hidden by that of built-in",
			"/new of plugin p1 is hidden by that of built-in",
			"/quit of plugin p1 is hidden by that of built-in",
			"/stats of plugin p1 is hidden by that of built-in",
		}; !slices.Equal(told, want) {
			t.Errorf("hidden:\n%s", strings.Join(told, "\n"))
		}
		for name, want := range map[string]Source{
			"stats": FromBuiltIn, "STATS": FromBuiltIn, "New": FromBuiltIn, "mOdels": FromBuiltIn, "quit": FromBuiltIn, "Help": FromBuiltIn, "agents": FromBuiltIn,
			"deploy": FromPlugin, "fine": FromPlugin, "review": FromTemplate, "init": FromTemplate, "skill:pdf": FromSkill,
			"agent:own": FromAgent, "agent:plan": FromAgent, "agent:build": FromAgent,
		} {
			d, err := b.Find(context.Background(), name)
			if err != nil || d.Source != want {
				t.Errorf("%s: got %+v, %v", name, d, err)
			}
			if n := slices.Index(names(list), d.Name); n < 0 || slices.Contains(names(list[n+1:]), d.Name) {
				t.Errorf("%s is not in the list, or twice", d.Name)
			}
		}
		// Only those of this package are found whatever the case.
		for _, name := range []string{"Deploy", "Review", "SKILL:pdf", "agent:Plan"} {
			if d, err := b.Find(context.Background(), name); err == nil {
				t.Errorf("%s: got %+v", name, d)
			}
		}
		if got := b.said("", "/deploy now"); got != "deploy of p1: now\n" {
			t.Errorf("got %q", got)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	b := newBench(t, "memory", nil)
	for line, want := range map[string]string{
		"/modle":  "unknown command /modle; did you mean /model?",
		"/zzzzzz": "unknown command /zzzzzz",
	} {
		_, err := b.do("", line)
		if err == nil || err.Error() != want || llm.CauseOf(err) != llm.CauseBadRequest || !errors.As(err, new(*UnknownError)) {
			t.Errorf("%s: got %v", line, err)
		}
	}
	// A surface need not have parsed a line.
	for _, name := range []string{"", "\x1b[2J", "a\nb", strings.Repeat("x", 1<<20)} {
		_, err := b.Execute(context.Background(), name, Input{})
		if err == nil || len(err.Error()) > 200 || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%.20q: got %.300v", name, err)
		}
	}
}

func TestSurfaceCommandsAreRefusedWithTheReason(t *testing.T) {
	b := newBench(t, "memory", nil)
	for _, line := range []string{"/help", "/exit", "/Quit", "/ask what?"} {
		name, args, _ := Parse(line)
		_, err := b.Execute(t.Context(), name, Input{Args: args})
		if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "is done by the screen") {
			t.Errorf("%s: got %v", line, err)
		}
	}
	for _, d := range builtIn() {
		if want := []string{"tui", "web"}; d.Execution == BySurface && !slices.Equal(d.Surfaces(), want) {
			t.Errorf("/%s is on %v", d.Name, d.Surfaces())
		}
	}
}

// A file that comes between two calls is seen by the second.
func TestTheSourcesAreReadAtEachCall(t *testing.T) {
	b := newBench(t, "memory", nil)
	ctx := context.Background()
	for _, name := range []string{"skill:late", "late"} {
		if _, err := b.Find(ctx, name); err == nil {
			t.Errorf("%s is there already", name)
		}
	}
	b.skill("late", "comes late", "Body one.")
	b.template("late", "description: d", "Say $1.")
	if r, err := b.do("", "/skill:late go"); err != nil || !strings.Contains(r.Prompt.Text, "Body one.") {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := b.do("", "/late hello"); err != nil || r.Prompt.Text != "Say hello." {
		t.Errorf("got %+v, %v", r, err)
	}
	b.skill("late", "comes late", "Body two.")
	if r, err := b.do("", "/skill:late"); err != nil || !strings.Contains(r.Prompt.Text, "Body two.") {
		t.Errorf("got %+v, %v", r, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Find(ended, "help"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWhatBecomesAPrompt(t *testing.T) {
	b := newBench(t, "memory", nil)
	b.template("fix", "description: fixes\nargument-hint: <file>", "Fix $1, then $2.")
	b.template("wants", "description: d\nrequires: [write]", "x")
	b.skill("pdf", "reads PDFs", "Read it well.")
	r, err := b.do("", `/fix "a b.go"  tests`)
	if err != nil || *r.Prompt != (Prompt{Text: "Fix a b.go, then tests.", Display: `/fix "a b.go"  tests`}) || r.Text != "" || r.Switch != nil {
		t.Errorf("got %+v, %v", r.Prompt, err)
	}
	r, err = b.do("", "/skill:pdf form.pdf")
	if err != nil || !strings.Contains(r.Prompt.Text, "Read it well.") || !strings.Contains(r.Prompt.Text, "The task: form.pdf") ||
		r.Prompt.Display != "/skill:pdf form.pdf" {
		t.Errorf("got %+v, %v", r.Prompt, err)
	}
	r, err = b.do("", "/agent:plan think\nfirst")
	if err != nil || *r.Prompt != (Prompt{Text: "think\nfirst"}) || !strings.HasPrefix(r.Text, "the agent is plan now") || b.app.AgentOf("") != "plan" {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err = b.do("", "/agent:build"); err != nil || r.Prompt != nil || b.app.AgentOf("") != "build" {
		t.Errorf("got %+v, %v", r, err)
	}
	// Headless, a template is refused with the flag that it wants.
	var needs *agent.NeedsError
	if _, err := b.do("", "/wants"); !errors.As(err, &needs) || !strings.Contains(err.Error(), "/wants: template wants requires write: --allow-write allows it") {
		t.Errorf("got %v", err)
	}
	for name, prompt := range map[string]bool{"fix": true, "skill:pdf": true, "agent:plan": false, "model": false} {
		d, err := b.Find(context.Background(), name)
		if err != nil || !slices.Contains(d.Surfaces(), "api") || prompt != d.Prompts("") || prompt != (d.Execution == AsPrompt) {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}
	if d, err := b.Find(context.Background(), "agent:plan"); err != nil || !d.Prompts("think") {
		t.Errorf("got %+v, %v", d, err)
	}
	if r, err = b.do("", "/ask tea or coffee"); err != nil || !strings.HasSuffix(r.Prompt.Text, "\n\ntea or coffee") || r.Prompt.Display != "/ask tea or coffee" {
		t.Errorf("got %+v, %v", r.Prompt, err)
	}
	b.fails("", "/ask", "say what to ask")
}

// What would change a conversation changes nothing that lasts where there is none: it
// is refused, with what a run is given instead.
func TestWhatDoesNotLastIsRefused(t *testing.T) {
	b := newBench(t, "memory", func(o *agent.Options) { o.Plugins = []plug.Plugin{toyCommands("p", "go")} })
	for line, want := range map[string]string{
		"/model x":               "for a run: -m x",
		"/Models x":              "for a run: -m x",
		"/model 'a b":            `for a run: -m ''\''a b'`,
		"/effort high":           "for a run: --effort high",
		"/agents plan":           "for a run: --agent plan",
		"/agent:plan":            "for a run: --agent plan",
		"/resume 1a2b":           "for a run: --session 1a2b",
		"/clear":                 "for a run: nothing is needed, each without --session begins a new session",
		"/new":                   "for a run: nothing is needed, each without --session begins a new session",
		"/model":                 "",
		"/effort":                "",
		"/agents":                "",
		"/agent:plan look at it": "",
		"/stats":                 "",
		"/go on":                 "",
	} {
		name, args, _ := Parse(line)
		_, err := b.Execute(t.Context(), name, Input{Args: args})
		var told *llm.Error
		got := ""
		if errors.As(err, &told) {
			got = told.Hint
		}
		if got != want || (err == nil) != (want == "") || err != nil && (told.Cause != llm.CauseBadRequest || !strings.Contains(err.Error(), "nothing of it would last")) {
			t.Errorf("%s: got %v, %q, want %q", line, err, got, want)
		}
	}
	if model, effort, err := b.app.ModelOf(t.Context(), ""); err != nil || model.ID != "toy" || effort != "" {
		t.Errorf("got %+v, %q, %v", model, effort, err)
	}
	own := newBench(t, "memory", func(o *agent.Options) { o.Plugins = []plug.Plugin{toyCommands("p", "agents")} })
	if r, err := own.Execute(t.Context(), "agents", Input{Args: "two\nlines"}); err != nil || r.Text != "agents of p: two\nlines\n" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestHelp(t *testing.T) {
	b := newBench(t, "memory", func(o *agent.Options) { o.Plugins = []plug.Plugin{toyCommands("p", "go")} })
	b.template("long", "description: \""+strings.Repeat("long ", 100)+"end\"\nargument-hint: <file>", "x")
	all := b.said("", "/help")
	for _, want := range []string{
		"/model [NAME]                     list the models, or switch to one (also /models)\n",
		"/long <file>                      long ", "/help NAME tells all of one\n",
	} {
		if !strings.Contains(all, want) || strings.Contains(all, "end\n") {
			t.Errorf("got %s, want %q", all, want)
		}
	}
	for line, want := range map[string]string{
		"/help model":   "/model [NAME]\nlist the models, or switch to one\nalso: /models\nfrom: built-in\nfor a run: -m NAME\n",
		"/help /MODELS": "/model [NAME]\nlist the models, or switch to one\nalso: /models\nfrom: built-in\nfor a run: -m NAME\n",
		"/help go":      "/go [go]\nof p\nfrom: plugin p\n",
		"/help quit":    "/exit\nleave\nalso: /quit\nfrom: built-in\nin a conversation alone\n",
		"/help long":    "/long <file>\n" + strings.Repeat("long ", 100) + "end\nfrom: template user\n",
	} {
		if got := b.said("", line); got != want {
			t.Errorf("%s: got %q", line, got)
		}
	}
	b.fails("", "/help modle", "unknown command /modle; did you mean /model?")
}

// hostile is a text that would clear a screen, turn text around and begin lines.
const hostile = "bad\x1b[2J\x07\r\n/evil \u202etxt\u2028more\tx\x9b31m\x00"

// Nothing of a plugin, a model or a file name commands the terminal or adds a line.
func TestForeignTextStaysInItsPlace(t *testing.T) {
	b := newBench(t, "sqlite", func(o *agent.Options) {
		o.Plugins = []plug.Plugin{{ID: "bad", Name: hostile, Version: "1.0.0", APIVersion: 1, Setup: func(_ context.Context, api *plug.API) error {
			api.UI.Status(hostile)
			api.AddAgent(plug.Agent{ID: "odd", Description: hostile})
			api.AddContext(plug.ContextSource{Name: "late", Text: func(context.Context, string) (string, error) { return "", errors.New(hostile) }})
			_, err := api.AddSlashCommand(plug.SlashCommand{
				Name: "odd", Description: hostile + strings.Repeat("long ", 200), ArgumentHint: hostile,
				Run: func(_ context.Context, args, _ string) (string, error) {
					if args == "fail" {
						return "", errors.New(hostile)
					}
					return hostile, nil
				},
			})
			return err
		}}}
	})
	b.skill("odd", "\"bad\\e[2J\\n/evil\"", "x")
	b.template("odd-one", "description: \"bad\\e[2J\\n/evil\"\nargument-hint: \"<a\\e[0m\\nb>\"", "x")
	id := b.session(hostile)
	for _, line := range []string{"/sessions", "/resume", "/stats", "/plugins", "/skills", "/agents", "/tools", "/permission", "/odd", "/agent:odd"} {
		text := b.said(id, line) // which checks the characters
		for l := range strings.Lines(text) {
			if strings.HasPrefix(l, "/evil") && line != "/odd" {
				t.Errorf("%s: a line of its own: %q", line, text)
			}
		}
	}
	if _, err := b.do(id, "/odd fail"); err == nil || strings.ContainsAny(err.Error(), "\x1b\n\r\u202e") {
		t.Errorf("got %v", err)
	}
	for _, line := range []string{"/help", "/help odd", "/help agent:odd"} {
		if help := b.said("", line); strings.Contains(help, "\n/evil") {
			t.Errorf("%s: got %q", line, help)
		}
	}
	list, _, err := b.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if strings.ContainsAny(d.Description+d.ArgumentHint+d.Owner, "\x1b\r\n\t\u202e") || len(d.Description) > 4*maxDescription {
			t.Errorf("%q %q %q", d.Description, d.ArgumentHint, d.Owner)
		}
	}
}
