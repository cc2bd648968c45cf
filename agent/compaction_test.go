package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/llm/script"
	"alisio/plug"
)

// A plugin asks for a field of the checkpoint, gets it, tells the model something and
// reports; one whose hook fails costs its own part alone. Fields go to who asked.
func TestPluginsJoinACompaction(t *testing.T) {
	for _, kind := range storeKinds {
		t.Run(kind, func(t *testing.T) {
			p, err := script.Open("script", fmt.Appendf(nil, `{"model":"toy","turns":[{"text":%q},{"text":%q},{"text":"fine"}]}`,
				strings.Repeat("a", 60_000), `{"goal":"g","notes":["n"],"other":1}`))
			if err != nil {
				t.Fatal(err)
			}
			cfg := config.Default()
			cfg.Limits.MaxContextChars = 60_000
			var got plug.CompactionResult
			var replaced int
			ours := plugged("ours", nil, func(api *plug.API) error {
				_, err := api.OnCompaction(plug.CompactionHooks{
					Before: func(_ context.Context, c plug.CompactionInput) (plug.CompactionWish, error) {
						replaced = len(c.Messages)
						return plug.CompactionWish{Fields: map[string]string{"notes": "what to keep"}}, nil
					},
					After: func(_ context.Context, c plug.CompactionResult) (plug.CompactionReport, error) {
						got = c
						return plug.CompactionReport{Inject: "remember n", Report: "kept 1"}, nil
					},
				})
				return err
			})
			broken := plugged("broken", nil, func(api *plug.API) error {
				_, err := api.OnCompaction(plug.CompactionHooks{Before: func(context.Context, plug.CompactionInput) (plug.CompactionWish, error) {
					return plug.CompactionWish{}, errors.New("no")
				}})
				return err
			})
			a := engine(t, kind, realPath(t.TempDir()), Options{Provider: p, Config: cfg, Plugins: []plug.Plugin{ours, broken}})
			id := went(t, a, "", "go", nil).SessionID
			var events []plug.Payload
			out := went(t, a, id, "on", func(e plug.Event) { events = append(events, e.Data) })
			if out.Text != "fine" || replaced != 2 || got.Reason != "auto" || !got.Structured || len(got.Fields) != 1 || string(got.Fields["notes"]) != `["n"]` {
				t.Errorf("got %+v, %d replaced, %+v", out, replaced, got)
			}
			done, failed := false, false
			for _, e := range events {
				switch e := e.(type) {
				case plug.CompactionCompleted:
					done = e.Plugins["ours"] == "kept 1" && len(e.Plugins) == 1
				case plug.PluginHookFailed:
					failed = e.Source == "broken" && e.Hook == "BeforeCompact"
				}
			}
			if !done || !failed {
				t.Errorf("got %+v", events)
			}
		})
	}
}
