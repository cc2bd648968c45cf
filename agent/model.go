package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/compact"
	"alisio/agent/config"
	"alisio/agent/ledger"
	"alisio/agent/profile"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// modelFor is the provider with the model of a name, "id" or "provider/id", for a
// session; empty and "inherit" stand for the one that was chosen there, the one of its
// agent, or of a child the one of its spec.
func (a *App) modelFor(ctx context.Context, sessionID, name string) (profile.Choice, error) {
	if inherits(name) {
		name = a.inherited(ctx, sessionID)
	}
	return a.choose(ctx, name)
}

func inherits(name string) bool { return name == "" || name == "inherit" }

// inherited is what the model of a session is called; empty: the application's.
func (a *App) inherited(ctx context.Context, sessionID string) string {
	c := a.look(sessionID)
	if c.parent != "" && a.children != nil {
		m, _ := a.children.Model(ctx, sessionID) // the application's, when it can not be read
		return m.ID
	}
	if name := c.chosen().model; name != "" {
		return name
	}
	if agent, err := a.agentOf(c); err == nil && !inherits(agent.Spec.Model) {
		return agent.Spec.Model
	}
	return ""
}

// choose is the provider with the model of a name; without one, the application's. Where
// a configuration that names a model would not be read, an error says so.
func (a *App) choose(ctx context.Context, name string) (profile.Choice, error) {
	c, err := a.models.Choose(ctx, name)
	if err == nil || !a.o.Hermetic || a.o.Config.Provider.Model != "" {
		return c, err
	}
	return c, llm.Errorf(llm.CauseOf(err), "%w", err).
		WithHint("name one with --model NAME or ALISIO_MODEL: a hermetic run reads no configuration but that of --config")
}

// ModelOf is the model that the next run of a session asks, and the effort, empty
// for the server's; an empty id is the next new session.
func (a *App) ModelOf(ctx context.Context, sessionID string) (llm.Model, string, error) {
	c, err := a.modelFor(ctx, sessionID, "")
	return c.Model, a.effortOf(a.settings(sessionID)), err
}

func (a *App) effortOf(s settings) string {
	if s.effort != "" {
		return s.effort
	}
	return a.o.Effort
}

// SetModel chooses the model of a session from its next run on. Where a list of the
// server's models is kept, a name that is not in it is an error with the nearest.
func (a *App) SetModel(ctx context.Context, sessionID, name string) (llm.Model, error) {
	before, _, _ := a.ModelOf(ctx, sessionID) // none, when none is chosen
	if name == "" || len(name) > maxModelName || strings.Contains(name, " ") || !text.IsPlain(name) {
		return llm.Model{}, llm.Errorf(llm.CauseBadRequest, "%.80q is no name of a model: it is one word", name)
	}
	c, err := a.choose(ctx, name)
	if err != nil {
		return llm.Model{}, err
	}
	name = c.Model.ID
	if kept, err := a.Models(ctx, false); err == nil && len(kept.Models) > 0 {
		ids := make([]string, len(kept.Models))
		for i, m := range kept.Models {
			ids[i] = m.ID
		}
		if !slices.Contains(ids, name) && a.o.Config.Models[name].ContextWindow == 0 {
			return llm.Model{}, unknownModel(name, ids)
		}
	}
	if err := a.choosing(sessionID, func(v *conversation) { v.model = name }); err != nil || sessionID == "" {
		return c.Model, err
	}
	if err := a.storeModel(ctx, sessionID, c); err != nil {
		return c.Model, err
	}
	return c.Model, a.outside.Events(sessionID).Emit(ctx, plug.ModelChanged{Model: c.Model.ID, Previous: before.ID})
}

// unknownModel tells of a name that a server does not list, with the nearest that it
// does, or with some of them.
func unknownModel(name string, known []string) error {
	const most = 10
	err := unknownName("model", name, known)
	if _, ok := config.Nearest(name, known); ok {
		return err
	}
	more := ""
	if len(known) > most {
		more = fmt.Sprintf(" and %d more", len(known)-most)
	}
	return fmt.Errorf("%w; the server offers %s%s", err, text.Line(strings.Join(known[:min(len(known), most)], ", ")), more)
}

// storeModel notes with which server and model a session is continued, if the store has
// room for it.
func (a *App) storeModel(ctx context.Context, sessionID string, c profile.Choice) error {
	s, ok := a.store.(interface {
		SetModel(ctx context.Context, id, provider, model string) error
	})
	if !ok {
		return nil
	}
	return session.Caused(s.SetModel(ctx, sessionID, a.server(c), c.Model.ID))
}

// SetEffort chooses the reasoning effort of a session from its next run on; empty is
// the server's.
func (a *App) SetEffort(sessionID, level string) error {
	if level != "" && !slices.Contains(Efforts(), level) {
		return fmt.Errorf("%w; the levels are: %s", unknownName("effort", level, Efforts()), strings.Join(Efforts(), ", "))
	}
	return a.choosing(sessionID, func(c *conversation) { c.effort = level })
}

// Efforts are the levels of reasoning effort that servers know, lowest first.
func Efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// maxModelName bounds the name of a model, in bytes.
const maxModelName = 400

// SideQuestion asks the session's model something beside the task, with the
// conversation in sight and without tools. Nothing of it is kept.
func (a *App) SideQuestion(ctx context.Context, sessionID, question string) (string, error) {
	var messages []llm.Message
	if sessionID != "" {
		var err error
		if messages, err = a.store.Messages(ctx, sessionID); err != nil {
			return "", session.Caused(err)
		}
		for len(messages) > 0 && len(messages[len(messages)-1].Calls) > 0 {
			messages = messages[:len(messages)-1] // a run is under way: calls without results
		}
	}
	done, err := a.complete(ctx, plug.SpentOnQuestion, "", plug.Completion{
		SessionID: sessionID, Effort: a.effortOf(a.settings(sessionID)),
		Instructions: "Answer the last question briefly. It stands beside the task: call no tool, and do not go on with the task.",
		Messages:     append(slices.Clip(messages), llm.Message{Role: llm.RoleUser, Text: question}),
	})
	return done.Text, err
}

// complete asks a model for one answer without tools (plug.API.Complete). It counts to
// the budget of the run that is under way in the session, else it has one of its own.
func (a *App) complete(ctx context.Context, reason plug.SpentOn, by string, q plug.Completion) (plug.Completed, error) {
	c, err := a.modelFor(ctx, q.SessionID, q.Model)
	if err != nil {
		return plug.Completed{}, err
	}
	book, running := a.bookOf(q.SessionID)
	if q.MaxOutputTokens <= 0 {
		q.MaxOutputTokens = profile.MaxCompletion
	}
	input := len(q.Instructions)/compact.CharsPerToken + compact.Tokens(q.Messages...)
	held, err := book.Reserve(ledger.Ask{By: by, Model: c.Model, Input: input, Output: q.MaxOutputTokens})
	if err != nil {
		return plug.Completed{}, err
	}
	q.MaxOutputTokens = held.Output
	done, said, err := c.Complete(ctx, q)
	u := ledger.Sane(&done.Usage)
	estimated := u == nil
	switch {
	case estimated && said < 0:
		held.Release()
		return done, err
	case estimated:
		u = &llm.Usage{Input: input, Output: said / compact.CharsPerToken}
	}
	held.Settle(string(reason), *u, estimated)
	if !running && q.SessionID != "" {
		err = errors.Join(err, a.addUsage(ctx, q.SessionID, *u), a.tellUsage(ctx, q.SessionID, book))
	}
	return done, err
}
