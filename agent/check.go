package agent

import (
	"context"
	"encoding/json"
	"errors"

	"alisio/agent/output"
)

// NewSilent is New for an application that is only looked at: it keeps nothing, and warns
// of nothing.
func NewSilent(ctx context.Context, o Options) (*App, error) {
	o.Store, o.Log = nil, nil
	return New(ctx, o)
}

// CheckOptions makes an application from options and lets it go, so that what is wrong with
// them is known before there is a store. With model it also asks for the model and
// the key. It contacts nobody and warns of nothing: New does.
func CheckOptions(ctx context.Context, o Options, model bool) error {
	a, err := NewSilent(ctx, o)
	if err != nil {
		return err
	}
	if model {
		_, err = a.choose(ctx, "")
	}
	return errors.Join(err, a.Close(ctx))
}

// CheckOutputSchema complains about a schema that RunOptions.OutputSchema can not be.
func CheckOutputSchema(raw json.RawMessage) error {
	_, err := output.New(raw)
	return err
}
