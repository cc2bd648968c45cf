// Package cli is the command line: it reads flags and commands, runs one verb
// and turns what became of it into an exit code. A verb is a file.
//
// It holds no engine state and decides nothing about permissions: flags become
// options of package agent.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// Env is the world around the program, as main hands it over.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv reads the environment as it was at the program's start.
	Getenv func(string) string
	// Plugins and Tools are what this program is built with.
	Plugins Plugins
	Tools   []plug.Tool
	// Script makes the scripted provider of the demonstration.
	Script func(id string, data []byte) (llm.Provider, error)
}

// Plugins is a list of built-in plugins.
type Plugins = []plug.Plugin

// verb is one command: a row of the table, which carries its function. The
// function returns the exit code beside the error, because the same error means
// one thing before a run and another in it; Main prints the error, once.
type verb struct {
	name string
	args string
	help string
	run  func(ctx context.Context, c *call) (int, error)
}

// verbs is the table of commands, sorted by name.
func verbs() []verb {
	return []verb{
		{"demo", "", "watch the real loop at work, without a network", runDemo},
		{"help", "[TOPIC]", "print the manual", runHelp},
		{"run", "PROMPT…", "work on one task; - or a pipe adds to it", runRun},
		{"version", "", "print the version", runVersion},
	}
}

// call is one invocation: the world, what the flags said, and the words, of
// which the first is the verb. parse fills it; nobody changes it later.
type call struct {
	Env
	settings
	verb string
	args []string
}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, env Env) int {
	c, err := parse(env)
	if err == nil && c.noColor {
		c.Getenv = withNoColor(env.Getenv)
	}
	code := exitUsage
	if err == nil {
		code, err = c.do(ctx)
	}
	if err != nil {
		plain.Failure(env.Stderr, err)
	}
	return code
}

// do finds the verb and runs it.
func (c *call) do(ctx context.Context) (int, error) {
	switch {
	case c.version:
		return runVersion(ctx, c)
	case c.help:
		return runHelp(ctx, c)
	case c.verb == "":
		fmt.Fprint(c.Stderr, usage())
		return exitUsage, nil
	}
	for _, v := range verbs() {
		if v.name == c.verb {
			return v.run(ctx, c)
		}
	}
	return exitUsage, unknownVerb(c.verb)
}

// open makes the application that the flags describe.
func (c *call) open(ctx context.Context) (*agent.App, error) {
	dir, err := c.workingDir()
	if err != nil {
		return nil, err
	}
	dirs, err := config.Home(c.Getenv)
	if err != nil && !errors.Is(err, config.ErrNoHome) {
		return nil, err
	}
	plugins, err := c.plugins()
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(config.LoadOptions{
		Dirs: dirs, File: c.config, Dir: dir, Getenv: c.Getenv, Plugins: ids(c.Plugins), Overrides: c.overrides,
	})
	if err != nil {
		return nil, err
	}
	policy := c.policy
	policy.Mode = cfg.Permissions.Mode
	app, err := agent.New(ctx, agent.Options{
		Dir: dir, Config: cfg, Dirs: dirs, Guarded: guarded(dir, c.config), Policy: policy,
		Plugins: plugins, Tools: c.Tools,
		Effort: c.effort, Getenv: c.Getenv, Log: slog.New(c.notices()),
	})
	if err != nil {
		return nil, err
	}
	return app, nil
}

// guarded is the file of --config, which no run may rewrite.
func guarded(dir, file string) []string {
	if file == "" || filepath.IsAbs(file) {
		return []string{file}
	}
	return []string{filepath.Join(dir, file)}
}

// workingDir is that of --cwd, or the process's own.
func (c *call) workingDir() (string, error) {
	dir := c.cwd
	if !filepath.IsAbs(dir) {
		here, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the working directory: %w; it may have been removed", err)
		}
		if dir = filepath.Join(here, dir); c.cwd == "" {
			return here, nil
		}
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", fmt.Errorf("--cwd: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("--cwd: %s is not a directory", dir)
	}
	return filepath.Clean(dir), nil
}

// plugins are the built-in ones without those of --disable-plugin.
func (c *call) plugins() ([]plug.Plugin, error) {
	off := make(map[string]bool)
	known := ids(c.Plugins)
	for _, id := range c.disable {
		off[id] = true
		if !slices.Contains(known, id) {
			return nil, unknown("plugin", id, known)
		}
	}
	var on []plug.Plugin
	for _, p := range c.Plugins {
		if !off[p.ID] {
			on = append(on, p)
		}
	}
	return on, nil
}

func ids(plugins []plug.Plugin) []string {
	list := make([]string, len(plugins))
	for i, p := range plugins {
		list[i] = p.ID
	}
	return list
}

// surface is where the events of a run go.
type surface interface {
	Event(plug.Event)
	Err() error
}

// surface makes the one that the flags ask for; stop cancels the run when
// nobody reads the output any more.
func (c *call) surface(stop func()) surface {
	if c.json {
		return plain.NewJSON(c.Stdout, stop)
	}
	o := plain.TextOptions{
		Answer: c.Stdout, Notes: c.Stderr, Stop: stop, Diffs: c.verb == "demo",
		Dim:    term.Color(c.Stderr, c.Getenv),
		Shared: term.IsTerminal(c.Stdout) && term.IsTerminal(c.Stderr),
	}
	if c.quiet {
		o.Notes = nil
	}
	return plain.NewText(o)
}

func (c *call) notices() slog.Handler {
	if c.quiet {
		return slog.DiscardHandler
	}
	return plain.NewNotices(c.Stderr)
}

var errCancelled = errors.New("the run was cancelled")

// announce tells whoever watches on a terminal where the task goes.
func (c *call) announce(ctx context.Context, app *agent.App) {
	if c.json || c.quiet || !term.IsTerminal(c.Stderr) {
		return
	}
	if model, host, err := app.Endpoint(ctx); err == nil && host != "" {
		plain.Note(c.Stderr, "asking %s at %s", model, host)
	}
}

// work runs one prompt in a new session, prints what becomes of it, and turns
// that into the exit code:
//
//	not started   bad_request is wrong use (2): no server has seen anything yet;
//	              other causes as in a run
//	output gone   130 when the reader went away, as a signal would have it; 1 with
//	              a reason when the disk is full or the device broken
//	ended         by cause; a run that was denied all it tried is told why
func (c *call) work(ctx context.Context, app *agent.App, prompt string) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := c.surface(stop)
	c.announce(ctx, app)
	denied := ""
	out, err := app.Run(ctx, "", prompt, agent.RunOptions{OnEvent: func(e plug.Event) {
		if d, ok := e.Data.(plug.ToolCompleted); ok && d.IsError {
			denied = d.Preview
		}
		s.Event(e)
	}})
	switch {
	case err != nil && llm.CauseOf(err) == llm.CauseBadRequest:
		return exitUsage, err // nothing was asked: what is missing is ours to say
	case err != nil:
		return exitCode(llm.CauseOf(err)), err
	case errors.Is(s.Err(), syscall.EPIPE), errors.Is(s.Err(), io.ErrClosedPipe):
		// The reader of the answer went away: nobody is left to tell.
		return exitCancelled, nil
	case s.Err() != nil:
		return exitFailed, fmt.Errorf("write the answer: %w; the run was stopped", s.Err())
	case out.Status == agent.Cancelled:
		return exitCancelled, errCancelled
	case out.Err != nil:
		return exitCode(out.Code), out.Err
	case out.Code == llm.CausePermission:
		first, _, _ := strings.Cut(denied, "\n")
		return exitPermission, llm.Errorf(llm.CausePermission, "a needed permission was not given").WithHint(first)
	}
	return exitCode(out.Code), nil
}
