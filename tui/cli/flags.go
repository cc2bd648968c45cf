package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"alisio/agent/config"
	"alisio/agent/perm"
)

// settings is what flags set; a zero field was not given. What the configuration
// knows too goes through overrides, so that its checks and its order of layers
// hold for flags as well.
type settings struct {
	overrides config.Overrides
	policy    perm.Policy
	cwd       string
	config    string
	effort    string
	disable   []string
	json      bool
	quiet     bool
	noColor   bool
	keep      bool
	version   bool
	help      bool
}

// flag is one row of the table of flags.
type flag struct {
	name  string
	short string
	// arg names the value; empty: the flag takes none.
	arg string
	// verb is the only command that takes the flag; empty: all that work on a
	// task do, and with everywhere the others too.
	verb       string
	everywhere bool
	help       string
	set        func(s *settings, value string) error
}

// on makes a setter of a flag without a value.
func on(field func(*settings) *bool) func(*settings, string) error {
	return func(s *settings, _ string) error {
		*field(s) = true
		return nil
	}
}

// named makes a setter of a flag that names a file or a directory. An empty name
// is a variable that was not set, and must not count as not given.
func named(field func(*settings) *string) func(*settings, string) error {
	return func(s *settings, v string) error {
		if v == "" {
			return errors.New("the name is empty")
		}
		*field(s) = v
		return nil
	}
}

// flags is the table of flags, sorted by name.
func flags() []flag {
	return []flag{
		{name: "add-dir", arg: "DIR", help: "open one more directory to the tools; may be repeated",
			set: func(s *settings, v string) error {
				s.overrides.AddDirs = append(s.overrides.AddDirs, v)
				return nil
			}},
		{name: "allow-external", help: "allow calls that reach the network or of unknown effect",
			set: on(func(s *settings) *bool { return &s.policy.AllowExternal })},
		{name: "allow-process", help: "allow running programs",
			set: on(func(s *settings) *bool { return &s.policy.AllowProcess })},
		{name: "allow-write", help: "allow changing files of the workspace",
			set: on(func(s *settings) *bool { return &s.policy.AllowWrite })},
		{name: "base-url", arg: "URL", help: "the server to ask, for instance http://127.0.0.1:8080/v1",
			set: func(s *settings, v string) error { s.overrides.BaseURL = &v; return nil }},
		{name: "config", arg: "FILE", help: "read this configuration over the global one",
			set: named(func(s *settings) *string { return &s.config })},
		{name: "cwd", arg: "DIR", help: "work in this directory",
			set: named(func(s *settings) *string { return &s.cwd })},
		{name: "disable-plugin", arg: "ID", help: "leave a built-in plugin out; may be repeated",
			set: func(s *settings, v string) error { s.disable = append(s.disable, v); return nil }},
		{name: "effort", arg: "LEVEL", help: "reasoning effort, from none to max",
			set: setEffort},
		{name: "help", everywhere: true, short: "h", help: "print help",
			set: on(func(s *settings) *bool { return &s.help })},
		{name: "json", everywhere: true, help: "print every event as a line of JSON, and nothing else",
			set: on(func(s *settings) *bool { return &s.json })},
		{name: "keep", verb: "demo", help: "keep the demonstration's repository and say where it is",
			set: on(func(s *settings) *bool { return &s.keep })},
		{name: "max-turns", arg: "N", help: "stop after so many answers of the model; 100 by default",
			set: setMaxTurns},
		{name: "mode", arg: "MODE", help: "permission mode: ask, auto (writes allowed), full",
			set: func(s *settings, v string) error { s.overrides.Mode = &v; return nil }},
		{name: "model", short: "m", arg: "NAME", help: "the model to ask",
			set: func(s *settings, v string) error { s.overrides.Model = &v; return nil }},
		{name: "no-color", everywhere: true, help: "print without colour, as NO_COLOR does",
			set: on(func(s *settings) *bool { return &s.noColor })},
		{name: "quiet", everywhere: true, help: "print nothing but the model's text and errors",
			set: on(func(s *settings) *bool { return &s.quiet })},
		{name: "read-only", help: "allow no change of anything, whatever else is said",
			set: on(func(s *settings) *bool { return &s.policy.ReadOnly })},
		{name: "version", everywhere: true, short: "V", help: "print the version",
			set: on(func(s *settings) *bool { return &s.version })},
	}
}

func efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

func setEffort(s *settings, v string) error {
	if !slices.Contains(efforts(), v) {
		return unknown("effort", v, efforts())
	}
	s.effort = v
	return nil
}

func setMaxTurns(s *settings, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil {
		return fmt.Errorf("found %q, allowed: a whole number from 1", v)
	}
	s.overrides.MaxTurns = &n
	return nil
}

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
	if len(words) > 0 {
		c.verb, c.args = words[0], words[1:]
	}
	for _, f := range used {
		switch {
		case c.help || c.version || f.everywhere || f.verb == c.verb:
		case f.verb != "":
			return nil, fmt.Errorf("flag --%s belongs to: alisio %s", f.name, f.verb)
		case c.verb == "demo" || c.verb == "help" || c.verb == "version":
			return nil, fmt.Errorf("flag --%s means nothing to: alisio %s", f.name, c.verb)
		}
	}
	return c, nil
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
