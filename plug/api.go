package plug

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"alisio/llm"
)

// API is what a plugin may do. Its members may be used in Setup and until the
// plugin is disposed; what only makes sense while sessions run (Exec, Git, Complete,
// Sessions, the questions of UI) is an error during Setup. Every function that
// registers something returns how to take it away again; calling that twice does
// nothing, and all is taken away when the plugin goes.
type API struct {
	// AddTool registers a tool under its unprefixed name.
	AddTool func(Tool) (undo func(), err error)
	// AddSlashCommand registers a command of the catalog.
	AddSlashCommand func(SlashCommand) (undo func(), err error)
	// AddAgent registers a primary agent: one that a person can work with.
	AddAgent func(Agent) (undo func(), err error)
	// AddProvider registers a kind of model provider. Registering never
	// activates: Create is called when a request first needs the provider.
	AddProvider func(ProviderRegistration) (undo func(), err error)
	// AddContext registers text that joins the model's context.
	AddContext func(ContextSource) (undo func(), err error)
	// AddResources registers directories with skills, prompts and agents.
	AddResources func(ResourceDirs) (undo func(), err error)
	// Observe registers an observer of run events.
	Observe func(Observer) (undo func(), err error)
	// OnSession and OnCompaction register hooks.
	OnSession    func(SessionHooks) (undo func(), err error)
	OnCompaction func(CompactionHooks) (undo func(), err error)
	// Extend registers providers of extension points.
	Extend Extensions

	// HTTP returns the application's HTTP client for a purpose. It has no
	// overall time-out: bound calls by their context.
	HTTP func(Purpose) *http.Client
	// Options decodes the plugin's own configuration (builtinPlugins.<id>, without
	// "enabled") into a pointer to a struct, as encoding/json does: a key fills the
	// field of its json tag, or of its name whatever the case. A key that no field
	// has is an error; absent keys leave the struct untouched.
	Options func(into any) error
	// Log is the plugin's log. Warnings and errors become a line "notice: …" on
	// standard error, none with --quiet; lower levels are dropped, and what only
	// lists or checks plugins drops all. It never holds a key.
	Log *slog.Logger
	// Paths are directories of the plugin's own.
	Paths Paths
	// State keeps small values in the session database.
	State State
	// SQL opens a database file of the plugin's own (mode 0600); a relative path
	// stands in the state home. The plugin closes it.
	SQL func(ctx context.Context, path string) (SQL, error)
	// Exec runs a program for a session. It is a plan of effect process: the gate
	// decides, the journal records it.
	Exec func(ctx context.Context, sessionID string, c Command) (Exit, error)
	// Git runs the host's git in a directory with hooks, drivers and all that a
	// repository could make it run switched off. The first argument is one of
	// status, diff, rev-parse, worktree, branch, merge; what changes a repository
	// is refused where the session may not write.
	Git func(ctx context.Context, sessionID, dir string, args ...string) (Exit, error)
	// Complete asks the session's model, or another one, for one answer without
	// tools. It counts for the run of the session.
	Complete func(ctx context.Context, c Completion) (Completed, error)
	// Models lists and resolves models; it holds no credential.
	Models Models
	// Sessions starts and runs child sessions.
	Sessions Sessions
	// UI shows things to the person, where somebody watches.
	UI UI
}

// Paths are directories of a plugin's own, made with mode 0700 when they are
// asked for. An error tells that there is none, as in a hermetic run.
type Paths struct {
	Config func() (string, error)
	State  func() (string, error)
	Cache  func() (string, error)
}

// State keeps small JSON values of one plugin in the session database. A key has
// 1 to 200 bytes, a value at most 64 KiB.
type State struct {
	// Get returns a value; nil: there is none.
	Get    func(ctx context.Context, key string) (json.RawMessage, error)
	Set    func(ctx context.Context, key string, value json.RawMessage) error
	Delete func(ctx context.Context, key string) error
	// Keys lists the keys with a prefix, sorted.
	Keys func(ctx context.Context, prefix string) ([]string, error)
}

// Completion is one request to a model without tools.
type Completion struct {
	// SessionID is the session that it is made for.
	SessionID string
	// Model is a name that Models.Resolve takes; empty is the session's.
	Model        string
	Instructions string
	Messages     []llm.Message
	// Effort and MaxOutputTokens are the model's defaults when zero.
	Effort          string
	MaxOutputTokens int
}

// Completed is the answer to a Completion.
type Completed struct {
	Text  string
	Model string
	Usage llm.Usage
	// Truncated: the output limit cut the text.
	Truncated bool
}

// Models tells of the models of the active provider.
type Models struct {
	List func(ctx context.Context) ([]llm.Model, error)
	// Resolve finds a model by its id, "provider/id" or "inherit" (the session's).
	Resolve func(ctx context.Context, name string) (llm.Model, error)
}

// SlashCommand is a command of the catalog that runs without a model.
type SlashCommand struct {
	// Name matches ^[a-z][a-z0-9-]{0,40}$, without the slash.
	Name         string
	Description  string
	ArgumentHint string
	// Run returns text for the person. args is what stands behind the name;
	// sessionID is "" before the first prompt, as there is no session yet.
	Run func(ctx context.Context, args, sessionID string) (string, error)
}

// Agent is a primary agent: how the model of a session that a person works with
// is set up.
type Agent struct {
	// ID matches ^[a-z0-9][a-z0-9-]{0,63}$.
	ID          string
	Description string
	// Color is the name of a colour of the terminal: black, red, green, yellow,
	// blue, magenta, cyan, white; or empty.
	Color string
	// Persona joins the instructions.
	Persona string
	// Spec narrows what the agent's own calls may be: Tools, ReadOnly, Permission,
	// Model, MaxTurns; the other fields are not used. It is a profile, no ceiling:
	// children of its sessions are not bound by it.
	Spec ChildSpec
}

// ContextSource is text that joins the model's context.
type ContextSource struct {
	// Name is unique in the plugin: ^[a-z0-9][a-z0-9-]{0,63}$.
	Name string
	// Text says what stands in the context of a session; empty: nothing. It is
	// asked before each request, has a second, and at most 24,000 characters of it
	// are used. What it says is appended to the conversation once, and again when
	// it has changed.
	Text func(ctx context.Context, sessionID string) (string, error)
}

// ResourceDirs are absolute directories; empty ones are not used, and a hermetic
// run uses none. A plugin whose files are embedded in it writes them below
// Paths.Cache in Setup.
type ResourceDirs struct {
	// Skills have a directory each: DIR/NAME/SKILL.md.
	Skills []string
	// Prompts are the files DIR/NAME.md, not those of directories below.
	Prompts []string
	// Agents are kept, and nothing reads them.
	Agents []string
}

// Observer sees run events, in order, from a goroutine of its own. One that
// falls behind misses ephemeral events alone (text_delta, reasoning_delta,
// tool_progress). A panic ends the observer.
type Observer struct {
	// Types are those that it wants; none means all.
	Types []EventType
	Event func(ctx context.Context, e Event)
}
