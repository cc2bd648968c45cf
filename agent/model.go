package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/profile"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// choiceOf is the provider with a model of it: the application's, or the one of a
// name, "id" or "provider/id".
func (a *App) choiceOf(ctx context.Context, name string) (profile.Choice, error) {
	if name == "" {
		return a.choose(ctx)
	}
	c, err := a.connect(ctx)
	if err != nil {
		return c, err
	}
	if rest, ok := strings.CutPrefix(name, c.Provider.ID()+"/"); ok {
		name = rest
	}
	if a.o.Provider != nil {
		if c.Model.ID != name {
			c.Model = llm.Model{ID: name}
		}
		return c, nil
	}
	s := a.o.Selection()
	s.Config.Provider.Model = name
	c.Model, c.Kept = profile.Known(s)
	return c, nil
}

// named is the name of a model for a session; empty and "inherit" stand for the one
// that was chosen there, the one of its agent, or of a child the one of its spec.
func (a *App) named(ctx context.Context, sessionID, name string) string {
	if name != "" && name != "inherit" {
		return name
	}
	c := a.look(sessionID)
	if c.parent != "" && a.children != nil {
		m, _ := a.children.Model(ctx, sessionID) // the application's, when it can not be read
		return m.ID
	}
	if name = c.chosen().model; name != "" {
		return name
	}
	if agent, err := a.agentOf(c); err == nil && agent.Spec.Model != "inherit" {
		return agent.Spec.Model
	}
	return ""
}

// ModelOf is the model that the next run of a session asks, and the effort, empty
// for the server's; an empty id is the next new session.
func (a *App) ModelOf(ctx context.Context, sessionID string) (llm.Model, string, error) {
	c, err := a.choiceOf(ctx, a.named(ctx, sessionID, ""))
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
	if c, err := a.connect(ctx); err == nil {
		name = strings.TrimPrefix(name, c.Provider.ID()+"/")
	}
	if kept, err := a.Models(ctx, false); err == nil && len(kept.Models) > 0 {
		ids := make([]string, len(kept.Models))
		for i, m := range kept.Models {
			ids[i] = m.ID
		}
		if !slices.Contains(ids, name) && a.o.Config.Models[name].ContextWindow == 0 {
			return llm.Model{}, unknownName("model", name, ids)
		}
	}
	c, err := a.choiceOf(ctx, name)
	if err != nil {
		return llm.Model{}, err
	}
	if err := a.choosing(sessionID, func(v *conversation) { v.model = name }); err != nil || sessionID == "" {
		return c.Model, err
	}
	if s, ok := a.store.(interface {
		SetModel(ctx context.Context, id, provider, model string) error
	}); ok {
		if err := s.SetModel(ctx, sessionID, a.server(c), c.Model.ID); err != nil {
			return c.Model, session.Caused(err)
		}
	}
	return c.Model, a.between(sessionID).emit(ctx, plug.ModelChanged{Model: c.Model.ID, Previous: before.ID})
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

const (
	// maxSide bounds the answer of a side question, in tokens.
	maxSide = 4096
	// maxModelName bounds the name of a model, in bytes.
	maxModelName = 400
)

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
	done, err := a.complete(ctx, plug.Completion{
		SessionID: sessionID, Effort: a.effortOf(a.settings(sessionID)), MaxOutputTokens: maxSide,
		Instructions: "Answer the last question briefly. It stands beside the task: call no tool, and do not go on with the task.",
		Messages:     append(slices.Clip(messages), llm.Message{Role: llm.RoleUser, Text: question}),
	})
	return done.Text, err
}

// complete asks a model for one answer without tools (plug.API.Complete). A panic of
// the provider is its failure.
func (a *App) complete(ctx context.Context, q plug.Completion) (out plug.Completed, err error) {
	c, err := a.choiceOf(ctx, a.named(ctx, q.SessionID, q.Model))
	if err != nil {
		return plug.Completed{}, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("complete: provider %s: panic: %v", c.Provider.ID(), p)
		}
	}()
	limit := q.MaxOutputTokens
	if limit <= 0 {
		limit = maxSide
	}
	out.Model = c.Model.ID
	req := llm.Request{Model: c.Model.ID, Instructions: q.Instructions, Messages: q.Messages, MaxOutputTokens: limit}
	if q.Effort != "" && c.Model.TakesEffort(q.Effort) {
		req.Effort = q.Effort
	}
	for e, err := range c.Provider.Stream(ctx, req) {
		if err != nil {
			return out, fmt.Errorf("complete: %w", err)
		}
		if e.Kind != llm.Completed || e.Message == nil {
			continue
		}
		out.Text, out.Truncated = e.Message.Text, e.Message.Truncated
		if e.Usage != nil {
			out.Usage = *e.Usage
		}
	}
	if out.Text == "" {
		return out, errors.New("complete: the model said nothing")
	}
	out.Text = llm.Redact(out.Text, c.Secrets...)
	return out, nil
}
