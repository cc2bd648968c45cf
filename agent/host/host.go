// Package host sets plugins up and takes them down: it gives each its API,
// keeps what it registered, and undoes all of it when the plugin goes or its
// Setup fails. A plugin's error or panic is that plugin's failure; the
// application goes on without it.
//
// It runs no tool and no provider, and it knows no plugin by name.
package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"alisio/agent/config"
	"alisio/plug"
)

// Options is what a host works with.
type Options struct {
	Config config.Config
	// HTTP returns the one client of a purpose.
	HTTP func(plug.Purpose) *http.Client
	// Register adds a provider registration and returns how to undo it.
	Register func(plug.ProviderRegistration) (undo func(), err error)
	Log      *slog.Logger
}

// Host holds the plugins of an application. It is safe for concurrent use.
type Host struct {
	o Options

	mu      sync.Mutex
	tools   map[string]plug.Tool
	plugins []*entry
	failed  []Diagnostic
}

// entry is a plugin that is set up.
type entry struct {
	plugin plug.Plugin
	undo   []func()
}

// Diagnostic tells of a plugin that could not be used.
type Diagnostic struct {
	Plugin string
	Err    error
}

// New makes a host without plugins.
func New(o Options) *Host {
	return &Host{o: o, tools: make(map[string]plug.Tool)}
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// wellFormed reports whether s has 1 to 64 characters, the first one of first
// and the others of first or more (plug.Plugin.ID, plug.ToolSpec.Name).
func wellFormed(s, first, more string) bool {
	return s != "" && len(s) <= 64 && strings.Contains(first, s[:1]) && strings.Trim(s, first+more) == ""
}

// AddTool registers a tool of the application itself or of a plugin.
func (h *Host) AddTool(t plug.Tool) (undo func(), err error) {
	spec := t.Spec()
	if !wellFormed(spec.Name, lower, digits+"_") {
		return nil, fmt.Errorf("add tool: name %q: want 1 to 64 of a-z, 0-9 and _, a letter first", spec.Name)
	}
	switch spec.Effect {
	case plug.EffectRead, plug.EffectWrite, plug.EffectProcess, plug.EffectExternal, plug.EffectInternal:
	default:
		return nil, fmt.Errorf("add tool %s: unknown effect %q", spec.Name, spec.Effect)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.tools[spec.Name]; taken {
		return nil, fmt.Errorf("add tool %s: the name is taken", spec.Name)
	}
	h.tools[spec.Name] = t
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.tools, spec.Name)
	}), nil
}

// Tools returns all tools, sorted by name.
func (h *Host) Tools() []plug.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	tools := make([]plug.Tool, 0, len(h.tools))
	for _, name := range slices.Sorted(maps.Keys(h.tools)) {
		tools = append(tools, h.tools[name])
	}
	return tools
}

// Diagnostics lists the plugins that could not be set up, with the reason.
func (h *Host) Diagnostics() []Diagnostic {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.failed)
}

// Add sets one plugin up. If that fails, everything that it registered is taken
// back, the failure is kept as a diagnostic and returned.
func (h *Host) Add(ctx context.Context, p plug.Plugin) error {
	e := &entry{plugin: p}
	err := h.check(p)
	if err == nil {
		err = guard(func() error { return p.Setup(ctx, h.api(e)) })
		if err != nil {
			undoAll(e)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("set up plugin %s: %w", p.ID, err)
		h.failed = append(h.failed, Diagnostic{Plugin: p.ID, Err: err})
		return err
	}
	h.plugins = append(h.plugins, e)
	return nil
}

func (h *Host) check(p plug.Plugin) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !wellFormed(p.ID, lower+digits, ".-"):
		return errors.New("the id: want 1 to 64 of a-z, 0-9, dot and hyphen, no dot or hyphen first")
	case p.APIVersion != plug.APIVersion:
		return fmt.Errorf("it was written for version %d of the plugin contract, this is version %d", p.APIVersion, plug.APIVersion)
	case p.Setup == nil:
		return errors.New("it has no Setup")
	}
	for _, e := range h.plugins {
		if e.plugin.ID == p.ID {
			return errors.New("the id is taken")
		}
	}
	return nil
}

// api makes the API of one plugin; every registration is remembered in e.
func (h *Host) api(e *entry) *plug.API {
	keep := func(undo func(), err error) (func(), error) {
		if err != nil {
			return nil, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		e.undo = append(e.undo, undo)
		return undo, nil
	}
	id := e.plugin.ID
	return &plug.API{
		AddTool: func(t plug.Tool) (func(), error) { return keep(h.AddTool(t)) },
		AddProvider: func(r plug.ProviderRegistration) (func(), error) {
			undo, err := h.o.Register(r)
			if err != nil {
				return nil, err
			}
			return keep(sync.OnceFunc(undo), nil)
		},
		HTTP:    h.o.HTTP,
		Options: func(into any) error { return decodeOptions(id, h.o.Config.Plugin(id).Options, into) },
		Log:     h.o.Log.With("plugin", id),
	}
}

// decodeOptions reads a plugin's own configuration strictly.
func decodeOptions(id string, raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read builtinPlugins.%s: %w", id, err)
	}
	return nil
}

// Close takes all plugins down, the last one first. It returns the first error.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	plugins := h.plugins
	h.plugins = nil
	h.mu.Unlock()
	var first error
	for _, e := range slices.Backward(plugins) {
		undoAll(e)
		if e.plugin.Dispose == nil {
			continue
		}
		if err := guard(func() error { return e.plugin.Dispose(ctx) }); err != nil && first == nil {
			first = fmt.Errorf("dispose plugin %s: %w", e.plugin.ID, err)
		}
	}
	return first
}

// undoAll takes registrations back, the last one first.
func undoAll(e *entry) {
	for _, undo := range slices.Backward(e.undo) {
		undo()
	}
	e.undo = nil
}

// guard makes a plugin's panic its error.
func guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}
