package args

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// callWidth is how wide the calls are in a list of commands, in characters: the help
// of a longer one stands below it.
const callWidth = 32

// CommandLines lists commands, a line each; before is the name of the command
// that holds them.
func (t *Table[S, R]) CommandLines(before string, list []Command[R]) string {
	var b strings.Builder
	for _, c := range list {
		call := strings.Join(strings.Fields(strings.Join([]string{t.Program, before, c.Name, c.Args}, " ")), " ")
		if utf8.RuneCountInString(call) > callWidth {
			call += "\n  " + strings.Repeat(" ", callWidth)
		}
		fmt.Fprintf(&b, "  %-*s %s\n", callWidth, call, c.Help)
	}
	return b.String()
}

// FlagLines lists the flags that any of these commands takes.
func (t *Table[S, R]) FlagLines(names ...string) string {
	var b strings.Builder
	for i := range t.Flags {
		f := &t.Flags[i]
		if !slices.ContainsFunc(names, func(name string) bool { return t.taken(f, name) }) {
			continue
		}
		fmt.Fprintf(&b, "  %-24s %s\n", f.usage(), f.Help)
	}
	return b.String()
}

// usage is the flag as it is typed.
func (f *Flag[S]) usage() string {
	name := "--" + f.Name
	if f.Short != "" {
		name = "-" + f.Short + ", " + name
	}
	switch {
	case f.Arg == "":
		return name
	case f.Inline:
		return name + "[=" + f.Arg + "]"
	}
	return name + " " + f.Arg
}

// Names are the whole names of all commands that do something, in their order.
func (t *Table[S, R]) Names() []string {
	var names []string
	var add func(before string, list []Command[R])
	add = func(before string, list []Command[R]) {
		for _, c := range list {
			name := strings.TrimPrefix(before+" "+c.Name, " ")
			if c.Group() {
				add(name, c.Subs)
				continue
			}
			names = append(names, name)
		}
	}
	add("", t.Commands)
	return names
}
