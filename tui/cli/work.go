package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/cli/base"
	"alisio/tui/cli/sessions"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// surface is where the events of a run go.
type surface interface {
	Event(plug.Event)
	Err() error
}

// surface makes the one that the flags ask for; stop cancels the run when
// nobody reads the output any more.
func (c *call) surface(stop func()) surface {
	switch {
	case c.final:
		return silent{}
	case c.JSON:
		return plain.NewJSON(c.Stdout, stop)
	}
	answer := c.Stdout
	if c.schema != "" {
		answer = io.Discard // what fits the schema is known at the end
	}
	o := plain.TextOptions{
		Answer: answer, Notes: c.Stderr, Stop: stop, Diffs: c.Verb == "demo",
		Dim:    term.Color(c.Stderr, c.Getenv),
		Shared: term.IsTerminal(c.Stdout) && term.IsTerminal(c.Stderr),
	}
	if c.Quiet {
		o.Notes = nil
	}
	return plain.NewText(o)
}

// silent is the surface of a run of which one object is printed at the end.
type silent struct{}

func (silent) Event(plug.Event) {}
func (silent) Err() error       { return nil }

var errCancelled = errors.New("the run was cancelled")

// watched reports whether a person follows the run on a terminal. What is only
// worth a look is printed there and nowhere else.
func (c *call) watched() bool { return !c.JSON && !c.Quiet && term.IsTerminal(c.Stderr) }

// announce tells whoever watches on a terminal where the task goes.
func (c *call) announce(ctx context.Context, app *agent.App) {
	if !c.watched() {
		return
	}
	if model, host, err := app.Endpoint(ctx); err == nil && host != "" {
		plain.Note(c.Stderr, "asking %s at %s", model, host)
	}
}

// task is a prompt and where it goes.
type task struct {
	prompt string
	// slash is a command that stands in place of the prompt, and display what people
	// are shown of the prompt, empty for all of it.
	slash   *slash
	display string
	images  []llm.Attachment
	// schema is what the answer must fit, nil for anything.
	schema json.RawMessage
	// session is empty for a new one.
	session string
	// store keeps the session; nil: nobody can go on with it.
	store *agent.Store
}

// oneTask works on a task. With --json=final its one object is printed here, whatever
// became of it: also of what fails before there is a run.
func (c *call) oneTask(ctx context.Context, do func(context.Context, worker) (int, error)) (int, error) {
	ctx, stop := base.WithSignals(ctx)
	defer stop()
	var final *agent.Final
	code, err := do(ctx, func(ctx context.Context, app *agent.App, t task) (int, error) {
		if t.slash != nil {
			f, code, err := c.carryOut(ctx, app, &t)
			if f != nil || err != nil {
				final = f
				return code, err
			}
		}
		f, code, err := c.work(ctx, app, t)
		final = &f
		return code, err
	})
	if !c.final {
		return code, err
	}
	if final == nil {
		f := unstarted(ctx, code, err)
		final = &f
	}
	line, e := finalLine(*final)
	if e != nil {
		return max(code, base.ExitFailed), e
	}
	return c.deliver(code, err, line)
}

// unstarted is what programs are told when nothing was asked. What is wrong with the
// command line has no cause of its own.
func unstarted(ctx context.Context, code int, err error) agent.Final {
	var in inSession
	errors.As(err, &in)
	f := agent.NotStarted(in.id, err)
	switch {
	case ctx.Err() != nil:
		f = agent.NotStarted(in.id, ctx.Err())
	case f.Status == agent.Cancelled:
	case code == base.ExitUsage:
		f.Code = llm.CauseBadRequest
	case f.Code == "":
		f.Code = llm.CauseInternal
	}
	return f
}

// work runs one prompt, prints what becomes of it, and turns that into the exit
// code. What --json=final prints of it is returned.
//
//	not started   bad_request is wrong use (2): no server has seen anything yet;
//	              a session in use 1, an uncertain one 9; other causes as in a run
//	output gone   130 when the reader went away, as a signal would have it; 1 with
//	              a reason when the disk is full or the device broken
//	ended         by cause; a run that was denied all it tried is told why
func (c *call) work(ctx context.Context, app *agent.App, t task) (agent.Final, int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := c.surface(stop)
	denied := ""
	o := agent.RunOptions{
		CorrelationID: c.task.correlationID, RequestID: c.task.requestID,
		Display: t.display, Attachments: t.images, OutputSchema: t.schema, AcknowledgeUncertain: c.task.acknowledge,
		OnBegin: func() { c.announce(ctx, app) },
		OnEvent: func(e plug.Event) {
			if d, ok := e.Data.(plug.ToolCompleted); ok && d.IsError {
				denied = d.Preview
			}
			// A run that is shown again tells its answers for people in deltas that
			// no run ever numbered; JSON has them in no other form than the stored.
			if _, ok := e.Data.(plug.Delta); ok && c.JSON && e.Seq == 0 {
				return
			}
			s.Event(e)
		},
	}
	fingerprint := ""
	if c.hermetic {
		f, err := app.Fingerprint(t.prompt, o)
		if err != nil {
			return unstarted(ctx, base.ExitUsage, inSession{err, t.session}), base.ExitUsage, err
		}
		fingerprint = f.Sum().String()
		plain.Note(c.Stderr, "fingerprint %s", f) // asked for, so --quiet or not
	}
	out, err := app.Run(ctx, t.session, t.prompt, o)
	if err != nil {
		f := agent.NotStarted(t.session, err)
		f.Fingerprint = fingerprint
		code, err := c.refused(ctx, t, err)
		return f, code, err
	}
	code, err := ended(s, out, denied)
	if t.store != nil {
		err = onward(err, "to go on: "+c.Command("resume --last")+` "…"`)
	}
	if t.schema != nil && !c.JSON && out.Status == agent.Completed {
		code, err = c.printFitting(code, err, out.Text)
	}
	if t.store != nil && !c.JSON && !plain.Gone(s.Err()) && (c.watched() || code != base.ExitDone) {
		c.Notice("%s", c.goOn(ctx, t.store, out.SessionID))
	}
	f := out.Final()
	f.Fingerprint = fingerprint
	return f, code, err
}

// printFitting prints an answer that fits the schema. The value stays what it is; the
// model's bytes do not reach the terminal.
func (c *call) printFitting(code int, err error, answer string) (int, error) {
	line, e := plain.EscapeJSON(nil, []byte(answer))
	if e != nil {
		return base.ExitFailed, e
	}
	return c.deliver(code, err, string(line)+"\n")
}

// finalLine is the one object of --json=final.
func finalLine(f agent.Final) (string, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return "", err
	}
	line, err := plain.EscapeJSON(nil, data)
	return string(line) + "\n", err
}

// deliver prints what a run is for. It was not delivered when it can not be printed,
// and that is what the run exits with unless there is something worse.
func (c *call) deliver(code int, err error, text string) (int, error) {
	switch e := c.Write(text); {
	case e == nil, code != base.ExitDone && err != nil:
		return code, err
	case plain.Gone(e) && code == base.ExitDone:
		return base.ExitCancelled, nil // nobody is left to tell
	case plain.Gone(e):
		return code, nil
	default:
		return max(code, base.ExitFailed), e
	}
}

// refused is what a run exits with that was not started.
func (c *call) refused(ctx context.Context, t task, err error) (int, error) {
	var busy *agent.BusyError
	var uncertain *agent.UncertainError
	switch {
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		return base.ExitCancelled, errCancelled
	case errors.As(err, &busy):
		return base.ExitFailed, err
	case errors.As(err, &uncertain):
		return base.ExitUncertain, sessions.Uncertain(ctx, &c.Call, t.store, uncertain)
	case llm.CauseOf(err) == llm.CauseBadRequest:
		return base.ExitUsage, err // nothing was asked: what is missing is ours to say
	}
	return base.ExitCode(llm.CauseOf(err)), err
}

// ended is what a run exits with.
func ended(s surface, out agent.Outcome, denied string) (int, error) {
	switch {
	case plain.Gone(s.Err()):
		// The reader of the answer went away: nobody is left to tell.
		return base.ExitCancelled, nil
	case s.Err() != nil:
		return base.ExitFailed, fmt.Errorf("write the answer: %w; the run was stopped", s.Err())
	case out.Status == agent.Cancelled:
		return base.ExitCancelled, errCancelled
	case out.Err != nil:
		return base.ExitCode(out.Code), lasting(out.Err)
	case out.Code == llm.CausePermission:
		first, _, _ := strings.Cut(denied, "\n")
		return base.ExitPermission, llm.Errorf(llm.CausePermission, "a needed permission was not given").WithHint(first)
	}
	return base.ExitCode(out.Code), nil
}

// goOn says how to go on with a session, in words that can be copied into a shell.
// What a flag said of the server and the model is said again: nothing else knows.
func (c *call) goOn(ctx context.Context, store *agent.Store, id string) string {
	ctx = context.WithoutCancel(ctx) // a run that was cancelled goes on as well
	name := id
	if len(id) > base.ShortID {
		// One whose whole id this is would be found before ours.
		if s, err := store.Find(ctx, id[:base.ShortID]); err == nil && s.ID == id {
			name = id[:base.ShortID]
		}
	}
	words := c.Command("resume "+text.ShellWord(name)) + c.FileFlag("config", c.config)
	if url := c.overrides.BaseURL; url != nil {
		words += " --base-url " + text.ShellWord(*url)
	}
	if model := c.overrides.Model; model != nil {
		words += " -m " + text.ShellWord(*model)
	}
	return fmt.Sprintf("session %s · go on with: %s \"…\"", name, words)
}
