package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"alisio/plug"
)

// stage says what a plugin may do at the moment.
type stage int

const (
	// settingUp: it may register.
	settingUp stage = iota
	// ready: it may register and use sessions.
	ready
	// closing: Dispose runs; it may use its own state, files and databases.
	closing
	// gone: nothing. A Setup that came too late ends here while it still runs.
	gone
)

// entry is a plugin. The fields below plugin belong to Host.mu, but stuck.
type entry struct {
	plugin plug.Plugin
	state  stage
	// undo takes registrations back, by the number of their order.
	undo map[uint64]func()
	// open are the databases that the plugin has not closed.
	open map[*database]bool
	// stuck counts calls that did not return in time and still run.
	stuck atomic.Int32
}

func (e *entry) id() string { return e.plugin.ID }

// Errors of a member of plug.API that is used at the wrong time.
var (
	ErrSetup = errors.New("it can be used only after setup")
	ErrGone  = errors.New("the plugin was taken down")
)

// maxRegistrations bounds what one plugin has registered at a time.
const maxRegistrations = 1000

// Add sets one plugin up. If that fails or takes more than 10 s, everything that
// it registered is taken back, the failure is kept as a diagnostic and returned.
func (h *Host) Add(ctx context.Context, p plug.Plugin) error {
	e := &entry{plugin: p, undo: map[uint64]func(){}, open: map[*database]bool{}}
	err := h.enter(e)
	if err == nil {
		_, err = call(ctx, e, plug.SetupLimit, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, p.Setup(ctx, h.api(e))
		})
		h.mu.Lock()
		if err == nil && e.state != settingUp {
			err = ErrGone // the host was closed meanwhile
		}
		if err == nil {
			e.state = ready
		} else {
			h.plugins = slices.DeleteFunc(h.plugins, func(other *entry) bool { return other == e })
		}
		h.mu.Unlock()
	}
	if err == nil {
		return nil
	}
	h.leave(e, gone)
	h.closeDatabases(e)
	err = fmt.Errorf("set up plugin %s: %w", tell(p.ID), err)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.notes) < maxNotes {
		h.notes = append(h.notes, Diagnostic{Code: PluginFailed, Plugin: p.ID, Err: err})
	}
	return err
}

// enter checks a plugin and takes its id.
func (h *Host) enter(e *entry) error {
	p := e.plugin
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("the application is closing")
	}
	if err := p.Check(); err != nil {
		return err
	}
	for _, other := range h.plugins {
		if other.id() == p.ID {
			return errors.New("the id is taken")
		}
	}
	h.plugins = append(h.plugins, e)
	return nil
}

// mayRegister is called with the lock held.
func (e *entry) mayRegister() error {
	switch {
	case e.state > ready:
		return ErrGone
	case len(e.undo) >= maxRegistrations:
		return fmt.Errorf("more than %d registrations", maxRegistrations)
	}
	return nil
}

// keep remembers how to take a registration back and returns how a plugin does
// it. It is called with the lock held; remove is too, end after it without.
func (h *Host) keep(e *entry, remove, end func()) (undo func()) {
	h.serial++
	n := h.serial
	undo = sync.OnceFunc(func() {
		h.mu.Lock()
		delete(e.undo, n)
		remove()
		h.mu.Unlock()
		if end != nil {
			end()
		}
	})
	e.undo[n] = undo
	return undo
}

// leave moves a plugin to a state in which it registers nothing, and takes back
// what it had registered, the last first.
func (h *Host) leave(e *entry, to stage) {
	h.mu.Lock()
	e.state = to
	undo := e.undo
	e.undo = map[uint64]func(){}
	h.mu.Unlock()
	order := slices.Sorted(maps.Keys(undo))
	for _, n := range slices.Backward(order) {
		undo[n]()
	}
	h.ui.drop(e.id())
}

// usable says whether a plugin may use what needs running sessions.
func (h *Host) usable(e *entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e.state {
	case settingUp:
		return ErrSetup
	case ready:
		return nil
	}
	return ErrGone
}

// present says whether a plugin may use what is its own, in Setup and Dispose too.
func (h *Host) present(e *entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.state == gone {
		return ErrGone
	}
	return nil
}

// Close takes the plugins down (spec plugins.md): decisions stop, observers get
// what they have not seen, registrations are undone, and all are disposed beside
// each other, each within its limit. It returns their errors, joined in the order
// of their setup.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	var plugins, late []*entry
	for _, e := range h.plugins {
		if e.state == ready {
			plugins = append(plugins, e)
		} else {
			late = append(late, e)
		}
	}
	h.plugins = nil
	h.mu.Unlock()
	for _, e := range late {
		h.leave(e, gone) // Add, which waits for its Setup, does the rest
	}
	var first error
	if h.o.Deactivate != nil {
		// It is the plugin of the provider that may hang here.
		_, first = call(ctx, h.own, h.o.Limits.Dispose, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, h.o.Deactivate(ctx)
		})
	}
	h.drain(ctx)
	for _, e := range slices.Backward(plugins) {
		h.leave(e, closing)
	}
	errs := make([]error, len(plugins))
	var all sync.WaitGroup
	for i, e := range plugins {
		all.Go(func() { errs[i] = h.dispose(ctx, e) })
	}
	all.Wait()
	return errors.Join(append([]error{first}, errs...)...)
}

// dispose calls Dispose once, within its limit; it costs no more however it ends.
// Afterwards nothing of the API works, and what was left open is closed.
func (h *Host) dispose(ctx context.Context, e *entry) error {
	_, err := call(ctx, e, h.o.Limits.Dispose, func(ctx context.Context) (struct{}, error) {
		if e.plugin.Dispose == nil {
			return struct{}{}, nil
		}
		return struct{}{}, e.plugin.Dispose(ctx)
	})
	h.leave(e, gone)
	h.closeDatabases(e)
	if err != nil {
		return fmt.Errorf("dispose plugin %s: %w", e.id(), err)
	}
	return nil
}
