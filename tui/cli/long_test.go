package cli

import (
	"bytes"
	"strings"
	"testing"

	"alisio/tui/cli/base"
)

// Symptom: an argument of 120 kB came back as 240 kB of an error. Trigger: any word
// that is wrong, in any place.
func TestLongWordsAreClipped(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("\x01", 120_000)
	lines := [][]string{
		{long}, {"--" + long}, {"-" + long}, {"--" + long + "=x"}, {"help", long}, {"version", long}, {"demo", long},
		{"completion", long}, {"--json=" + long, "run", "x"}, {"sessions", long}, {"-m", "--" + long},
	}
	for _, name := range commandLine().Names() {
		lines = append(lines, append(strings.Fields(name), "x", long))
		for _, f := range flags() {
			if f.Arg != "" && takes(f, name) {
				lines = append(lines, append(strings.Fields(name), "--"+f.Name+"="+long, "x"))
			}
		}
	}
	for _, line := range lines {
		e := env(line...)
		Main(t.Context(), e)
		if got := e.Stderr.(*bytes.Buffer).String(); len(got) > 4000 {
			for i, w := range line {
				line[i] = w[:min(len(w), 30)]
			}
			t.Errorf("%q: %d bytes of errors, which begin with %.200q", line, len(got), got)
		}
	}
}

// Symptom: a list was printed as if nothing was wrong. Trigger: the directory of --cwd
// is not there.
func TestListChecksItsDirectory(t *testing.T) {
	e := env("sessions", "list", "--cwd", "/nope")
	e.Getenv = func(string) string { return t.TempDir() }
	if code := Main(t.Context(), e); code != base.ExitUsage || !strings.Contains(e.Stderr.(*bytes.Buffer).String(), "--cwd: /nope is not there") {
		t.Errorf("exit code %d, %s", code, e.Stderr)
	}
}
