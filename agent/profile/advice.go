package profile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"alisio/llm"
)

// advised adds to a server's "no such model" what the server does have. Where the
// hint names another protocol, the path is what was not found.
type advised struct {
	llm.Provider
	secrets []string // never shown, also when a server names a model by one
	// answered is called after each answer that is complete.
	answered func()
}

const (
	advicePatience = 3 * time.Second
	adviceModels   = 8
)

// Stream implements llm.Provider.
func (a advised) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for ev, err := range a.Provider.Stream(ctx, req) {
			var e *llm.Error
			if errors.As(err, &e) && e.Status == http.StatusNotFound && !strings.Contains(e.Hint, "provider.apiMode") {
				err = a.advise(ctx, e, req.Model)
			}
			more := yield(ev, err)
			if ev.Kind == llm.Completed && err == nil {
				a.answered()
			}
			if !more {
				return
			}
		}
	}
}

// Models implements llm.ModelLister.
func (a advised) Models(ctx context.Context) ([]llm.Model, error) {
	lister, ok := a.Provider.(llm.ModelLister)
	if !ok {
		return nil, fmt.Errorf("list models: provider %s has no catalog", a.ID())
	}
	return lister.Models(ctx)
}

// advise asks the catalog of a server that did not know a model. Without an
// answer the error stays as it was.
func (a advised) advise(ctx context.Context, e *llm.Error, model string) error {
	ctx, cancel := context.WithTimeout(ctx, advicePatience)
	defer cancel()
	models, err := a.Models(ctx)
	if err != nil || len(models) == 0 {
		return e
	}
	var names []string
	for _, m := range models {
		if m.ID == model {
			return e // the model is there: something else was not found
		}
		names = append(names, m.ID)
	}
	more := ""
	if len(names) > adviceModels {
		more = fmt.Sprintf(" and %d more", len(names)-adviceModels)
		names = names[:adviceModels]
	}
	list := llm.Redact(strings.Join(names, ", "), a.secrets...)
	return e.WithHint(fmt.Sprintf("the server offers %s%s; --model names one", list, more))
}
