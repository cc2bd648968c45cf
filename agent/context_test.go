package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/plug"
)

// repository makes files below a directory that is a repository.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files[".git/HEAD"] = "ref: refs/heads/main\n"
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Symptom: no run began: "is not inside". Trigger: a working directory that is reached
// by a link, as that of a shell is which went there by one.
func TestAWorkingDirectoryBehindALink(t *testing.T) {
	root := repository(t, map[string]string{"AGENTS.md": "root says tabs", "sub/AGENTS.md": "sub says spaces"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		link:                       {"root says tabs"},
		filepath.Join(link, "sub"): {"root says tabs", "sub says spaces"},
	} {
		a := app(t, `{"turns":[{"text":"done"}]}`, Options{Dir: dir, Config: config.Default()})
		text, err := firstInstructions(a)
		for _, s := range want {
			if err != nil || !strings.Contains(text, s) {
				t.Errorf("%s: got %q, %v, without %q", dir, text, err, s)
			}
		}
		if out, err := a.Run(t.Context(), "", "go", RunOptions{}); err != nil || out.Status != Completed {
			t.Errorf("%s: got %+v, %v", dir, out, err)
		}
	}
}

func TestExplainContext(t *testing.T) {
	root := repository(t, map[string]string{"AGENTS.md": "root", "sub/CLAUDE.md": "claude", "sub/deep/AGENTS.md": "deep", "sub/deep/x.go": ""})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: filepath.Join(root, "sub"), Config: config.Default(), Dirs: config.Dirs{Config: filepath.Join(root, "none")}}
	o.Config.Context.ClaudeMdFallback = true
	linked := o
	linked.Dir = filepath.Join(link, "sub")
	for _, c := range []struct {
		o    Options
		path string
		want string
	}{
		{o, "deep/x.go", "AGENTS.md sub/CLAUDE.md (sub/deep/AGENTS.md)"},
		{o, "..", "AGENTS.md"},
		{o, filepath.Join(link, "sub", "deep"), "AGENTS.md sub/CLAUDE.md (sub/deep/AGENTS.md)"},
		{linked, "deep/none.go", "AGENTS.md sub/CLAUDE.md (sub/deep/AGENTS.md)"},
	} {
		all, err := ExplainContext(c.o, c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
		var names []string
		for _, e := range all {
			if name := e.Name; e.AtStart {
				names = append(names, name)
			} else {
				names = append(names, "("+name+")")
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.path, got, c.want)
		}
	}
	for _, path := range []string{"../..", filepath.Dir(root), "/"} {
		if all, err := ExplainContext(o, path); err == nil || !strings.Contains(err.Error(), "outside the workspace") {
			t.Errorf("%s: got %v, %v", path, all, err)
		}
	}
}

// Symptom: /tools said that no instruction file holds. Trigger: asked before the first
// run of a conversation, or where no run follows at all.
func TestInstructedBeforeTheFirstRun(t *testing.T) {
	needing := plugged("toy", nil, func(api *plug.API) error {
		_, err := api.AddTool(tool(func(s *plug.ToolSpec) { s.Name, s.Effect, s.Needs = "explain", plug.EffectRead, plug.NeedInstructions }))
		return err
	})
	why := func(a *App, session string) string {
		for _, t := range a.Tools(session) {
			if t.Name == "explain" {
				return t.Why
			}
		}
		return "there is no such tool"
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"with a file": {map[string]string{"AGENTS.md": "tabs"}, ""},
		"without":     {map[string]string{}, "no instruction file holds"},
	} {
		a := app(t, `{"turns":[{"text":"done"}]}`, Options{Dir: repository(t, tt.files), Config: config.Default(), Plugins: []plug.Plugin{needing}})
		if got := why(a, ""); got != tt.want {
			t.Errorf("%s: before a run got %q, want %q", name, got, tt.want)
		}
		out, err := a.Run(t.Context(), "", "go", RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := why(a, out.SessionID); got != tt.want {
			t.Errorf("%s: behind a run got %q, want %q", name, got, tt.want)
		}
	}
}
