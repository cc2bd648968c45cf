package plugtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"alisio/plug"
)

// API is what a plugin gets in Setup. Registrations are checked as the engine checks
// them, but for the inside of a tool's schema, and kept with their undo; what only makes
// sense while sessions run is an error until Setup has returned.
func (h *Host) API() *plug.API {
	return &plug.API{
		AddTool: h.addTool,
		AddSlashCommand: func(c plug.SlashCommand) (func(), error) {
			return h.add("command", c.Name, c, true, c.Check())
		},
		AddAgent: func(a plug.Agent) (func(), error) { return h.add("agent", a.ID, a, true, a.Check()) },
		AddProvider: func(p plug.ProviderRegistration) (func(), error) {
			return h.add("provider", p.ID, p, true, p.Check())
		},
		AddContext: func(c plug.ContextSource) (func(), error) {
			return h.add("context", c.Name, c, true, c.Check())
		},
		AddResources: func(d plug.ResourceDirs) (func(), error) {
			return h.add("resource", "", d, false, d.Check())
		},
		Observe: func(o plug.Observer) (func(), error) { return h.add("observer", "", o, false, o.Check()) },
		OnSession: func(s plug.SessionHooks) (func(), error) {
			return h.add("session-hook", "", s, false, s.Check())
		},
		OnCompaction: func(c plug.CompactionHooks) (func(), error) {
			return h.add("compaction-hook", "", c, false, c.Check())
		},
		Extend: h.extensions(),
		HTTP: func(p plug.Purpose) *http.Client {
			if h.HTTP == nil {
				return nil
			}
			return h.HTTP(p)
		},
		Options: h.decode,
		Log:     h.logger(),
		Paths:   h.paths(),
		State:   h.stateOf(),
		SQL: func(ctx context.Context, path string) (plug.SQL, error) {
			if h.SQL == nil {
				return nil, errors.New("the test gives no database")
			}
			return h.SQL(ctx, path)
		},
		Exec: func(ctx context.Context, sessionID string, c plug.Command) (plug.Exit, error) {
			if err := h.allows(h.Exec != nil); err != nil {
				return plug.Exit{}, err
			}
			return h.Exec(ctx, sessionID, c)
		},
		Git: func(ctx context.Context, sessionID, dir string, args ...string) (plug.Exit, error) {
			if err := h.allows(h.Git != nil); err != nil {
				return plug.Exit{}, err
			}
			return h.Git(ctx, sessionID, dir, args...)
		},
		Complete: member(h, h.Complete),
		Models:   h.models(),
		Sessions: h.sessions(),
		UI:       h.ui(),
	}
}

// addTool asks for the spec once, as the engine does with a plugin's tool.
func (h *Host) addTool(t plug.Tool) (undo func(), err error) {
	if t == nil {
		return h.add("tool", "", nil, true, errors.New("there is none"))
	}
	spec := t.Spec()
	return h.add("tool", spec.Name, t, true, spec.Check())
}

func (h *Host) extensions() plug.Extensions {
	return plug.Extensions{
		Mascot:        func(m plug.Mascot) (func(), error) { return h.add("mascot", m.ID, m, true, m.Check()) },
		StartupScreen: func(s plug.StartupScreen) (func(), error) { return h.add("startup-screen", s.ID, s, true, s.Check()) },
		WebSearch:     func(s plug.WebSearch) (func(), error) { return h.add("websearch", s.ID, s, true, s.Check()) },
		Facts:         func(f plug.Facts) (func(), error) { return h.add("fact-source", f.ID, f, true, f.Check()) },
	}
}

// decode reads the options as strictly as the engine.
func (h *Host) decode(into any) error {
	if len(h.Options) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(h.Options))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (h *Host) sessions() plug.Sessions {
	s := h.Sessions
	return plug.Sessions{
		Spawn: member(h, s.Spawn),
		Run: func(ctx context.Context, id, prompt string) (plug.ChildOutcome, error) {
			if err := h.allows(s.Run != nil); err != nil {
				return plug.ChildOutcome{}, err
			}
			return s.Run(ctx, id, prompt)
		},
		Get: member(h, s.Get), Children: member(h, s.Children), Ancestors: member(h, s.Ancestors), Cancel: member(h, s.Cancel),
		Enqueue: func(ctx context.Context, id, text string) error {
			if err := h.allows(s.Enqueue != nil); err != nil {
				return err
			}
			return s.Enqueue(ctx, id, text)
		},
		IsRunning:    func(id string) bool { return h.allows(s.IsRunning != nil) == nil && s.IsRunning(id) },
		Capabilities: member(h, s.Capabilities), Model: member(h, s.Model), Workspace: member(h, s.Workspace),
		SetStatus: func(ctx context.Context, id string, status plug.ChildStatus) error {
			if err := h.allows(s.SetStatus != nil); err != nil {
				return err
			}
			return s.SetStatus(ctx, id, status)
		},
	}
}

// ui keeps what is shown, in Setup too, and hands questions to the test.
func (h *Host) ui() plug.UI {
	show := func(do func()) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.stage != gone {
			do()
		}
	}
	ask := func(ctx context.Context, sessionID string, questions []plug.Choice) ([]plug.Chosen, error) {
		if err := h.allows(true); err != nil {
			return nil, err
		}
		if h.Ask == nil {
			return nil, plug.ErrNoSurface
		}
		if err := plug.CheckQuestions(questions); err != nil {
			return nil, err
		}
		return h.Ask(ctx, sessionID, questions)
	}
	return plug.UI{
		Status: func(s string) { show(func() { h.status = s }) },
		Panel: func(p plug.Panel) {
			show(func() {
				h.panel = p
				if err := p.Check(); err != nil {
					h.refused = append(h.refused, fmt.Errorf("show panel: %w", err))
				}
			})
		},
		Select: func(ctx context.Context, sessionID, title string, options []plug.Option) (int, error) {
			if len(options) < 2 {
				return -1, fmt.Errorf("select: want 2 to %d options", plug.MaxOptions)
			}
			chosen, err := ask(ctx, sessionID, []plug.Choice{{Question: title, Options: options}})
			if err != nil {
				return -1, err
			}
			if len(chosen) != 1 || len(chosen[0].Options) != 1 {
				return -1, errors.New("select: the person chose none")
			}
			return chosen[0].Options[0], nil
		},
		AskQuestions: ask,
		Open: func(sessionID string) error {
			if err := h.allows(h.OpenSession != nil); err != nil {
				return err
			}
			return h.OpenSession(sessionID)
		},
		Interactive: func() bool { return h.allows(h.Ask != nil) == nil },
	}
}
