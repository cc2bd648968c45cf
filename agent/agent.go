// Package agent is the engine's door: New puts the parts together, Run works
// on a prompt, Close gives everything back. Command line, screens, plugins and
// programs that embed the engine all come in here.
//
// It joins the parts and decides nothing: the loop is in agent/run, the
// permission in agent/gate, the files in agent/workspace.
package agent

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"alisio/agent/blob"
	"alisio/agent/clock"
	"alisio/agent/config"
	"alisio/agent/host"
	"alisio/agent/ledger"
	"alisio/agent/outside"
	"alisio/agent/perm"
	"alisio/agent/profile"
	"alisio/agent/request"
	"alisio/agent/resource"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/agent/session/child"
	"alisio/agent/transport"
	"alisio/agent/trust"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// Version is the program's semantic version.
const Version = "0.1.0-dev"

// Options is what an application is made from. Only Dir is needed.
type Options struct {
	// Dir is the absolute working directory.
	Dir    string
	Config config.Config
	// Dirs are the person's own directories; Dirs.Config may hold an AGENTS.md.
	Dirs config.Dirs
	// Guarded are further files of the person's own, such as that of --config,
	// that file tools never write without a yes.
	Guarded []string
	// Hermetic: nothing of the person or the project shapes a run but what stands
	// here. No instruction file, no ignore rule of the person and no cache is read,
	// and no cache is written. What tools read when a model asks for it, and what
	// the programs read that they start, is the task's own affair. See Fingerprint.
	Hermetic bool
	Policy   perm.Policy
	// Asker puts questions to the person; nil: nobody can be asked, and what
	// would need a yes is denied with the remedy.
	Asker plug.Asker
	// Plugins are set up in this order, Tools are the application's own.
	Plugins []plug.Plugin
	Tools   []plug.Tool
	// Store keeps sessions, see OpenStore; nil keeps them in memory. Close closes
	// it.
	Store session.Store
	// NamedServer: somebody named the model's server, by a flag, the environment or a
	// configuration, be it the one of Default. A session that was with another goes
	// there.
	NamedServer bool
	// Provider, if set, is used with Model instead of the configured one.
	Provider llm.Provider
	Model    llm.Model
	Effort   string
	// Agent is the primary agent of sessions in which none was chosen; empty: the
	// engine's own.
	Agent string
	// Project is what a person trusts of the project, as it was hashed; nil: nothing.
	Project *trust.Project
	// LeftOut, if set, says why there is no command of a name that somebody gave; sure:
	// it is certain that it is the reason. Empty: nobody knows.
	LeftOut func(name string) (why string, sure bool)
	// Changelog is the program's own, for the command.
	Changelog string
	// Getenv reads the environment; nil is an empty one.
	Getenv func(string) string
	Log    *slog.Logger
}

// App is a running engine. It is safe for concurrent use.
type App struct {
	o         Options
	files     *workspace.Workspace
	root      string
	store     session.Store
	host      *host.Host
	providers *profile.Registry
	models    *profile.Source
	outside   *outside.Recorder
	clients   *transport.Clients
	waits     *clock.HumanWaits

	// locks are those of the sessions that this process works in; children is nil
	// where the store can not keep them.
	locks    *child.Locks
	children *child.Sessions

	mu       sync.Mutex
	closing  bool // Close was called
	closed   bool // and nothing begins any more
	sessions map[string]*conversation
	trees    map[string]*tree          // by root
	books    map[string]*ledger.Ledger // of the runs that are under way, by session
	skills   *resource.Skills          // as they were found last
}

// Outcome is what became of a run.
type Outcome request.Outcome

// The ends of a run.
const (
	Completed     = run.Completed
	TurnsExceeded = run.TurnsExceeded
	Failed        = run.Failed
	Cancelled     = run.Cancelled
)

// NewID returns a random UUIDv4, as sessions and runs carry it.
func NewID() string { return run.NewID() }

// New puts an application together. It contacts nobody and scans nothing. A
// plugin that can not be set up is left out: see Diagnostics.
func New(ctx context.Context, o Options) (*App, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	server := o.Config.Provider
	clients, err := transport.New(transport.Options{CAFile: server.CAFile, ClientCert: server.ClientCert, Origin: server.BaseURL})
	if err != nil {
		return nil, err
	}
	a := &App{
		o: o, store: o.Store, providers: &profile.Registry{}, waits: &clock.HumanWaits{},
		clients: clients, sessions: make(map[string]*conversation), trees: make(map[string]*tree),
		books: make(map[string]*ledger.Ledger),
	}
	if a.store == nil {
		a.store = session.NewMemory()
	}
	if err := a.openFiles(); err != nil {
		return nil, err
	}
	if o.Hermetic {
		// They stay guarded; nobody finds them here any more.
		a.o.Dirs.Config, a.o.Dirs.Cache = "", ""
	}
	a.models = &profile.Source{Registry: a.providers, Selection: a.o.Selection(), Own: o.Provider, OwnModel: o.Model, Log: o.Log}
	a.openChildren()
	a.host = host.New(a.hostOptions())
	a.outside = &outside.Recorder{Store: a.store, Publish: a.host.Publish, Hold: a.locks.Hold, Log: o.Log}
	if err := a.fill(ctx); err != nil {
		return nil, errors.Join(err, a.files.Close())
	}
	if l, ok := a.store.(session.RunList); ok {
		if _, err := l.InterruptRuns(ctx); err != nil {
			o.Log.Warn("runs of ended processes are not marked", "error", err)
		}
	}
	if _, err := a.primary(""); err != nil {
		return nil, errors.Join(llm.Errorf(llm.CauseBadRequest, "%w", err), a.host.Close(ctx), a.files.Close())
	}
	return a, nil
}

// fill gives the host what the application is made with: the engine's own agents, the
// tools and the plugins.
func (a *App) fill(ctx context.Context) error {
	for _, own := range ownAgents() {
		if _, err := a.host.AddAgent(own); err != nil {
			return err
		}
	}
	for _, t := range a.o.Tools {
		if _, err := a.host.AddTool(t); err != nil {
			return err
		}
	}
	for _, p := range a.o.Plugins {
		if !a.o.Config.Plugin(p.ID).Enabled {
			continue
		}
		if err := a.host.Add(ctx, p); err != nil && ctx.Err() == nil { // a start that was stopped is no plugin's fault
			a.o.Log.Warn(err.Error() + "; the plugin is left out")
		}
	}
	return nil
}

// openFiles opens the workspace: the repository around the working directory,
// or the directory itself, and the added directories.
func (a *App) openFiles() error {
	a.root = findRoot(a.o.Dir, a.o.Getenv("HOME"))
	files, err := workspace.Open(a.root, a.o.Config.AdditionalDirectories...)
	if err != nil {
		return err
	}
	if err := files.SetBase(a.o.Dir); err != nil {
		files.Close()
		return err
	}
	a.guard(files, a.root)
	files.GuardLinked(trust.Linked(a.root)...)
	a.files = files
	if home := a.o.Getenv("HOME"); home != "" && contains(a.root, home) {
		a.o.Log.Warn("the workspace " + a.root + " holds your whole home directory: tools can read all of it; start in a project, or use --cwd")
	}
	return nil
}

// guard keeps tools away from the person's own files in a workspace in dir.
func (a *App) guard(files *workspace.Workspace, dir string) {
	if a.o.Hermetic {
		files.SkipUserExcludes()
	}
	files.Guard(a.o.Dirs.Config, a.o.Dirs.State)
	if !a.worktree(dir) { // which lies in the cache
		files.Guard(a.o.Dirs.Cache)
	}
	files.Guard(a.o.Guarded...)
	files.Guard(a.o.Config.Skills...) // the next run is told to follow what stands there
	files.CloseOff(a.ownFiles()...)
}

// ownFiles are the files of the session database.
func (a *App) ownFiles() []string {
	if s, ok := a.store.(interface{ Files() []string }); ok {
		return s.Files()
	}
	return nil
}

// Blobs is the store of uploads, and of results that are too long for a message.
func (a *App) Blobs() blob.Store {
	s, _ := a.store.(blob.Backend)
	return blob.Store{Backend: s}
}

// Close takes plugins down and gives everything back: first children are stopped,
// then the sessions are left, then plugins go, which may still ask for completions.
// Runs must have ended.
func (a *App) Close(ctx context.Context) error {
	a.mu.Lock()
	ended := a.closed || a.closing
	a.closing = true
	ids := slices.Collect(maps.Keys(a.sessions))
	a.mu.Unlock()
	if ended {
		return nil
	}
	var err error
	if a.children != nil {
		err = a.children.Close(ctx)
	}
	var left sync.WaitGroup
	for _, id := range ids {
		left.Go(func() { a.Leave(ctx, id) })
	}
	left.Wait()
	a.mu.Lock()
	a.closed = true
	trees := a.trees
	a.mu.Unlock()
	a.models.Stop()
	err = errors.Join(err, a.host.Close(ctx), a.models.Close())
	a.fileWords(ctx) // what plugins need time for goes first
	a.clients.Close()
	for _, t := range trees {
		err = errors.Join(err, t.files.Close())
	}
	return errors.Join(err, a.store.Close(), a.files.Close())
}

// Endpoint names the model and the server, name and port, that runs go to; the
// server is empty for an embedder's provider.
func (a *App) Endpoint(ctx context.Context) (model, host string, err error) {
	c, err := a.choose(ctx, "")
	return c.Model.ID, c.Host, err
}
