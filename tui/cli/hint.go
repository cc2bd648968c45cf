package cli

import (
	"errors"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
)

// lasting adds to an error of a server, which has nothing to do with the task, that
// what was done until then is kept.
func lasting(err error) error {
	const kept = "nothing was lost: what was done so far is kept"
	var failed *llm.Error
	if !errors.As(err, &failed) {
		return err
	}
	switch failed.Cause {
	case llm.CauseUnreachable, llm.CauseServer, llm.CauseRateLimited, llm.CauseStream:
	default:
		return err
	}
	told := *failed
	if told.Hint == "" {
		told.Hint = "try again in a while"
	}
	told.Hint += "; " + kept
	return &told
}

// onward adds to an error of a run whose time was used up how to go on: the surface
// knows, where a new prompt is a new session.
func onward(err error, how string) error {
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Cause != llm.CauseTimeout {
		return err
	}
	told := *failed
	told.Hint = strings.TrimPrefix(told.Hint+"; "+how, "; ")
	return &told
}

// advised adds to an error of the database what can be done about it: only here it
// is known which one this command was called with.
func (c *call) advised(err error) error {
	var told *llm.Error
	if errors.As(err, &told) && told.Hint != "" {
		return err
	}
	var damaged *agent.DamagedError
	var foreign *agent.ForeignError
	var busy *agent.BusyError
	hint := ""
	switch {
	case errors.As(err, &foreign):
		hint = "name another with ALISIO_STATE_HOME or --db"
	case errors.As(err, &damaged) && damaged.Text:
		hint = "it never was a database: move it away"
	case errors.As(err, &damaged) && c.fix:
		hint = "nothing of it can be recovered: move it away"
	case errors.As(err, &damaged):
		hint = "to set it aside and recover what can be read: " + c.Command("doctor --store --fix")
	case errors.As(err, &busy) && busy.Doubtful:
		hint = "if that process is no Alisio: " + c.Command("sessions recover "+text.ShellWord(busy.Session)) + " --acknowledge"
	case errors.As(err, &busy):
		hint = agent.BusyHint
	default:
		return err
	}
	return llm.Errorf(llm.CauseOf(err), "%w", err).WithHint(hint)
}
