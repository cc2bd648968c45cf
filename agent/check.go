package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"alisio/agent/run"
	"alisio/llm"
)

// CheckOptions makes an application from options and lets it go, so that what is wrong with
// them is known before there is a store. With model it also asks for the model and
// the key. It contacts nobody and warns of nothing: New does.
func CheckOptions(ctx context.Context, o Options, model bool) error {
	o.Store, o.Log = nil, slog.New(slog.DiscardHandler)
	a, err := New(ctx, o)
	if err != nil {
		return err
	}
	if model {
		_, err = a.choose(ctx)
	}
	return errors.Join(err, a.Close(ctx))
}

// CheckOutputSchema complains about a schema that RunOptions.OutputSchema can not be.
func CheckOutputSchema(raw json.RawMessage) error {
	_, err := run.NewOutput(raw)
	return err
}

// unchosen tells of a model that was not named where a configuration that names one
// would not be read.
func (a *App) unchosen(err error) error {
	if !a.o.Hermetic || a.o.Config.Provider.Model != "" {
		return err
	}
	return llm.Errorf(llm.CauseOf(err), "%w", err).
		WithHint("name one with --model NAME or ALISIO_MODEL: a hermetic run reads no configuration but that of --config")
}
