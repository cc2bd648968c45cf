package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"alisio/agent/host"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// SlashCommand is a command of a plugin.
type SlashCommand struct {
	plug.SlashCommand
	Owner string
}

// SlashCommands lists the commands of plugins, sorted by name.
func (a *App) SlashCommands() []SlashCommand {
	var all []SlashCommand
	for _, c := range a.host.Commands() {
		all = append(all, SlashCommand{c.Value, c.Plugin})
	}
	slices.SortFunc(all, func(x, y SlashCommand) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// RunSlashCommand runs a command of a plugin. Its panic is its failure. It takes as
// long as ctx lets it.
func (a *App) RunSlashCommand(ctx context.Context, name, args, sessionID string) (string, error) {
	all := a.host.Commands()
	i := slices.IndexFunc(all, func(c host.Owned[plug.SlashCommand]) bool { return c.Value.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no command %q", name)
	}
	return all[i].Value.Run(ctx, args, sessionID)
}

// Tool is what people are shown of a tool.
type Tool struct {
	Name, Effect string
	// Owner is a plugin's id, empty for the program's own.
	Owner string
	// Why says what keeps it from being offered in a session; empty: it is.
	Why string
}

// Tools lists all tools for a session, sorted by name.
func (a *App) Tools(sessionID string) []Tool {
	c := a.look(sessionID)
	agent, err := a.agentOf(c)
	if err != nil {
		return nil
	}
	g := a.gateOf(c, agent)
	var all []Tool
	for _, t := range a.host.Tools() {
		s := t.Spec()
		why := a.lacks(c, agent, s)
		if why == "" && !g.Offers(s.Name, s.Effect) {
			if why = g.Remedy(s.Name, s.Effect); why == "" {
				why = "not of the agent " + agent.ID
			}
		}
		all = append(all, Tool{Name: s.Name, Effect: string(s.Effect), Owner: a.host.ToolOwner(s.Name), Why: why})
	}
	return all
}

// Plugin is what people are shown of a plugin that is set up.
type Plugin struct {
	ID, Name, Version string
	// Registered says what: "1 command, 2 tools".
	Registered string
}

// Plugins lists the plugins that are set up, in the order of their setup.
func (a *App) Plugins() []Plugin {
	counts := make(map[string]map[string]int)
	for _, r := range a.host.Registrations() {
		if counts[r.Plugin] == nil {
			counts[r.Plugin] = make(map[string]int)
		}
		counts[r.Plugin][r.Kind]++
	}
	var all []Plugin
	for _, p := range a.host.Plugins() {
		var words []string
		for kind, n := range counts[p.ID] {
			words = append(words, numbered(n, kind))
		}
		slices.Sort(words)
		all = append(all, Plugin{ID: p.ID, Name: p.Name, Version: p.Version, Registered: strings.Join(words, ", ")})
	}
	return all
}

// numbered is how many there are of a kind, in words: "1 session hook".
func numbered(n int, kind string) string {
	word := strings.ReplaceAll(kind, "-", " ")
	switch {
	case n == 1:
	case strings.HasSuffix(word, "ch"):
		word += "es"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// DiagnosticLines tell, a line each, of plugins and parts of them that could not be used, of
// skills and templates that were left out, and of extensions in conflict.
func (a *App) DiagnosticLines() []string {
	var all []string
	for _, d := range a.host.Diagnostics() {
		line := string(d.Code)
		if d.Plugin != "" {
			line += ": " + d.Plugin
		}
		all = append(all, line+": "+d.Err.Error())
	}
	for _, d := range slices.Concat(a.known().Problems, a.templates().Problems) {
		all = append(all, d.String())
	}
	for i, line := range all {
		all[i] = text.Line(line)
	}
	return all
}

// Status is what a plugin shows in the status bar.
type Status = host.Status

// Panel is a tree that a plugin shows.
type Panel = host.Panel

// Surface is a screen that shows what plugins set.
type Surface = host.Surface

// Bind makes a screen the one that plugins show things on.
func (a *App) Bind(s Surface) (unbind func()) { return a.host.Bind(s) }

// Statuses and Panels are what plugins show now, sorted by plugin.
func (a *App) Statuses() []Status { return a.host.Statuses() }

// Panels are the trees of plugins.
func (a *App) Panels() []Panel { return a.host.Panels() }

// Stats is what a session used so far.
type Stats struct {
	Model, Agent string
	Runs         int
	Messages     int
	Usage        llm.Usage
	Statuses     []Status
}

// Stats counts what is stored of a session; an empty id is one that has not begun.
func (a *App) Stats(ctx context.Context, sessionID string) (Stats, error) {
	model, _, err := a.ModelOf(ctx, sessionID)
	if err != nil {
		return Stats{}, err
	}
	s := Stats{Model: model.ID, Agent: a.AgentOf(sessionID), Statuses: a.Statuses()}
	if sessionID == "" {
		return s, nil
	}
	messages, err := a.store.Messages(ctx, sessionID)
	if err != nil {
		return s, session.Caused(err)
	}
	s.Messages = len(messages)
	if l, ok := a.store.(session.RunList); ok {
		const most = 1000
		runs, err := l.Runs(ctx, sessionID, most)
		if err != nil {
			return s, session.Caused(err)
		}
		s.Runs = len(runs)
		for _, r := range runs {
			s.Usage = s.Usage.Add(r.Usage)
		}
	}
	return s, nil
}

// Access is what may happen in a session, each effect "allow", "ask" or "deny".
type Access struct {
	Mode                     string
	ReadOnly                 bool
	Write, Process, External string
	// Granted is what a person has allowed while this program runs.
	Granted []string
}

// Access says what may happen in a session; an empty id is the next new one.
func (a *App) Access(sessionID string) Access {
	c := a.look(sessionID)
	policy := a.o.Policy
	policy.Ceiling = policy.Ceiling.Meet(c.ceiling)
	decide := func(e plug.Effect) string { return policy.Decide(string(e)).Decision.String() }
	return Access{
		Mode: string(cmp.Or(policy.Mode, perm.ModeAsk)), ReadOnly: policy.ReadOnly,
		Write: decide(plug.EffectWrite), Process: decide(plug.EffectProcess), External: decide(plug.EffectExternal),
		Granted: c.tree.asks.Grants(),
	}
}

// keeps is what a store that lasts can do.
type keeps interface {
	List(ctx context.Context, q session.Query) ([]session.Summary, error)
	Find(ctx context.Context, prefix string) (session.Session, error)
	Export(ctx context.Context, id string, w io.Writer) error
	Markdown(ctx context.Context, id string, w io.Writer) error
}

func (a *App) kept() (keeps, error) {
	k, ok := a.store.(keeps)
	if !ok {
		return nil, errors.New("sessions are not kept by this program")
	}
	return k, nil
}

// Sessions lists the last sessions of the workspace, the newest first.
func (a *App) Sessions(ctx context.Context, most int) ([]session.Summary, error) {
	k, err := a.kept()
	if err != nil {
		return nil, err
	}
	list, err := k.List(ctx, session.Query{Workspace: a.root, Limit: most})
	return list, session.Caused(err)
}

// FindSession finds a session to go on with by its id or the beginning of one. One that
// was imported is refused until a person has said where it works: whoever made the
// export chose the workspace that it names, and what was said in it.
func (a *App) FindSession(ctx context.Context, prefix string) (session.Session, error) {
	k, err := a.kept()
	if err != nil {
		return session.Session{}, err
	}
	s, err := k.Find(ctx, prefix)
	if err != nil {
		return s, session.Caused(err)
	}
	if i, ok := a.store.(interface {
		Adopted(ctx context.Context, id string) (bool, error)
	}); ok {
		ours, err := i.Adopted(ctx, s.ID)
		switch {
		case err != nil:
			return s, session.Caused(err)
		case !ours:
			return s, llm.Errorf(llm.CauseBadRequest, "session %s was imported, and nobody has said where it works", s.ID).
				WithHint("alisio resume " + s.ID + " --cwd DIR does")
		}
	}
	return s, nil
}

// FindOwn is FindSession for one that this application can go on with: it, or the
// session that started it, belongs to the workspace.
func (a *App) FindOwn(ctx context.Context, prefix string) (session.Session, error) {
	s, err := a.FindSession(ctx, prefix)
	if err != nil {
		return s, err
	}
	root := s
	if s.Parent != "" && a.children != nil {
		up, err := a.children.Ancestors(ctx, s.ID)
		if err == nil && len(up) > 0 {
			root, err = a.store.Session(ctx, up[len(up)-1].ID)
		}
		if err != nil {
			return s, session.Caused(err)
		}
	}
	if root.Workspace != a.root {
		return s, llm.Errorf(llm.CauseBadRequest, "session %s belongs to another workspace, %s", s.ID, text.QuoteName(root.Workspace)).
			WithHint("alisio resume " + s.ID + " goes on with it there")
	}
	return s, nil
}

// ExportTo writes a session, as "markdown" or "jsonl", into a new file that only its
// owner can read, and returns the file's absolute name. A relative one stands in the
// working directory. Nothing is written over.
func (a *App) ExportTo(ctx context.Context, sessionID, format, file string) (string, error) {
	k, err := a.kept()
	if err == nil && a.o.Policy.ReadOnly {
		err = llm.Errorf(llm.CausePermission, "export: the run is --read-only")
	}
	if err == nil {
		_, err = a.store.Session(ctx, sessionID)
		err = session.Caused(err)
	}
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.o.Dir, file)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("export: %w", err)
	}
	write := k.Markdown
	if format == "jsonl" {
		write = k.Export
	}
	err = write(ctx, sessionID, f)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(file) // a part of a session is none
		return "", session.Caused(err)
	}
	return file, nil
}

// LeftOut is that of the options.
func (a *App) LeftOut(name string) (why string, sure bool) {
	if a.o.LeftOut == nil {
		return "", false
	}
	return a.o.LeftOut(name)
}

// Changelog is the program's own; empty: it was built without.
func (a *App) Changelog() string { return a.o.Changelog }

// Enqueue adds a text for the next turn of a session's run, or for its next run.
func (a *App) Enqueue(ctx context.Context, sessionID, text string) error {
	q, ok := a.store.(session.Queue)
	if !ok {
		return llm.Errorf(llm.CauseBadRequest, "this store keeps no queue")
	}
	return session.Caused(q.Enqueue(ctx, sessionID, text))
}

// Startup is the screen that is shown before the first prompt. The surface says what it
// is shown on, and the words of its own in it.
func (a *App) Startup(ctx context.Context, c plug.ScreenContext) string {
	c.Version, c.Directory, c.User = Version, atHome(a.o.Dir, a.o.Getenv("HOME")), a.o.Getenv("USER")
	if choice, err := a.choose(ctx, ""); err == nil {
		c.Model, c.Server = choice.Model.ID, choice.Host
	}
	return a.host.Startup(ctx, c)
}

// atHome writes a path with "~" for the home directory.
func atHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return path
}
