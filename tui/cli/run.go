package cli

import (
	"context"
	"errors"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
	"alisio/tui/term"
)

var errNoTask = errors.New(`no task is given; use: alisio run "what is to be done"`)

// runRun works on one task, in a new session or in that of --session.
func runRun(ctx context.Context, c *call) (int, error) {
	return c.oneTask(ctx, func(ctx context.Context, work worker) (int, error) {
		prompt, err := c.prompt(ctx, c.Args, errNoTask)
		switch {
		case ctx.Err() != nil:
			return base.ExitCancelled, errCancelled
		case err != nil:
			return base.ExitUsage, err
		}
		j := job{prompt: prompt, slash: c.slashOf(c.Args, prompt), work: work}
		if c.task.session != "" {
			j.find = func(store *agent.Store, here string) (agent.Session, string, int, error) {
				s, code, err := c.Session(ctx, store, c.task.session)
				if err == nil {
					code, err = c.ours(ctx, store, s)
				}
				return s, here, code, err
			}
		}
		return c.start(ctx, j)
	})
}

// worker works with an application on what a command line says.
type worker func(ctx context.Context, app *agent.App, t task) (int, error)

// job is what start is to do.
type job struct {
	prompt string
	slash  *slash // nil: the prompt is one
	work   worker
	find   finder               // nil: a new session in the working directory
	change func(*agent.Options) // nil: nothing is changed
}

// start checks all that can be checked, opens the session database, has find
// name the session to go on with, and works.
func (c *call) start(ctx context.Context, j job) (int, error) {
	here, err := c.WorkingDir()
	if err != nil {
		return base.ExitUsage, err
	}
	var o agent.Options
	t := task{prompt: j.prompt, slash: j.slash}
	if j.find == nil {
		o, err = c.optionsIn(here, here)
	}
	if err == nil {
		t.images, err = c.images(here)
	}
	if err == nil {
		t.schema, err = c.outputSchema(here)
	}
	if err != nil {
		return base.ExitUsage, err
	}
	if j.find == nil {
		if _, err := c.StoreOptions(); err != nil {
			return base.ExitUsage, err
		}
		if code, err := c.check(ctx, o, j.slash); err != nil {
			return cancelledOr(ctx, code, err)
		}
	}
	store, code, err := c.Database(ctx)
	if err != nil {
		return cancelledOr(ctx, code, err)
	}
	var s agent.Session
	if j.find != nil {
		dir := here
		if s, dir, code, err = j.find(store, here); err == nil {
			code = base.ExitUsage
			o, err = c.optionsIn(dir, here)
		}
	}
	if err != nil {
		store.Close()
		code, err = cancelledOr(ctx, code, err)
		return code, inSession{err, s.ID}
	}
	if j.change != nil {
		j.change(&o)
	}
	if o.Config.Provider.Model == "" {
		o.Config.Provider.Model = s.Model
	}
	o.Store, t.store, t.session = store, store, s.ID
	app, err := agent.New(ctx, o)
	if err != nil {
		store.Close()
		code, err = cancelledOr(ctx, base.ExitUsage, err)
		return code, inSession{err, s.ID}
	}
	defer base.CloseApp(&c.Call, app)
	if err := c.adopt(ctx, store, s.ID, o.Dir); err != nil {
		code, err = cancelledOr(ctx, base.ExitFailed, err)
		return code, inSession{err, s.ID}
	}
	return j.work(ctx, app, t)
}

// check makes sure, before there is a database, that something can come of options, and
// of a command. An answer that is repeated needs no model, and neither do most commands.
func (c *call) check(ctx context.Context, o agent.Options, s *slash) (int, error) {
	model := c.task.requestID == ""
	if s != nil {
		asks, code, err := c.checkSlash(ctx, o, *s)
		if err != nil {
			return code, err
		}
		model = model && asks
	}
	err := agent.CheckOptions(ctx, o, model)
	return unfit(err), err
}

// adopt makes an imported session work in the workspace around a directory. No id is
// a session that is new.
func (c *call) adopt(ctx context.Context, store *agent.Store, id, dir string) error {
	if id == "" {
		return nil
	}
	root := agent.Root(dir, c.Getenv("HOME"))
	adopted, err := store.Adopt(ctx, id, root)
	if adopted {
		c.Notice("session %s was imported, and works in %s from now on", text.Line(id), text.Line(root))
	}
	return err
}

// inSession is an error of a run that did not start, and the session that it was for.
type inSession struct {
	error
	id string
}

func (e inSession) Unwrap() error { return e.error }

// unfit is the exit code of options of which no application can be made.
func unfit(err error) int {
	var told *llm.Error
	if errors.As(err, &told) && told.Cause != llm.CauseBadRequest {
		return base.ExitCode(told.Cause)
	}
	return base.ExitUsage
}

// cancelledOr is what a failure comes to, which a signal may be the reason of, whatever
// it looks like.
func cancelledOr(ctx context.Context, code int, err error) (int, error) {
	if ctx.Err() != nil {
		return base.ExitCancelled, errCancelled
	}
	return code, err
}

// prompt joins words of the command line and what came by a pipe. missing is
// the error when there is neither.
func (c *call) prompt(ctx context.Context, words []string, missing error) (string, error) {
	given := len(words) > 0
	wants := false
	switch n := len(words); {
	case n > 0 && words[n-1] == "-":
		words, wants = words[:n-1], true
	case n > 0 && words[0] == "-":
		words, wants = words[1:], true
	}
	prompt := strings.TrimSpace(strings.Join(words, " "))
	wants = wants || prompt == ""
	if wants && term.IsTerminal(c.Stdin) {
		if prompt != "" || given {
			c.Notice("reading standard input; end with Ctrl+D")
		} else {
			return "", missing
		}
	}
	input := ""
	if kind := plain.KindOf(c.Stdin); wants || kind != plain.NoInput {
		var err error
		if input, err = plain.ReadInput(ctx, c.Stdin, wants || kind == plain.Pipe, c.Notice); err != nil {
			return "", err
		}
	}
	switch input = strings.TrimRight(input, "\n"); {
	case strings.TrimSpace(input) == "" && prompt == "":
		return "", missing
	case strings.TrimSpace(input) == "":
		return prompt, nil
	case prompt == "":
		return input, nil
	}
	return prompt + "\n\n" + input, nil
}
