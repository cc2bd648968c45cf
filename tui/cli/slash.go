package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/cmdcat"
	"alisio/llm"
	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

// slash is a slash command in place of a prompt: "/name args". typed are the arguments
// without what came by a pipe.
type slash struct{ name, args, typed string }

// given are the arguments of a command: what comes by a pipe is a text, and goes to
// those alone that take one.
func (s slash) given(d cmdcat.Descriptor) string {
	if d.TakesText {
		return s.args
	}
	return s.typed
}

// slashOf reads a prompt as a command, nil when it is none. Only what somebody typed
// names one: not the text that came by a pipe, and not a word behind "--".
func (c *call) slashOf(words []string, prompt string) *slash {
	if len(words) <= c.literal || words[0] == "-" {
		return nil
	}
	name, args, ok := cmdcat.Parse(prompt)
	if !ok {
		return nil
	}
	_, typed, _ := cmdcat.Parse(strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-" }), " "))
	return &slash{name, args, typed}
}

// checkSlash looks a command up before there is a database, and reports whether it
// asks a model. A template is expanded, so that what it requires is known to be there.
func (c *call) checkSlash(ctx context.Context, o agent.Options, s slash) (asks bool, code int, err error) {
	app, err := agent.NewSilent(ctx, o)
	if err != nil {
		return false, unfit(err), err
	}
	defer base.CloseApp(&c.Call, app)
	d, code, err := c.find(ctx, app, s)
	if err == nil && d.Execution == cmdcat.AsPrompt {
		_, code, err = c.execute(ctx, app, d, s, "")
	}
	return d.Prompts(s.given(d)), code, err
}

// find looks a command up, and refuses one that this command line can not carry out.
func (c *call) find(ctx context.Context, app *agent.App, s slash) (cmdcat.Descriptor, int, error) {
	d, err := cmdcat.New(app).Find(ctx, s.name)
	var unknown *cmdcat.UnknownError
	switch {
	case errors.As(err, &unknown):
		return d, base.ExitUsage, llm.Errorf(llm.CauseBadRequest, "%w", err).
			WithHint("alisio help commands lists them; a prompt that begins so is given behind --, as in: alisio run -- " + args.Quote("/"+s.name+" …"))
	case err != nil:
		return d, base.ExitFailed, err
	}
	if err := d.Refuses(cmdcat.Input{Args: s.given(d)}); err != nil || d.Prompts(s.given(d)) {
		return d, base.ExitUsage, err
	}
	return d, base.ExitUsage, c.alone(d)
}

// alone refuses flags that mean nothing to a command that asks no model.
func (c *call) alone(d cmdcat.Descriptor) error {
	if c.JSON && !c.final {
		return fmt.Errorf("flag --json: /%s is a command and has no events; --json=final prints one object", d.Name)
	}
	flag := ""
	switch {
	case len(c.task.images) > 0:
		flag = "image"
	case c.schema != "":
		flag = "output-schema"
	case c.task.requestID != "":
		flag = "request-id"
	case c.task.correlationID != "":
		flag = "correlation-id"
	case c.hermetic:
		flag = "hermetic"
	default:
		return nil
	}
	return fmt.Errorf("flag --%s goes with a prompt, and /%s is a command that asks for no answer", flag, d.Name)
}

// carryOut carries the command of a task out. Where it makes a prompt, that is put into
// the task, and final is nil: it is to be worked on.
func (c *call) carryOut(ctx context.Context, app *agent.App, t *task) (final *agent.Final, code int, err error) {
	d, code, err := c.find(ctx, app, *t.slash)
	if err != nil {
		return nil, code, inSession{err, t.session}
	}
	r, code, err := c.execute(ctx, app, d, *t.slash, t.session)
	if err != nil {
		return nil, code, inSession{err, t.session}
	}
	said := strings.TrimRight(text.Plain(r.Text), "\n")
	if r.Prompt != nil {
		if said != "" {
			c.Notice("%s", said)
		}
		t.prompt, t.display = r.Prompt.Text, r.Prompt.Display
		return nil, base.ExitDone, nil
	}
	if said != "" {
		said += "\n"
	}
	final = &agent.Final{SessionID: t.session, Status: agent.Completed, Text: said}
	if c.final {
		return final, base.ExitDone, nil
	}
	code, err = c.Printed(plain.Fit(c.Stdout, said))
	return final, code, err
}

// execute runs a command. A built-in one that complains without a cause complains
// about what it was given.
func (c *call) execute(ctx context.Context, app *agent.App, d cmdcat.Descriptor, s slash, session string) (cmdcat.Result, int, error) {
	r, err := cmdcat.New(app).Execute(ctx, s.name, cmdcat.Input{Args: s.given(d), SessionID: session})
	var needs *agent.NeedsError
	var told *llm.Error
	switch {
	case err == nil:
		return r, base.ExitDone, nil
	case ctx.Err() != nil:
		return r, base.ExitCancelled, errCancelled
	case errors.As(err, &needs):
		return r, base.ExitPermission, llm.Errorf(llm.CausePermission, "/%s needs the permission to %s", s.name, needs.Effect).WithHint(needs.Remedy)
	case errors.As(err, &told) && told.Cause == llm.CauseBadRequest, d.Source == cmdcat.FromBuiltIn && told == nil:
		return r, base.ExitUsage, err
	}
	return r, base.ExitCode(llm.CauseOf(err)), err
}
