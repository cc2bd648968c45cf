package gate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/clock"
	"alisio/agent/perm"
	"alisio/plug"
)

// child makes a gate below the rig's in the same tree.
func (r rig) child(label string, c perm.Ceiling) rig {
	policy := r.policy
	policy.Ceiling = policy.Ceiling.Meet(c)
	r.Gate = New(Options{Policy: policy, Files: r.files, Label: label, Tree: r.tree})
	return r
}

// Two children ask at the same time: the person is asked one after the other, each
// answer goes to the child that asked, and the clocks of both, of their parent and
// of the root stand still until the last is answered.
func TestTwoChildrenAskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &person{answer: func(_ context.Context, q plug.Question) (plug.Answer, error) {
			time.Sleep(time.Minute)
			if q.SessionID == "one" {
				return plug.Answer{Decision: plug.Once}, nil
			}
			return plug.Answer{Decision: plug.Deny, Reason: "not you"}, nil
		}}
		r := newRig(t, perm.Policy{}, a)
		clocks := map[string]*clock.Active{}
		for id, parent := range map[string]string{"root": "", "parent": "root", "one": "parent", "two": "parent"} {
			clocks[id] = new(clock.Active)
			defer r.tree.waits.Bind(id, parent, clocks[id])()
			clocks[id].Start()
		}
		verdicts := map[string]Verdict{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, id := range []string{"one", "two"} {
			wg.Go(func() {
				c := r.child("general › "+id, perm.Ceiling{})
				v, err := c.Decide(context.Background(), Request{SessionID: id, CallID: "call-" + id, Tool: "toy", Plan: r.write(filepath.Join(r.root, id))})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				verdicts[id] = v
			})
		}
		wg.Wait()
		if a.most != 1 || len(a.seen) != 2 {
			t.Errorf("%d questions, %d at once", len(a.seen), a.most)
		}
		if !verdicts["one"].Allowed || verdicts["two"].Allowed || verdicts["two"].Reason != "not you" {
			t.Errorf("verdicts %+v", verdicts)
		}
		for _, q := range a.seen {
			if q.Label != "general › "+q.SessionID || q.CallID != "call-"+q.SessionID {
				t.Errorf("asked %+v", q)
			}
		}
		// One waited a minute, the other two; who stands above waited as long.
		if root, parent := clocks["root"].Elapsed(), clocks["parent"].Elapsed(); root != 0 || parent != 0 {
			t.Errorf("root %v, parent %v of active time while a person was waited for", root, parent)
		}
		if sum := clocks["one"].Elapsed() + clocks["two"].Elapsed(); sum != time.Minute {
			t.Errorf("%v of active time, want the minute after the first answer", sum)
		}
	})
}

// A cancelled child's question is withdrawn, on the screen and in the queue, and the
// next one is asked.
func TestACancelledChildsQuestionIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := 0
		a := &person{answer: func(ctx context.Context, q plug.Question) (plug.Answer, error) {
			select {
			case <-ctx.Done():
				withdrawn++
				return plug.Answer{}, ctx.Err()
			case <-time.After(time.Hour):
				return plug.Answer{Decision: plug.Once}, nil
			}
		}}
		r := newRig(t, perm.Policy{}, a)
		ask := func(ctx context.Context, id string) error {
			_, err := r.child(id, perm.Ceiling{}).Decide(ctx, Request{SessionID: id, Tool: "toy", Plan: r.write(filepath.Join(r.root, id))})
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for _, id := range []string{"shown", "queued"} {
			wg.Go(func() {
				if err := ask(ctx, id); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", id, err)
				}
			})
		}
		wg.Go(func() {
			time.Sleep(time.Second)
			if err := ask(context.Background(), "other"); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		cancel()
		wg.Wait()
		if len(a.seen) != 2 || withdrawn != 1 || a.seen[1].SessionID != "other" {
			t.Errorf("%d withdrawn, asked %+v", withdrawn, a.seen)
		}
	})
}

// A grant belongs to the root's tree, and helps a descendant only as far as its own
// ceiling goes.
func TestAGrantOfTheTree(t *testing.T) {
	for _, c := range []struct {
		ceiling perm.Ceiling
		allowed bool
		asked   int
	}{
		{perm.Ceiling{}, true, 1},
		{perm.Ceiling{Write: perm.CapAsk}, true, 1},
		{perm.Ceiling{Write: perm.CapDeny}, false, 1},
		{perm.Ceiling{ReadOnly: true}, false, 1},
		{perm.Ceiling{Tools: []perm.Filter{{Deny: []string{"t*"}}}}, false, 1},
	} {
		a := says(plug.Session)
		r := newRig(t, perm.Policy{}, a)
		plan := r.write(filepath.Join(r.root, "a"))
		if v, _ := r.decide(t, plan); !v.Allowed {
			t.Fatal("not granted")
		}
		v, _ := r.child("child", c.ceiling).decide(t, plan)
		if v.Allowed != c.allowed || len(a.seen) != c.asked || v.Allowed == (v.Reason != "") {
			t.Errorf("%+v: got %+v after %d questions", c.ceiling, v, len(a.seen))
		}
	}
	// The other way: what a child was granted holds for the whole tree.
	a := says(plug.Session)
	r := newRig(t, perm.Policy{}, a)
	plan := r.write(filepath.Join(r.root, "a"))
	r.child("child", perm.Ceiling{}).decide(t, plan)
	if v, _ := r.decide(t, plan); !v.Allowed || len(a.seen) != 1 {
		t.Errorf("got %+v after %d questions", v, len(a.seen))
	}
}

func TestACeilingAsksInSpiteOfFlags(t *testing.T) {
	plan := func(r rig) plug.Plan { return r.write(filepath.Join(r.root, "a")) }
	ceiling := perm.Ceiling{Write: perm.CapAsk}
	r := newRig(t, perm.Policy{Mode: perm.ModeFull, AllowWrite: true}, nil).child("c", ceiling)
	if v, seen := r.decide(t, plan(r)); v.Allowed || len(seen) != 1 || seen[0].(plug.ApprovalResolved).By != plug.ByHeadless {
		t.Errorf("headless: got %+v, %v", v, seen)
	}
	a := says(plug.Once)
	r = newRig(t, perm.Policy{Mode: perm.ModeFull, AllowWrite: true}, a).child("c", ceiling)
	if v, _ := r.decide(t, plan(r)); !v.Allowed || len(a.seen) != 1 {
		t.Errorf("got %+v after %d questions", v, len(a.seen))
	}
}

func TestAToolBeyondTheFilter(t *testing.T) {
	filter := perm.Ceiling{Tools: []perm.Filter{{Allow: []string{"read_*"}}}}
	a := says(plug.Session)
	r := newRig(t, perm.Policy{AllowWrite: true}, a).child("c", filter)
	v, seen := r.decide(t, r.write(filepath.Join(r.outside, "a")))
	if v.Allowed || v.Opened || len(a.seen) != 0 || !strings.Contains(v.Reason, "without that tool") || len(seen) != 1 {
		t.Errorf("got %+v, %v after %d questions", v, seen, len(a.seen))
	}
	if r.Offers("toy", plug.EffectRead) || !r.Offers("read_file", plug.EffectRead) {
		t.Error("offers what the filter does not admit, or not what it does")
	}
}

func TestQuestionsAndReviews(t *testing.T) {
	two := []plug.Choice{{Options: make([]plug.Option, 3)}, {Options: make([]plug.Option, 2), Multiple: true}}
	for _, c := range []struct {
		name   string
		q      plug.Question
		answer plug.Answer
		ok     bool
	}{
		{"answers", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: []plug.Chosen{{Options: []int{2}}, {Options: []int{0, 1}, Text: "and"}}}, true},
		{"skipped", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: make([]plug.Chosen, 2)}, true},
		{"refused", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Decision: plug.Deny}, true},
		{"too many", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: make([]plug.Chosen, 3)}, false},
		{"too few", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: make([]plug.Chosen, 1)}, false},
		{"no such option", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: []plug.Chosen{{Options: []int{3}}, {}}}, false},
		{"negative", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: []plug.Chosen{{Options: []int{-1}}, {}}}, false},
		{"two of one", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: []plug.Chosen{{Options: []int{0, 1}}, {}}}, false},
		{"no text", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: []plug.Chosen{{Text: "\xff"}, {}}}, false},
		{"long text", plug.Question{Kind: plug.AskQuestions, Questions: two}, plug.Answer{Chosen: []plug.Chosen{{Text: strings.Repeat("x", maxWritten+1)}, {}}}, false},
		{"approved", plug.Question{Kind: plug.AskPlan}, plug.Answer{Decision: plug.Once}, true},
		{"skipped plan", plug.Question{Kind: plug.AskPlan}, plug.Answer{Decision: plug.Deny}, true},
		{"feedback", plug.Question{Kind: plug.AskPlan}, plug.Answer{Decision: plug.Feedback, Reason: "smaller"}, true},
		{"long feedback", plug.Question{Kind: plug.AskPlan}, plug.Answer{Decision: plug.Feedback, Reason: strings.Repeat("x", maxWritten+1)}, false},
		{"plan for the session", plug.Question{Kind: plug.AskPlan}, plug.Answer{Decision: plug.Session}, false},
		{"empty", plug.Question{Kind: plug.AskPlan}, plug.Answer{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &person{answer: func(context.Context, plug.Question) (plug.Answer, error) { return c.answer, nil }}
			r := newRig(t, perm.Policy{}, p).child("general", perm.Ceiling{})
			a, err := r.Ask(context.Background(), c.q)
			if (err == nil) != c.ok || c.ok && a.By != plug.ByUser || !c.ok && a.Decision != plug.Deny {
				t.Errorf("got %+v, %v", a, err)
			}
			if p.seen[0].Label != "general" {
				t.Errorf("label %q", p.seen[0].Label)
			}
			if c.ok && len(a.Chosen) != len(c.q.Questions) {
				t.Errorf("%d answers to %d questions", len(a.Chosen), len(c.q.Questions))
			}
		})
	}
}

// Who asked can use the indexes as they are.
func TestChosenAreSorted(t *testing.T) {
	r := newRig(t, perm.Policy{}, &person{answer: func(context.Context, plug.Question) (plug.Answer, error) {
		return plug.Answer{Chosen: []plug.Chosen{{Options: []int{2, 0, 2}}}}, nil
	}})
	q := plug.Question{Kind: plug.AskQuestions, Questions: []plug.Choice{{Options: make([]plug.Option, 3), Multiple: true}}}
	a, err := r.Ask(context.Background(), q)
	if err != nil || !slices.Equal(a.Chosen[0].Options, []int{0, 2}) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// An answer that a surface gives because its person is gone is a no to a call, whatever
// else stands in it, and none to a question.
func TestSurfaceWithoutAPerson(t *testing.T) {
	surface := &person{answer: func(context.Context, plug.Question) (plug.Answer, error) {
		return plug.Answer{Decision: plug.Once, Reason: "the input has ended", By: plug.ByHeadless, Chosen: make([]plug.Chosen, 1)}, nil
	}}
	r := newRig(t, perm.Policy{}, surface)
	for _, q := range []plug.Question{{Kind: plug.AskPlan}, {Kind: plug.AskQuestions, Questions: make([]plug.Choice, 1)}} {
		if a, err := r.Ask(context.Background(), q); !errors.Is(err, plug.ErrNoSurface) || a.Decision != plug.Deny {
			t.Errorf("%s: got %+v, %v", q.Kind, a, err)
		}
	}
	v, err := r.Decide(context.Background(), Request{SessionID: "s", CallID: "c", Tool: "toy", Plan: r.write(filepath.Join(r.root, "a"))})
	if err != nil || v.Allowed || v.Reason != "the input has ended" {
		t.Errorf("got %+v, %v", v, err)
	}
}

// A call is allowed by Decide alone: what a tool or a plugin asks is no way around.
func TestAskTakesNoCall(t *testing.T) {
	a := says(plug.Session)
	r := newRig(t, perm.Policy{}, a)
	for _, kind := range []plug.QuestionKind{plug.AskCall, plug.AskDirectory, "", "other"} {
		if _, err := r.Ask(context.Background(), plug.Question{Kind: kind}); err == nil || len(a.seen) != 0 {
			t.Errorf("%q: %v after %d questions", kind, err, len(a.seen))
		}
	}
}

func TestNobodyToAsk(t *testing.T) {
	r := newRig(t, perm.Policy{}, nil)
	for _, kind := range []plug.QuestionKind{plug.AskQuestions, plug.AskPlan} {
		if _, err := r.Ask(context.Background(), plug.Question{Kind: kind}); !errors.Is(err, plug.ErrNoSurface) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
