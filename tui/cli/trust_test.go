package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/agent"
	"alisio/agent/perm"
	"alisio/agent/trust"
	"alisio/llm"
	"alisio/tui/cli/base"
)

// stage is a person's home and a repository with a configuration.
type stage struct{ home, repo string }

func newStage(t *testing.T) stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := stage{filepath.Join(dir, "home"), filepath.Join(dir, "repo")}
	put(t, filepath.Join(p.home, "config.json"), `{"permissions": {"mode": "full"}}`)
	p.repository(t, p.repo, `{"permissions": {"mode": "auto"}}`)
	return p
}

func (p stage) repository(t *testing.T, dir, config string) {
	t.Helper()
	put(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main")
	put(t, filepath.Join(dir, ".alisio", "config.json"), config)
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// accept trusts what a repository holds now.
func (p stage) accept(t *testing.T, dir string) {
	t.Helper()
	read, err := trust.Read(dir, dir)
	if err == nil {
		_, err = trust.New(p.home).Accept(read.Root, read.Hash, time.Unix(1, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// env is the world of a command line in a directory.
func (p stage) env(dir string, words ...string) Env {
	e := env(append(words, "--cwd", dir)...)
	e.Getenv = func(name string) string {
		if name == "ALISIO_CONFIG_HOME" || name == "ALISIO_STATE_HOME" || name == "ALISIO_CACHE_HOME" {
			return p.home
		}
		return ""
	}
	return e
}

// call is a command line in a directory.
func (p stage) call(t *testing.T, dir string, words ...string) *call {
	t.Helper()
	c, err := parse(p.env(dir, words...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Symptom: a model wrote a file that trust covers, and the next run had the wider
// mode of the global configuration. Trigger: anything that makes trust lapse.
func TestTrustThatLapsedIsNotDropped(t *testing.T) {
	lapses := map[string]func(t *testing.T, p stage){
		"another content": func(t *testing.T, p stage) { put(t, filepath.Join(p.repo, ".mcp.json"), "{}") },
		"no content": func(t *testing.T, p stage) {
			if err := os.RemoveAll(filepath.Join(p.repo, ".alisio")); err != nil {
				t.Fatal(err)
			}
		},
		"a damaged list": func(t *testing.T, p stage) { put(t, filepath.Join(p.home, "trust.json"), "{") },
		"what can not be read": func(t *testing.T, p stage) {
			put(t, filepath.Join(p.repo, ".mcp.json"), strings.Repeat(" ", 1<<20+1))
		},
	}
	for name, lapse := range lapses {
		t.Run(name, func(t *testing.T) {
			p := newStage(t)
			p.accept(t, p.repo)
			o, err := p.call(t, p.repo, "run", "go").options()
			if err != nil || o.Policy.Mode != perm.ModeAuto {
				t.Fatalf("before: got %v, %v", o.Policy.Mode, err)
			}
			lapse(t, p)
			o, err = p.call(t, p.repo, "run", "go").options()
			var told *llm.Error
			if !errors.As(err, &told) || !strings.Contains(told.Hint, "alisio trust revoke") {
				t.Fatalf("got mode %q, %v, want a refusal with what to do", o.Policy.Mode, err)
			}
			if Main(context.Background(), p.env(p.repo, "run", "go")) != base.ExitUsage {
				t.Error("the run was not refused as wrong use")
			}
		})
	}
}

func TestAnotherContentIsTakenForOneRun(t *testing.T) {
	p := newStage(t)
	p.accept(t, p.repo)
	put(t, filepath.Join(p.repo, ".mcp.json"), "{}")
	if o, err := p.call(t, p.repo, "run", "go", "--trust-project").options(); err != nil || o.Policy.Mode != perm.ModeAuto {
		t.Errorf("got %v, %v", o.Policy.Mode, err)
	}
	if _, err := trust.New(p.home).Revoke(agent.Root(p.repo, "")); err != nil {
		t.Fatal(err)
	}
	if o, err := p.call(t, p.repo, "run", "go").options(); err != nil || o.Policy.Mode != perm.ModeFull {
		t.Errorf("revoked: got %v, %v", o.Policy.Mode, err)
	}
}

// Symptom: config show printed a key. Trigger: a gateway that wants it in the path.
func TestConfigShowHidesTheKey(t *testing.T) {
	const key = "gw-0123456789abcdef"
	p := newStage(t)
	put(t, filepath.Join(p.home, "config.json"), `{"provider": {"baseURL": "https://gw.example/`+key+`/v1"}}`)
	for _, words := range [][]string{{"config", "show"}, {"config", "show", "--json"}, {"config", "show", "provider.baseURL"}} {
		e := p.env(t.TempDir(), words...)
		home := e.Getenv
		e.Getenv = func(name string) string {
			if name == "OPENAI_API_KEY" {
				return key
			}
			return home(name)
		}
		var out strings.Builder
		e.Stdout = &out
		if code := Main(context.Background(), e); code != base.ExitDone || strings.Contains(out.String(), key) || !strings.Contains(out.String(), "gw.example/[redacted]/v1") {
			t.Errorf("%v: got %d, %s", words, code, out.String())
		}
	}
}

// A damaged list says nothing of a repository that has nothing to trust.
func TestADamagedListWithNothingToTrust(t *testing.T) {
	p := newStage(t)
	put(t, filepath.Join(p.home, "trust.json"), "{")
	dir := filepath.Join(filepath.Dir(p.repo), "other")
	put(t, filepath.Join(dir, ".git", "HEAD"), "")
	if _, err := p.call(t, dir, "run", "go").options(); err != nil {
		t.Errorf("got %v", err)
	}
}

// What a person trusts reaches the engine as it was hashed, skills without a
// configuration too; skills on the way to the working directory that nobody has
// trusted are left out, and the rest holds.
func TestTrustedSkillsReachTheEngine(t *testing.T) {
	p := newStage(t)
	skill := func(name string) string { return "---\nname: " + name + "\ndescription: d\n---\nDo it.\n" }
	put(t, filepath.Join(p.repo, ".agents", "skills", "one", "SKILL.md"), skill("one"))
	if err := os.RemoveAll(filepath.Join(p.repo, ".alisio")); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(p.repo, "sub")
	put(t, filepath.Join(sub, ".agents", "skills", "two", "SKILL.md"), skill("two"))
	look := func(dir string, words ...string) (trusted, said string) {
		t.Helper()
		e := p.env(dir, append([]string{"run", "go"}, words...)...)
		c, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.options()
		if err != nil {
			t.Fatal(err)
		}
		said = e.Stderr.(interface{ String() string }).String()
		if o.Project == nil {
			return "", said
		}
		for _, f := range o.Project.Files {
			trusted += f.Name + " "
		}
		return trusted, said
	}
	const one, two = ".agents/skills/one/SKILL.md ", "sub/.agents/skills/two/SKILL.md "
	for _, c := range []struct {
		dir, flag, want, says string
	}{
		{p.repo, "", "", "brings in skills and templates is not used, since nobody has trusted it"},
		{sub, "--trust-project", one + two, ""},
		{p.repo, "--trust-project", one, ""},
		{p.repo, "--hermetic", "", ""},
	} {
		words := strings.Fields(c.flag)
		if got, said := look(c.dir, words...); got != c.want || !strings.Contains(said, c.says) || (c.says == "") != (said == "") {
			t.Errorf("%s %s: got %q, %q", c.dir, c.flag, got, said)
		}
	}
	p.accept(t, p.repo)
	if got, said := look(p.repo); got != one || said != "" {
		t.Errorf("accepted: got %q, %q", got, said)
	}
	if got, said := look(sub); got != one || !strings.Contains(said, "the skills on the way from ") {
		t.Errorf("accepted but for the skills on the way: got %q, %q", got, said)
	}
	file := filepath.Join(p.home, "other.json")
	put(t, file, "{}")
	if got, _ := look(p.repo, "--config", file); got != "" {
		t.Errorf("with --config, which stands for the project: got %q", got)
	}
	if got, _ := look(p.repo, "--config", file, "--trust-project"); got != one {
		t.Errorf("with --config and --trust-project: got %q", got)
	}
}

// An effort that no model has is found before a model is asked, and told with the
// place where it stands.
func TestAgentAndEffortOfTheConfiguration(t *testing.T) {
	p := newStage(t)
	file := filepath.Join(p.home, "config.json")
	put(t, file, `{"agents": {"active": "plan", "effort": "low"}}`)
	for _, c := range []struct{ words, agent, effort string }{
		{"run go", "plan", "low"}, {"run go --agent build --effort high", "build", "high"}, {"models", "", ""},
	} {
		o, err := p.call(t, p.repo, strings.Fields(c.words)...).options()
		if err != nil || o.Agent != c.agent || o.Effort != c.effort {
			t.Errorf("%s: got %q, %q, %v", c.words, o.Agent, o.Effort, err)
		}
	}
	put(t, file, `{"agents": {"effort": "hgih"}}`)
	_, err := p.call(t, p.repo, "run", "go").options()
	if err == nil || !strings.Contains(err.Error(), `agents.effort (`+file+`:1): unknown effort "hgih", did you mean "high"?`) {
		t.Errorf("got %v", err)
	}
}
