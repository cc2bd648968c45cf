package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"alisio/llm"
)

// catalog is a provider that knows other models.
type catalog struct {
	models []llm.Model
	err    error
	hint   string
}

func (c catalog) ID() string                                  { return "catalog" }
func (c catalog) Close() error                                { return nil }
func (c catalog) Models(context.Context) ([]llm.Model, error) { return c.models, c.err }
func (c catalog) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		yield(llm.Event{}, &llm.Error{Cause: llm.CauseBadRequest, Status: 404, Message: "no such model", Hint: cmp.Or(c.hint, "as before")})
	}
}

func TestAnUnknownModelIsAnsweredWithTheChoices(t *testing.T) {
	var many []llm.Model
	for i := range 10 {
		many = append(many, llm.Model{ID: fmt.Sprint("m", i)})
	}
	many[0].ID = "secret-key"
	for name, c := range map[string]struct {
		provider catalog
		hint     string
	}{
		"others":  {catalog{models: many}, "[redacted], m1, m2, m3, m4, m5, m6, m7 and 2 more; --model names one"},
		"none":    {catalog{}, "as before"},
		"failing": {catalog{err: errors.New("no")}, "as before"},
		"itself":  {catalog{models: []llm.Model{{ID: "asked"}}}, "as before"},
		// The server does not know the path.
		"path": {catalog{models: many, hint: `it wants provider.apiMode "chat"`}, `wants provider.apiMode "chat"`},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for _, err := range (advised{c.provider, []string{"secret-key"}, func() {}}).Stream(context.Background(), llm.Request{Model: "asked"}) {
				n++
				var e *llm.Error
				if !errors.As(err, &e) || !strings.Contains(e.Hint, c.hint) || e.Message != "no such model" {
					t.Errorf("got %+v", e)
				}
			}
			if n != 1 {
				t.Errorf("%d events", n)
			}
		})
	}
}
