package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// api makes the API of one plugin; every registration is remembered in e.
func (h *Host) api(e *entry) *plug.API {
	id := e.id()
	return &plug.API{
		AddTool:         func(t plug.Tool) (func(), error) { return h.addTool(e, t) },
		AddSlashCommand: func(c plug.SlashCommand) (func(), error) { return h.addCommand(e, c) },
		AddAgent:        func(a plug.Agent) (func(), error) { return h.addAgent(e, a) },
		AddProvider:     func(r plug.ProviderRegistration) (func(), error) { return h.addProvider(e, r) },
		AddContext:      func(c plug.ContextSource) (func(), error) { return h.addContext(e, c) },
		AddResources:    func(d plug.ResourceDirs) (func(), error) { return h.addResources(e, d) },
		Observe:         func(o plug.Observer) (func(), error) { return h.observe(e, o) },
		OnSession:       func(s plug.SessionHooks) (func(), error) { return h.addSession(e, s) },
		OnCompaction:    func(c plug.CompactionHooks) (func(), error) { return h.addCompaction(e, c) },
		Extend:          h.extensions(e),
		HTTP: func(p plug.Purpose) *http.Client {
			if h.o.HTTP == nil {
				return nil
			}
			return h.o.HTTP(p)
		},
		Options: func(into any) error { return decodeOptions(h.o.Config, id, into) },
		Log:     h.o.Log.With("plugin", id),
		Paths:   h.paths(e),
		State:   h.state(e),
		SQL:     func(ctx context.Context, path string) (plug.SQL, error) { return h.openSQL(ctx, e, path) },
		Exec: func(ctx context.Context, sessionID string, c plug.Command) (plug.Exit, error) {
			if err := h.allows(e, h.o.Exec != nil); err != nil {
				return plug.Exit{}, fmt.Errorf("run a program: %w", err)
			}
			return h.o.Exec(ctx, id, sessionID, c)
		},
		Git: func(ctx context.Context, sessionID, dir string, args ...string) (plug.Exit, error) {
			if err := h.allows(e, h.o.Git != nil); err != nil {
				return plug.Exit{}, fmt.Errorf("run git: %w", err)
			}
			return h.o.Git(ctx, id, sessionID, dir, args...)
		},
		Complete: func(ctx context.Context, q plug.Completion) (plug.Completed, error) {
			if err := h.allows(e, h.o.Complete != nil); err != nil {
				return plug.Completed{}, fmt.Errorf("ask the model: %w", err)
			}
			return h.o.Complete(ctx, id, q)
		},
		Models:   h.models(e),
		Sessions: h.sessions(e),
		UI:       h.surface(e),
	}
}

// allows says whether a plugin may use something that needs running sessions, and
// that the engine has or has not.
func (h *Host) allows(e *entry, there bool) error {
	if err := h.usable(e); err != nil {
		return err
	}
	if !there {
		return errors.New("there is none in this run")
	}
	return nil
}

// member1 guards a function of the engine with one argument.
func member1[A, R any](h *Host, e *entry, what string, do func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, a A) (R, error) {
		if err := h.allows(e, do != nil); err != nil {
			var none R
			return none, fmt.Errorf("%s: %w", what, err)
		}
		return do(ctx, a)
	}
}

func (h *Host) models(e *entry) plug.Models {
	m := h.o.Models
	return plug.Models{
		List: func(ctx context.Context) ([]llm.Model, error) {
			if err := h.allows(e, m.List != nil); err != nil {
				return nil, fmt.Errorf("list models: %w", err)
			}
			return m.List(ctx)
		},
		Resolve: member1(h, e, "resolve model", m.Resolve),
	}
}

// sessions guards each function of the engine's child sessions.
func (h *Host) sessions(e *entry) plug.Sessions {
	s := h.o.Sessions
	return plug.Sessions{
		Spawn: member1(h, e, "start a child session", s.Spawn),
		Run: func(ctx context.Context, id, prompt string) (plug.ChildOutcome, error) {
			if err := h.allows(e, s.Run != nil); err != nil {
				return plug.ChildOutcome{}, fmt.Errorf("run a child session: %w", err)
			}
			return s.Run(ctx, id, prompt)
		},
		Get:       member1(h, e, "find session", s.Get),
		Children:  member1(h, e, "list child sessions", s.Children),
		Ancestors: member1(h, e, "list parent sessions", s.Ancestors),
		Cancel:    member1(h, e, "cancel session", s.Cancel),
		Enqueue: func(ctx context.Context, id, text string) error {
			if err := h.allows(e, s.Enqueue != nil); err != nil {
				return fmt.Errorf("enqueue text: %w", err)
			}
			return s.Enqueue(ctx, id, text)
		},
		IsRunning: func(id string) bool {
			return h.allows(e, s.IsRunning != nil) == nil && s.IsRunning(id)
		},
		Capabilities: member1(h, e, "read capabilities of session", s.Capabilities),
		Model:        member1(h, e, "find model of session", s.Model),
		Workspace:    member1(h, e, "find workspace of session", s.Workspace),
		SetStatus: func(ctx context.Context, id string, status plug.ChildStatus) error {
			if err := h.allows(e, s.SetStatus != nil); err != nil {
				return fmt.Errorf("set status of session: %w", err)
			}
			return s.SetStatus(ctx, id, status)
		},
	}
}

// surface makes the part of a plugin's API that shows and asks.
func (h *Host) surface(e *entry) plug.UI {
	return plug.UI{
		Status: func(s string) { h.setStatus(e, s) },
		Panel:  func(p plug.Panel) { h.setPanel(e, p) },
		Select: func(ctx context.Context, sessionID, title string, options []plug.Option) (int, error) {
			return h.selectOne(ctx, e, sessionID, title, options)
		},
		AskQuestions: func(ctx context.Context, sessionID string, questions []plug.Choice) ([]plug.Chosen, error) {
			return h.askQuestions(ctx, e, sessionID, questions)
		},
		Open:        func(sessionID string) error { return h.openSession(e, sessionID) },
		Interactive: func() bool { return h.interactive(e) },
	}
}

// maxCommandText bounds, in bytes, what a slash command says.
const maxCommandText = 256 << 10

// command guards the function of a slash command: it has no limit but its context,
// as the person waits for it and can end it.
func (h *Host) command(e *entry, run func(ctx context.Context, args, sessionID string) (string, error)) func(ctx context.Context, args, sessionID string) (string, error) {
	return func(ctx context.Context, args, sessionID string) (string, error) {
		if err := h.usable(e); err != nil {
			return "", err
		}
		said, err := call(ctx, e, 0, func(ctx context.Context) (string, error) {
			s, err := run(ctx, args, sessionID)
			shown := text.Plain(text.Prefix(s, maxCommandText))
			if len(s) > maxCommandText {
				shown += cutMark
			}
			return shown, err
		})
		return said, e.named(err)
	}
}
