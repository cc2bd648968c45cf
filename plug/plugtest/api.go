package plugtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"alisio/plug"
)

// API is what a plugin gets in Setup. Registrations are checked as the engine checks
// them, and kept with their undo; what only makes sense while sessions run is an
// error until Setup has returned.
func (h *Host) API() *plug.API {
	return &plug.API{
		AddTool:         h.addTool,
		AddSlashCommand: h.addCommand,
		AddAgent: func(a plug.Agent) (func(), error) {
			return h.add("agent", a.ID, a, true, wantID(a.ID))
		},
		AddProvider: func(p plug.ProviderRegistration) (func(), error) {
			return h.add("provider", p.ID, p, true, missing(p.ID != "" && p.Create != nil, "an id and Create"))
		},
		AddContext: func(c plug.ContextSource) (func(), error) {
			return h.add("context", c.Name, c, true, errors.Join(wantID(c.Name), missing(c.Text != nil, "Text")))
		},
		AddResources: func(d plug.ResourceDirs) (func(), error) {
			relative := func(dir string) bool { return dir != "" && !filepath.IsAbs(dir) }
			ok := !slices.ContainsFunc(slices.Concat(d.Skills, d.Prompts, d.Agents), relative)
			return h.add("resources", "", d, false, missing(ok, "absolute directories"))
		},
		Observe: func(o plug.Observer) (func(), error) {
			return h.add("observer", "", o, false, missing(o.Event != nil, "Event"))
		},
		OnSession: func(s plug.SessionHooks) (func(), error) {
			return h.add("session-hooks", "", s, false, missing(s.OnStart != nil || s.OnEnd != nil, "a hook"))
		},
		OnCompaction: func(c plug.CompactionHooks) (func(), error) {
			return h.add("compaction-hooks", "", c, false, missing(c.Before != nil || c.After != nil, "a hook"))
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
		return h.add("tool", "", nil, true, missing(false, "a tool"))
	}
	spec := t.Spec()
	return h.add("tool", spec.Name, t, true, toolProblem(spec))
}

func (h *Host) addCommand(c plug.SlashCommand) (undo func(), err error) {
	name := formed(c.Name, lower, lower+digits+"-", 41)
	return h.add("command", c.Name, c, true, errors.Join(missing(name, "a name of a-z, 0-9 and hyphen"), missing(c.Run != nil, "Run")))
}

func (h *Host) extensions() plug.Extensions {
	point := func(kind, id string, set bool, value any) (func(), error) {
		return h.add(kind, id, value, true, errors.Join(wantID(id), missing(set, "its function")))
	}
	return plug.Extensions{
		Mascot: func(m plug.Mascot) (func(), error) { return point("mascot", m.ID, m.Render != nil, m) },
		StartupScreen: func(s plug.StartupScreen) (func(), error) {
			return point("startup-screen", s.ID, s.Render != nil, s)
		},
		WebSearch: func(s plug.WebSearch) (func(), error) { return point("websearch", s.ID, s.Search != nil, s) },
		Facts:     func(f plug.Facts) (func(), error) { return point("facts", f.ID, f.List != nil, f) },
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
		return h.Ask(ctx, sessionID, questions)
	}
	return plug.UI{
		Status: func(s string) { show(func() { h.status = s }) },
		Panel:  func(p plug.Panel) { show(func() { h.panel = p }) },
		Select: func(ctx context.Context, sessionID, title string, options []plug.Option) (int, error) {
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

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// formed reports whether s has 1 to limit characters, the first one of first and
// the others of first or more.
func formed(s, first, more string, limit int) bool {
	return s != "" && len(s) <= limit && strings.Contains(first, s[:1]) && strings.Trim(s, first+more) == ""
}

func missing(there bool, what string) error {
	if there {
		return nil
	}
	return fmt.Errorf("it needs %s", what)
}

func wantID(id string) error {
	return missing(formed(id, lower+digits, "-", 64), "an id of a-z, 0-9 and hyphen")
}

// toolProblem checks what the engine and a model need of a spec.
func toolProblem(s plug.ToolSpec) error {
	var schema struct{ Type string }
	switch {
	case !formed(s.Name, lower, digits+"_", 64):
		return errors.New("the name: want a-z, 0-9 and _, a letter first")
	case json.Unmarshal(s.Schema, &schema) != nil || schema.Type != "object":
		return errors.New("the schema: want a JSON Schema of an object")
	case strings.TrimSpace(s.Description) == "":
		return errors.New("it has no description")
	}
	switch s.Effect {
	case plug.EffectRead, plug.EffectWrite, plug.EffectProcess, plug.EffectExternal, plug.EffectInternal:
		return nil
	}
	return fmt.Errorf("unknown effect %q", s.Effect)
}
