package cli

import (
	"slices"

	"alisio/tui/cli/args"
)

// commandLine is the table of all commands and flags.
func commandLine() *args.Table[settings, runner] {
	return &args.Table[settings, runner]{
		Program: "alisio", Commands: verbs(), Flags: flags(), Tasks: taskVerbs(),
		Values: func(arg string) []string {
			if arg != "TOPIC" {
				return nil
			}
			list := topics()
			for _, v := range verbs() {
				list = append(list, v.Name)
			}
			slices.Sort(list)
			return slices.Compact(list)
		},
	}
}

// parse reads the arguments.
func parse(env Env) (*call, error) {
	c := &call{Env: env}
	line, err := commandLine().Parse(env.Args, &c.settings, func(s *settings) bool { return !s.help && !s.version })
	c.verb, c.cmd, c.args, c.unknown = line.Name, line.Command, line.Words, line.Unknown
	return c, err
}

// resolve finds the command that the first words name.
func resolve(words []string) args.Line[runner] {
	return commandLine().Resolve(slices.Clone(words))
}
