package cli

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
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
		{name: "acknowledge", in: only("recover"), help: "record that the effect of these calls is unknown",
			set: on(func(s *settings) *bool { return &s.sessions.acknowledge })},
		{name: "all", in: only("list"), help: "also archived sessions, and those that agents started",
			set: on(func(s *settings) *bool { return &s.sessions.all })},
		{name: "here", in: only("list"), help: "only sessions of this workspace",
			set: on(func(s *settings) *bool { return &s.sessions.here })},
		{name: "label", arg: "TEXT", in: only("pin"), help: "with --workspace: what to call it; empty: nothing",
			set: setLabel},
		{name: "limit", arg: "N", in: only("list"), help: "list so many sessions; 50 by default",
			set: setLimit},
		{name: "markdown", in: only("export"), help: "for reading; it can not be imported again",
			set: on(func(s *settings) *bool { return &s.sessions.markdown })},
		{name: "off", in: only("pin", "archive"), help: "take it back",
			set: on(func(s *settings) *bool { return &s.sessions.off })},
		{name: "output", arg: "FILE", in: only("export"), help: "write to a new file instead of standard output",
			set: named(func(s *settings) *string { return &s.sessions.output })},
		{name: "workspace", arg: "DIR", in: only("pin"), help: "pin a workspace instead of a session",
			set: named(func(s *settings) *string { return &s.sessions.workspace })},
		{name: "yes", in: only("delete"), help: "delete; without it, only what would go is printed",
			set: on(func(s *settings) *bool { return &s.sessions.yes })},
	}
}

// maxLimit is the longest list, in sessions.
const maxLimit = 10_000

func setLimit(s *settings, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxLimit {
		return fmt.Errorf("found %s, allowed: a whole number from 1 to %d", clipped(v), maxLimit)
	}
	s.sessions.limit = n
	return nil
}

func setLabel(s *settings, v string) error {
	if utf8.RuneCountInString(v) > maxLabel {
		return errors.New("the label is longer than 200 characters")
	}
	s.sessions.label = &v
	return nil
}
