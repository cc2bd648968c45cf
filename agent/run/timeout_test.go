package run

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/clock"
	"alisio/agent/gate"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// slow is a tool that takes a time, or until it is stopped.
func slow(name string, effect plug.Effect, d time.Duration) toy {
	return newToy(name, effect, func(ctx context.Context, _ *plug.Call) (plug.Result, error) {
		if !pass(ctx, d) {
			return plug.Result{}, ctx.Err()
		}
		return plug.Text("done"), nil
	})
}

// The time of a run is used up wherever it is: the event says where that was, what was
// received is kept, and every call has its result.
func TestRunLimitWhereverTheRunIs(t *testing.T) {
	const limit = 3 * time.Minute
	wait := says("", call("1", "wait", `{"n":1}`), call("2", "wait", `{"n":2}`))
	for name, c := range map[string]struct {
		answers []answerFunc
		timeout plug.Timeout
		error   string
		kept    []llm.Message // nil: what is kept are results
	}{
		"before the first byte": {[]answerFunc{hangs}, plug.Timeout{Stage: plug.StageWaiting, FirstRequest: true, Attempts: 1}, "waiting for the model", []llm.Message{}},
		"in a resend": {[]answerFunc{breaks("", fault(llm.CauseServer, 503)), hangs},
			plug.Timeout{Stage: plug.StageWaiting, FirstRequest: true, Attempts: 2}, "waiting for the model", []llm.Message{}},
		"in mid-stream": {[]answerFunc{steps(spoken("Hel"), later(time.Minute, spoken("lo")), silence(forever))},
			plug.Timeout{Stage: plug.StageStreaming, FirstRequest: true, Attempts: 1}, "receiving an answer", []llm.Message{broken("Hello")}},
		"in a pause before a resend": {[]answerFunc{breaks("", throttled(59*time.Second))},
			plug.Timeout{Stage: plug.StageWaiting, FirstRequest: true, Attempts: 4}, "waiting for the model", []llm.Message{}},
		"in a pause before a recovery": {[]answerFunc{steps(spoken("half"), later(2*time.Minute, reasoning("hm")), later(50*time.Second, fails(throttled(50*time.Second))))},
			plug.Timeout{Stage: plug.StageWaiting, FirstRequest: true, Attempts: 1}, "waiting for the model", []llm.Message{broken("half")}},
		"in a later request": {[]answerFunc{breaks("half", lost), hangs},
			plug.Timeout{Stage: plug.StageWaiting, Attempts: 1}, "waiting for the model", []llm.Message{broken("half")}},
		"in a tool":    {[]answerFunc{says("", call("1", "wait", `{}`))}, plug.Timeout{Stage: plug.StageTool, Tool: "wait"}, "running wait", nil},
		"in a barrier": {[]answerFunc{wait}, plug.Timeout{Stage: plug.StageTool, Tool: "wait"}, "running wait", nil},
		"in reads": {[]answerFunc{says("", call("1", "look", `{"n":1}`), call("2", "look", `{"n":2}`))},
			plug.Timeout{Stage: plug.StageTool, Tool: "look"}, "running look", nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := but(func(l *Limits) { l.Timeout, l.FirstToken, l.Idle = limit, 0, 0 })
			ruled(t, l, c.answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
				f := b.failed()
				c.timeout.Kind, c.timeout.Ms, c.timeout.Model, c.timeout.Provider = plug.TimeoutRun, limit.Milliseconds(), "m", "fake"
				same(t, "timeout", *f.Timeout, c.timeout)
				want := "the run used up its 3 min (limits.timeoutMs) while it was " + c.error
				if out.Status != Failed || out.Code != llm.CauseTimeout || f.Code != out.Code || f.Error != want || f.Hint == "" || b.took != limit {
					t.Errorf("got %+v, %+v after %v, want %q", out, f, b.took, want)
				}
				if c.kept != nil {
					same(t, "kept", append([]llm.Message{}, b.tail()...), c.kept)
					return
				}
				got := b.results() // that each call has one, check has seen
				if !strings.HasPrefix(got[0], "stopped: the time of the run was used up") {
					t.Errorf("results: %q", got)
				}
				if name == "in a barrier" && got[1] != "not run: the run was stopped" {
					t.Errorf("results: %q", got)
				}
			}, slow("wait", plug.EffectWrite, forever), slow("look", plug.EffectRead, forever))
		})
	}
}

// Time that goes into the making of a turn is the run's too.
func TestRunLimitInTheMakingOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &fake{answers: []answerFunc{says("never")}}, all, nil)
		b.o.Limits.Timeout = time.Minute
		b.o.Turn = func(ctx context.Context) (Turn, error) {
			pass(ctx, forever)
			return b.now, ctx.Err()
		}
		b.run(context.Background(), "go")
		same(t, "timeout", b.failed().Timeout, &plug.Timeout{Kind: plug.TimeoutRun, Ms: 60_000, Model: "m", Provider: "fake", Stage: plug.StageOther})
	})
}

func TestRunLimitIsOffByDefault(t *testing.T) {
	answers := []answerFunc{steps(later(forever, completes(answered("hello"))))}
	ruled(t, but(func(l *Limits) { l.FirstToken, l.Idle = 0, 0 }), answers, func(t *testing.T, b *bench, _ *fake, out Outcome) {
		if out.Status != Completed || b.took != forever {
			t.Errorf("got %+v after %v", out, b.took)
		}
	})
}

// A later prompt has the whole time again.
func TestRunLimitIsOfARun(t *testing.T) {
	answers := []answerFunc{steps(later(50*time.Second, completes(answered("hello"))))}
	ruled(t, but(func(l *Limits) { l.Timeout = time.Minute }), answers, func(t *testing.T, b *bench, _ *fake, _ Outcome) {
		if out := b.run(context.Background(), "again"); out.Status != Completed {
			t.Errorf("got %+v", out)
		}
	})
}

// timed binds the clocks of a session, and of one below it, to the waits of a tree
// in which a person takes long to answer.
type timed struct {
	waits        clock.HumanWaits
	tree         *gate.Tree
	root, branch clock.Active
}

func (c *timed) bind(b *bench, person time.Duration) {
	c.tree = gate.NewTree(thinker(person), &c.waits)
	b.ask(all, nil)
	b.now.Gate = gate.New(gate.Options{Files: b.files, Tree: c.tree})
	b.o.Clock = &c.root
	c.root.Start()
	b.t.Cleanup(c.waits.Bind("s", "", &c.root))
}

// A person who takes an hour to say yes takes none of the run's time; what the run
// does before and behind that counts together.
func TestTheTimeOfAPersonIsNotTheRuns(t *testing.T) {
	for name, c := range map[string]struct {
		limit  time.Duration
		status Status
		took   time.Duration
	}{
		"enough":   {51 * time.Second, Completed, time.Hour + 50*time.Second},
		"used up":  {45 * time.Second, Failed, time.Hour + 45*time.Second},
		"used yet": {15 * time.Second, Failed, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fake{answers: []answerFunc{
					steps(later(20*time.Second, completes(llm.Message{Calls: []llm.ToolCall{call("1", "wait", `{}`)}}))), says("done"),
				}}
				b := newBench(t, p, all, nil, slow("wait", plug.EffectWrite, 30*time.Second))
				b.o.Limits.Timeout = c.limit
				var clocks timed
				clocks.bind(b, time.Hour)
				if out := b.run(context.Background(), "go"); out.Status != c.status || b.took != c.took {
					t.Errorf("got %+v, %v after %v", out, out.Err, b.took)
				}
				if name == "used up" {
					if got := b.failed().Timeout; got.Stage != plug.StageTool || got.Tool != "wait" {
						t.Errorf("got %+v", got)
					}
				}
			})
		})
	}
}

// Where nobody stops the clock for a person, time that a person takes counts, and the
// question is taken back.
func TestRunLimitInAnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		write := newToy("change", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) { ran++; return plug.Text("x"), nil })
		p := &fake{answers: []answerFunc{says("", call("1", "change", `{}`))}}
		b := newBench(t, p, all, nil, write)
		b.o.Limits.Timeout = time.Minute
		b.now.Gate = gate.New(gate.Options{Files: b.files, Tree: gate.NewTree(absent{}, &clock.HumanWaits{})})
		out := b.run(context.Background(), "go")
		same(t, "timeout", b.failed().Timeout, &plug.Timeout{Kind: plug.TimeoutRun, Ms: 60_000, Model: "m", Provider: "fake", Stage: plug.StageOther})
		same(t, "results", b.results(), []string{"not run: the run was stopped"})
		if out.Denied != 0 || ran != 0 || b.took != time.Minute {
			t.Errorf("got %+v after %v, %d ran", out, b.took, ran)
		}
	})
}

// absent is a person who says nothing until the question is taken back.
type absent struct{}

func (absent) Ask(ctx context.Context, _ plug.Question) (plug.Answer, error) {
	<-ctx.Done()
	return plug.Answer{}, ctx.Err()
}

// A child has a limit and a clock of its own. A person whom it asks stops both clocks;
// its own work is its parent's time too, and its end is a result for the parent.
func TestRunLimitOfAChild(t *testing.T) {
	for name, c := range map[string]struct {
		parent, child time.Duration
		status, below Status
		took          time.Duration
	}{
		"both suffice":      {41 * time.Second, 31 * time.Second, Completed, Completed, time.Hour + 40*time.Second},
		"the child's":       {41 * time.Second, 25 * time.Second, Completed, Failed, time.Hour + 35*time.Second},
		"the parent's":      {25 * time.Second, 31 * time.Second, Failed, Cancelled, time.Hour + 25*time.Second},
		"the child has not": {41 * time.Second, 0, Completed, Completed, time.Hour + 40*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var clocks timed
				var below Outcome
				child := newBench(t, &fake{answers: []answerFunc{says("", call("1", "wait", `{}`)), says("done")}}, all, nil,
					slow("wait", plug.EffectWrite, 30*time.Second))
				task := newToy("task", plug.EffectInternal, func(ctx context.Context, _ *plug.Call) (plug.Result, error) {
					below = child.run(ctx, "go")
					return plug.Text(string(below.Status)), ctx.Err()
				})
				p := &fake{answers: []answerFunc{
					steps(later(10*time.Second, completes(llm.Message{Calls: []llm.ToolCall{call("1", "task", `{}`)}}))), says("done"),
				}}
				parent := newBench(t, p, all, nil, task)
				parent.o.Limits.Timeout, child.o.Limits.Timeout, child.o.Limits.TimeoutGiven = c.parent, c.child, true
				clocks.bind(parent, time.Hour)
				if err := child.store.Create(context.Background(), session.Session{ID: "child"}); err != nil {
					t.Fatal(err)
				}
				child.id, child.o.Clock = "child", &clocks.branch
				child.now.Gate = gate.New(gate.Options{Files: child.files, Tree: clocks.tree})
				unbind := clocks.waits.Bind("child", "s", &clocks.branch)
				defer unbind()
				start := child.o.Turn
				child.o.Turn = func(ctx context.Context) (Turn, error) {
					clocks.branch.Start()
					return start(ctx)
				}
				out := parent.run(context.Background(), "go")
				if out.Status != c.status || below.Status != c.below || parent.took != c.took {
					t.Errorf("got %s after %v, below it %s, %v", out.Status, parent.took, below.Status, below.Err)
				}
				if name == "the child's" {
					same(t, "timeout", child.failed().Timeout, &plug.Timeout{
						Kind: plug.TimeoutRun, Ms: 25_000, Model: "m", Provider: "fake", Stage: plug.StageTool, Tool: "wait",
					})
					if want := "the run used up its 25 s while it was running wait"; below.Err.Message != want || strings.Contains(below.Err.Hint, "limits.") {
						t.Errorf("got %q, %q, want %q", below.Err.Message, below.Err.Hint, want)
					}
				}
				if name == "the parent's" {
					if got := parent.failed().Timeout; got.Stage != plug.StageTool || got.Tool != "task" || got.Ms != 25_000 {
						t.Errorf("got %+v", got)
					}
				}
			})
		})
	}
}

// What a person stopped is cancelled, although its time was over a moment before.
func TestAStopAtTheLimitIsAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		stop := newToy("stop", plug.EffectProcess, func(ctx context.Context, _ *plug.Call) (plug.Result, error) {
			<-ctx.Done()
			cancel()
			return plug.Result{}, ctx.Err()
		})
		b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "stop", `{}`))}}, all, nil, stop)
		b.o.Limits.Timeout = time.Minute
		if out := b.run(ctx, "go"); out.Status != Cancelled || b.took != time.Minute {
			t.Errorf("got %+v after %v", out, b.took)
		}
	})
}
