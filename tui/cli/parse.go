package cli

import (
	"slices"

	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
)

// commandLine is the table of all commands and flags.
func commandLine() *args.Table[settings, runner] {
	return &args.Table[settings, runner]{Program: "alisio", Commands: verbs(), Flags: flags(), Tasks: taskVerbs()}
}

// parse reads the arguments.
func parse(env Env) (*call, error) {
	c := &call{plugins: env.Plugins, tools: env.Tools, changelog: env.Changelog, script: env.Script}
	c.Call = base.Call{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv}
	line, err := commandLine().Parse(env.Args, &c.settings, func(s *settings) bool { return !s.help && !s.version })
	c.Verb, c.cmd, c.Args, c.literal, c.unknown = line.Name, line.Command, line.Words, line.Literal, line.Unknown
	return c, err
}

// resolve finds the command that the first words name.
func resolve(words []string) args.Line[runner] {
	return commandLine().Resolve(slices.Clone(words))
}
