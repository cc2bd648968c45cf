package plugtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"alisio/plug"
)

// Run is the conformance suite of plugins (spec plugins.md, "Contract"): the plugin
// has an identity, sets up on fresh hosts beside each other, leaves nothing when it
// is undone or refused, offers tools that a model can call, returns from its hooks
// when their context has ended, and ends with Dispose. fresh returns the plugin anew
// each time, as main does; configure gives each fresh host what the plugin needs.
// What a plugin does for people, its own tests say.
//
// What a plugin does behind Dispose is looked for in a bubble of testing/synctest: there
// its goroutines have to end, and wait for nothing that was made outside.
func Run(t *testing.T, fresh func() plug.Plugin, configure ...func(*Host)) {
	t.Helper()
	s := suite{fresh: fresh, configure: configure, dir: t.TempDir}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("nothing after dispose", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if err := nothingAfter(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	})
}

// suite is what the rules are checked with.
type suite struct {
	fresh     func() plug.Plugin
	configure []func(*Host)
	dir       func() string
}

// rule is one thing that holds of every plugin.
type rule struct {
	name  string
	check func(ctx context.Context, s suite) error
}

func rules() []rule {
	return []rule{
		{"identity", identity},
		{"setup", setup},
		{"setup twice", setupTwice},
		{"refused registrations", refusedRegistrations},
		{"undo", undo},
		{"tool specs", toolSpecs},
		{"cancelled hooks", cancelledHooks},
		{"dispose", dispose},
	}
}

// cancelLimit is what a hook may take whose context has ended: the engine does not wait
// for it.
const cancelLimit = 5 * time.Second

func (s suite) host() *Host {
	h := &Host{Dir: s.dir()}
	for _, c := range s.configure {
		c(h)
	}
	return h
}

// within calls a function and gives up on it after a limit: it can not be stopped.
func within(limit time.Duration, what string, do func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("it ended its goroutine")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", what, err)
			}
			done <- err
		}()
		err = do()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%s: it took longer than %s", what, limit)
	}
}

// up sets a fresh plugin up on a fresh host.
func (s suite) up(ctx context.Context) (*Host, plug.Plugin, error) {
	h, p := s.host(), s.fresh()
	if p.Setup == nil {
		return h, p, errors.New("it has no Setup")
	}
	return h, p, within(plug.SetupLimit, "Setup", func() error { return h.Setup(ctx, p) })
}

// with sets up, does something, and disposes of the plugin whatever came of it.
func (s suite) with(ctx context.Context, do func(h *Host, p plug.Plugin) error) error {
	h, p, err := s.up(ctx)
	if err != nil {
		return err
	}
	err = do(h, p)
	return errors.Join(err, down(ctx, h, p))
}

func down(ctx context.Context, h *Host, p plug.Plugin) error {
	return within(plug.DisposeLimit, "Dispose", func() error { return h.Dispose(ctx, p) })
}

// identity is what a person and the engine know a plugin by.
func identity(_ context.Context, s suite) error {
	p, again := s.fresh(), s.fresh()
	version := regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case p.Name == "":
		return errors.New("it has no name for people")
	case !version.MatchString(p.Version):
		return fmt.Errorf("the version is %q: want a semantic version", p.Version)
	case p.ID != again.ID || p.Version != again.Version:
		return fmt.Errorf("made twice, it is %s %s and %s %s", p.ID, p.Version, again.ID, again.Version)
	}
	return nil
}

// setup takes no registration that the engine would refuse, also where the plugin
// overlooks that.
func setup(ctx context.Context, s suite) error {
	return s.with(ctx, func(h *Host, _ plug.Plugin) error { return errors.Join(h.Refused()...) })
}

// setupTwice has two beside each other: what they share shows.
func setupTwice(ctx context.Context, s suite) error {
	return s.with(ctx, func(one *Host, _ plug.Plugin) error {
		first := one.List()
		return s.with(ctx, func(two *Host, _ plug.Plugin) error {
			if err := errors.Join(two.Refused()...); err != nil {
				return fmt.Errorf("the second time: %w", err)
			}
			if got := two.List(); !slices.Equal(got, first) {
				return fmt.Errorf("the second time it registers %q, the first time %q", got, first)
			}
			if got := one.List(); !slices.Equal(got, first) {
				return fmt.Errorf("the second Setup changed the first: %q, was %q", got, first)
			}
			return nil
		})
	})
}

// refusedRegistrations may fail Setup, or be lived with: no panic, no waiting.
func refusedRegistrations(ctx context.Context, s suite) error {
	h, p := s.host(), s.fresh()
	h.Refuse = true
	failed := false
	err := within(plug.SetupLimit, "Setup where registrations are refused", func() error {
		failed = h.Setup(ctx, p) != nil
		return nil
	})
	if err != nil || failed {
		return err
	}
	return down(ctx, h, p)
}

// undo leaves nothing, and does nothing the second time.
func undo(ctx context.Context, s suite) error {
	return s.with(ctx, func(h *Host, _ plug.Plugin) error {
		h.UndoAll()
		h.UndoAll()
		if left := h.List(); len(left) != 0 {
			return fmt.Errorf("undone, there is still %q", left)
		}
		return nil
	})
}

// toolSpecs finds specs that no server would take, or that are not one spec: the
// request's prefix would change with each turn.
func toolSpecs(ctx context.Context, s suite) error {
	return s.with(ctx, func(h *Host, _ plug.Plugin) error {
		var all []error
		for _, t := range Registered[plug.Tool](h) {
			spec := t.Spec()
			if err := unusable(spec); err != nil {
				all = append(all, fmt.Errorf("tool %s: %w", spec.Name, err))
			}
			if again := t.Spec(); fmt.Sprint(again) != fmt.Sprint(spec) {
				all = append(all, fmt.Errorf("tool %s: its spec is another each time", spec.Name))
			}
		}
		return errors.Join(all...)
	})
}

// unusable says what the engine takes of a spec, and a server or a model does not.
func unusable(s plug.ToolSpec) error {
	var schema struct{ Type string }
	switch {
	case json.Unmarshal(s.Schema, &schema) != nil || schema.Type != "object":
		return errors.New("the schema: want a JSON Schema of an object")
	case strings.TrimSpace(s.Description) == "":
		return errors.New("it has no description")
	}
	return nil
}

// refused is what the engine does not take of a hook's answer; any other error is the
// hook's right.
type refused struct{ error }

// cancelledHooks calls all that is called by itself with a context that has ended:
// each returns soon, with an error or without, and what it says can be used.
func cancelledHooks(ctx context.Context, s suite) error {
	return s.with(ctx, func(h *Host, _ plug.Plugin) error {
		over, cancel := context.WithCancel(ctx)
		cancel()
		var all []error
		soon := func(what string, do func() (string, error)) {
			err := within(cancelLimit, what+" with a context that has ended", func() error {
				said, err := do()
				switch err.(type) {
				case nil:
				case refused:
					return err
				default:
					return nil
				}
				if !utf8.ValidString(said) || utf8.RuneCountInString(said) > plug.MaxText {
					return fmt.Errorf("its text is no UTF-8, or longer than %d characters", plug.MaxText)
				}
				return nil
			})
			all = append(all, err)
		}
		for _, x := range Registered[plug.SessionHooks](h) {
			if x.OnStart != nil {
				soon("OnStart", func() (string, error) { return x.OnStart(over, plug.SessionInfo{SessionID: "s"}) })
			}
			if x.OnEnd != nil {
				soon("OnEnd", func() (string, error) { return "", x.OnEnd(over, plug.SessionInfo{SessionID: "s"}) })
			}
		}
		for _, x := range Registered[plug.CompactionHooks](h) {
			if x.Before != nil {
				soon("BeforeCompact", func() (string, error) {
					w, err := x.Before(over, plug.CompactionInput{Reason: "manual"})
					if bad := w.Check(); err == nil && bad != nil {
						err = refused{bad}
					}
					return w.Instructions, err
				})
			}
			if x.After != nil {
				soon("AfterCompact", func() (string, error) {
					r, err := x.After(over, plug.CompactionResult{Reason: "manual"})
					return r.Inject, err
				})
			}
		}
		for _, x := range Registered[plug.ContextSource](h) {
			soon("context "+x.Name, func() (string, error) { return x.Text(over, "s") })
		}
		for _, x := range Registered[plug.Facts](h) {
			soon("facts "+x.ID, func() (string, error) { _, err := x.List(over); return "", err })
		}
		for _, x := range Registered[plug.Mascot](h) {
			soon("mascot "+x.ID, func() (string, error) { return x.Render(over, plug.MascotContext{}) })
		}
		for _, x := range Registered[plug.StartupScreen](h) {
			soon("startup-screen "+x.ID, func() (string, error) { return x.Render(over, plug.ScreenContext{}) })
		}
		for _, x := range Registered[plug.WebSearch](h) {
			soon("websearch "+x.ID, func() (string, error) { _, err := x.Search(over, "q"); return "", err })
		}
		return errors.Join(all...)
	})
}

// dispose ends in time, and at once where the context has ended.
func dispose(ctx context.Context, s suite) error {
	if err := s.with(ctx, func(*Host, plug.Plugin) error { return nil }); err != nil {
		return err
	}
	h, p, err := s.up(ctx)
	if err != nil {
		return err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	return within(plug.DisposeLimit, "Dispose with a context that has ended", func() error {
		_ = h.Dispose(over, p) // what it says of its hurry is its own affair
		return nil
	})
}

// nothingAfter looks for registrations in Dispose and behind it: of all that Dispose has
// started, what can run has run, and what waits for a time has had an hour. It is called
// in a bubble of testing/synctest.
func nothingAfter(ctx context.Context, s suite) error {
	h, p, err := s.up(ctx)
	if err != nil {
		return err
	}
	if err := down(ctx, h, p); err != nil {
		return err
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	var late []error
	for _, err := range h.Refused() {
		if errors.Is(err, errGone) {
			late = append(late, err)
		}
	}
	if len(late) > 0 {
		return fmt.Errorf("it registers after it went: %w", errors.Join(late...))
	}
	if left := h.List(); len(left) > 0 {
		return fmt.Errorf("disposed, there is still %q", left)
	}
	return nil
}
