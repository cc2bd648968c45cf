package cli

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
	"alisio/tui/cli/sessions"
)

// maxLabel bounds a workspace's label, in characters.
const maxLabel = 200

// sessionFlagRows are the flags of the commands about stored sessions.
func sessionFlagRows() []flag {
	only := func(verbs ...string) []string {
		for i, v := range verbs {
			verbs[i] = "sessions " + v
		}
		return verbs
	}
	return []flag{
		{Name: "acknowledge", In: only("recover"), Help: "record that the effect of these calls is unknown",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Acknowledge })},
		{Name: "all", In: only("list"), Help: "also archived sessions, and those that agents started",
			Set: args.On(func(s *settings) *bool { return &s.sessions.All })},
		{Name: "here", In: only("list", "search"), Help: "only sessions of this workspace",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Here })},
		{Name: "label", Arg: "TEXT", In: only("pin"), Help: "with --workspace: what to call it; empty: nothing",
			Set: setLabel},
		{Name: "limit", Arg: "N", In: only("list", "search"), Help: "so many sessions; a list has 50, a search 20",
			Set: setLimit},
		{Name: "markdown", In: only("export"), Help: "for reading; it can not be imported again",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Markdown })},
		{Name: "off", In: only("pin", "archive"), Help: "take it back",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Off })},
		{Name: "output", Arg: "FILE", In: only("export"), Help: "write to a new file instead of standard output",
			Set: args.Named(func(s *settings) *string { return &s.sessions.Output })},
		{Name: "prefix", In: only("show"), Help: "only the bytes that requests share with the last",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Prefix })},
		{Name: "usage", In: only("show"), Help: "only what its requests took, and for what",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Usage })},
		{Name: "workspace", Arg: "DIR", In: only("pin"), Help: "pin a workspace instead of a session",
			Set: args.Named(func(s *settings) *string { return &s.sessions.Workspace })},
		{Name: "yes", In: only("delete"), Help: "delete; without it, only what would go is printed",
			Set: args.On(func(s *settings) *bool { return &s.sessions.Yes })},
	}
}

func setLimit(s *settings, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > sessions.MaxLimit {
		return fmt.Errorf("found %s, allowed: a whole number from 1 to %d", base.Clipped(v), sessions.MaxLimit)
	}
	s.sessions.Limit = n
	return nil
}

func setLabel(s *settings, v string) error {
	if utf8.RuneCountInString(v) > maxLabel {
		return errors.New("the label is longer than 200 characters")
	}
	s.sessions.Label = &v
	return nil
}
