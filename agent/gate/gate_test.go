package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/clock"
	"alisio/agent/perm"
	"alisio/agent/workspace"
	"alisio/plug"
)

// person answers by a function and counts how many questions stand at once.
type person struct {
	answer func(context.Context, plug.Question) (plug.Answer, error)
	mu     sync.Mutex
	open   int
	most   int
	seen   []plug.Question
}

func (p *person) Ask(ctx context.Context, q plug.Question) (plug.Answer, error) {
	p.mu.Lock()
	p.open++
	p.most = max(p.most, p.open)
	p.seen = append(p.seen, q)
	p.mu.Unlock()
	defer func() { p.mu.Lock(); p.open--; p.mu.Unlock() }()
	return p.answer(ctx, q)
}

func says(d plug.Decision) *person {
	return &person{answer: func(context.Context, plug.Question) (plug.Answer, error) { return plug.Answer{Decision: d}, nil }}
}

type rig struct {
	*Gate
	root, outside string
}

func newRig(t *testing.T, policy perm.Policy, asker plug.Asker) rig {
	t.Helper()
	r := rig{root: t.TempDir(), outside: t.TempDir()}
	for _, p := range []*string{&r.root, &r.outside} {
		real, err := filepath.EvalSymlinks(*p)
		if err != nil {
			t.Fatal(err)
		}
		*p = real
		if err := os.MkdirAll(filepath.Join(real, ".git", "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(r.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r.Gate = New(Options{Policy: policy, Files: w, Tree: NewTree(asker, &clock.HumanWaits{})})
	return r
}

func (r rig) write(path string) plug.Plan {
	return plug.Plan{Effect: plug.EffectWrite, Key: "write " + path,
		Paths: []plug.PlanPath{{Path: path, Access: plug.AccessWrite}}}
}

func (r rig) decide(t *testing.T, p plug.Plan) (Verdict, []plug.Payload) {
	t.Helper()
	var seen []plug.Payload
	v, err := r.Decide(context.Background(), Request{SessionID: "s", CallID: "c", Tool: "toy", Plan: p,
		Observe: func(p plug.Payload) { seen = append(seen, p) }})
	if err != nil {
		t.Fatal(err)
	}
	return v, seen
}

func TestHeadless(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy perm.Policy
		effect plug.Effect
		file   string
		allow  bool
		reason string
		by     plug.DecidedBy
	}{
		{"read", perm.Policy{}, plug.EffectRead, "a", true, "", ""},
		{"write", perm.Policy{}, plug.EffectWrite, "a", false, "--allow-write", plug.ByHeadless},
		{"write by flag", perm.Policy{AllowWrite: true}, plug.EffectWrite, "a", true, "", plug.ByFlag},
		{"write by mode", perm.Policy{Mode: perm.ModeAuto}, plug.EffectWrite, "a", true, "", plug.ByMode},
		{"process by auto", perm.Policy{Mode: perm.ModeAuto}, plug.EffectProcess, "a", false, "--allow-process", plug.ByHeadless},
		{"unknown effect", perm.Policy{AllowWrite: true, AllowProcess: true}, "magic", "a", false, "--allow-external", plug.ByHeadless},
		{"read-only wins", perm.Policy{Mode: perm.ModeFull, AllowWrite: true, ReadOnly: true}, plug.EffectWrite, "a", false, "--read-only", plug.ByFlag},
		{"protected in full mode", perm.Policy{Mode: perm.ModeFull, AllowWrite: true}, plug.EffectWrite, ".git/hooks/pre-commit", false, "protected", plug.ByHeadless},
		{"protected is readable", perm.Policy{}, plug.EffectRead, ".git/config", true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.policy, nil)
			plan := r.write(filepath.Join(r.root, c.file))
			plan.Effect = c.effect
			if c.effect == plug.EffectRead {
				plan.Paths[0].Access = plug.AccessRead
			}
			v, seen := r.decide(t, plan)
			if v.Allowed != c.allow || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("got %+v", v)
			}
			if c.by == "" {
				if len(seen) != 0 {
					t.Errorf("events %v", seen)
				}
				return
			}
			if len(seen) != 1 || seen[0].(plug.ApprovalResolved).By != c.by {
				t.Errorf("events %v, want one by %s", seen, c.by)
			}
		})
	}
}

// What a plan does decides, not what it calls itself.
func TestAPlanCanNotUnderstateItself(t *testing.T) {
	r := newRig(t, perm.Policy{}, nil)
	file := filepath.Join(r.root, "a")
	for _, c := range []struct {
		plan plug.Plan
		want string
	}{
		{plug.Plan{Effect: plug.EffectRead, Paths: []plug.PlanPath{{Path: file, Access: plug.AccessWrite}}}, "--allow-write"},
		{plug.Plan{Effect: plug.EffectInternal, Paths: []plug.PlanPath{{Path: file}}}, "--allow-write"},
		{plug.Plan{Effect: plug.EffectRead, Shell: "true"}, "--allow-process"},
		{plug.Plan{Effect: plug.EffectWrite, Argv: []string{"true"}}, "--allow-process"},
		{plug.Plan{Effect: plug.EffectRead, Hosts: []string{"example.com"}}, "--allow-external"},
		{plug.Plan{Effect: plug.EffectProcess, Hosts: []string{"example.com"}, Argv: []string{"true"}}, "--allow-external"},
	} {
		v, seen := r.decide(t, c.plan)
		if v.Allowed || !strings.Contains(v.Reason, c.want) || len(seen) != 1 {
			t.Errorf("%+v: got %+v, %v", c.plan, v, seen)
		}
	}
}

func TestOutsideIsDeniedInEveryMode(t *testing.T) {
	for _, policy := range []perm.Policy{{}, {Mode: perm.ModeFull, AllowWrite: true, AllowProcess: true, AllowExternal: true}} {
		r := newRig(t, policy, nil)
		file := filepath.Join(r.outside, "f")
		for _, plan := range []plug.Plan{
			r.write(file),
			{Effect: plug.EffectRead, Paths: []plug.PlanPath{{Path: file, Access: plug.AccessRead}}},
			{Effect: plug.EffectProcess, Argv: []string{"ls"}, Dir: r.outside},
			{Effect: plug.EffectWrite, Paths: []plug.PlanPath{{Path: r.root + "/a", Access: plug.AccessWrite}, {Path: file, Access: plug.AccessWrite}}},
		} {
			v, _ := r.decide(t, plan)
			if v.Allowed || v.Opened || !strings.Contains(v.Reason, "--add-dir "+r.outside) {
				t.Errorf("%s: got %+v", plan.Effect, v)
			}
		}
	}
}

func TestADirectoryIsOpenedOnceOrForTheSession(t *testing.T) {
	for decision, stays := range map[plug.Decision]bool{plug.Once: false, plug.Session: true} {
		a := says(decision)
		r := newRig(t, perm.Policy{AllowWrite: true}, a)
		plan := r.write(filepath.Join(r.outside, "f"))
		v, _ := r.decide(t, plan)
		if v.Allowed || !v.Opened {
			t.Fatalf("%s: got %+v", decision, v)
		}
		if again, _ := r.decide(t, plan); !again.Allowed {
			t.Errorf("%s: while the call lasts: got %+v", decision, again)
		}
		v.Release()
		if again, _ := r.decide(t, plan); again.Allowed != stays {
			t.Errorf("%s: after the call: got %+v", decision, again)
		}
		if q := a.seen[0]; q.Kind != plug.AskDirectory || q.Directory != r.outside {
			t.Errorf("asked %+v", q)
		}
	}
}

func TestGrants(t *testing.T) {
	a := says(plug.Session)
	r := newRig(t, perm.Policy{}, a)
	plan := r.write(filepath.Join(r.root, "a"))
	first, _ := r.decide(t, plan)
	second, seen := r.decide(t, plan)
	if !first.Allowed || !second.Allowed || len(a.seen) != 1 {
		t.Errorf("got %+v, %+v after %d questions", first, second, len(a.seen))
	}
	if got := seen[0].(plug.ApprovalResolved); got.By != plug.ByGrant || got.Decision != plug.Session {
		t.Errorf("got %+v", got)
	}
	if r.decide(t, r.write(filepath.Join(r.root, "b"))); len(a.seen) != 2 {
		t.Error("a grant covers another key")
	}
	protected := r.write(filepath.Join(r.root, ".git", "config"))
	r.decide(t, protected)
	r.decide(t, protected)
	if len(a.seen) != 4 {
		t.Errorf("%d questions: a protected path was granted for the session", len(a.seen))
	}
	nameless := plug.Plan{Effect: plug.EffectProcess, Argv: []string{"x"}}
	r.decide(t, nameless)
	r.decide(t, nameless)
	if len(a.seen) != 6 {
		t.Errorf("%d questions: a plan without a key was granted", len(a.seen))
	}
}

func TestBadAnswersAreANo(t *testing.T) {
	for name, answer := range map[string]func(context.Context, plug.Question) (plug.Answer, error){
		"empty":   func(context.Context, plug.Question) (plug.Answer, error) { return plug.Answer{}, nil },
		"unknown": func(context.Context, plug.Question) (plug.Answer, error) { return plug.Answer{Decision: "yes"}, nil },
		"error": func(context.Context, plug.Question) (plug.Answer, error) {
			return plug.Answer{Decision: plug.Once}, errors.New("screen is gone")
		},
	} {
		r := newRig(t, perm.Policy{}, &person{answer: answer})
		v, err := r.Decide(context.Background(), Request{SessionID: "s", Tool: "toy", Plan: r.write(filepath.Join(r.root, "a"))})
		if v.Allowed || err == nil {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

func TestOneQuestionAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &person{answer: func(context.Context, plug.Question) (plug.Answer, error) {
			time.Sleep(time.Second)
			return plug.Answer{Decision: plug.Once}, nil
		}}
		r := newRig(t, perm.Policy{}, a)
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				r.tree.Ask(context.Background(), plug.Question{CallID: string(rune('a' + i))})
			})
		}
		wg.Wait()
		var order []string
		for _, q := range a.seen {
			order = append(order, q.CallID)
		}
		if a.most != 1 || !slices.IsSorted(order) || len(order) != 5 {
			t.Errorf("at most %d at once, order %v", a.most, order)
		}
	})
}

func TestAWaitStopsTheClockAndCanBeWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &person{answer: func(ctx context.Context, _ plug.Question) (plug.Answer, error) {
			<-ctx.Done()
			return plug.Answer{Decision: plug.Once}, nil
		}}
		r := newRig(t, perm.Policy{}, a)
		var active clock.Active
		defer r.tree.waits.Bind("s", "", &active)()
		active.Start()
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		v, err := r.Decide(ctx, Request{SessionID: "s", Tool: "toy", Plan: r.write(filepath.Join(r.root, "a"))})
		if v.Allowed || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %+v, %v", v, err)
		}
		if got := active.Elapsed(); got != time.Minute {
			t.Errorf("%v of active time, want the minute before the question", got)
		}
	})
}

func TestOffers(t *testing.T) {
	for _, c := range []struct {
		policy perm.Policy
		asker  plug.Asker
		want   []bool // read, write, process, external
	}{
		{perm.Policy{}, nil, []bool{true, false, false, false}},
		{perm.Policy{}, says(plug.Deny), []bool{true, true, true, true}},
		{perm.Policy{AllowProcess: true}, nil, []bool{true, false, true, false}},
		{perm.Policy{Mode: perm.ModeFull, ReadOnly: true}, says(plug.Once), []bool{true, false, false, false}},
	} {
		r := newRig(t, c.policy, c.asker)
		for i, effect := range []plug.Effect{plug.EffectRead, plug.EffectWrite, plug.EffectProcess, plug.EffectExternal} {
			if got := r.Offers("toy", effect); got != c.want[i] {
				t.Errorf("%+v: %s: got %v", c.policy, effect, got)
			}
		}
	}
}

// A no to one of two directories ends the call: the yes to the other one opens nothing
// because of which the person would be asked again.
func TestANoToOneDirectoryIsTheEnd(t *testing.T) {
	second := t.TempDir()
	if real, err := filepath.EvalSymlinks(second); err == nil {
		second = real
	}
	a := &person{answer: func(_ context.Context, q plug.Question) (plug.Answer, error) {
		if q.Directory == second {
			return plug.Answer{Decision: plug.Deny, Reason: "not there"}, nil
		}
		return plug.Answer{Decision: plug.Once}, nil
	}}
	r := newRig(t, perm.Policy{AllowWrite: true}, a)
	plan := r.write(filepath.Join(r.outside, "x"))
	plan.Paths = append(plan.Paths, plug.PlanPath{Path: filepath.Join(second, "y"), Access: plug.AccessWrite})
	v, _ := r.decide(t, plan)
	if v.Allowed || v.Opened || !strings.Contains(v.Reason, "not there") || len(a.seen) != 2 {
		t.Errorf("got %+v after %d questions", v, len(a.seen))
	}
	v.Release()
}
