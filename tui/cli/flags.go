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
	task      taskFlags
	sessions  sessionFlags
	cwd       string
	config    string
	db        string
	effort    string
	disable   []string
	json      bool
	quiet     bool
	noColor   bool
	keep      bool
	store     bool
	fix       bool
	version   bool
	help      bool
}

// taskFlags say which session a task goes to, and what goes with it.
type taskFlags struct {
	session       string
	requestID     string
	correlationID string
	images        []string
	last          bool
	// acknowledge: calls of which nobody knows whether they had their effect do
	// not hold the run up.
	acknowledge bool
}

// sessionFlags belong to the commands about stored sessions.
type sessionFlags struct {
	all, here   bool
	limit       int // 0: not given
	markdown    bool
	output      string
	off         bool
	label       *string
	workspace   string
	yes         bool
	acknowledge bool
}

// flag is one row of the table of flags.
type flag struct {
	name  string
	short string
	// arg names the value; empty: the flag takes none.
	arg string
	// in lists the only commands that take the flag; nil: those that work on a
	// task do, and with everywhere all.
	in         []string
	everywhere bool
	help       string
	set        func(s *settings, value string) error
}

// taskVerbs are the commands that work on a task with a model.
func taskVerbs() []string { return []string{"run", "resume"} }

// storeVerbs are the commands that open the session database.
func storeVerbs() []string {
	list := append(taskVerbs(), "doctor")
	for _, v := range sessionVerbs() {
		list = append(list, "sessions "+v.name)
	}
	return list
}

// takenBy reports whether a command takes the flag.
func (f flag) takenBy(verb string) bool {
	switch {
	case f.everywhere:
		return true
	case f.in == nil:
		return slices.Contains(taskVerbs(), verb)
	}
	return slices.Contains(f.in, verb)
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
	list := slices.Concat(commonFlags(), taskFlagRows(), sessionFlagRows())
	slices.SortFunc(list, func(a, b flag) int { return strings.Compare(a.name, b.name) })
	return list
}

// commonFlags are those of all commands, of all that work on a task, and of
// single ones without much of their own.
func commonFlags() []flag {
	return []flag{
		{name: "add-dir", arg: "DIR", help: "open one more directory to the tools; may be repeated",
			set: func(s *settings, v string) error {
				s.overrides.AddDirs = append(s.overrides.AddDirs, v)
				return nil
			}},
		{name: "allow-external", help: "allow calls to the network or of unknown effect",
			set: on(func(s *settings) *bool { return &s.policy.AllowExternal })},
		{name: "allow-process", help: "allow running programs",
			set: on(func(s *settings) *bool { return &s.policy.AllowProcess })},
		{name: "allow-write", help: "allow changing files of the workspace",
			set: on(func(s *settings) *bool { return &s.policy.AllowWrite })},
		{name: "base-url", arg: "URL", help: "the server to ask, as http://127.0.0.1:8080/v1",
			set: func(s *settings, v string) error { s.overrides.BaseURL = &v; return nil }},
		{name: "config", arg: "FILE", help: "read this configuration over the global one",
			set: named(func(s *settings) *string { return &s.config })},
		{name: "cwd", arg: "DIR", in: append(taskVerbs(), "sessions list", "sessions show", "sessions export"), help: "work in this directory",
			set: named(func(s *settings) *string { return &s.cwd })},
		{name: "db", arg: "FILE", in: storeVerbs(), help: "use this session database",
			set: named(func(s *settings) *string { return &s.db })},
		{name: "disable-plugin", arg: "ID", help: "leave a built-in plugin out; may be repeated",
			set: func(s *settings, v string) error { s.disable = append(s.disable, v); return nil }},
		{name: "effort", arg: "LEVEL", help: "reasoning effort, from none to max",
			set: setEffort},
		{name: "fix", in: []string{"doctor"}, help: "with --store: repair what can be, after a backup",
			set: on(func(s *settings) *bool { return &s.fix })},
		{name: "help", everywhere: true, short: "h", help: "print help",
			set: on(func(s *settings) *bool { return &s.help })},
		{name: "json", in: jsonVerbs(), help: "print one JSON object a line, and nothing else",
			set: on(func(s *settings) *bool { return &s.json })},
		{name: "keep", in: []string{"demo"}, help: "keep the demonstration's repository, and say where",
			set: on(func(s *settings) *bool { return &s.keep })},
		{name: "max-turns", arg: "N", help: "stop after so many answers of the model; default: 100",
			set: setMaxTurns},
		{name: "mode", arg: "MODE", help: "permission mode: ask, auto (writes allowed), full",
			set: func(s *settings, v string) error { s.overrides.Mode = &v; return nil }},
		{name: "model", short: "m", arg: "NAME", help: "the model to ask",
			set: func(s *settings, v string) error { s.overrides.Model = &v; return nil }},
		{name: "no-color", everywhere: true, help: "print without colour, as NO_COLOR does",
			set: on(func(s *settings) *bool { return &s.noColor })},
		{name: "quiet", everywhere: true, help: "print nothing but the answer, or the list, and errors",
			set: on(func(s *settings) *bool { return &s.quiet })},
		{name: "read-only", help: "allow no change of anything, whatever else is said",
			set: on(func(s *settings) *bool { return &s.policy.ReadOnly })},
		{name: "store", in: []string{"doctor"}, help: "check the session database",
			set: on(func(s *settings) *bool { return &s.store })},
		{name: "version", everywhere: true, short: "V", help: "print the version",
			set: on(func(s *settings) *bool { return &s.version })},
	}
}

// jsonVerbs are the commands that print events or lists.
func jsonVerbs() []string {
	return append(taskVerbs(), "demo", "doctor", "sessions delete", "sessions list", "sessions recover", "sessions show")
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
