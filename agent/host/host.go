// Package host sets plugins up and takes them down: it gives each its API, keeps
// what it registered with its owner, calls its hooks, observers and extensions
// within their limits, and undoes all of it when the plugin goes or its Setup
// fails. A plugin's error, panic or silence is that plugin's failure; the
// application goes on without it.
//
// It runs no tool and no provider, opens no session, draws on no terminal, and
// knows no plugin by name. What needs the engine comes as functions in Options. What a
// plugin hands over is checked by the contract's own Check methods, and its words are
// made safe here.
//
//	Setup --> ready --> closing --> gone
//	  |                  Dispose     ^
//	  `-- error, panic, too late ----'
package host

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"alisio/agent/config"
	"alisio/plug"
)

// Options is what a host works with. A function that is nil makes the member of
// plug.API that needs it an error.
type Options struct {
	Config config.Config
	Log    *slog.Logger
	// Dirs are the person's own directories, below which plugins have theirs; an
	// empty one is an error to a plugin that asks for it, as in a hermetic run.
	Dirs config.Dirs
	// ClosedOff are absolute paths of databases that plugins do not open: that of
	// the sessions.
	ClosedOff []string
	Limits    Limits

	// HTTP returns the one client of a purpose; without it plugins get nil.
	HTTP func(plug.Purpose) *http.Client
	// CheckTool says what else is wrong with a tool; nil: nothing.
	CheckTool func(plug.ToolSpec) error
	// Register adds a provider registration and returns how to undo it.
	Register func(plug.ProviderRegistration) (undo func(), err error)
	State    State
	// Exec and Git are told which plugin asks.
	Exec     func(ctx context.Context, plugin, sessionID string, c plug.Command) (plug.Exit, error)
	Git      func(ctx context.Context, plugin, sessionID, dir string, args ...string) (plug.Exit, error)
	Complete func(ctx context.Context, plugin string, c plug.Completion) (plug.Completed, error)
	Models   plug.Models
	Sessions plug.Sessions
	// Ask puts questions of plugins to the person: the queue of the gate, which checks
	// the answers.
	Ask func(ctx context.Context, q plug.Question) (plug.Answer, error)
	// Interactive reports whether a person can be asked; nil: while a surface is
	// bound.
	Interactive func() bool
	// After reads the stored events of a session behind an event, oldest first; it
	// may return a part of them, but at least one if there is one. Without it an
	// observer that falls behind misses stored events too, and that is told.
	After func(ctx context.Context, sessionID string, eventID int64) ([]plug.Event, error)
	// Deactivate, if set, is called first when the host closes: the active decision
	// provider stops before its plugin goes.
	Deactivate func(ctx context.Context) error
}

// State keeps the values of plugins in the session database. The host has
// checked keys and values.
type State interface {
	// Get returns nil where there is no value.
	Get(ctx context.Context, plugin, key string) (json.RawMessage, error)
	Set(ctx context.Context, plugin, key string, value json.RawMessage) error
	Delete(ctx context.Context, plugin, key string) error
	Keys(ctx context.Context, plugin, prefix string) ([]string, error)
}

// Limits bounds what plugins may take (spec config-cli.md, pluginHooks.*). Zero
// is the default.
type Limits struct {
	// Hook is for start and compaction hooks, 15 s.
	Hook time.Duration
	// SessionEnd is for end hooks, 10 s.
	SessionEnd time.Duration
	// Dispose is for taking a plugin down, 2 s.
	Dispose time.Duration
}

// Limits that nobody configures (spec plugins.md).
const (
	contextLimit   = time.Second
	extensionLimit = 250 * time.Millisecond
	actionLimit    = 10 * time.Second
	searchLimit    = 30 * time.Second
)

// Host holds the plugins of an application. It is safe for concurrent use.
type Host struct {
	o Options
	// own is the owner of what the application itself registers.
	own *entry
	ui  port

	mu       sync.Mutex
	closed   bool
	plugins  []*entry
	r        registry
	serial   uint64
	notes    []Diagnostic
	noted    map[string]bool
	lastText map[textKey]string
	textKeys []textKey
}

// Code says what kind of thing a diagnostic tells.
type Code string

// The codes of diagnostics.
const (
	// PluginFailed: the plugin could not be set up and is left out.
	PluginFailed Code = "plugin_failed"
	// ExtensionConflict: providers of an extension point have the same priority;
	// Err is a *Conflict.
	ExtensionConflict Code = "extension_conflict"
	// ExtensionFailed: a provider failed and the default was used.
	ExtensionFailed Code = "extension_failed"
	// ContextFailed: a context source failed and its last text is used.
	ContextFailed Code = "context_failed"
	// ObserverFailed: an observer panicked and is ended, or missed events.
	ObserverFailed Code = "observer_failed"
)

// Diagnostic tells of a plugin, or of a part of one, that could not be used.
type Diagnostic struct {
	Code   Code
	Plugin string
	Err    error
}

// maxNotes bounds the diagnostics that are kept.
const maxNotes = 200

// New makes a host without plugins.
func New(o Options) *Host {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits.Hook = cmp.Or(o.Limits.Hook, 15*time.Second)
	o.Limits.SessionEnd = cmp.Or(o.Limits.SessionEnd, 10*time.Second)
	o.Limits.Dispose = cmp.Or(o.Limits.Dispose, plug.DisposeLimit)
	return &Host{
		o: o, own: &entry{state: ready, undo: map[uint64]func(){}},
		noted: map[string]bool{}, lastText: map[textKey]string{},
	}
}

// Diagnostics lists what went wrong, oldest first, and then the conflicts that
// there are between extensions.
func (h *Host) Diagnostics() []Diagnostic {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append(slices.Clone(h.notes), h.r.conflicts()...)
}

// note keeps a diagnostic, once for each key.
func (h *Host) note(key string, d Diagnostic) {
	h.mu.Lock()
	told := h.noted[key] || len(h.notes) >= maxNotes
	if !told {
		h.noted[key] = true
		h.notes = append(h.notes, d)
	}
	h.mu.Unlock()
	if !told {
		h.o.Log.Warn("part of a plugin left out", "code", string(d.Code), "plugin", d.Plugin, "error", d.Err)
	}
}

// Plugins lists the plugins that are set up, in the order of their setup.
func (h *Host) Plugins() []plug.Plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []plug.Plugin
	for _, e := range h.plugins {
		if e.state == ready {
			all = append(all, e.plugin)
		}
	}
	return all
}
