// Package cli is the command line: it reads flags and commands, runs one verb
// and turns what became of it into an exit code. A verb is a file.
//
// It holds no engine state and decides nothing about permissions: flags become
// options of package agent.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
	"alisio/tui/cli/extend"
	"alisio/tui/cli/sessions"
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
	// Changelog is this program's own.
	Changelog string
	// Script makes the scripted provider of the demonstration.
	Script func(id string, data []byte) (llm.Provider, error)
}

// Plugins is a list of built-in plugins.
type Plugins = []plug.Plugin

// verb is one command: a row of the table.
type verb = args.Command[runner]

// runner is the function of a command. It returns the exit code beside the error,
// because the same error means one thing before a run and another in it; Main
// prints the error, once.
type runner func(ctx context.Context, c *call) (int, error)

// verbs is the table of commands, sorted by name.
func verbs() []verb {
	return []verb{
		{Name: "completion", Args: "bash|fish|zsh", Help: "print what a shell completes words by", Run: runCompletion},
		{Name: "config", Args: "COMMAND", Help: "print the configuration in effect", Subs: configVerbs()},
		{Name: "context", Args: "COMMAND", Help: "tell what a model is given to read", Subs: contextVerbs()},
		{Name: "demo", Help: "watch the real loop at work, without network", Run: runDemo},
		{Name: "doctor", Help: "check what a run needs, each with its remedy", Run: runDoctor},
		{Name: "help", Args: "[TOPIC]", Help: "print the manual", Run: runHelp},
		{Name: "models", Help: "list what the server offers", Run: runModels},
		{Name: "plugins", Args: "COMMAND", Help: "list the built-in plugins, and check them", Subs: pluginVerbs()},
		{Name: "resume", Args: "[SESSION|--last] [PROMPT…]", Help: "go on with a session", Run: runResume},
		{Name: "run", Args: "PROMPT…", Help: "work on one task; - or a pipe adds to it", Run: runRun},
		{Name: "sessions", Args: "COMMAND", Help: "list, find, move and delete stored sessions", Subs: sessionVerbs()},
		{Name: "setup", Help: "write a configuration to begin with", Run: runSetup},
		{Name: "skills", Args: "COMMAND", Help: "list skills, and judge how they are written", Subs: skillVerbs()},
		{Name: "templates", Args: "COMMAND", Help: "list prompt templates, and judge them", Subs: templateVerbs()},
		{Name: "trust", Args: "COMMAND", Help: "list, or take back, what was trusted", Subs: trustVerbs()},
		{Name: "version", Help: "print the version", Run: runVersion},
	}
}

// sessionVerbs are the commands below sessions, sorted by name.
func sessionVerbs() []verb {
	return []verb{
		{Name: "archive", Args: "ID", Help: "hide a session from lists", Run: stored(sessions.Archive)},
		{Name: "delete", Args: "ID…|--last", Help: "delete sessions; first shows what would go", Run: stored(sessions.Delete)},
		{Name: "export", Args: "ID|--last", Help: "write a session as JSON lines or Markdown", Run: stored(sessions.Export)},
		{Name: "import", Args: "FILE", Help: "read an exported session; - reads a pipe", Run: stored(sessions.Import)},
		{Name: "list", Help: "list sessions, the newest first", Run: stored(sessions.List)},
		{Name: "pin", Args: "[ID]", Help: "mark a session, or a workspace", Run: stored(sessions.Pin)},
		{Name: "recover", Args: "ID|--last", Help: "show calls that may have taken effect", Run: stored(sessions.Recover)},
		{Name: "rename", Args: "ID|--last TITLE…", Help: "give a session another title", Run: stored(sessions.Rename)},
		{Name: "search", Args: "QUERY…", Help: "find sessions by what was said in them", Run: stored(sessions.Search)},
		{Name: "show", Args: "ID|--last", Help: "print a session's conversation", Run: stored(sessions.Show)},
	}
}

// stored makes a runner of a command about stored sessions.
func stored(run func(context.Context, *sessions.Call) (int, error)) runner {
	return func(ctx context.Context, c *call) (int, error) {
		return run(ctx, &sessions.Call{Call: c.Call, Flags: c.sessions, Plugins: c.plugins, Tools: c.tools})
	}
}

func pluginVerbs() []verb {
	return []verb{
		{Name: "doctor", Help: "check the plugins, each problem with its remedy", Run: extended(extend.PluginsDoctor)},
		{Name: "list", Help: "list the plugins and what each offers", Run: extended(extend.PluginsList)},
	}
}

func skillVerbs() []verb {
	return []verb{
		{Name: "list", Help: "list the skills that a model is told of", Run: extended(extend.SkillsList)},
		{Name: "validate", Args: "[DIR…]", Help: "judge skills by the rules of the format", Run: extended(extend.SkillsValidate)},
	}
}

func templateVerbs() []verb {
	return []verb{
		{Name: "list", Help: "list the templates that can be called", Run: extended(extend.TemplatesList)},
		{Name: "validate", Args: "[DIR…]", Help: "judge templates by the rules of the format", Run: extended(extend.TemplatesValidate)},
	}
}

// extended makes a runner of a command about what extends the program.
func extended(run func(context.Context, *extend.Call) (int, error)) runner {
	return func(ctx context.Context, c *call) (int, error) {
		options := c.options
		if c.cmd.Name == "validate" && len(c.Args) > 0 {
			options = c.bare
		}
		o, err := options()
		if err != nil {
			return base.ExitUsage, err
		}
		return run(ctx, &extend.Call{Call: c.Call, Options: o, Plugins: c.plugins})
	}
}

// call is one invocation: the world, what the flags said, the command and the
// words after it. parse fills it, and Main what --no-color
// means; -c sets Last. Nobody else changes it.
type call struct {
	settings
	plugins Plugins
	tools   []plug.Tool
	// changelog is the program's own.
	changelog string
	script    func(id string, data []byte) (llm.Provider, error)
	// literal is how many of the last words stood behind "--".
	literal int
	// cmd is the row of the command, which is empty when there is no command of
	// that name: unknown then says so.
	cmd     verb
	unknown error
}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, env Env) int {
	term.SurvivePipes()
	c, err := parse(env)
	if err != nil {
		plain.Failure(env.Stderr, err)
		return base.ExitUsage
	}
	if c.noColor {
		c.Getenv = withNoColor(env.Getenv)
	}
	code, err := c.do(ctx)
	if err != nil {
		plain.Failure(env.Stderr, c.advised(err))
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
	case c.unknown != nil:
		return base.ExitUsage, c.unknown
	case c.Verb == "":
		return runBare(ctx, c)
	case c.cmd.Group():
		fmt.Fprint(c.Stderr, "Commands:\n"+commandLine().CommandLines(c.Verb, c.cmd.Subs))
		return base.ExitUsage, fmt.Errorf("alisio %s needs one of its commands", c.Verb)
	case c.final && !slices.Contains(append(taskVerbs(), "demo"), c.Verb):
		return base.ExitUsage, fmt.Errorf("flag --json: =final is for a task; alisio %s takes --json alone", c.Verb)
	}
	return c.cmd.Run(ctx, c)
}

// options are what the flags and the configuration say of an application in the
// working directory. The store and the last word on the model are the caller's.
func (c *call) options() (agent.Options, error) {
	here, err := c.WorkingDir()
	if err != nil {
		return agent.Options{}, err
	}
	return c.optionsIn(here, here)
}

// bare are the options of an application that looks at what it is shown and at nothing
// else: what directories are judged by is in no configuration and in no project.
func (c *call) bare() (agent.Options, error) {
	here, err := c.WorkingDir()
	if err != nil {
		return agent.Options{}, err
	}
	plugins, err := c.builtIn()
	return agent.Options{
		Hermetic: true, Dir: here, Config: config.Default(), Plugins: plugins, Tools: c.tools, Getenv: c.Getenv,
	}, err
}

// optionsIn are those of an application that works in dir, with the project's
// configuration there. The names in flags start here.
func (c *call) optionsIn(dir, here string) (agent.Options, error) {
	dirs, err := c.Homes()
	if err != nil {
		return agent.Options{}, err
	}
	plugins, err := c.builtIn()
	if err != nil {
		return agent.Options{}, err
	}
	seen := dirs
	if c.hermetic {
		seen = config.Dirs{} // no file of the person or the project is read
	}
	l, err := c.layers(dir, here, seen)
	if err != nil {
		return agent.Options{}, err
	}
	cfg, err := config.Load(l.load)
	if err != nil {
		return agent.Options{}, err
	}
	policy := c.policy
	policy.Mode = cfg.Permissions.Mode
	o := agent.Options{
		NamedServer: cfg.Given("provider.baseURL"),
		Hermetic:    c.hermetic,
		Dir:         dir, Config: cfg, Dirs: dirs, Guarded: c.guarded(here), Policy: policy, Project: l.project,
		LeftOut: c.leftOut(l, c.off(cfg)),
		Plugins: plugins, Tools: c.tools, Changelog: c.changelog, Getenv: c.Getenv, Log: slog.New(c.notices()),
	}
	if slices.Contains(taskVerbs(), c.Verb) { // only these work as an agent
		o.Agent, o.Effort = cmp.Or(c.agent, cfg.Agents.Active), cmp.Or(c.effort, cfg.Agents.Effort)
		if !slices.Contains(append(efforts(), ""), o.Effort) {
			return agent.Options{}, fmt.Errorf("agents.effort (%s): %w", cfg.Origin("agents.effort"), args.Unknown("effort", o.Effort, efforts()))
		}
	}
	return o, nil
}

// guarded are the files of --config and --db, which no run may rewrite. Their names
// may be links; the store's own files are closed off.
func (c *call) guarded(here string) []string {
	var files []string
	for _, name := range []string{c.config, c.DB} {
		if name != "" {
			files = append(files, base.In(here, name))
		}
	}
	return files
}

// plugins are the built-in ones without those of --disable-plugin.
func (c *call) builtIn() ([]plug.Plugin, error) {
	off := make(map[string]bool)
	known := ids(c.plugins)
	for _, id := range c.disable {
		off[id] = true
		if !slices.Contains(known, id) {
			return nil, args.Unknown("plugin", id, known)
		}
	}
	var on []plug.Plugin
	for _, p := range c.plugins {
		if !off[p.ID] {
			on = append(on, p)
		}
	}
	return on, nil
}

// off are the ids of the built-in plugins that are left out.
func (c *call) off(cfg config.Config) []string {
	var off []string
	for _, p := range c.plugins {
		if slices.Contains(c.disable, p.ID) || !cfg.Plugin(p.ID).Enabled {
			off = append(off, p.ID)
		}
	}
	return off
}

func ids(plugins []plug.Plugin) []string {
	list := make([]string, len(plugins))
	for i, p := range plugins {
		list[i] = p.ID
	}
	return list
}

func (c *call) notices() slog.Handler {
	if c.Quiet {
		return slog.DiscardHandler
	}
	return plain.NewNotices(c.Stderr)
}
