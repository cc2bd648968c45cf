// Package plugtest tests plugins without the engine: Host is an application in
// memory that keeps what a plugin registers, shows and asks, and Run is what every
// plugin has to pass. Only tests import it.
//
// It starts no program, opens no database and contacts nobody: where a plugin
// needs an answer, the test gives it. It refuses what the engine refuses, by the same
// Check methods of package plug; what the engine cuts or cleans stays as it was said, and
// what is only for people, such as a command's description, is not looked at.
package plugtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"alisio/llm"
	"alisio/plug"
)

// Host is an application in memory for one plugin. The fields are what a test
// gives it, before Setup; a function that is nil makes the member an error, as it
// is during Setup and after the plugin went. It is safe for concurrent use.
type Host struct {
	// Options is the plugin's configuration, a JSON object; nil: none.
	Options json.RawMessage
	// Dir holds the directories of Paths; empty: there are none. They are not made.
	Dir string
	// Refuse makes every registration an error.
	Refuse bool

	// HTTP is the client of a purpose; nil gives the plugin no client.
	HTTP func(plug.Purpose) *http.Client
	// SQL opens a database, in Setup too. The plugin closes it.
	SQL func(ctx context.Context, path string) (plug.SQL, error)
	// Exec, Git and Complete answer after Setup alone, as in the engine.
	Exec     func(ctx context.Context, sessionID string, c plug.Command) (plug.Exit, error)
	Git      func(ctx context.Context, sessionID, dir string, args ...string) (plug.Exit, error)
	Complete func(ctx context.Context, c plug.Completion) (plug.Completed, error)
	// Models and Sessions: each of their functions may be nil.
	Models   plug.Models
	Sessions plug.Sessions
	// Ask answers Select and AskQuestions; nil: nobody can be asked.
	Ask         func(ctx context.Context, sessionID string, questions []plug.Choice) ([]plug.Chosen, error)
	OpenSession func(sessionID string) error

	// What the plugin did, under the lock: rows by the order of registration, refused
	// what was not taken, however the plugin took that.
	mu      sync.Mutex
	stage   stage
	serial  int
	rows    map[int]row
	refused []error
	state   map[string]json.RawMessage
	status  string
	panel   plug.Panel
}

// stage says where the plugin stands.
type stage int

const (
	settingUp stage = iota
	ready
	gone
)

// row is one registration.
type row struct {
	kind, name string
	value      any
	undo       func()
}

// errGone is what a plugin gets that registers after it went.
var errGone = errors.New("the plugin was taken down")

// Setup sets a plugin up. If that fails, nothing of it stays. A panic goes on to the
// caller: a test shows where it came from.
func (h *Host) Setup(ctx context.Context, p plug.Plugin) error {
	err := p.Setup(ctx, h.API())
	if err != nil {
		h.leave()
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stage = ready
	return nil
}

// Dispose takes a plugin down as the engine does: registrations first.
func (h *Host) Dispose(ctx context.Context, p plug.Plugin) error {
	h.leave()
	if p.Dispose == nil {
		return nil
	}
	return p.Dispose(ctx)
}

func (h *Host) leave() {
	h.mu.Lock()
	h.stage = gone
	h.status, h.panel = "", plug.Panel{}
	h.mu.Unlock()
	h.UndoAll()
}

// UndoAll takes all registrations back, the last one first, by the functions that
// the plugin got.
func (h *Host) UndoAll() {
	h.mu.Lock()
	rows := maps.Clone(h.rows)
	h.mu.Unlock()
	order := slices.Sorted(maps.Keys(rows))
	for _, n := range slices.Backward(order) {
		rows[n].undo()
	}
}

// add keeps a registration under a name that may have to be unique in its kind.
// problem says what is wrong with it, as the engine would find.
func (h *Host) add(kind, name string, value any, unique bool, problem error) (undo func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err = problem
	switch {
	case h.stage == gone:
		err = errGone
	case h.Refuse:
		err = errors.New("this host refuses all")
	case unique:
		for _, r := range h.rows {
			if r.kind == kind && r.name == name {
				err = errors.New("the name is taken")
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("add %s %q: %w", kind, name, err)
		h.refused = append(h.refused, err)
		return nil, err
	}
	if h.rows == nil {
		h.rows = map[int]row{}
	}
	h.serial++
	n := h.serial
	undo = sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.rows, n)
	})
	h.rows[n] = row{kind, name, value, undo}
	return undo, nil
}

// List names all that is registered, "kind name", sorted.
func (h *Host) List() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, r := range h.rows {
		all = append(all, strings.TrimSpace(r.kind+" "+r.name))
	}
	slices.Sort(all)
	return all
}

// Refused lists the registrations that were refused, and what is wrong with panels, of
// which the engine leaves that out without a word.
func (h *Host) Refused() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.refused)
}

// Registered returns what is registered of a type, in the order of registration:
// Registered[plug.Tool](h), Registered[plug.SessionHooks](h), …
func Registered[T any](h *Host) []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []T
	for _, n := range slices.Sorted(maps.Keys(h.rows)) {
		if v, ok := h.rows[n].value.(T); ok {
			all = append(all, v)
		}
	}
	return all
}

// Tool returns the tool of a name, nil for none.
func (h *Host) Tool(name string) plug.Tool {
	for _, t := range Registered[plug.Tool](h) {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// Publish hands an event to the observers that want it, one after the other.
func (h *Host) Publish(ctx context.Context, e plug.Event) {
	for _, o := range Registered[plug.Observer](h) {
		if len(o.Types) == 0 || slices.Contains(o.Types, e.Data.EventType()) {
			o.Event(ctx, e)
		}
	}
}

// Status returns the plugin's word in the status bar, Panel its tree.
func (h *Host) Status() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// Panel returns the plugin's tree.
func (h *Host) Panel() plug.Panel {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.panel
}

// allows says whether what needs running sessions may be used.
func (h *Host) allows(there bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stage == settingUp:
		return errors.New("it can be used only after setup")
	case h.stage == gone:
		return errGone
	case !there:
		return errors.New("the test gives no answer")
	}
	return nil
}

// paths names directories below Dir, of which there may be none, as in a hermetic
// run.
func (h *Host) paths() plug.Paths {
	below := func(kind string) func() (string, error) {
		return func() (string, error) {
			if h.Dir == "" {
				return "", fmt.Errorf("find %s directory: there is none", kind)
			}
			return filepath.Join(h.Dir, kind), nil
		}
	}
	return plug.Paths{Config: below("config"), State: below("state"), Cache: below("cache")}
}

// stateOf keeps values with the bounds of plug.State.
func (h *Host) stateOf() plug.State {
	return plug.State{
		Get: func(_ context.Context, key string) (json.RawMessage, error) {
			if err := plug.CheckStateKey(key); err != nil {
				return nil, fmt.Errorf("get state: %w", err)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			return slices.Clone(h.state[key]), nil
		},
		Set: func(_ context.Context, key string, value json.RawMessage) error {
			if err := cmp.Or(plug.CheckStateKey(key), plug.CheckStateValue(value)); err != nil {
				return fmt.Errorf("set state: %w", err)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.state == nil {
				h.state = map[string]json.RawMessage{}
			}
			h.state[key] = slices.Clone(value)
			return nil
		},
		Delete: func(_ context.Context, key string) error {
			if err := plug.CheckStateKey(key); err != nil {
				return fmt.Errorf("delete state: %w", err)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.state, key)
			return nil
		},
		Keys: func(_ context.Context, prefix string) ([]string, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			var keys []string
			for _, key := range slices.Sorted(maps.Keys(h.state)) {
				if strings.HasPrefix(key, prefix) {
					keys = append(keys, key)
				}
			}
			return keys, nil
		},
	}
}

func (h *Host) logger() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (h *Host) models() plug.Models {
	return plug.Models{
		List: func(ctx context.Context) ([]llm.Model, error) {
			if err := h.allows(h.Models.List != nil); err != nil {
				return nil, err
			}
			return h.Models.List(ctx)
		},
		Resolve: member(h, h.Models.Resolve),
	}
}

// member guards a function with one argument: none in Setup, none after the plugin
// went, and an error where the test gives no answer.
func member[A, R any](h *Host, do func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, a A) (R, error) {
		if err := h.allows(do != nil); err != nil {
			var none R
			return none, err
		}
		return do(ctx, a)
	}
}
