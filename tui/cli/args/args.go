// Package args reads a command line by two tables, of commands and of flags, and
// prints from the same tables the help and what a shell completes.
//
// It knows no command and no flag of its own, and carries nothing out.
package args

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"alisio/agent/config"
	"alisio/llm"
)

// Command is one row of the table of commands. It carries its function, or a
// list of commands of its own.
type Command[R any] struct {
	Name string
	// Args names the words behind it, for people: "[SESSION] [PROMPT…]".
	Args string
	Help string
	Subs []Command[R]
	Run  R
}

// Flag is one row of the table of flags.
type Flag[S any] struct {
	Name  string
	Short string
	// Arg names the value; empty: the flag takes none. FILE and DIR are completed
	// as such.
	Arg string
	// Inline: the value may be left out, and stands behind "=" if it is given.
	Inline bool
	// Values are those that there are, where they are few.
	Values []string
	// In lists the only commands that take the flag; nil: the table's Tasks do, and
	// with Everywhere all.
	In         []string
	Everywhere bool
	// Prompt: on a line with it, words that begin with no command are a prompt, as
	// behind "--".
	Prompt bool
	Help   string
	Set    func(s *S, value string) error
}

// Table is the whole command line of a program.
type Table[S, R any] struct {
	// Program is its name.
	Program  string
	Commands []Command[R]
	Flags    []Flag[S]
	// Tasks are the commands that take the flags without In; an empty name is the
	// program without a command.
	Tasks []string
	// Values completes what is asked for by a word of Args, or by a flag's Arg, such
	// as "SESSION"; it may be nil.
	Values func(arg string) []Candidate
}

// Line is what a command line says.
type Line[R any] struct {
	// Name is the command's whole name, as "sessions list"; empty: there is none.
	Name string
	// Command is its row, empty when there is no command of that name: Unknown
	// then says so.
	Command Command[R]
	Unknown error
	// Words are those behind the command; the last Literal of them stood behind "--".
	Words   []string
	Literal int
}

// Group reports whether the command only holds others.
func (c Command[R]) Group() bool { return c.Subs != nil }

// taken reports whether a command takes the flag.
func (t *Table[S, R]) taken(f *Flag[S], name string) bool {
	switch {
	case f.Everywhere:
		return true
	case f.In == nil:
		return slices.Contains(t.Tasks, name)
	}
	return slices.Contains(f.In, name)
}

// Parse reads the arguments into s. Flags may stand anywhere before "--"; the
// first other word is the command. One with white space in it, or one behind
// "--", is none: it belongs to the words of a line without a command. strict says
// whether a flag that means nothing to the command is an error.
func (t *Table[S, R]) Parse(list []string, s *S, strict func(*S) bool) (Line[R], error) {
	var words []string
	var used []*Flag[S]
	ended := -1 // the words before "--"
	for len(list) > 0 {
		word := list[0]
		list = list[1:]
		if word == "--" {
			ended = len(words)
			words = append(words, list...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			words = append(words, word)
			continue
		}
		f, value, inline, err := t.find(word, words)
		if err != nil {
			return Line[R]{}, err
		}
		if f.Inline && !inline && len(list) > 0 && slices.Contains(f.Values, list[0]) {
			return Line[R]{}, f.apart(list[0])
		}
		if f.Arg != "" && !inline && !f.Inline {
			if value, list, err = f.takeValue(word, list); err != nil {
				return Line[R]{}, err
			}
		}
		if err := f.Set(s, value); err != nil {
			return Line[R]{}, fmt.Errorf("flag --%s: %w", f.Name, err)
		}
		used = append(used, f)
	}
	literal := 0
	if ended >= 0 {
		literal = len(words) - ended
	}
	line := Line[R]{Words: words}
	if ended != 0 {
		line = t.line(words)
	}
	if line.Unknown != nil && !strings.Contains(line.Name, " ") && slices.ContainsFunc(used, func(f *Flag[S]) bool { return f.Prompt }) {
		line = Line[R]{Words: words}
	}
	line.Literal = min(literal, len(line.Words))
	if line.Unknown != nil || line.Command.Group() || !strict(s) {
		return line, nil
	}
	for _, f := range used {
		if err := t.misplaced(f, line.Name); err != nil {
			return line, err
		}
	}
	return line, nil
}

// line is what the words say that are no flags: a first one with white space in it is
// no command.
func (t *Table[S, R]) line(words []string) Line[R] {
	if len(words) == 0 || strings.ContainsAny(words[0], " \t\r\n") {
		return Line[R]{Words: words}
	}
	return t.Resolve(words)
}

// misplaced complains about a flag that means nothing to the command.
func (t *Table[S, R]) misplaced(f *Flag[S], name string) error {
	if t.taken(f, name) {
		return nil
	}
	call := strings.TrimSpace(t.Program + " " + name)
	belongs := f.In
	if belongs == nil {
		belongs = t.Tasks
	}
	if f.In != nil && len(f.In) > 3 {
		return fmt.Errorf("flag --%s means nothing to: %s; its flags: %s --help", f.Name, call, call)
	}
	var calls []string
	for _, in := range belongs {
		if in == "" {
			in = "without a command"
		}
		calls = append(calls, strings.TrimSpace(t.Program+" "+in))
	}
	if f.In != nil {
		return fmt.Errorf("flag --%s belongs to: %s", f.Name, strings.Join(calls, ", "))
	}
	return fmt.Errorf("flag --%s means nothing to: %s; it belongs to: %s", f.Name, call, strings.Join(calls, ", "))
}

// Resolve finds the command that the first words name: its whole name, its row,
// and the words after it.
func (t *Table[S, R]) Resolve(words []string) Line[R] {
	var line Line[R]
	list := t.Commands
	for len(words) > 0 && list != nil {
		i := slices.IndexFunc(list, func(c Command[R]) bool { return c.Name == words[0] })
		if i < 0 {
			unknown := t.unknownCommand(line.Name, words[0], list)
			return Line[R]{Name: strings.TrimPrefix(line.Name+" "+words[0], " "), Words: words[1:], Unknown: unknown}
		}
		line.Command, words = list[i], words[1:]
		line.Name = strings.TrimPrefix(line.Name+" "+list[i].Name, " ")
		list = list[i].Subs
	}
	line.Words = words
	return line
}

// find looks a flag up and splits "--flag=value". words are those before it.
func (t *Table[S, R]) find(word string, words []string) (f *Flag[S], value string, inline bool, err error) {
	name, value, inline := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	long := strings.HasPrefix(word, "--")
	for i := range t.Flags {
		f := &t.Flags[i]
		if !long && f.Short != "" && f.Arg != "" && len(word) > 2 && word[1:2] == f.Short && name != f.Name {
			return f, strings.TrimPrefix(word[2:], "="), true, nil // -mNAME, -m=NAME
		}
		if long && f.Name != name || !long && f.Short != name || name == "" {
			continue
		}
		if inline && f.Arg == "" {
			return f, "", false, fmt.Errorf("flag --%s takes no value", f.Name)
		}
		return f, value, inline, nil
	}
	return nil, "", false, t.unknownFlag(word, name, words)
}

// takeValue takes the next word as a flag's value and returns what is left. A
// word with two hyphens is taken for a flag whose predecessor lacks its value:
// "-m --json" is a mistake more often than a model of that name, which can be
// written as --model=--json.
func (f *Flag[S]) takeValue(word string, list []string) (string, []string, error) {
	if len(list) == 0 || strings.HasPrefix(list[0], "--") {
		return "", nil, fmt.Errorf("flag %s needs a value: --%s %s", word, f.Name, f.Arg)
	}
	return list[0], list[1:], nil
}

// apart complains about the value of an inline flag that stands as a word behind it,
// and would else be a word of the prompt.
func (f *Flag[S]) apart(value string) error {
	return fmt.Errorf("flag --%s takes its value behind =, as --%s=%s; behind -- %s is a word of its own", f.Name, f.Name, value, value)
}

// mostMeant is how many flags that begin with a word are named.
const mostMeant = 4

// unknownFlag tells of a flag that there is not, with the one that it begins, or is
// like. The hyphens do not count for its likeness to others.
func (t *Table[S, R]) unknownFlag(word, name string, words []string) error {
	var names, longer []string
	for _, f := range t.Flags {
		names = append(names, f.Name)
		if len(name) > 1 && strings.HasPrefix(f.Name, name) {
			longer = append(longer, f.Name)
		}
	}
	word, _, _ = strings.Cut(word, "=")
	near, ok := config.Nearest(name, names)
	switch {
	case len(longer) == 1:
		near, ok = longer[0], true
	case len(longer) > 1 && len(longer) <= mostMeant && !slices.Contains(longer, near):
		return fmt.Errorf("unknown flag %s; those that begin so: --%s", Quote(word), strings.Join(longer, ", --"))
	}
	if ok {
		return fmt.Errorf("unknown flag %s, did you mean %q?", Quote(word), "--"+near)
	}
	command, literal := "COMMAND", ""
	if line := t.line(words); line.Unknown == nil && line.Name != "" {
		command = line.Name
		if len(name) > 1 && !strings.HasPrefix(word, "--") && strings.Contains(line.Command.Args, "…") {
			literal = "; behind -- it is a word"
		}
	}
	return fmt.Errorf("unknown flag %s; %s %s --help lists its flags%s", Quote(word), t.Program, command, literal)
}

// unknownCommand tells of a word that is no command. below is the command of
// whose own commands it is none; empty: it is the first word.
func (t *Table[S, R]) unknownCommand(below, word string, known []Command[R]) error {
	var names []string
	for _, c := range known {
		names = append(names, c.Name)
	}
	err := Unknown("command", word, names)
	if below != "" {
		return fmt.Errorf("%s %s: %w", t.Program, below, err)
	}
	return llm.Errorf(llm.CauseBadRequest, "%w", err).
		WithHint(fmt.Sprintf("a task is given as: %s run %s, or %[1]s -- %[2]s", t.Program, Quote(word)))
}

// Unknown tells of a word that is none of those known, with the nearest of them.
func Unknown(what, word string, known []string) error {
	choices := strings.Join(known, ", ")
	if near, ok := config.Nearest(word, known); ok {
		return fmt.Errorf("unknown %s %s, did you mean %q? known: %s", what, Quote(word), near, choices)
	}
	return fmt.Errorf("unknown %s %s; known: %s", what, Quote(word), choices)
}

// Quote quotes a word of the command line for an error, the start of a long one: it
// may be a whole file that a shell put in.
func Quote(word string) string {
	const most = 60 // bytes
	if len(word) <= most {
		return strconv.Quote(word)
	}
	start := strings.ToValidUTF8(word[:most], "")
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(start), len(word))
}

// maxName bounds the name of a file or directory, in bytes: no system opens a longer
// one, and each would say so with all of it.
const maxName = 4096

// checkName complains about what can be no name.
func checkName(v string) error {
	switch {
	case v == "":
		return errNoName
	case len(v) > maxName:
		return fmt.Errorf("a name of %d bytes is longer than can be: %s", len(v), Quote(v))
	}
	return nil
}

// errNoName tells of a name that was not given, as by a variable that is not set.
var errNoName = errors.New("the name is empty")

// On makes a setter of a flag without a value.
func On[S any](field func(*S) *bool) func(*S, string) error {
	return func(s *S, _ string) error {
		*field(s) = true
		return nil
	}
}

// Named makes a setter of a flag that names a file or a directory. An empty name
// is a variable that was not set, and must not count as not given.
func Named[S any](field func(*S) *string) func(*S, string) error {
	return func(s *S, v string) error {
		if err := checkName(v); err != nil {
			return err
		}
		*field(s) = v
		return nil
	}
}

// Each makes a setter of a flag that names one thing each time it is given.
func Each[S any](field func(*S) *[]string) func(*S, string) error {
	return func(s *S, v string) error {
		if err := checkName(v); err != nil {
			return err
		}
		*field(s) = append(*field(s), v)
		return nil
	}
}
