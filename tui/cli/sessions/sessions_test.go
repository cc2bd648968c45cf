package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

// foul is text that must not reach a terminal as it is.
const foul = "a\x1b[2J\x1b]0;title\x07b\u009b31mc\u202ed\u2028e\xfff\r\ng"

func TestAge(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{
		{-time.Hour, "now"}, {0, "now"}, {59 * time.Second, "now"}, {time.Minute, "1 min"}, {59 * time.Minute, "59 min"},
		{time.Hour, "1 h"}, {47 * time.Hour, "47 h"}, {48 * time.Hour, "2 d"}, {99 * 24 * time.Hour, "99 d"}, {400 * 24 * time.Hour, "13 mo"},
	} {
		if got := plain.Age(now, now.Add(-c.ago)); got != c.want {
			t.Errorf("%v ago: got %q, want %q", c.ago, got, c.want)
		}
	}
	if got := plain.Age(now, time.Time{}); got != "?" {
		t.Errorf("of an old program: got %q", got)
	}
}

func TestShortNamesDiffer(t *testing.T) {
	summaries := func(ids ...string) []agent.Summary {
		var list []agent.Summary
		for _, id := range ids {
			list = append(list, agent.Summary{Session: agent.Session{ID: id}})
		}
		return list
	}
	for _, c := range []struct{ ids, want []string }{
		{[]string{"11111111-aaaa", "22222222-aaaa"}, []string{"11111111", "22222222"}},
		{[]string{"11111111-aaaa-b", "11111111-aaab-b"}, []string{"11111111-aaaa-b", "11111111-aaab-b"}},
		{[]string{"short", "shorter"}, []string{"short", "shorter"}},
		{[]string{"12345678", "123456789"}, []string{"12345678", "123456789"}},
		{[]string{"a\x1b[2Jb"}, []string{"ab"}},
		{nil, []string{}},
	} {
		if got := shortNames(summaries(c.ids...)); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.ids, got, c.want)
		}
	}
}

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		s    agent.Summary
		want string
	}{
		{agent.Summary{LastRun: "completed"}, ""},
		{agent.Summary{LastRun: agent.RunRunning, BusyPID: 42}, "running, process 42"},
		{agent.Summary{LastRun: agent.RunRunning}, "interrupted"},
		{agent.Summary{LastRun: "failed"}, "failed"},
		{agent.Summary{LastRun: "cancelled", Uncertain: true}, "cancelled, uncertain"},
		{agent.Summary{LastRun: "turns_exceeded"}, "turn limit"},
		{agent.Summary{LastRun: "failed", BusyPID: 42}, "running, process 42"},
		{agent.Summary{LastRun: agent.RunInterrupted, Uncertain: true}, "interrupted, uncertain"},
		{agent.Summary{Session: agent.Session{Pinned: true, Archived: time.UnixMilli(1), Parent: "11111111-1"}}, "pinned, archived, of 11111111"},
	} {
		if got := strings.Join(marks(c.s), ", "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.s, got, c.want)
		}
	}
}

// isSafe fails when text would act on a terminal, new lines apart.
func isSafe(t *testing.T, got string) {
	t.Helper()
	if !utf8.ValidString(got) {
		t.Errorf("not UTF-8: %q", got)
	}
	for _, r := range got {
		if r != '\n' && text.Acts(r) {
			t.Errorf("%U in %q", r, got)
		}
	}
}

func TestAConversationIsShownSafely(t *testing.T) {
	var out strings.Builder
	tr := plain.Transcript{Print: func(s string) error { out.WriteString(s); return nil }}
	rows := []agent.Stored{
		{Seq: 1, Message: llm.Message{Role: llm.RoleUser, Text: "old"}, Compacted: true},
		{Seq: 2, Message: llm.Message{Role: llm.RoleUser, Text: foul, Attachments: []llm.Attachment{{MIMEType: "image/png" + foul, Data: make([]byte, 1500)}}}},
		{Seq: 3, Message: llm.Message{Role: llm.RoleUser, Text: "old"}, CopyOf: 1},
		// Of a message that is sent, and one with another text: what models are told.
		{Seq: 3, Message: llm.Message{Role: llm.RoleUser, Text: "no copy"}, CopyOf: 2},
		{Seq: 3, Message: llm.Message{Role: llm.RoleUser, Text: "more than was typed", Display: "/review it"}}, {Seq: 3, Message: llm.Message{Role: llm.RoleUser, Text: "less"}, CopyOf: 1},
		{Seq: 4, Err: errors.New("no JSON: " + foul)},
		{Seq: 5, Message: llm.Message{Role: llm.RoleAssistant, Text: "I look.", Calls: []llm.ToolCall{
			{ID: "1", Name: "read" + foul, Arguments: foul}, {ID: "2", Name: "shell", Arguments: strings.Repeat("x", 500)}, {ID: "3", Name: "lost"},
		}}},
		{Seq: 6, Message: llm.Message{Role: llm.RoleTool, CallID: "2", IsError: true, Parts: []llm.Part{{Type: llm.PartText, Text: "\n\n" + strings.Repeat("y", 500) + "\nmore"}}}},
		{Seq: 7, Message: llm.Message{Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: llm.PartText, Text: foul}}}},
		{Seq: 8, Message: llm.Message{Role: llm.RoleTool, CallID: "of nobody"}},
		{Seq: 8, Message: llm.Message{Role: llm.RoleUser, Text: "notes", Context: "memory/x" + foul}},
		{Seq: 9, Message: llm.Message{Role: llm.RoleAssistant, Text: "Done.", Interrupted: true, Truncated: true}},
	}
	for _, r := range rows {
		if err := tr.Message(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	isSafe(t, got)
	for _, want := range []string{
		"\nyou (compacted):\nold\n", "\nyou:\nno copy\n", "\nyou:\n/review it\n", "\ncontext from memory/x", ":\nnotes\n", "\nyou [shortened here]:\nless\n", "\n[row 4 is left out: ", "[image/png", "2 kB]", "assistant:\nI look.\n",
		"· failed: yyyy", "…\n", "tool: lost · no result is stored\n", "tool: (unknown call)\n", "[cut at the output limit]\n[interrupted]\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "you:\nold") || strings.Contains(got, "more") {
		t.Errorf("too much is shown:\n%s", got)
	}
}

// What is shown says where a run ended that did not end well, behind all of it and
// once.
func TestAConversationTellsOfBadEnds(t *testing.T) {
	var out strings.Builder
	runs := []agent.StoredRun{
		{ID: "a", Status: "failed", Error: "connect to h\x1b[2J:\nrefused"}, {ID: "b", Status: "cancelled"}, {ID: "c", Status: "completed"},
		{ID: "d", Status: "turns_exceeded"}, {ID: "e", Status: "running"}, {ID: "f", Status: "interrupted"}, {ID: "g", Status: "failed"},
	}
	tr := plain.Transcript{Print: func(s string) error { out.WriteString(s); return nil }, Ends: plain.BadEnds(runs, false)}
	user := func(run string) agent.Stored {
		return agent.Stored{RunID: run, Message: llm.Message{Role: llm.RoleUser, Text: "to " + run}}
	}
	rows := []agent.Stored{
		user(""), user("a"), user("b"),
		{RunID: "b", Message: llm.Message{Role: llm.RoleAssistant, Text: "half", Interrupted: true, Calls: []llm.ToolCall{{ID: "1", Name: "read"}}}},
		{RunID: "c", Message: llm.Message{Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: llm.PartText, Text: "not executed"}}}},
		user("c"), user("d"), user("e"), user("f"), user("g"),
	}
	for _, r := range rows {
		if err := tr.Message(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	want := "\nyou:\nto \n\nyou:\nto a\n\n[failed: connect to h: refused]\n\nyou:\nto b\n\nassistant:\nhalf\n\ntool: read · not executed\n\n[cancelled]\n" +
		"\nyou:\nto c\n\nyou:\nto d\n\n[stopped at the turn limit]\n\nyou:\nto e\n\n[interrupted]\n\nyou:\nto f\n\n[interrupted]\n\nyou:\nto g\n\n[failed]\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := plain.BadEnds(runs, true)["e"]; got != "" {
		t.Errorf("a run that goes on: got %q", got)
	}
}

func TestUncertainCallsAreToldOf(t *testing.T) {
	edit, shell := openCall{ID: "1", Effect: "write"}, openCall{ID: "2", Effect: "process"}
	for _, c := range []struct {
		open       []openCall
		died, look string
	}{
		{[]openCall{edit}, "during 1 call, and it is not known whether it took effect", "look what became of it"},
		{[]openCall{shell}, "during 1 call, and it is not known whether it took effect", "look what became of it (a program that it started may still be running)"},
		{[]openCall{edit, edit}, "during 2 calls, and it is not known whether they took effect", "look what became of them"},
		{[]openCall{edit, shell}, "during 2 calls, and it is not known whether they took effect",
			"look what became of them (a program that one of them started may still be running)"},
	} {
		if got := died(len(c.open)); got != "the program died "+c.died {
			t.Errorf("%+v: got %q", c.open, got)
		}
		if got := lookAt(c.open); got != c.look {
			t.Errorf("%+v: got %q", c.open, got)
		}
	}
}

func TestListsSayWhatTheyLeaveOut(t *testing.T) {
	for _, c := range []struct {
		shown, all int
		want       string
	}{
		{1, 2, "1 of 2 is shown; --limit 2 lists all"},
		{50, 312, "50 of 312 are shown; --limit 312 lists all"},
		{50, MaxLimit, "50 of 10000 or more are shown; --limit 10000 lists the most"},
	} {
		if got := shownOf(c.shown, c.all); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 1499: "1 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1_250_000: "1.2 MB"} {
		if got := plain.Size(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestObjectsAreSafeLinesThatSayTheSame(t *testing.T) {
	var out bytes.Buffer
	c := base.Call{Stdout: &out}
	body := json.RawMessage("{\n \"b\": 1.0, \"a\": \"\u202e\u2028\"}")
	err := errors.Join(
		c.PrintJSON(json.Marshal(entryOf(agent.Summary{Session: agent.Session{ID: "1", Title: foul, Workspace: foul}}, nil))),
		c.PrintJSON(json.Marshal(storedMessage{Kind: "message", Seq: 2, Body: body})),
		c.PrintJSON(json.Marshal(storedMessage{Kind: "message", Seq: 3, Raw: foul, Error: foul})),
		c.PrintJSON(json.Marshal(storedEvent{"event", plug.Event{SessionID: "1", Seq: 1, ID: 9, Data: plug.Unknown{Type: "future", Body: body}}})),
		c.PrintJSON(json.Marshal(openCall{ID: foul})), c.PrintJSON(json.Marshal(deletion{Title: foul})),
	)
	if err != nil {
		t.Fatal(err)
	}
	got := out.String()
	isSafe(t, got)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != 6 {
		t.Fatalf("got %d lines:\n%s", len(lines), got)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("no JSON: %s", l)
		}
	}
	if want := `"body":{"b":1.0,"a":"\u202e\u2028"}`; !strings.Contains(lines[1], want) {
		t.Errorf("got %s, want %s", lines[1], want)
	}
	if want := `{"kind":"event","schemaVersion":1,`; !strings.HasPrefix(lines[3], want) || !strings.Contains(lines[3], `"data":{"b":1.0,`) {
		t.Errorf("got %s", lines[3])
	}
}

func TestAnExportOverwritesNothingAndLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	write := func(w io.Writer) error { _, err := io.WriteString(w, "data\n"); return err }
	if err := exportTo(path, write); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "data\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if err := exportTo(path, write); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second time: got %v", err)
	}
	half := filepath.Join(dir, "b.jsonl")
	broken := errors.New("broken")
	if err := exportTo(half, func(w io.Writer) error { write(w); return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a half file stays: %v", err)
	}
}

func TestATerminalIsShownAnExportSafely(t *testing.T) {
	var out bytes.Buffer
	w := &lineWriter{w: &out}
	whole := "{\"a\": \"\u202e é\"}\n# \x1b[2Jmark\u009bdown\n\nlast"
	for i := range len(whole) { // also where a character is cut
		if _, err := w.Write([]byte{whole[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	isSafe(t, got)
	if !strings.HasPrefix(got, `{"a":"\u202e é"}`+"\n# mark") || !strings.HasSuffix(got, "\n\nlast") {
		t.Errorf("got %q", got)
	}
}

func TestDescribed(t *testing.T) {
	s := agent.Session{ID: "1", Title: foul}
	got := described(s, agent.Contents{Messages: 1, Events: 2, Children: 1, Bytes: 1_234_567})
	isSafe(t, got)
	if !strings.Contains(got, ": 1 message, 2 events, 1 session of an agent, 1.2 MB") {
		t.Errorf("got %q", got)
	}
	if got := described(s, agent.Contents{}); !strings.Contains(got, "nothing in it, 0 B") {
		t.Errorf("got %q", got)
	}
}

// Symptom: of a snippet that fills several lines of a terminal, escapes run over the
// indent, or the wrong word stands out. Trigger: the match is where a line is broken.
func TestWhatWasFoundStandsOut(t *testing.T) {
	for _, c := range []struct{ said, before, match, want string }{
		{"    user: a b c", "    user: a ", "b", "    user: a \x1b[1mb\x1b[0m c"},
		{"    user: a b", "    user: a ", "b", "    user: a \x1b[1mb\x1b[0m"},
		{"    user: a bé\n    c d", "    user: a ", "bé c", "    user: a \x1b[1mbé\x1b[0m\n    \x1b[1mc\x1b[0m d"},
		{"    user: lo\n    ng", "    user: ", "long", "    user: \x1b[1mlo\x1b[0m\n    \x1b[1mng\x1b[0m"},
		{"    user: a", "    user: a", "", "    user: a"},
	} {
		if got := embolden(c.said, c.before, c.match); got != c.want {
			t.Errorf("%q: got %q, want %q", c.said, got, c.want)
		}
	}
}
