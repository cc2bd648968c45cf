package cli

import (
	"errors"
	"fmt"

	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
)

// maxID bounds a request or correlation id, in bytes.
const maxID = 200

// taskFlagRows are the flags that say which session a task goes to, and what
// goes with it.
func taskFlagRows() []flag {
	return []flag{
		{Name: "acknowledge-uncertain", Help: "go on although calls may have taken effect",
			Set: args.On(func(s *settings) *bool { return &s.task.acknowledge })},
		{Name: "correlation-id", Arg: "ID", Help: "put this id on every event of the run",
			Set: anID(func(s *settings) *string { return &s.task.correlationID })},
		{Name: "image", Arg: "FILE", Help: "give an image with the task; may be repeated",
			Set: args.Each(func(s *settings) *[]string { return &s.task.images })},
		{Name: "last", In: append(lastVerbs(), "resume"), Help: "the newest session of this workspace",
			Set: args.On(func(s *settings) *bool { return &s.Last })},
		{Name: "request-id", Arg: "ID", Help: "work on a request once: again, its answer is repeated",
			Set: anID(func(s *settings) *string { return &s.task.requestID })},
		{Name: "session", Arg: "SESSION", In: []string{"run"}, Help: "go on with this session; an id or how it begins",
			Set: args.Named(func(s *settings) *string { return &s.task.session })},
	}
}

// lastVerbs are the commands about one stored session, or more, that take the newest
// of the workspace.
func lastVerbs() []string {
	return []string{"sessions delete", "sessions export", "sessions recover", "sessions rename", "sessions show"}
}

// anID makes a setter of an id that somebody else made up. It is stored,
// compared and printed: 1 to 200 printable ASCII characters without a space.
func anID(field func(*settings) *string) func(*settings, string) error {
	return func(s *settings, v string) error {
		if v == "" {
			return errors.New("the id is empty; allowed: 1 to 200 printable ASCII characters without spaces")
		}
		for i := range len(v) {
			if v[i] <= ' ' || v[i] > '~' || i == maxID {
				return fmt.Errorf("found %s, allowed: 1 to 200 printable ASCII characters without spaces", base.Clipped(v))
			}
		}
		*field(s) = v
		return nil
	}
}
