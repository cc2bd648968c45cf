package doctor

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/plug"
)

func TestDoctorOfASoundSetup(t *testing.T) {
	s := serve(t)
	p := sound(t, s.URL)
	checks := Examine(t.Context(), p.o)
	keyless(t, checks)
	var names []string
	for _, c := range checks {
		if names = append(names, c.Name); c.Level != agent.Good || c.Remedy != "" {
			if c.Name != "free space" { // what the machine has is not the test's to say
				t.Errorf("got %+v", c)
			}
		}
	}
	want := "configuration, configuration directory, state directory, cache directory, free space, workspace, git, model, endpoint, key, " +
		"permissions, session database, instructions, plugin toy, terminal, locale, clock"
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		want = strings.Replace(want, "free space, ", "", 1)
	}
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.seen() != "" {
		t.Errorf("the server was asked %s", s.seen())
	}
	for _, dir := range []string{"state", "cache", "config"} {
		if entries, err := os.ReadDir(p.at(dir)); err != nil || len(entries) > map[string]int{"config": 1}[dir] {
			t.Errorf("%s: something was left: %v, %v", dir, entries, err)
		}
	}
}

func TestDoctorRemedies(t *testing.T) {
	const url = "http://127.0.0.1:1"
	for _, c := range []struct {
		name    string
		disturb func(t *testing.T, p *patient)
		check   string
		level   agent.Level
		words   string
		remedy  string
	}{
		{"no configuration", func(t *testing.T, p *patient) { os.Remove(p.at("config/config.json")) },
			"configuration", agent.Good, "the defaults hold", ""},
		{"first wrong key", func(t *testing.T, p *patient) { p.write(t, "{\"modle\":1,\n\"provider\":{\"auth\":7}}") },
			"configuration", agent.Problem, `unknown key "modle"`, "alisio help config"},
		{"second wrong key", func(t *testing.T, p *patient) { p.write(t, "{\"modle\":1,\n\"provider\":{\"auth\":7}}") },
			"configuration", agent.Problem, "provider.auth", "correct it"},
		{"defaults stand in", func(t *testing.T, p *patient) { p.write(t, "{") }, "configuration", agent.Note, "about the defaults", ""},
		{"no file of --config", func(t *testing.T, p *patient) { p.o.Load.File = "none.json" }, "configuration", agent.Problem, "none.json", "correct it"},
		{"file of --config", func(t *testing.T, p *patient) {
			p.o.Load.File = p.at("mine.json")
			os.WriteFile(p.o.Load.File, []byte("{}"), 0o600)
		}, "configuration", agent.Good, "mine.json (--config)", ""},
		{"configuration of a repository", func(t *testing.T, p *patient) {
			os.Mkdir(filepath.Join(p.root, ".alisio"), 0o755)
			os.WriteFile(filepath.Join(p.root, ".alisio", "config.json"), []byte("{"), 0o644)
		}, "configuration", agent.Note, "where the project is trusted", "look at it"},

		{"no home", func(t *testing.T, p *patient) { p.o.App.Dirs = config.Dirs{} }, "state directory", agent.Problem, "no place", "set HOME or ALISIO_STATE_HOME"},
		{"no cache", func(t *testing.T, p *patient) { p.o.App.Dirs.Cache = "" }, "cache directory", agent.Note, "no place", "ALISIO_CACHE_HOME"},
		{"not there yet", func(t *testing.T, p *patient) { os.Remove(p.at("state")) }, "state directory", agent.Good, "made when it is needed", ""},
		{"file in the way", func(t *testing.T, p *patient) {
			os.Remove(p.at("state"))
			os.WriteFile(p.at("state"), nil, 0o600)
		}, "state directory", agent.Problem, "is no directory", "move it away, or set ALISIO_STATE_HOME"},
		{"file above", func(t *testing.T, p *patient) {
			os.WriteFile(p.at("file"), nil, 0o600)
			p.o.App.Dirs.Cache = p.at("file/cache")
		}, "cache directory", agent.Note, "file is no directory", "set ALISIO_CACHE_HOME"},
		{"home that is relative", func(t *testing.T, p *patient) { p.o.App.Dirs.State, p.env["HOME"] = "", "rel" },
			"state directory", agent.Problem, `HOME is "rel", which is no absolute path`, "set HOME or ALISIO_STATE_HOME to an absolute path"},
		{"home that is a file", func(t *testing.T, p *patient) {
			os.WriteFile(p.at("file"), nil, 0o600)
			p.o.App.Dirs.State = p.at("file/state/alisio")
		}, "session database", agent.Problem, "file is no directory", "set ALISIO_STATE_HOME"},
		{"damaged trust", func(t *testing.T, p *patient) { os.WriteFile(p.at("state/trust.json"), []byte("{"), 0o600) },
			"trust", agent.Problem, "trust.json", "move it away"},
		{"trust that is no file", func(t *testing.T, p *patient) { os.Mkdir(p.at("state/trust.json"), 0o700) },
			"trust", agent.Problem, "not a regular file", "move it away"},
		{"locks that are a file", func(t *testing.T, p *patient) { os.WriteFile(p.at("state/locks"), nil, 0o600) },
			"session database", agent.Problem, "locks can not be used, and no run begins: it is no directory", "move it away"},
		{"locks elsewhere", func(t *testing.T, p *patient) { os.Symlink(t.TempDir(), p.at("state/locks")) },
			"session database", agent.Problem, "locks can not be used", "move it away"},
		{"files of a database elsewhere", func(t *testing.T, p *patient) {
			p.o.StorePath = p.at("other.sqlite")
			os.WriteFile(p.at("other.sqlite.files"), nil, 0o600)
		}, "session database", agent.Problem, "other.sqlite.files can not be used", "move it away"},

		{"no repository", func(t *testing.T, p *patient) { os.RemoveAll(filepath.Join(p.root, ".git")) },
			"workspace", agent.Note, "is no git repository", "git init"},
		{"whole home", func(t *testing.T, p *patient) { p.env["HOME"] = filepath.Join(p.root, "sub") },
			"workspace", agent.Note, "holds your whole home directory", "--cwd"},

		{"a broken skill", func(t *testing.T, p *patient) {
			dir := filepath.Join(p.home, "config", "skills", "odd")
			os.MkdirAll(dir, 0o700)
			os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("no frontmatter"), 0o600)
		}, "skills", agent.Note, "problems: 1", "alisio skills validate"},
		{"a broken template", func(t *testing.T, p *patient) {
			os.MkdirAll(p.at("config/prompts"), 0o700)
			os.WriteFile(p.at("config/prompts/odd.md"), []byte("no frontmatter"), 0o600)
		}, "templates", agent.Note, "problems: 1", "alisio templates validate"},
		{"no model", func(t *testing.T, p *patient) { p.write(t, "{}") }, "model", agent.Problem, "no model is chosen", "--model"},
		{"unknown window", func(t *testing.T, p *patient) { p.write(t, `{"provider":{"model":"m"}}`) },
			"model", agent.Note, "window is not known", "provider.contextWindow"},
		{"endpoint of this machine", func(*testing.T, *patient) {}, "endpoint", agent.Good, "which is this machine", ""},
		{"plain http", func(t *testing.T, p *patient) {
			p.write(t, `{"provider":{"baseURL":"http://gpu.example/v1","auth":"none"}}`)
		},
			"endpoint", agent.Note, "can be read on the way", "https"},
		{"default endpoint", func(t *testing.T, p *patient) { p.write(t, "{}") }, "endpoint", agent.Good, "https://api.openai.com/v1 (default)", ""},
		{"key not set", func(t *testing.T, p *patient) { p.write(t, "{}"); p.env["OPENAI_API_KEY"] = "" },
			"key", agent.Problem, "OPENAI_API_KEY is not set", "export OPENAI_API_KEY"},
		{"key not set, local", func(t *testing.T, p *patient) { p.env["OPENAI_API_KEY"] = "" }, "key", agent.Good, "without a key", ""},
		{"key with a break", func(t *testing.T, p *patient) { p.env["OPENAI_API_KEY"] = "sk-0123\n456789abcdef" },
			"key", agent.Problem, "control", "set it again"},
		{"key in quotes", func(t *testing.T, p *patient) { p.env["OPENAI_API_KEY"] = `"` + secretKey + `"` }, "key", agent.Note, "quotes", "set it again"},
		{"key over plain http", func(t *testing.T, p *patient) { p.write(t, `{"provider":{"baseURL":"http://gpu.example/v1"}}`) },
			"key", agent.Problem, "plain http", "use https"},
		{"no key wanted", func(t *testing.T, p *patient) { p.write(t, `{"provider":{"auth":"none"}}`) }, "key", agent.Good, "none is sent", ""},
		{"key for the model's name", func(t *testing.T, p *patient) { p.write(t, `{"provider":{"model":"`+secretKey+`","contextWindow":5}}`) },
			"model", agent.Good, "[redacted]", ""},

		{"headless", func(*testing.T, *patient) {}, "permissions", agent.Good,
			"mode ask (default); a headless run may read, and not write (--allow-write allows it), process (--allow-process allows it)", ""},
		{"full", func(t *testing.T, p *patient) { p.write(t, `{"permissions":{"mode":"full"}}`) }, "permissions", agent.Note, "without a question", `"ask"`},
		{"read-only", func(t *testing.T, p *patient) { p.o.App.Policy = perm.Policy{ReadOnly: true} }, "permissions", agent.Good, "the run is --read-only", ""},

		{"damaged database", func(t *testing.T, p *patient) {
			os.WriteFile(p.at("state/sessions.sqlite"), []byte(strings.Repeat("no database ", 999)), 0o600)
		}, "session database", agent.Problem, "sessions.sqlite", "alisio doctor --store --fix"},
		{"database elsewhere", func(t *testing.T, p *patient) { p.o.StorePath = p.at("other.sqlite") },
			"session database", agent.Good, "other.sqlite is not there yet", ""},

		{"instructions that are cut", func(t *testing.T, p *patient) {
			os.WriteFile(filepath.Join(p.root, "AGENTS.md"), []byte(strings.Repeat("x", 40000)), 0o644)
		}, "instructions", agent.Note, "AGENTS.md was cut after", "raise context.maxBytes"},
		{"instructions that are a directory", func(t *testing.T, p *patient) {
			os.Remove(filepath.Join(p.root, "AGENTS.md"))
			os.Mkdir(filepath.Join(p.root, "AGENTS.md"), 0o755)
		}, "instructions", agent.Note, "not a regular file", "alisio context explain"},
		{"no instructions", func(t *testing.T, p *patient) { os.Remove(filepath.Join(p.root, "AGENTS.md")) },
			"instructions", agent.Good, "no AGENTS.md applies: 0 of 32768 bytes", ""},

		{"plugin that fails", func(t *testing.T, p *patient) {
			bad := plug.Plugin{ID: "bad", APIVersion: plug.APIVersion, Setup: func(context.Context, *plug.API) error { return errors.New("no luck\x1b[2J") }}
			p.o.App.Plugins = append(p.o.App.Plugins, bad)
		}, "plugin bad", agent.Problem, "no luck", "builtinPlugins.bad.enabled: false"},
		{"agent that is there", func(t *testing.T, p *patient) { p.write(t, `{"agents":{"active":"plan"}}`) },
			"agent", agent.Good, "plan (", ""},
		{"agent that is not there", func(t *testing.T, p *patient) { p.write(t, `{"agents":{"active":"plna"}}`) },
			"agent", agent.Problem, `there is no agent "plna"`, "set agents.active to one of: build, plan"},
		{"plugin that is off", func(t *testing.T, p *patient) { p.write(t, `{"builtinPlugins":{"toy":{"enabled":false}}}`) },
			"plugin toy", agent.Good, "switched off", ""},
		{"directory that is gone", func(t *testing.T, p *patient) { p.o.App.Config.AdditionalDirectories = nil; os.RemoveAll(p.root) },
			"application", agent.Problem, "", "correct what it names"},

		{"dumb terminal", func(t *testing.T, p *patient) { p.o.Terminal.Term = "dumb" }, "terminal", agent.Note, "output is plain", "set TERM"},
		{"no terminal", func(t *testing.T, p *patient) { p.o.Terminal = Terminal{Locale: "de_DE.utf8"} }, "terminal", agent.Good, "none", ""},
		{"old clock", func(t *testing.T, p *patient) { p.o.Now = time.Unix(0, 0).UTC() }, "clock", agent.Problem, "1970-01-01", "set the clock"},
		{"far clock", func(t *testing.T, p *patient) { p.o.Now = time.Unix(1<<33, 0) }, "clock", agent.Problem, "2242", "set the clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sound(t, url)
			c.disturb(t, p)
			checks := Examine(t.Context(), p.o)
			keyless(t, checks)
			if !found(checks, c.check, c.level, c.words, c.remedy) {
				t.Errorf("no %s of %q that says %q with the remedy %q in:\n%s", c.level, c.check, c.words, c.remedy, listing(checks))
			}
		})
	}
}

func TestDoctorCountsSessions(t *testing.T) {
	p := sound(t, "http://127.0.0.1:1")
	s, err := agent.OpenStore(t.Context(), agent.StoreOptions{Dirs: p.o.App.Dirs})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), agent.Session{ID: agent.NewID(), Workspace: p.root, Created: time.Now(), Updated: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if checks := Examine(t.Context(), p.o); !found(checks, "session database", agent.Good, "opens, with 1 sessions", "") {
		t.Errorf("got:\n%s", listing(checks))
	}
}

func TestDoctorNamesTheCatalog(t *testing.T) {
	p := sound(t, "http://127.0.0.1:1")
	const url = "http://127.0.0.1:1/v1"
	p.write(t, `{"provider":{"model":"old","baseURL":"`+url+`"}}`)
	if err := os.Mkdir(p.at("cache/models"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := fmt.Sprintf(`{"schemaVersion":1,"fetched_ms":%d,"models":[{"id":"old","contextWindow":8}]}`, time.Now().Add(-time.Hour).UnixMilli())
	if err := os.WriteFile(p.at(fmt.Sprintf("cache/models/%x.json", sha256.Sum256([]byte(url)))), []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	if checks := Examine(t.Context(), p.o); !found(checks, "model", agent.Good, "a context window of 8 tokens, as the server said on 20", "") {
		t.Errorf("got:\n%s", listing(checks))
	}
}

func TestRoom(t *testing.T) {
	for free, want := range map[uint64]agent.Level{0: agent.Problem, 99 << 20: agent.Problem, 100 << 20: agent.Note, 1 << 30: agent.Good} {
		if level, remedy := room(free); level != want || (remedy == "") != (want == agent.Good) {
			t.Errorf("%d: got %s, %q", free, level, remedy)
		}
	}
	for n, want := range map[uint64]string{5: "5 bytes", 2_500_000: "2.5 MB", 12_340_000_000: "12.3 GB"} {
		if got := decimal(n); got != want {
			t.Errorf("%d: got %s", n, got)
		}
	}
}
