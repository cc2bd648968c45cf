package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

func skillFile(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nThe body of " + name + ".\n"
}

// sameStart fails where a request does not begin with the bytes of another.
func sameStart(t *testing.T, earlier, later llm.Request) {
	t.Helper()
	if earlier.Instructions != later.Instructions || !slices.EqualFunc(earlier.Tools, later.Tools, func(x, y llm.Tool) bool {
		return x.Name == y.Name && x.Description == y.Description && string(x.Schema) == string(y.Schema)
	}) {
		t.Error("instructions or tools differ")
	}
	for i, m := range earlier.Messages {
		was, _ := json.Marshal(m)
		now, err := json.Marshal(later.Messages[i])
		if err != nil || string(was) != string(now) {
			t.Errorf("message %d was %s and is %s", i, was, now)
		}
	}
}

// Instruction files below the working directory and the list of skills join the
// conversation once, in another process too: what was sent stays as it was.
func TestContextStaysOverProcesses(t *testing.T) {
	dir := realPath(t.TempDir())
	work := filepath.Join(dir, "work")
	put(t, filepath.Join(work, "AGENTS.md"), "tabs at the top")
	put(t, filepath.Join(work, "sub", "AGENTS.md"), "spaces below")
	put(t, filepath.Join(work, "sub", "a.txt"), "one\n")
	put(t, filepath.Join(dir, "skills", "pdf", "SKILL.md"), skillFile("pdf", "reads PDFs"))
	read := `{"calls":[{"name":"read_file","arguments":{"path":"sub/a.txt"}}]}`
	write := `{"calls":[{"name":"write_file","arguments":{"path":"sub/b.txt","content":"x","expectedHash":null}}]}`
	run := func(session, turns string) (*scripts, *App, string) {
		t.Helper()
		p := newScripts(t, map[string]string{"go": turns})
		c := config.Default()
		c.Skills = []string{filepath.Join(dir, "skills")}
		a := engine(t, "sqlite", dir, Options{Provider: p, Config: c, Policy: perm.Policy{AllowWrite: true}})
		id := went(t, a, session, "go", nil).SessionID
		if err := a.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		return p, a, id
	}
	count := func(r llm.Request, text string) (n int) {
		for _, m := range r.Messages {
			n += strings.Count(m.Text+m.PlainText(), text)
			if len(m.Parts) == 0 {
				n -= strings.Count(m.PlainText(), text) // it is the text
			}
		}
		return n
	}
	one, _, id := run("", write+","+read+","+read+`,{"text":"end"}`)
	first := one.of("go")
	if n := len(first); n != 4 || !strings.Contains(first[0].Instructions, "tabs at the top") || strings.Contains(first[0].Instructions, "spaces below") {
		t.Fatalf("%d requests", n)
	}
	for i := range first[1:] {
		sameStart(t, first[i], first[i+1])
	}
	// The call that writes comes back with what it did not know; nothing was written.
	if _, err := os.Stat(filepath.Join(work, "sub", "b.txt")); err == nil {
		t.Error("it was written before the instructions were read")
	}
	last := first[len(first)-1]
	if count(last, "spaces below") != 1 || count(last, "- pdf: reads PDFs") != 1 {
		t.Errorf("attached %d times, listed %d times", count(last, "spaces below"), count(last, "- pdf: reads PDFs"))
	}
	two, _, _ := run(id, read+","+write+`,{"text":"end"}`)
	for _, r := range two.of("go") {
		sameStart(t, last, r)
		if count(r, "spaces below") != 1 || count(r, "- pdf: reads PDFs") != 1 {
			t.Errorf("attached %d times, listed %d times", count(r, "spaces below"), count(r, "- pdf: reads PDFs"))
		}
	}
	if _, err := os.Stat(filepath.Join(work, "sub", "b.txt")); err != nil {
		t.Error(err)
	}
	// What has changed is told again, behind what was.
	put(t, filepath.Join(work, "sub", "AGENTS.md"), "spaces below, two of them")
	put(t, filepath.Join(dir, "skills", "csv", "SKILL.md"), skillFile("csv", "reads tables"))
	before := two.of("go")
	three, _, _ := run(id, read+`,{"text":"end"}`)
	sameStart(t, before[len(before)-1], three.of("go")[0])
	r := three.of("go")[1]
	if count(r, "spaces below, two of them") != 1 || count(r, "- csv: reads tables") != 1 || count(r, "- pdf: reads PDFs") != 2 {
		t.Errorf("got %d, %d, %d", count(r, "spaces below, two of them"), count(r, "- csv: reads tables"), count(r, "- pdf: reads PDFs"))
	}
}

// That there are no skills any more is told; to who loads none, nothing is.
func TestTheListOfSkillsEnds(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		c := config.Default()
		c.Skills = []string{filepath.Join(dir, "skills")}
		put(t, filepath.Join(dir, "skills", "pdf", "SKILL.md"), skillFile("pdf", "reads PDFs"))
		p := newScripts(t, map[string]string{"go": `{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"}`, "work": `{"text":"end"}`})
		a, api, id := one(t, kind, dir, Options{Provider: p, Config: c})
		if err := os.RemoveAll(filepath.Join(dir, "skills")); err != nil {
			t.Fatal(err)
		}
		went(t, a, id, "go", nil)
		went(t, a, id, "go", nil)
		var told []string
		for _, m := range p.of("go")[2].Messages {
			if m.Context == "skills" {
				told = append(told, m.Text)
			}
		}
		if len(told) != 2 || !strings.Contains(told[0], "- pdf: reads PDFs") || !strings.Contains(told[1], "no longer holds") {
			t.Errorf("got %q", told)
		}
		put(t, filepath.Join(dir, "skills", "pdf", "SKILL.md"), skillFile("pdf", "reads PDFs"))
		went(t, a, "", "go", nil)
		child := spawn(t, api, plug.ChildSpec{Parent: id, Tools: plug.ToolFilter{Deny: []string{"skill_*"}}})
		if _, err := api.Sessions.Run(context.Background(), child, "work"); err != nil {
			t.Fatal(err)
		}
		if r := p.of("work")[0]; len(r.Messages) != 1 || slices.Contains(offered(r), "skill_load") {
			t.Errorf("got %+v", r.Messages)
		}
	})
}
