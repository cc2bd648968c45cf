package ledger

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"alisio/llm"
)

var toy = llm.Model{ID: "toy"}

func reserve(t *testing.T, l *Ledger, a Ask) *Reservation {
	t.Helper()
	r, err := l.Reserve(a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARequestReservesAndSettles(t *testing.T) {
	l := New(Limits{MaxTokens: 10_000})
	r := reserve(t, l, Ask{Model: toy, Input: 1_000, Output: 4_000})
	if _, err := l.Reserve(Ask{Model: toy, Input: 4_000, Output: 4_000}); llm.CauseOf(err) != llm.CauseBudget {
		t.Errorf("4,800 of input beside 5,200: got %v", err)
	}
	r.Settle("turn", llm.Usage{Input: 1_000, Output: 500, CachedInput: 900}, false)
	r.Settle("turn", llm.Usage{Input: 9_000}, false) // the first counts
	if tokens, _ := l.Spent(); tokens != 600 {
		t.Errorf("got %d", tokens)
	}
	// The ratio that was reported holds for the next, at least 1.2.
	r = reserve(t, l, Ask{Model: toy, Input: 1_000, Output: 9_000})
	if r.Output != 10_000-600-1_200 {
		t.Errorf("the cap is %d", r.Output)
	}
	r.Settle("turn", llm.Usage{Input: 3_000, Output: 10}, false)
	r = reserve(t, l, Ask{Model: toy, Input: 1_000, Output: 9_000})
	if r.Output != 10_000-600-3_010-3_000 {
		t.Errorf("at a ratio of 3 the cap is %d", r.Output)
	}
	r.Release()
	r.Release()
	if r = reserve(t, l, Ask{Model: llm.Model{ID: "other"}, Input: 1_000, Output: 9_000}); r.Output != 10_000-3_610-1_200 {
		t.Errorf("of another model the cap is %d", r.Output)
	}
}

func TestBelowCountsAbove(t *testing.T) {
	root := New(Limits{MaxTokens: 10_000})
	child := root.Below(Limits{MaxTokens: 3_000})
	grandchild := child.Below(Limits{})
	reserve(t, grandchild, Ask{Model: toy, Input: 1_000, Output: 500}).Settle("turn", llm.Usage{Input: 1_500, Output: 500}, false)
	for name, l := range map[string]*Ledger{"root": root, "child": child, "grandchild": grandchild} {
		if tokens, _ := l.Spent(); tokens != 2_000 {
			t.Errorf("%s: %d", name, tokens)
		}
	}
	if _, err := grandchild.Reserve(Ask{Model: toy, Input: 1_000, Output: 500}); err == nil || !strings.Contains(err.Error(), "3000 tokens (maxTokens of this child)") {
		t.Errorf("got %v", err)
	}
	reserve(t, root, Ask{Model: toy, Input: 1_000, Output: 500}).Release()
	if len(grandchild.Take()) != 1 || len(grandchild.Take()) != 0 || len(root.Take()) != 0 {
		t.Error("entries stand where the request was made")
	}
}

func TestCost(t *testing.T) {
	priced := llm.Model{ID: "dear", Price: &llm.Price{Input: 2, Output: 10, CachedInput: 0.5}}
	l := New(Limits{MaxCost: 0.01})
	reserve(t, l, Ask{Model: priced, Input: 1_000, Output: 500}).Settle("turn", llm.Usage{Input: 1_000, CachedInput: 800, Output: 100}, false)
	if _, cost := l.Spent(); math.Abs(cost-0.0018) > 1e-12 {
		t.Errorf("got %v", cost)
	}
	r := reserve(t, l, Ask{Model: priced, Input: 1_000, Output: 5_000})
	if want := int((0.01 - 0.0018 - 1_200*2/1e6) * 1e6 / 10); r.Output < want-1 || r.Output > want {
		t.Errorf("the cap is %d, want %d", r.Output, want)
	}
	if _, err := l.Reserve(Ask{Model: toy, Input: 1, Output: 1}); err == nil || !strings.Contains(err.Error(), "nobody knows what toy costs") {
		t.Errorf("without a price: %v", err)
	}
	free := llm.Model{ID: "free", Price: &llm.Price{}}
	if r, err := New(Limits{MaxCost: 1}).Reserve(Ask{Model: free, Input: 1_000_000, Output: 9_000}); err != nil || r.Output != 9_000 {
		t.Errorf("a free model: %+v, %v", r, err)
	}
}

// Symptom: "go on with a new prompt" is told where that ends the same way. Trigger: a
// budget that is less than one request takes.
func TestTheHintIsOfUse(t *testing.T) {
	dear := llm.Model{ID: "dear", Price: &llm.Price{Input: 2, Output: 10}}
	for limits, again := range map[Limits]bool{
		{MaxTokens: 1_000}: false, {MaxTokens: 2_000}: true, {MaxCost: 0.001}: false, {MaxCost: 0.009}: true,
	} {
		l := New(limits)
		l.Used(900, 0.005)
		_, err := l.Reserve(Ask{Model: dear, Input: 1_000, Output: 5_000})
		var e *llm.Error
		if !errors.As(err, &e) || e.Cause != llm.CauseBudget || strings.Contains(e.Hint, "new prompt") != again {
			t.Errorf("%+v: got %v, %q", limits, err, e.Hint)
		}
	}
}

// What a server reports can be anything.
func TestAbsurdUsage(t *testing.T) {
	l := New(Limits{MaxTokens: 1_000_000})
	for _, u := range []llm.Usage{
		{Input: -5, Output: -7, CachedInput: -1}, {Input: 10, CachedInput: 1_000}, {Input: math.MaxInt, Output: math.MaxInt}, {Input: math.MaxInt},
	} {
		reserve(t, New(Limits{}), Ask{Model: toy, Input: 10, Output: 10}).Settle("turn", u, false)
		r, err := l.Reserve(Ask{Model: toy, Input: 10, Output: 10})
		if err != nil {
			break // after what was reported there is no room
		}
		r.Settle("turn", u, false)
		if tokens, cost := l.Spent(); tokens < 0 || cost < 0 {
			t.Fatalf("%+v: %d, %v", u, tokens, cost)
		}
	}
	if l.Passed() == "" {
		t.Error("that it is passed is not told")
	}
}

// The promise: whatever is asked for at once, what is settled passes the cap by no more
// than servers count beyond the estimates.
func TestTheCapHolds(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		limit := 20_000 + rnd.IntN(50_000)
		root := New(Limits{MaxTokens: limit})
		all := []*Ledger{root, root.Below(Limits{}), root.Below(Limits{MaxTokens: 9_000})}
		all = append(all, all[1].Below(Limits{}))
		// error is by how much the servers went beyond what was held, in the worst case.
		var mu sync.Mutex
		beyond := 0
		var wg sync.WaitGroup
		for _, l := range all {
			factor := 0.5 + rnd.Float64()*1.1
			seed := rnd.Uint64()
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(seed, 2))
				for range 40 {
					a := Ask{Model: toy, Input: 100 + rnd.IntN(2_000), Output: 1 + rnd.IntN(2_000)}
					r, err := l.Reserve(a)
					if err != nil {
						continue
					}
					u := llm.Usage{Input: int(float64(a.Input) * factor), Output: rnd.IntN(r.Output + 1)}
					mu.Lock()
					beyond += max(0, u.Input+u.Output-int(r.held.tokens))
					mu.Unlock()
					r.Settle("turn", u, false)
				}
			})
		}
		wg.Wait()
		if tokens, _ := root.Spent(); tokens > int64(limit+beyond) || root.out.tokens != 0 {
			t.Fatalf("seed %d: %d of %d, servers counted %d beyond, %d still out", seed, tokens, limit, beyond, root.out.tokens)
		}
	}
}
