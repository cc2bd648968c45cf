package profile

import (
	"context"
	"errors"
	"fmt"

	"alisio/llm"
	"alisio/plug"
)

// MaxCompletion bounds an answer for which nobody set a bound, in tokens.
const MaxCompletion = 4096

// Complete asks the model of a choice, which stands there before q.Model, for one answer
// without tools (plug.API.Complete). A panic of the provider is its failure. said is how
// many bytes of an answer came, also of one that broke off, which costs as much as any
// other; -1 where nothing came.
func (c Choice) Complete(ctx context.Context, q plug.Completion) (out plug.Completed, said int, err error) {
	said = -1
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("complete: provider %s: panic: %v", c.Provider.ID(), p)
		}
	}()
	limit := q.MaxOutputTokens
	if limit <= 0 {
		limit = MaxCompletion
	}
	out.Model = c.Model.ID
	req := llm.Request{Model: c.Model.ID, Instructions: q.Instructions, Messages: q.Messages, MaxOutputTokens: limit}
	if q.Effort != "" && c.Model.TakesEffort(q.Effort) {
		req.Effort = q.Effort
	}
	for e, err := range c.Provider.Stream(ctx, req) {
		if err != nil {
			var broke *llm.Error
			if errors.As(err, &broke) && broke.Usage != nil {
				out.Usage = *broke.Usage
			}
			return out, said, fmt.Errorf("complete: %w", err)
		}
		said = max(0, said) + len(e.Text)
		if e.Kind != llm.Completed || e.Message == nil {
			continue
		}
		said = len(e.Message.Text)
		out.Text, out.Truncated = e.Message.Text, e.Message.Truncated
		if e.Usage != nil {
			out.Usage = *e.Usage
		}
	}
	if out.Text == "" {
		return out, said, errors.New("complete: the model said nothing")
	}
	out.Text = llm.Redact(out.Text, c.Secrets...)
	return out, said, nil
}
