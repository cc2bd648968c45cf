package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

// Recover shows the calls of a session of which nobody knows whether they had
// their effect, and records with --acknowledge that a person knows of them. That
// also frees a session from a pid of which an older program kept nothing else.
func Recover(ctx context.Context, c *Call) (int, error) {
	find, err := c.Named(false)
	if err != nil {
		return base.ExitUsage, err
	}
	dir, err := c.WorkingDir()
	if err != nil {
		return base.ExitUsage, err
	}
	store, code, err := c.Database(ctx)
	if err != nil {
		return code, err
	}
	found, code, err := find(ctx, store)
	if err != nil {
		store.Close()
		return code, err
	}
	s := found[0]
	// The tools say what a call of theirs could have done.
	app, err := agent.New(ctx, agent.Options{
		Dir: dir, Config: config.Default(), Plugins: c.Plugins, Tools: c.Tools, Store: store, Getenv: c.Getenv,
	})
	if err != nil {
		store.Close()
		return base.ExitFailed, err
	}
	defer base.CloseApp(&c.Call, app)
	calls, err := app.Recover(ctx, s.ID, c.Acknowledge)
	var busy *agent.BusyError
	if c.Acknowledge && errors.As(err, &busy) && busy.Doubtful {
		if err = store.ForgetOwner(ctx, s.ID); err == nil {
			c.Notice("process %d no longer counts as working in session %s", busy.PID, s.ID)
			calls, err = app.Recover(ctx, s.ID, true)
		}
	}
	if err != nil {
		return base.ExitFailed, err
	}
	return c.recovered(ctx, store, s, calls)
}

// recovered tells of the calls, and of what became of them. Not acknowledged they
// are an error, so that a script which asks does not go on.
func (c *Call) recovered(ctx context.Context, store *agent.Store, s agent.Session, calls []agent.StoredCall) (int, error) {
	open, err := openCalls(ctx, store, s.ID, calls)
	if err != nil {
		return base.ExitFailed, err
	}
	for _, o := range open {
		if c.JSON {
			err = c.PrintJSON(json.Marshal(o))
		} else {
			err = c.Print(o.line() + "\n")
		}
		if err != nil {
			return base.ExitFailed, err
		}
	}
	switch n := len(open); {
	case n == 0:
		c.Notice("session %s is not uncertain: there is nothing to recover", s.ID)
	case c.Acknowledge:
		c.Notice("recorded: the effect of %s is unknown, and the session can go on", plain.Count(n, "call", "calls"))
	default:
		return base.ExitUncertain, &llm.Error{
			Cause:   llm.CauseUncertain,
			Message: "session " + s.ID + " is uncertain: " + died(n),
			Hint:    lookAt(open) + ", then: " + c.Command("sessions recover "+text.ShellWord(s.ID)) + " --acknowledge",
		}
	}
	return base.ExitDone, nil
}

// died tells what is not known of so many calls.
func died(n int) string {
	if n == 1 {
		return "the program died during 1 call, and it is not known whether it took effect"
	}
	return fmt.Sprintf("the program died during %d calls, and it is not known whether they took effect", n)
}

// lookAt tells what a person has to look at before such calls are acknowledged.
func lookAt(open []openCall) string {
	look, starter := "look what became of it", "it"
	if len(open) > 1 {
		look, starter = "look what became of them", "one of them"
	}
	if slices.ContainsFunc(open, func(o openCall) bool { return o.Effect == string(plug.EffectProcess) }) {
		look += " (a program that " + starter + " started may still be running)"
	}
	return look
}

// Uncertain is the error of a run that an uncertain session refuses: which calls
// these are, and the way on.
func Uncertain(ctx context.Context, c *base.Call, store *agent.Store, err *agent.UncertainError) error {
	open, readErr := openCalls(ctx, store, err.Session, err.Calls)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	var b strings.Builder
	b.WriteString("session " + err.Session + " is uncertain: " + died(len(open)))
	for _, o := range open {
		b.WriteString("\n" + o.line())
	}
	return &llm.Error{
		Cause: llm.CauseUncertain, Message: b.String(),
		Hint: lookAt(open) + ", then: " + c.Command("sessions recover "+text.ShellWord(err.Session)) +
			" --acknowledge; or go on with --acknowledge-uncertain",
	}
}

// openCall is a call without a known end, as --json prints it. Arguments is the JSON
// text that the model gave; Started is absent in rows of old programs.
type openCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
	Effect    string `json:"effect,omitempty"`
	Started   string `json:"startedAt,omitempty"`
	RunID     string `json:"runId,omitempty"`
}

func (o openCall) line() string {
	const maxCall = 120 // cells
	line := text.Clip(text.Line(o.Name+" "+o.Arguments), maxCall)
	if o.Started != "" {
		line += " · started " + o.Started
	}
	return line + " · " + text.Line(o.ID)
}

// openCalls adds to rows of the journal what the conversation says of them: the
// journal keeps no arguments, and that of old programs no names.
func openCalls(ctx context.Context, store *agent.Store, id string, calls []agent.StoredCall) ([]openCall, error) {
	list := make([]openCall, len(calls))
	index := make(map[string]int, len(calls))
	for i, row := range calls {
		list[i] = openCall{
			ID: row.ID, Name: row.Name, Effect: string(row.Effect), Started: stamp(row.Started), RunID: row.RunID,
		}
		index[row.ID] = i
	}
	if len(calls) == 0 || store == nil {
		return list, nil
	}
	err := eachMessage(ctx, store, id, func(m agent.Stored) error {
		for _, asked := range m.Message.Calls {
			if i, ok := index[asked.ID]; ok {
				list[i].Arguments = string(asked.Arguments)
				if list[i].Name == "" {
					list[i].Name = asked.Name
				}
			}
		}
		return nil
	})
	return list, err
}
