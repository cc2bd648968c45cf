package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/profile"
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

// ModelOf is the model that the next run of a session asks, and the effort, empty
// for the server's; an empty id is the next new session.
func (a *App) ModelOf(ctx context.Context, sessionID string) (llm.Model, string, error) {
	s := a.settings(sessionID)
	c, err := a.choiceOf(ctx, s.model)
	return c.Model, a.effortOf(s), err
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
	before, _, err := a.ModelOf(ctx, sessionID)
	if err != nil {
		before = llm.Model{}
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
			return c.Model, storeError(err)
		}
	}
	return c.Model, a.between(sessionID).emit(ctx, plug.ModelChanged{Model: c.Model.ID, Previous: before.ID})
}

// SetEffort chooses the reasoning effort of a session from its next run on; empty is
// the server's.
func (a *App) SetEffort(sessionID, level string) error {
	return a.choosing(sessionID, func(c *conversation) { c.effort = level })
}

// maxSide bounds the answer of a side question, in tokens.
const maxSide = 4096

// SideQuestion asks the session's model something beside the task, with the
// conversation in sight and without tools. Nothing of it is kept.
func (a *App) SideQuestion(ctx context.Context, sessionID, question string) (string, error) {
	s := a.settings(sessionID)
	var messages []llm.Message
	if sessionID != "" {
		var err error
		if messages, err = a.store.Messages(ctx, sessionID); err != nil {
			return "", storeError(err)
		}
		for len(messages) > 0 && len(messages[len(messages)-1].Calls) > 0 {
			messages = messages[:len(messages)-1] // a run is under way: calls without results
		}
	}
	done, err := a.complete(ctx, plug.Completion{
		SessionID: sessionID, Model: s.model, Effort: a.effortOf(s), MaxOutputTokens: maxSide,
		Instructions: "Answer the last question briefly. It stands beside the task: call no tool, and do not go on with the task.",
		Messages:     append(slices.Clip(messages), llm.Message{Role: llm.RoleUser, Text: question}),
	})
	return done.Text, err
}

// complete asks a model for one answer without tools (plug.API.Complete).
func (a *App) complete(ctx context.Context, q plug.Completion) (plug.Completed, error) {
	name := q.Model
	if name == "" || name == "inherit" {
		name = a.settings(q.SessionID).model
	}
	c, err := a.choiceOf(ctx, name)
	if err != nil {
		return plug.Completed{}, err
	}
	limit := q.MaxOutputTokens
	if limit <= 0 {
		limit = maxSide
	}
	out := plug.Completed{Model: c.Model.ID}
	req := llm.Request{
		Model: c.Model.ID, Instructions: q.Instructions, Messages: q.Messages, MaxOutputTokens: limit, Effort: q.Effort,
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
