package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
	"alisio/tui/cli/base"
	"alisio/tui/cli/sessions"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// runBare is the program without a command: a conversation on a terminal, with
// the words as its first prompt, else a run.
func runBare(ctx context.Context, c *call) (int, error) {
	if !c.talks() {
		if c.continued {
			c.Last = true
			return runResume(ctx, c)
		}
		if len(c.Args) == 0 && !c.JSON && plain.KindOf(c.Stdin) != plain.Pipe {
			fmt.Fprint(c.Stderr, usage())
			return base.ExitUsage, nil
		}
		return runRun(ctx, c)
	}
	find := func(context.Context) finder { return nil }
	if c.continued {
		c.Last = true
		find = c.resumes
	}
	return c.talk(ctx, strings.TrimSpace(strings.Join(c.Args, " ")), find)
}

// talks reports whether there is somebody to talk to: on a terminal, or where
// --no-tui says so.
func (c *call) talks() bool {
	return !c.JSON && (c.noTUI || term.IsTerminal(c.Stdin) && term.IsTerminal(c.Stdout))
}

// aboutOneTask complains about a flag that means nothing to a conversation.
func (c *call) aboutOneTask() error {
	name := ""
	switch {
	case c.schema != "":
		name = "output-schema"
	case c.task.requestID != "":
		name = "request-id"
	case c.hermetic:
		name = "hermetic"
	default:
		return nil
	}
	return fmt.Errorf("flag --%s is about one task, and this is a conversation; use: alisio run", name)
}

// talk holds a conversation, in lines. An interrupt stops a run and not the
// program; the other signals end it.
func (c *call) talk(ctx context.Context, prompt string, find func(context.Context) finder) (int, error) {
	if err := c.aboutOneTask(); err != nil {
		return base.ExitUsage, err
	}
	interrupts := make(chan os.Signal, 1) // one that is dropped changes nothing
	lines := plain.NewLines(plain.LineOptions{
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Getenv: c.Getenv, Interrupts: interrupts,
		Quit: base.Quit, Quiet: c.Quiet, NoBanner: c.noBanner,
	})
	ctx, stop := term.Signals(ctx, interrupts, func() {
		lines.Restore()
		base.Quit()
	})
	defer stop()
	var root, dir, mode string
	work := func(ctx context.Context, app *agent.App, t task) (int, error) {
		ended, err := lines.Run(ctx, app, plain.Talk{
			Session: t.session, Prompt: t.prompt, Images: t.images, Acknowledge: c.task.acknowledge,
			CorrelationID: c.task.correlationID, Workspace: root, Dir: dir, Mode: mode, History: t.store.Messages,
			GoOn:   func(ctx context.Context, id string) string { return c.goOn(ctx, t.store, id) },
			Advise: func(err error) error { return c.advised(onward(lasting(err), "prompt again to go on")) },
		})
		var uncertain *agent.UncertainError
		switch {
		case errors.As(err, &uncertain):
			return base.ExitUncertain, sessions.Uncertain(ctx, &c.Call, t.store, uncertain)
		case llm.CauseOf(err) == llm.CauseBadRequest && err != nil:
			return base.ExitUsage, err
		case err != nil:
			return base.ExitCode(llm.CauseOf(err)), err
		case ended.Cancelled:
			return base.ExitCancelled, nil
		}
		return base.ExitDone, nil
	}
	return c.start(ctx, job{prompt: prompt, work: work, find: find(ctx), change: func(o *agent.Options) {
		o.Config = unhurried(o.Config)
		o.Asker, o.Log, mode = lines, slog.New(lines.Log()), string(o.Policy.Mode)
		root, dir = agent.Root(o.Dir, c.Getenv("HOME")), o.Dir
	}})
}

// unhurried is the configuration of a conversation: whoever watches a run ends it, so
// that it has no limit of time by default (spec runner.md, "Limits").
func unhurried(c config.Config) config.Config {
	if !c.Given("limits.timeoutMs") {
		c.Limits.TimeoutMs = 0
	}
	return c
}
