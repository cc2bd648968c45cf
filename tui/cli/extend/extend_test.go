package extend

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/plug"
	"alisio/tui/cli/base"
)

// toy is a plugin of that id.
func toy(id string, setup func(api *plug.API) error) plug.Plugin {
	return plug.Plugin{ID: id, Name: "Toy " + id, Version: "1.2.3", APIVersion: plug.APIVersion,
		Setup: func(_ context.Context, api *plug.API) error { return setup(api) }}
}

// mascot is a plugin that wants to draw the mascot.
func mascot(id string, draw func() (string, error)) plug.Plugin {
	return toy(id, func(api *plug.API) error {
		_, err := api.Extend.Mascot(plug.Mascot{ID: "m", Render: func(context.Context, plug.MascotContext) (string, error) { return draw() }})
		return err
	})
}

// called calls a verb over plugins, of which those that are not on are left out.
func called(t *testing.T, verb func(context.Context, *Call) (int, error), c Call) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr, c.Getenv = &stdout, &stderr, func(string) string { return "" }
	if c.Options.Dir == "" {
		c.Options.Dir = t.TempDir()
	}
	c.Options.Getenv = c.Getenv
	c.Cwd = c.Options.Dir
	code, err := verb(t.Context(), &c)
	if err != nil {
		stderr.WriteString("error: " + err.Error())
	}
	return code, stdout.String(), stderr.String()
}

func configured(t *testing.T, text string) config.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.LoadOptions{Dirs: config.Dirs{Config: dir}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPluginsList(t *testing.T) {
	good := toy("good", func(api *plug.API) error {
		_, err := api.AddSlashCommand(plug.SlashCommand{Name: "do", Run: func(context.Context, string, string) (string, error) { return "", nil }})
		return err
	})
	bad := toy("bad", func(*plug.API) error { return errors.New("no \x1b[31mway\n2") })
	off := toy("off", func(*plug.API) error { panic("set up all the same") })
	left := toy("left", func(*plug.API) error { panic("set up all the same") })
	c := Call{Plugins: []plug.Plugin{good, bad, off, left}}
	c.Options.Plugins = []plug.Plugin{good, bad, off}
	c.Options.Config = configured(t, `{"builtinPlugins": {"off": {"enabled": false}}}`)
	code, out, said := called(t, PluginsList, c)
	lines := strings.Split(out, "\n")
	for i, want := range []string{"good  1.2.3  on      command do", "bad   1.2.3  failed  set up plugin bad: no", "off   1.2.3  off     builtinPlugins.off.enabled is false",
		"left  1.2.3  off     left out by --disable-plugin"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("got %q, want %q", lines[i], want)
		}
	}
	if code != base.ExitDone || said != "" || len(lines) != 5 || strings.Contains(out, "\x1b") {
		t.Errorf("exit code %d, %q, %q", code, said, out)
	}
	c.JSON = true
	_, out, _ = called(t, PluginsList, c)
	want := `{"kind":"plugin","id":"good","name":"Toy good","version":"1.2.3","state":"on","offers":[{"kind":"command","name":"do"}]}`
	if lines := strings.Split(out, "\n"); lines[0] != want || !strings.Contains(lines[1], `"state":"failed","why":"set up plugin bad`) || len(lines) != 5 {
		t.Errorf("got %s", out)
	}
	c.Args = []string{"now"}
	if code, _, _ := called(t, PluginsList, c); code != base.ExitUsage {
		t.Errorf("with a word: exit code %d", code)
	}
}

// Spec plugins.md, "Extension points": a tie at the winning priority is told with point,
// winner and losers.
func TestPluginsDoctor(t *testing.T) {
	fine := func() (string, error) { return "(-_-)", nil }
	broken := func() (string, error) { return "", errors.New("out of ink") }
	setUp := func(plugins ...plug.Plugin) Call {
		c := Call{Plugins: plugins}
		c.Options.Plugins, c.Options.Config = plugins, config.Default()
		return c
	}
	failing := toy("c", func(*plug.API) error { return errors.New("no way") })
	for _, tt := range []struct {
		name string
		c    Call
		code int
		want string
	}{
		{"nothing", setUp(), 0, ""},
		{"good", setUp(mascot("a", fine)), 0, "ok       plugin a: 1.2.3 on: mascot m\n"},
		{"conflict", setUp(mascot("b", fine), mascot("a", fine), mascot("z", fine)), 0,
			"note     extension_conflict: mascot: a/m is used, and not b/m, z/m, of the same priority\n" +
				"         to use another, leave the plugin out whose is used: --disable-plugin a\n"},
		{"failed extension", setUp(mascot("a", broken)), 1,
			"problem  extension_failed: mascot a/m: out of ink\n         it goes on without; --disable-plugin a leaves the plugin out\n"},
		{"hidden command", setUp(toy("a", func(api *plug.API) error {
			_, err := api.AddSlashCommand(plug.SlashCommand{Name: "help", Run: func(context.Context, string, string) (string, error) { return "", nil }})
			return err
		})), 0,
			"note     command /help: of plugin a can not be called: the name is one of alisio's own\n         --disable-plugin a leaves the plugin out\n"},
		{"failed plugin", setUp(failing), 1,
			"problem  plugin c: set up plugin c: no way\n         look at builtinPlugins.c in the configuration; --disable-plugin c, or enabled: false there, goes without it\n"},
	} {
		code, out, said := called(t, PluginsDoctor, tt.c)
		if code != tt.code || !strings.HasSuffix(out, tt.want) || said != "" {
			t.Errorf("%s: exit code %d\ngot  %s\nwant %s\n%s", tt.name, code, out, tt.want, said)
		}
	}
}

// A hook that failed in the newest session is a problem; one that later sessions got
// over, or that failed in an older one too, is told once.
func TestPluginsDoctorTellsOfHooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	c := Call{}
	c.DB, c.Options.Config = path, config.Default()
	store, err := agent.OpenStore(t.Context(), agent.StoreOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string, at int64, source, hook string) {
		t.Helper()
		err := store.Create(t.Context(), agent.Session{ID: id, Created: time.Unix(at, 0), Updated: time.Unix(at, 0)})
		if err == nil && source != "" {
			_, err = store.AddEvent(t.Context(), plug.Event{RunID: "r" + id, SessionID: id, Seq: 1, Time: time.Unix(at, 0),
				Data: plug.PluginHookFailed{Source: source, Hook: hook, Error: "late\x07", Continued: true}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("11111111-old", 1, "a", "start")
	add("22222222-old", 2, "b", "end")
	add("33333333-new", 3, "a", "start")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, said := called(t, PluginsDoctor, c)
	lines := strings.Split(out, "\n")
	if code != base.ExitFailed || said != "" || len(lines) != 5 || !strings.HasPrefix(lines[0], "problem  hook start of a: late") ||
		!strings.Contains(lines[0], "(session 33333333, ") || !strings.HasPrefix(lines[2], "note     hook end of b: late") || strings.Contains(out, "\x07") {
		t.Errorf("exit code %d, %q, %s", code, out, said)
	}
	if store, err = agent.OpenStore(t.Context(), agent.StoreOptions{Path: path}); err != nil {
		t.Fatal(err)
	}
	add("44444444-new", 4, "", "")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := called(t, PluginsDoctor, c); code != base.ExitDone || strings.Count(out, "note ") != 2 {
		t.Errorf("got over: exit code %d, %s", code, out)
	}
	c.DB = filepath.Join(t.TempDir(), "none.sqlite")
	if code, _, _ := called(t, PluginsDoctor, c); code != base.ExitUsage {
		t.Errorf("no such database: exit code %d", code)
	}
}

func TestSkillsOfPlugins(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("one/SKILL.md", "---\nname: one\ndescription: \"First\\e[31m\"\n---\nDo it.\n")
	put("two/SKILL.md", "---\nname: two\ndescription: Second\n---\n")
	put("bad/skill.md", "---\nname: bad\n---\n")
	p := toy("p", func(api *plug.API) error {
		_, err := api.AddResources(plug.ResourceDirs{Skills: []string{dir}})
		return err
	})
	c := Call{Plugins: []plug.Plugin{p}}
	c.Options.Plugins = c.Plugins
	c.Options.Config = configured(t, `{"skillOverrides": {"two": {"enabled": false}}}`)
	code, out, said := called(t, SkillsList, c)
	if code != base.ExitDone || strings.Contains(out, "\x1b") || !strings.HasPrefix(out, "one  plugin p        First") || !strings.Contains(out, "\ntwo  plugin p (off)  Second\n") ||
		!strings.Contains(said, "bad/skill.md: warning: must be called SKILL.md") {
		t.Errorf("exit code %d, %q, %s", code, out, said)
	}
	c.JSON = true
	if _, out, _ := called(t, SkillsList, c); !strings.Contains(out, `"name":"two","description":"Second","source":"plugin p","dir":"`+filepath.Join(dir, "two")+`","enabled":false}`) {
		t.Errorf("got %s", out)
	}
	c.JSON = false
	code, out, said = called(t, SkillsValidate, c)
	if code != base.ExitDone || !strings.Contains(out, "two/SKILL.md:5: warning: the body is empty") || !strings.Contains(out, "bad/skill.md: warning: must be called") ||
		!strings.Contains(said, "skills: 2, errors: 0, warnings: 2") {
		t.Errorf("exit code %d, %q, %s", code, out, said)
	}
	c.Args = []string{t.TempDir()}
	if code, _, said := called(t, SkillsValidate, c); code != base.ExitUsage || !strings.Contains(said, "no SKILL.md is in ") {
		t.Errorf("an empty directory: exit code %d, %s", code, said)
	}
}

// Symptom: a template was listed and judged to be good, and its name called a command.
// Trigger: the name is one of a command, in whatever case.
func TestTemplatesThatACommandHides(t *testing.T) {
	home := t.TempDir()
	prompts := filepath.Join(home, "prompts")
	if err := os.Mkdir(prompts, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model.md", "does.md", "mine.md"} {
		if err := os.WriteFile(filepath.Join(prompts, name), []byte("---\ndescription: some\n---\nx"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := toy("p", func(api *plug.API) error {
		_, err := api.AddSlashCommand(plug.SlashCommand{Name: "does", Run: func(context.Context, string, string) (string, error) { return "", nil }})
		return err
	})
	c := Call{Plugins: []plug.Plugin{p}}
	c.Options.Plugins, c.Options.Config, c.Options.Dirs = c.Plugins, config.Default(), config.Dirs{Config: home}
	warnings := []string{
		filepath.Join(prompts, "does.md") + ": warning: template does can not be called: /does is a command, plugin p; rename the file\n",
		filepath.Join(prompts, "model.md") + ": warning: template model can not be called: /model is a command, built-in; rename the file\n",
	}
	_, out, said := called(t, TemplatesList, c)
	if strings.Contains(out, "model") || strings.Contains(out, "does") || !strings.Contains(out, "mine") ||
		said != "notice: "+warnings[0]+"notice: "+warnings[1] {
		t.Errorf("list: got %s%s", out, said)
	}
	for _, args := range [][]string{nil, {prompts}} {
		c.Args = args
		code, out, said := called(t, TemplatesValidate, c)
		if code != base.ExitDone || out != warnings[0]+warnings[1] || !strings.HasSuffix(said, "errors: 0, warnings: 2\n") {
			t.Errorf("%v: exit code %d, got %s%s", args, code, out, said)
		}
	}
}

func TestTemplatesOfPlugins(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.md": "---\ndescription: \"First\"\nargument-hint: FILE\nrequires: [write]\n---\nDo $1.\n", "bad.md": "---\ncolour: red\n---\nx", "init.md": "---\ndescription: another\n---\nx",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := toy("p", func(api *plug.API) error {
		_, err := api.AddResources(plug.ResourceDirs{Prompts: []string{dir}})
		return err
	})
	c := Call{Plugins: []plug.Plugin{p}}
	c.Options.Plugins, c.Options.Config = c.Plugins, config.Default()
	code, out, said := called(t, TemplatesList, c)
	if code != base.ExitDone || out != "init  plugin p  another\none   plugin p  First\n" || !strings.Contains(said, "bad.md:1: error: description is missing") {
		t.Errorf("exit code %d, %q, %s", code, out, said)
	}
	c.JSON = true
	want := `{"kind":"template","name":"one","description":"First","argumentHint":"FILE","requires":["write"],"source":"plugin p","file":"` + filepath.Join(dir, "one.md") + `"}`
	if _, out, _ := called(t, TemplatesList, c); !strings.HasSuffix(out, want+"\n") {
		t.Errorf("got %s, want %s", out, want)
	}
	c.JSON = false
	for _, args := range [][]string{nil, {dir}, {dir, dir}} {
		c.Args = args
		code, out, said = called(t, TemplatesValidate, c)
		if code != base.ExitFailed || !strings.Contains(out, `bad.md:2: error: unknown key "colour"`) || strings.Contains(out, "one.md") || !strings.Contains(said, "templates: 3, errors: ") {
			t.Errorf("%v: exit code %d, %q, %s", args, code, out, said)
		}
	}
	c.Args = []string{t.TempDir()}
	if code, _, said := called(t, TemplatesValidate, c); code != base.ExitUsage || !strings.Contains(said, "no template, a file NAME.md, is in ") {
		t.Errorf("an empty directory: exit code %d, %s", code, said)
	}
}
