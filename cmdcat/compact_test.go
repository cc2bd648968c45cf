package cmdcat

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"alisio/agent"
	"alisio/llm"
)

// talked is a session of so many runs whose next answer is a checkpoint.
func (b *bench) talked(runs int) string {
	b.t.Helper()
	id := b.session("prompt 0 \x1b[31mred")
	for i := 1; i < runs; i++ {
		if _, err := b.app.Run(context.Background(), id, fmt.Sprintf("prompt %d", i), agent.RunOptions{}); err != nil {
			b.t.Fatal(err)
		}
	}
	return id
}

// saying gives an application a model with these answers.
func saying(t *testing.T, answers ...string) func(*agent.Options) {
	var turns []string
	for _, a := range answers {
		if a[0] != '{' { // an answer; what is short is not compacted
			a += strings.Repeat(" and so on", 200)
		}
		turns = append(turns, fmt.Sprintf(`{"text":%q}`, a))
	}
	return func(o *agent.Options) {
		o.Provider = scripted(t, `{"model":"toy","turns":[`+strings.Join(turns, ",")+`]}`)
	}
}

func TestCompactShowUndo(t *testing.T) {
	for _, kind := range kinds {
		b := newBench(t, kind, saying(t, "one", "two", "three", "four", `{"goal":"to talk"}`, `{"goal":"again"}`))
		id := b.talked(4)
		b.fails(id, "/compact --show", "no compaction is in effect in this session")
		b.fails(id, "/compact --undo", "no compaction is in effect in this session")
		if got := b.said(id, "/compact"); !strings.Contains(got, "4 messages gave way to a checkpoint") {
			t.Errorf("%s: got %q", kind, got)
		}
		shown := b.said(id, "/compact --show")
		if said := strings.Contains(shown, "manual: about"); said != (kind == "sqlite") { // which alone keeps when
			t.Errorf("%s: got\n%s", kind, shown)
		}
		for _, want := range []string{"4 messages gave way:", "user       prompt 0", "assistant  two", "to this checkpoint:", "- to talk"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: %q is not in\n%s", kind, want, shown)
			}
		}
		if strings.ContainsRune(shown, '\x1b') {
			t.Errorf("%s: %q commands a terminal", kind, shown)
		}
		if got := b.said(id, "/compact"); !strings.Contains(got, "nothing was compacted: ") {
			t.Errorf("%s: again: %q", kind, got)
		}
		if got := b.said(id, "/compact --undo"); !strings.Contains(got, "4 messages again") {
			t.Errorf("%s: undone: %q", kind, got)
		}
		b.fails(id, "/compact --undo", "no compaction is in effect in this session")
		if got := b.said(id, "/compact what was said first"); !strings.Contains(got, "4 messages gave way") {
			t.Errorf("%s: after the undo: %q", kind, got)
		}
	}
}

// Symptom: the tokens of a session are fewer than the sum of what they went for. Trigger:
// a compaction by hand, which is no run.
func TestStatsCountWhatWasAskedBesideRuns(t *testing.T) {
	b := newBench(t, "sqlite", func(o *agent.Options) {
		long := strings.Repeat("and so on ", 200)
		o.Provider = scripted(t, fmt.Sprintf(`{"model":"toy","turns":[{"text":%q,"usage":{"input":100,"output":20}},
			{"text":"two","usage":{"input":200,"output":30}},{"text":"three","usage":{"input":300,"output":40}},
			{"text":"{\"goal\":\"to talk\"}","usage":{"input":1000,"output":5}}]}`, long))
		o.Model.ContextWindow = 20_000
	})
	id := b.talked(3)
	before := b.said(id, "/stats")
	b.said(id, "/compact")
	after := b.said(id, "/stats")
	for _, c := range []struct{ in, want string }{
		{before, "tokens    600 in (0 cached), 90 out\n"},
		{before, " of 20000 tokens are taken; from "},
		{after, "tokens    1600 in (0 cached), 95 out\n"},
		{after, "compactions  1         1000   0       5             59 %\n"},
	} {
		if !strings.Contains(c.in, c.want) {
			t.Errorf("%q is not in\n%s", c.want, c.in)
		}
	}
}

func TestFilled(t *testing.T) {
	for want, f := range map[string]agent.Fill{
		"about 70 tokens are taken, of how many is not known (provider.contextWindow)": {Used: 70},
		"about 70 of 900 tokens are taken":                                             {Used: 70, Window: 900},
		"about 70 of 900 tokens are taken; from 800 on a prompt compacts":              {Used: 70, Window: 900, At: 800},
		"about 870 of 900 tokens are taken; the next prompt compacts":                  {Used: 870, Window: 900, At: 800, Due: true},
	} {
		if got := filled(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCompactMistakes(t *testing.T) {
	b := newBench(t, "memory", nil)
	b.fails("", "/compact", "nothing was said yet")
	b.fails("", "/compact --show", "nothing was said yet")
	b.fails("", "/compact --undo", "nothing was said yet")
	id := b.session("x")
	b.fails(id, "/compact --shwo", `unknown flag "--shwo"; did you mean --show?`)
	b.fails(id, "/compact -undo", `unknown flag "-undo"; did you mean --undo?`)
	b.fails(id, "/compact undo", "did you mean --undo?")
	b.fails(id, "/compact show", "did you mean --show?")
	b.fails(id, "/compact "+strings.Repeat("w", 5_000), "has 5000 bytes, more than 4000")
	b.fails(id, "/compact --show --undo", `--show takes nothing behind it, found "--undo"`)
	b.fails(id, "/compact --undo 3", `--undo takes nothing behind it, found "3"`)
}

// A line of the list is bounded, whatever a message holds.
func TestGist(t *testing.T) {
	long := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Type: llm.PartText, Text: strings.Repeat("x", 1<<20)}}}
	if got := clip(gist(long), gistCells); len(got) > gistCells+3 {
		t.Errorf("%d bytes", len(got))
	}
	many := agent.Replaced{Messages: make([]llm.Message, mostGists+50)}
	if got := replaced(many); strings.Count(got, "\n") > mostGists+10 || !strings.Contains(got, "250 messages gave way:\n  … 50 messages, and then\n") {
		t.Errorf("got %d lines, %.80s", strings.Count(got, "\n"), got)
	}
	called := llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{Name: "read_file"}, {Name: "shell"}}}
	if got := gist(called); got != "(calls read_file, shell)" {
		t.Errorf("got %q", got)
	}
}
