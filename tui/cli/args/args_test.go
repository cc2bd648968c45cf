package args

import (
	"slices"
	"strings"
	"testing"
)

type state struct {
	format  string
	model   string
	files   []string
	quiet   bool
	help    bool
	strange string
}

// String lists what is set.
func (s state) String() string {
	var list []string
	for _, v := range []struct{ name, value string }{
		{"format=", s.format}, {"model=", s.model}, {"files=", strings.Join(s.files, ",")}, {"strange=", s.strange},
	} {
		if v.value != "" {
			list = append(list, v.name+v.value)
		}
	}
	if s.quiet {
		list = append(list, "quiet")
	}
	if s.help {
		list = append(list, "help")
	}
	return strings.Join(list, " ")
}

func table() *Table[state, string] {
	return &Table[state, string]{
		Program: "toy", Tasks: []string{"", "run"},
		Commands: []Command[string]{
			{Name: "box", Args: "COMMAND", Help: "boxes", Subs: []Command[string]{{Name: "open", Args: "FILE", Help: "open one", Run: "open"}}},
			{Name: "mix", Args: "COLOUR…|--strange DIR", Help: "mix", Run: "mix"},
			{Name: "paint", Args: "red|blue COLOUR DIR", Help: "paint", Run: "paint"},
			{Name: "run", Args: "[PROMPT…]", Help: "run", Run: "run"},
		},
		Flags: []Flag[state]{
			{Name: "again", Short: "a", In: []string{""}, Prompt: true, Help: "go on", Set: func(*state, string) error { return nil }},
			{Name: "file", Arg: "FILE", Help: "a file; may be repeated", Set: Each(func(s *state) *[]string { return &s.files })},
			{Name: "format", Arg: "short", Inline: true, Values: []string{"short", "long"}, Help: "how",
				Set: func(s *state, v string) error { s.format = "given:" + v; return nil }},
			{Name: "help", Short: "h", Everywhere: true, Help: "help", Set: On(func(s *state) *bool { return &s.help })},
			{Name: "model", Short: "m", Arg: "NAME", Help: "which", Set: Named(func(s *state) *string { return &s.model })},
			{Name: "quiet", In: []string{"box open"}, Help: "less", Set: On(func(s *state) *bool { return &s.quiet })},
			{Name: "strange", In: []string{"mix", "paint"}, Arg: "X", Help: "x", Set: Named(func(s *state) *string { return &s.strange })},
		},
		Values: func(arg string) []Candidate {
			if arg == "COLOUR" {
				return []Candidate{{Word: "green"}, {Word: "grey", Help: "as fog"}}
			}
			return nil
		},
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args  string // separated by |
		name  string
		words string
		fails string
		sets  string // the state, as state.String writes it
	}{
		{"run|a|b", "run", "a|b", "", ""},
		{"box|open|x", "box open", "x", "", ""},
		{"fix it", "", "fix it", "", ""}, // white space: a prompt
		{"fix it|-m|x|please", "", "fix it|please", "", "model=x"},
		{"--|run", "", "run", "", ""},
		{"-m|x|--|run|--model", "", "run|--model", "", "model=x"},
		{"run|--|--model|x", "run", "--model|x", "", ""},
		{"fix", "fix", "", `unknown command "fix"`, ""},
		{"pant|x", "pant", "x", `did you mean "paint"`, ""},
		{"box|opne", "box opne", "", `toy box: unknown command "opne", did you mean "open"`, ""},
		{"", "", "", "", ""},
		{"run|--format", "run", "", "", "format=given:"},
		{"run|--format|word", "run", "word", "", "format=given:"}, // a value only behind "="
		{"run|--format|long", "", "", "takes its value behind =, as --format=long", ""},
		{"run|--format|--|long", "run", "long", "", "format=given:"},
		{"-a|more", "", "more", "", ""}, // what can be nothing but a prompt is one
		{"more|of|it|-a", "", "more|of|it", "", ""},
		{"run|-a|x", "", "", "flag --again belongs to: toy without a command", ""},
		{"box|opne|-a", "", "", `unknown command "opne"`, ""},
		{"run|--file|", "", "", "the name is empty", ""},
		{"run|--file|a|--file=b|-mx|x", "run", "x", "", "model=x files=a,b"},
		{"box|open|--quiet|x", "box open", "x", "", "quiet"},
		{"mix|--strange=x", "mix", "", "", "strange=x"},
		{"run|--quiet", "", "", "flag --quiet belongs to: toy box open", ""},
		{"paint|-m|x", "", "", "it belongs to: toy without a command, toy run", ""},
		{"run|--str", "", "", `unknown flag "--str", did you mean "--strange"`, ""}, // how a flag begins
		{"run|--xyzzy", "", "", `unknown flag "--xyzzy"; toy run --help lists its flags`, ""},
		{"box|open|--xyzzy", "", "", "toy box open --help lists its flags", ""},
		{"--xyzzy|run", "", "", "toy COMMAND --help lists its flags", ""},
		{"paint|--modle|x", "", "", `did you mean "--model"`, ""},
		{"paint|-h|--quiet", "paint", "", "", "quiet help"}, // help is given to everybody
	} {
		var list []string
		if c.args != "" {
			list = strings.Split(c.args, "|")
		}
		var s state
		got, err := table().Parse(list, &s, func(s *state) bool { return !s.help })
		if err == nil {
			err = got.Unknown
		}
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v", c.args, err)
			}
			continue
		}
		if err != nil || got.Name != c.name || strings.Join(got.Words, "|") != c.words || s.String() != c.sets {
			t.Errorf("%s: got %+v, %q, %v", c.args, got, s, err)
		}
	}
}

func TestInlineValues(t *testing.T) {
	for arg, want := range map[string]string{"--format": "given:", "--format=long": "given:long", "--format=": "given:"} {
		var s state
		if _, err := table().Parse([]string{"run", arg, "x"}, &s, func(*state) bool { return true }); err != nil || s.format != want {
			t.Errorf("%s: got %q, %v", arg, s.format, err)
		}
	}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"", "box mix paint run"},
		{"mix|", "green grey --strange"},
		{"mix|--strange|x|", ":dirs"}, // the flag stands for the word
		{"mix|--mo", ""},
		{"p", "paint"},
		{"box|", "open"},
		{"box|open|", ":files"},
		{"box|open|x|", ""}, // takes one word
		{"run|a|b|", ":files"},
		{"paint|", "red blue"},
		{"paint|red|gr", "green grey"},
		{"paint|red|green|", ":dirs"},
		{"-m|x|pa", "paint"},
		{"-m|", ""},
		{"run|--file|", ":files"},
		{"run|--f", "--file --format"},
		{"run|--format=l", "--format=long"},
		{"run|--format|", ":files"}, // the value can not stand here
		{"box|open|--q", "--quiet"},
		{"run|--q", ""},
		{"run|--|--q", ":files"},
		{"run|-", "--file --format --help -h --model -m"},
		{"nonsense|", ""},
		{"fix it|--mo", "--model"}, // white space: a prompt
		{"fix it|--q", ""},
		{"fix it|", ":files"},
	} {
		var got []string
		for _, w := range table().Complete(strings.Split(c.words, "|")) {
			got = append(got, w.Word)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
}

func TestNamesAndLines(t *testing.T) {
	if got, want := table().Names(), []string{"box open", "mix", "paint", "run"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	lines := table().FlagLines("run")
	for _, want := range []string{"-m, --model NAME", "--format[=short]"} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q is not in:\n%s", want, lines)
		}
	}
	both := table().FlagLines("", "paint")
	if !strings.Contains(both, "--strange") || !strings.Contains(both, "--model") || strings.Contains(both, "--quiet") {
		t.Errorf("not the flags of both:\n%s", both)
	}
	if strings.Contains(lines, "--quiet") {
		t.Errorf("a flag of another command is in:\n%s", lines)
	}
	if got := table().CommandLines("box", table().Commands[0].Subs); !strings.Contains(got, "toy box open FILE") {
		t.Errorf("got %q", got)
	}
}
