package host

import (
	"context"
	"errors"
	"fmt"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of what plugins ask.
const (
	maxHeader = 12   // cells
	maxAnswer = 8000 // bytes
)

// selectOne asks for one of some options and returns its index.
func (h *Host) selectOne(ctx context.Context, e *entry, sessionID, title string, options []plug.Option) (int, error) {
	if len(options) < 2 {
		return -1, fmt.Errorf("select: want 2 to %d options", plug.MaxOptions)
	}
	chosen, err := h.askQuestions(ctx, e, sessionID, []plug.Choice{{Question: title, Options: options}})
	if err != nil {
		return -1, err
	}
	if len(chosen) == 0 || len(chosen[0].Options) == 0 {
		return -1, errors.New("select: the person chose none")
	}
	return chosen[0].Options[0], nil
}

// askQuestions puts questions of a plugin to the person, with the plugin's id as
// the heading where it gives none.
func (h *Host) askQuestions(ctx context.Context, e *entry, sessionID string, questions []plug.Choice) ([]plug.Chosen, error) {
	if err := h.usable(e); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	if h.o.Ask == nil {
		return nil, fmt.Errorf("ask: %w", plug.ErrNoSurface)
	}
	asked := make([]plug.Choice, len(questions))
	for i, q := range questions {
		asked[i] = shown(e, q)
	}
	if err := plug.CheckQuestions(asked); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	a, err := h.o.Ask(ctx, plug.Question{Kind: plug.AskQuestions, SessionID: sessionID, Questions: asked})
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	for i := range a.Chosen {
		a.Chosen[i].Text = text.Plain(text.Prefix(a.Chosen[i].Text, maxAnswer))
	}
	return a.Chosen, nil
}

// shown makes the words of a question safe. A person sees whose it is: the heading is
// the plugin's id where the plugin gives none.
func shown(e *entry, q plug.Choice) plug.Choice {
	out := plug.Choice{Header: text.Clip(tell(q.Header), maxHeader), Question: tell(q.Question), Multiple: q.Multiple}
	if out.Header == "" {
		out.Header = text.Clip(e.id(), maxHeader)
	}
	for _, o := range q.Options {
		out.Options = append(out.Options, plug.Option{Label: label(o.Label), Description: label(o.Description)})
	}
	return out
}
