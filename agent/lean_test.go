package agent

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"alisio/agent/compact"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/agent/profile"
	"alisio/llm"
	"alisio/plug"
)

// Instructions and catalog of every agent, with all of this program's tools offered,
// leave a small window its room (spec providers.md, "Local models": under 2,500 tokens).
func TestInstructionsAndCatalogAreSmall(t *testing.T) {
	for _, agent := range []string{"build", "plan"} {
		p := newScripts(t, map[string]string{"go": `{"text":"done"}`})
		dir := realPath(t.TempDir())
		put(t, filepath.Join(dir, "config", "skills", "pdf", "SKILL.md"), skillFile("pdf", "reads PDFs"))
		put(t, filepath.Join(dir, "work", "AGENTS.md"), "Use tabs.")
		a := engine(t, "memory", dir, Options{Provider: p, Policy: perm.Policy{Mode: perm.ModeFull}, Asker: struct{ plug.Asker }{}})
		if err := a.SetAgent("", agent); err != nil {
			t.Fatal(err)
		}
		went(t, a, "", "go", nil)
		r := p.of("go")[0]
		chars := len(r.Instructions)
		for _, tool := range r.Tools {
			chars += len(tool.Name) + len(tool.Description) + len(tool.Schema)
		}
		names := offered(r)
		t.Logf("%s: %d tools, about %d tokens", agent, len(names), chars/compact.CharsPerToken)
		if chars/compact.CharsPerToken >= 2_500 || len(names) < 8 {
			t.Errorf("%s: %d tools, about %d tokens: %v", agent, len(names), chars/compact.CharsPerToken, names)
		}
	}
}

// The lean profile is chosen by a key, or by itself for a small window of a server on this
// machine; it offers fewer tools, and cuts instruction files to a share of the window.
func TestLean(t *testing.T) {
	for name, c := range map[string]struct {
		profile string
		local   bool
		window  int
		want    int
	}{
		"key": {"lean", false, 200_000, 200_000}, "key, no window": {"lean", false, 0, 1}, "off": {"full", true, 8_192, 0},
		"small here": {"", true, 8_192, 8_192}, "small elsewhere": {"", false, 8_192, 0}, "large": {"", true, 16_384, 0}, "unknown": {"", true, 0, 0},
	} {
		a := &App{}
		a.o.Config.Provider.Profile = c.profile
		if got := a.lean(profile.Choice{Local: c.local, Model: llm.Model{ContextWindow: c.window}}); got != c.want {
			t.Errorf("%s: got %d", name, got)
		}
	}
	dir := realPath(t.TempDir())
	put(t, filepath.Join(dir, "work", "AGENTS.md"), strings.Repeat("Use tabs. ", 2_000))
	request := func(o Options) llm.Request {
		p := newScripts(t, map[string]string{"go": `{"text":"done"}`})
		o.Provider = p
		a := engine(t, "memory", dir, o)
		went(t, a, "", "go", nil)
		return p.of("go")[0]
	}
	o := Options{Config: config.Default(), Policy: perm.Policy{Mode: perm.ModeFull}}
	full := request(o)
	o.Config.Provider.Profile = "lean"
	lean := request(o)
	if slices.Contains(offered(lean), "todo_write") || !slices.Contains(offered(full), "todo_write") || len(lean.Instructions) != len(full.Instructions) {
		t.Errorf("full %v, lean %v", offered(full), offered(lean))
	}
	c := &conversation{texts: map[string]string{"build": "x"}}
	c.fitTo(8_192)
	if got := c.spareFiles(32_768); got != 4_096 || len(c.texts) != 0 || !c.isLean() {
		t.Errorf("%d bytes of files, %d texts", got, len(c.texts))
	}
	c.fitTo(1_000)
	if got := c.spareFiles(32_768); got != leastFiles {
		t.Errorf("%d bytes of files", got)
	}
}

// A plugin whose tools take too much of a small window is told of, once; they are offered
// all the same.
func TestAPluginThatTakesTooMuch(t *testing.T) {
	for _, much := range []bool{false, true} {
		p := newScripts(t, map[string]string{"go": `{"text":"done"},{"text":"done"}`})
		dir := realPath(t.TempDir())
		put(t, filepath.Join(dir, "work", "AGENTS.md"), strings.Repeat("Use tabs. ", 2_000))
		var log bytes.Buffer
		o := Options{Provider: p, Config: config.Default(), Policy: perm.Policy{Mode: perm.ModeFull}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		o.Config.Provider.Profile = "lean"
		if much {
			o.Tools = []plug.Tool{wordy{strings.Repeat("word ", 1_500)}}
		}
		a := engine(t, "memory", dir, o)
		id := went(t, a, "", "go", nil).SessionID
		went(t, a, id, "on", nil)
		want := 0
		if much {
			want = 1
		}
		if got := strings.Count(log.String(), "--disable-plugin leaves a plugin"); got != want || slices.Contains(offered(p.of("go")[0]), "wordy") != much {
			t.Errorf("told %d times, want %d: %s", got, want, log.String())
		}
		s, err := a.Stats(t.Context(), id)
		if err != nil || s.Begins < 1_000 || (s.Begins > leanMost) != much {
			t.Errorf("%+v, %v", s, err)
		}
	}
}

// wordy is a tool that says much of itself.
type wordy struct{ said string }

func (w wordy) Spec() plug.ToolSpec {
	return plug.ToolSpec{Name: "wordy", Description: w.said, Schema: []byte(`{"type":"object"}`), Effect: plug.EffectRead}
}

func (wordy) Prepare(context.Context, *plug.Call) (plug.Plan, error) { return plug.Plan{}, nil }

func (wordy) Execute(context.Context, *plug.Call, plug.Plan) (plug.Result, error) {
	return plug.Result{}, nil
}
