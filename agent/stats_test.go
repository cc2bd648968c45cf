package agent

import (
	"context"
	"testing"

	"alisio/agent/session"
	"alisio/llm"
)

// ran is a store whose sessions had so many runs.
type ran struct {
	session.Store
	runs int
}

func (r ran) Runs(_ context.Context, _ string, limit int) ([]session.Run, error) {
	list := make([]session.Run, min(r.runs, limit))
	for i := range list {
		list[i].Usage = llm.Usage{Input: 2}
	}
	return list, nil
}

func (ran) InterruptRuns(context.Context) (int, error) { return 0, nil }

// Symptom: the tokens of a long session stopped growing without a word. Trigger: more
// runs than are counted.
func TestStatsSayWhereTheyEnd(t *testing.T) {
	for _, c := range []struct {
		runs, want int
		cut        bool
	}{{0, 0, false}, {mostRuns, mostRuns, false}, {mostRuns + 1, mostRuns, true}} {
		memory := session.NewMemory()
		if err := memory.Create(t.Context(), session.Session{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		a := app(t, `{"turns":[]}`, Options{Store: ran{memory, c.runs}})
		got, err := a.Stats(t.Context(), "s")
		if err != nil || got.Runs != c.want || got.Cut != c.cut || got.Usage.Input != 2*c.want {
			t.Errorf("%d runs: got %+v, %v", c.runs, got, err)
		}
	}
}
