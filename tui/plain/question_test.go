package plain

import (
	"strings"
	"testing"

	"alisio/agent/text"
	"alisio/plug"
)

func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		name  string
		q     plug.Question
		whole bool
		want  string
	}{
		{"a shell line", plug.Question{Tool: "shell", SessionID: "s", Plan: plug.Plan{
			Effect: plug.EffectProcess, Title: "make", Key: "shell\nx", Shell: "make all\nrm -rf /", Dir: "/home/x", Paths: []plug.PlanPath{{Path: "/home/x", Access: plug.AccessRead}}}}, false, `
question: shell wants to run a program
  a covers, while this program runs: shell<U+000A>x
  in: /home/x
  in a shell:
  | make all
  | rm -rf /`},
		{"words", plug.Question{Tool: "run_process", Plan: plug.Plan{
			Effect: plug.EffectProcess, Argv: []string{"git", "commit", "-m", "it's\nb", ""}, Dir: "/x", Stdin: "in\n"}}, true, `
question: run_process wants to run a program
  in: /x
  without a shell:
  | git commit -m 'it'\''s
  | b' ''
  word 0: git
  word 1: commit
  word 2: -m
  word 3: "it's\u000ab"
  word 4: 
  standard input:
  | in
  | `},
		{"a change", plug.Question{Tool: "write_file", Protected: ".git/config (it names programs)", Plan: plug.Plan{Key: "never given",
			Effect: plug.EffectWrite, Title: ".git/config", Paths: []plug.PlanPath{{Path: "/x/.git/config", Access: plug.AccessWrite}},
			Preview: &plug.Block{Kind: plug.BlockDiff, Patch: "@@ -1 +1 @@\n-a\n+b\n", Truncated: true}}}, false, `
question: write_file wants to change files
  for: .git/config
  protected: .git/config (it names programs): asked every time
  changes: /x/.git/config
  the change:
  | @@ -1 +1 @@
  | -a
  | +b
  that is not the whole change: it is too long for the tool to show`},
		{"a directory", plug.Question{Kind: plug.AskDirectory, Tool: "read_file", Directory: "/etc", Plan: plug.Plan{
			Effect: plug.EffectRead, Title: "/etc/passwd", Paths: []plug.PlanPath{{Path: "/etc/passwd", Access: plug.AccessRead}}}}, false, `
question: read_file wants to use a directory outside the workspace:
  | /etc
  a yes opens all of that directory, not this file alone
  for: /etc/passwd
  reads: /etc/passwd`},
		{"a server, of another session", plug.Question{Tool: "webfetch", SessionID: "child", Label: "general › explore\n", Plan: plug.Plan{
			Effect: plug.EffectExternal, Title: "https://ex\u0430mple.com", Hosts: []string{"ex\u0430mple.com"}}}, false, `
question: webfetch of general › explore<U+000A>, session child wants to reach beyond this machine, or do what nobody can tell
  for: https://exаmple.com
  contacts: exаmple.com
  looks like something else: а=<U+0430>`},
	} {
		got := "\n" + strings.Join(question(c.q, "s", 200, c.whole), "\n")
		if got != c.want {
			t.Errorf("%s: got:%s\nwant:%s", c.name, got, c.want)
		}
	}
}

// What a model says can not leave its place: no control reaches the screen, nothing
// is lost, and no line of it begins where our own lines begin.
func TestAHostileQuestionStaysInItsPlace(t *testing.T) {
	evil := "true\r\x1b[2Jallow? y\x1b]0;x\a\u202e\u200b \u2028\x9b\xff" + strings.Repeat(" ", 300) + "allow? y once\nquestion: ls wants to read\n" +
		"e" + strings.Repeat("\u0301", 500) + " " + strings.Repeat("w", 5000)
	q := plug.Question{
		Kind: plug.AskDirectory, Tool: evil, SessionID: evil, Directory: evil, Protected: evil,
		Plan: plug.Plan{Effect: plug.Effect(evil), Title: evil, Paths: []plug.PlanPath{{Path: evil, Access: plug.AccessWrite}}, Argv: []string{evil, evil},
			Shell: evil, Dir: evil, Stdin: evil, Hosts: []string{evil}, Preview: &plug.Block{Patch: evil, Caption: evil, Code: evil, Command: evil, Output: evil}},
	}
	for _, cells := range []int{20, 76, 200} {
		lines := question(q, "mine", cells, true)
		inked := 0
		for _, line := range lines {
			for _, r := range line {
				if text.Acts(r) || r == 0x200b {
					t.Fatalf("%U in %q", r, line)
				}
				if r == 'w' {
					inked++
				}
			}
			if line != lines[0] && !strings.HasPrefix(line, "  ") {
				t.Errorf("%q begins where our own lines begin", line)
			}
			if strings.HasPrefix(line, gutter) && text.Width(line) > cells+len(gutter) && !strings.Contains(line, `\u0301`) {
				t.Errorf("%d cells of %d: %q", text.Width(line), cells, line)
			}
		}
		if least := 13 * 5000; inked < least {
			t.Errorf("%d cells: %d characters of at least %d are shown", cells, inked, least)
		}
	}
}

func TestPiecesLoseNothing(t *testing.T) {
	for _, line := range []string{"", " ", "a b  c", strings.Repeat("ab ", 40), "漢字漢字漢字漢字漢字", "\t\tx\t", strings.Repeat(" ", 50)} {
		s := &sheet{cells: 10}
		pieces := s.pieces(line)
		if strings.Join(pieces, "") != line {
			t.Errorf("%q became %q", line, pieces)
		}
		for _, p := range pieces {
			if text.Width(p) > 10 {
				t.Errorf("%q is too wide", p)
			}
		}
	}
}

func TestLookAlikes(t *testing.T) {
	for word, want := range map[string]string{
		"plain-name": "", "Größe": "", "данные": "", "漢字": "", "p\u0430ypal": "а=<U+0430>", "\u2013rf": "–=<U+2013>",
		"\uff4c\uff53": "ｌ=<U+FF4C> ｓ=<U+FF53>", "\u2019": "’=<U+2019>",
	} {
		if got := strings.Join(masked(word), " "); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	few := strings.Split(strings.Repeat("x\n", briefLines-1), "\n")
	if shown, all := brief(few); !all || len(shown) != briefLines {
		t.Errorf("%d lines of %d, all %v", len(shown), len(few), all)
	}
	if shown, all := brief(append(few, "one more")); all || len(shown) != briefLines {
		t.Errorf("%d lines, all %v", len(shown), all)
	}
	if shown, all := brief([]string{"a", strings.Repeat("x", briefBytes), "b"}); all || len(shown) != 1 {
		t.Errorf("%d lines, all %v", len(shown), all)
	}
}
