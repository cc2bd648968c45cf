package cli

import (
	"fmt"
	"slices"
	"strings"

	"alisio/agent/config"
)

// parse reads the arguments. Flags may stand anywhere before "--"; the first
// other word is the command.
func parse(env Env) (*call, error) {
	c := &call{Env: env}
	var words []string
	var used []flag
	for args := env.Args; len(args) > 0; {
		word := args[0]
		args = args[1:]
		if word == "--" {
			words = append(words, args...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			words = append(words, word)
			continue
		}
		f, value, inline, err := find(word)
		if err != nil {
			return nil, err
		}
		if f.arg != "" && !inline {
			if value, args, err = takeValue(f, word, args); err != nil {
				return nil, err
			}
		}
		if err := f.set(&c.settings, value); err != nil {
			return nil, fmt.Errorf("flag --%s: %w", f.name, err)
		}
		used = append(used, f)
	}
	c.verb, c.cmd, c.args, c.unknown = resolve(words)
	for _, f := range used {
		if err := c.misplaced(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// misplaced complains about a flag that means nothing to the command. Of a
// command that is unknown that is told first, and help is given to everybody.
func (c *call) misplaced(f flag) error {
	switch {
	case c.help, c.version, f.takenBy(c.verb), c.cmd.run == nil:
		return nil
	case f.in != nil && len(f.in) <= 3:
		return fmt.Errorf("flag --%s belongs to: alisio %s", f.name, strings.Join(f.in, ", alisio "))
	case f.in != nil:
		return fmt.Errorf("flag --%s means nothing to: alisio %s; its flags: alisio %s --help", f.name, c.verb, c.verb)
	}
	return fmt.Errorf("flag --%s means nothing to: alisio %s; it belongs to: alisio %s",
		f.name, c.verb, strings.Join(taskVerbs(), ", alisio "))
}

// resolve finds the command that the first words name: its whole name, its row,
// and the words after it.
func resolve(words []string) (name string, v verb, rest []string, err error) {
	list := verbs()
	for len(words) > 0 {
		i := slices.IndexFunc(list, func(v verb) bool { return v.name == words[0] })
		if i < 0 {
			err = unknownVerb(name, words[0], list)
			return strings.TrimPrefix(name+" "+words[0], " "), verb{}, words[1:], err
		}
		v, words = list[i], words[1:]
		name = strings.TrimPrefix(name+" "+v.name, " ")
		if list = v.subs; list == nil {
			break
		}
	}
	return name, v, words, nil
}

// find looks a flag up and splits "--flag=value".
func find(word string) (f flag, value string, inline bool, err error) {
	name, value, inline := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	long := strings.HasPrefix(word, "--")
	for _, f := range flags() {
		if !long && f.short != "" && f.arg != "" && len(word) > 2 && word[1:2] == f.short && name != f.name {
			return f, strings.TrimPrefix(word[2:], "="), true, nil // -mNAME, -m=NAME
		}
		if long && f.name != name || !long && f.short != name || name == "" {
			continue
		}
		if inline && f.arg == "" {
			return f, "", false, fmt.Errorf("flag --%s takes no value", f.name)
		}
		return f, value, inline, nil
	}
	return flag{}, "", false, unknownFlag(word, name)
}

// unknownFlag tells of a flag that there is not. The hyphens do not count for
// its likeness to others.
func unknownFlag(word, name string) error {
	names := make([]string, 0, len(flags()))
	for _, f := range flags() {
		names = append(names, f.name)
	}
	word, _, _ = strings.Cut(word, "=")
	if near, ok := config.Nearest(name, names); ok {
		return fmt.Errorf("unknown flag %q, did you mean %q?", word, "--"+near)
	}
	return fmt.Errorf("unknown flag %q; alisio help lists the flags", word)
}

// takeValue takes the next word as a flag's value and returns what is left. A
// word with two hyphens is taken for a flag whose predecessor lacks its value:
// "-m --json" is a mistake more often than a model of that name, which can be
// written as --model=--json.
func takeValue(f flag, word string, args []string) (string, []string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "--") {
		return "", nil, fmt.Errorf("flag %s needs a value: --%s %s", word, f.name, f.arg)
	}
	return args[0], args[1:], nil
}
