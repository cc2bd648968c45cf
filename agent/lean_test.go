package agent

import (
	"path/filepath"
	"testing"

	"alisio/agent/compact"
	"alisio/agent/perm"
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
