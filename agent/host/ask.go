package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of what plugins ask.
const (
	maxQuestions = 4
	maxOptions   = 20
	maxHeader    = 12   // cells
	maxAnswer    = 8000 // bytes
)

// selectOne asks for one of some options and returns its index.
func (h *Host) selectOne(ctx context.Context, e *entry, sessionID, title string, options []plug.Option) (int, error) {
	if len(options) < 2 {
		return -1, fmt.Errorf("select: want 2 to %d options", maxOptions)
	}
	chosen, err := h.askQuestions(ctx, e, sessionID, []plug.Choice{{Question: title, Options: options}})
	if err != nil {
		return -1, err
	}
	if len(chosen[0].Options) == 0 {
		return -1, errors.New("select: the person chose none")
	}
	return chosen[0].Options[0], nil
}

// askQuestions puts questions of a plugin to the person, with the plugin's id as
// the heading where it gives none, and checks the answers.
func (h *Host) askQuestions(ctx context.Context, e *entry, sessionID string, questions []plug.Choice) ([]plug.Chosen, error) {
	if err := h.usable(e); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	if h.o.Ask == nil {
		return nil, fmt.Errorf("ask: %w", plug.ErrNoSurface)
	}
	if len(questions) == 0 || len(questions) > maxQuestions {
		return nil, fmt.Errorf("ask: want 1 to %d questions", maxQuestions)
	}
	asked := make([]plug.Choice, len(questions))
	for i, q := range questions {
		var err error
		if asked[i], err = checkChoice(e, q); err != nil {
			return nil, fmt.Errorf("ask: question %d: %w", i+1, err)
		}
	}
	a, err := h.o.Ask(ctx, plug.Question{Kind: plug.AskQuestions, SessionID: sessionID, Questions: asked})
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask: %w", err)
	case a.By == plug.ByHeadless:
		return nil, fmt.Errorf("ask: %w", plug.ErrNoSurface)
	case a.Decision == plug.Deny || len(a.Chosen) == 0:
		return make([]plug.Chosen, len(asked)), nil // skipped, all of them
	}
	return checkChosen(asked, a.Chosen)
}

// checkChoice copies a question within its bounds. A person sees whose it is: the
// heading is the plugin's id where the plugin gives none.
func checkChoice(e *entry, q plug.Choice) (plug.Choice, error) {
	out := plug.Choice{Header: text.Clip(tell(q.Header), maxHeader), Question: tell(q.Question), Multiple: q.Multiple}
	if out.Header == "" {
		out.Header = text.Clip(e.id(), maxHeader)
	}
	if out.Question == "" {
		return out, errors.New("it asks nothing")
	}
	if len(q.Options) > maxOptions {
		return out, fmt.Errorf("more than %d options", maxOptions)
	}
	for _, o := range q.Options {
		o = plug.Option{Label: label(o.Label), Description: label(o.Description)}
		if o.Label == "" {
			return out, errors.New("an option has no label")
		}
		out.Options = append(out.Options, o)
	}
	return out, nil
}

// checkChosen sees to it that a plugin can use the indexes as they are.
func checkChosen(asked []plug.Choice, chosen []plug.Chosen) ([]plug.Chosen, error) {
	if len(chosen) != len(asked) {
		return nil, fmt.Errorf("ask: %d answers to %d questions", len(chosen), len(asked))
	}
	out := make([]plug.Chosen, len(chosen))
	for i, c := range chosen {
		if len(c.Options) > 1 && !asked[i].Multiple {
			return nil, fmt.Errorf("ask: question %d has %d answers", i+1, len(c.Options))
		}
		options := slices.Compact(slices.Sorted(slices.Values(c.Options)))
		for _, n := range options {
			if n < 0 || n >= len(asked[i].Options) {
				return nil, fmt.Errorf("ask: question %d has no option %d", i+1, n)
			}
		}
		out[i] = plug.Chosen{Options: options, Text: text.Plain(text.Prefix(c.Text, maxAnswer))}
	}
	return out, nil
}
