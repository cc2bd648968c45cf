package cli

import (
	"slices"
	"strings"
	"testing"

	"alisio/agent"
	"alisio/cmdcat"
)

// Only what somebody typed names a command: a name without a slash, not behind "--",
// and not by a pipe.
func TestWhatIsACommand(t *testing.T) {
	for _, c := range []struct {
		args        []string
		stdin, want string
	}{
		{[]string{"run", "/a b c"}, "", "a|b c"},
		{[]string{"run", "/a", "b", "c"}, "", "a|b c"},
		{[]string{"run", " /a"}, "", "a|"},
		{[]string{"run", "/skill:x", "--quiet", "do"}, "", "skill:x|do"},
		{[]string{"run", "/a"}, "piped\n", "a|piped"},
		{[]string{"run", "/a", "-"}, "piped", "a|piped"},
		{[]string{"run", "/a", "--", "-b"}, "", "a|-b"},
		{[]string{"run", "--", "/a"}, "", ""},
		{[]string{"--", "run", "/a"}, "", ""},
		{[]string{"run", "-"}, "/a", ""},
		{[]string{"run", "-", "/a"}, "x", ""},
		{[]string{"run"}, "/a", ""},
		{[]string{"run", "/etc/hosts is wrong"}, "", ""},
		{[]string{"run", "/"}, "", ""},
		{[]string{"run", "a", "/b"}, "", ""},
		{[]string{"/a b"}, "", "a|b"},
	} {
		e := env(c.args...)
		e.Stdin = strings.NewReader(c.stdin)
		call, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		prompt, err := call.prompt(t.Context(), call.Args, errNoTask)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if s := call.slashOf(call.Args, prompt); s != nil {
			got = s.name + "|" + s.args
			if one := s.given(cmdcat.Descriptor{}); strings.Contains(one, "piped") {
				t.Errorf("%q: what takes no text is given %q", c.args, one)
			}
		}
		if got != c.want {
			t.Errorf("%q with %q: got %q, want %q", c.args, c.stdin, got, c.want)
		}
	}
}

// The manual has every command of the program, with what stands behind it.
func TestTheManualHasEveryCommand(t *testing.T) {
	app, err := agent.New(t.Context(), agent.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(t.Context())
	list, _, err := cmdcat.New(app).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page, err := manual.ReadFile("manual/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(page), "\n")
	found := 0
	for _, d := range list {
		if d.Source != cmdcat.FromBuiltIn {
			continue
		}
		found++
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			called := func(line string) bool {
				return slices.ContainsFunc(strings.Fields(line), func(w string) bool { return strings.Trim(w, ",.") == "/"+name })
			}
			i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "  /") && called(line) })
			if i < 0 || name == d.Name && !strings.Contains(lines[i], d.ArgumentHint) {
				t.Errorf("/%s %s is not in the page of commands", name, d.ArgumentHint)
			}
		}
	}
	if found < 15 {
		t.Errorf("%d commands", found)
	}
}
