package cli

import (
	"errors"
	"fmt"
	"strconv"
)

// maxID bounds a request or correlation id, in bytes.
const maxID = 200

// taskFlagRows are the flags that say which session a task goes to, and what
// goes with it.
func taskFlagRows() []flag {
	return []flag{
		{name: "acknowledge-uncertain", help: "go on although calls may have taken effect",
			set: on(func(s *settings) *bool { return &s.task.acknowledge })},
		{name: "correlation-id", arg: "ID", help: "put this id on every event of the run",
			set: anID(func(s *settings) *string { return &s.task.correlationID })},
		{name: "image", arg: "FILE", help: "give an image with the task; may be repeated",
			set: func(s *settings, v string) error {
				if v == "" {
					return errors.New("the name is empty")
				}
				s.task.images = append(s.task.images, v)
				return nil
			}},
		{name: "last", in: []string{"resume", "sessions show", "sessions export"}, help: "the newest session of this workspace",
			set: on(func(s *settings) *bool { return &s.task.last })},
		{name: "request-id", arg: "ID", help: "work on a request once: again, its answer is repeated",
			set: anID(func(s *settings) *string { return &s.task.requestID })},
		{name: "session", arg: "ID", in: []string{"run"}, help: "go on with this session; an id or how it begins",
			set: named(func(s *settings) *string { return &s.task.session })},
	}
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
				return fmt.Errorf("found %s, allowed: 1 to 200 printable ASCII characters without spaces", clipped(v))
			}
		}
		*field(s) = v
		return nil
	}
}

// clipped quotes a word of the command line for an error: short, and in ASCII, since
// what is wrong with it is often not to be seen.
func clipped(v string) string {
	const most = 40
	if len(v) <= most {
		return strconv.QuoteToASCII(v)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.QuoteToASCII(v[:most]), len(v))
}
