package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/perm"
	"alisio/plug"
)

// asks is a toy that puts a question and says what came of it.
func asks(q plug.Question) toy {
	return newToy("ask", plug.EffectRead, func(ctx context.Context, c *plug.Call) (plug.Result, error) {
		a, err := c.Ask(ctx, q)
		switch {
		case errors.Is(err, plug.ErrNoSurface):
			return plug.Text("nobody"), nil
		case err != nil:
			return plug.Result{}, err
		}
		return plug.Text("answer: " + string(a.Decision)), nil
	})
}

func TestAToolAsksInTheNameOfItsCall(t *testing.T) {
	a := &asking{answer: plug.Answer{Decision: plug.Once, Chosen: []plug.Chosen{{Options: []int{0}}}}}
	q := plug.Question{Kind: plug.AskQuestions, SessionID: "another", CallID: "another", Tool: "another",
		Questions: []plug.Choice{{Question: "which?", Options: []plug.Option{{Label: "a"}, {Label: "b"}}}}}
	p := &fake{answers: []answerFunc{says("", call("1", "ask", `{}`)), says("done")}}
	b := newBench(t, p, perm.Policy{}, a, asks(q))
	b.run(context.Background(), "go")
	if got := b.results()[0]; got != "answer: once" || len(a.questions) != 1 {
		t.Fatalf("got %q, %d questions", got, len(a.questions))
	}
	if got := a.questions[0]; got.SessionID != "s" || got.CallID != "1" || got.Tool != "ask" || got.Questions[0].Question != "which?" {
		t.Errorf("asked %+v", got)
	}
}

func TestAToolCanNotAskForItsOwnPermission(t *testing.T) {
	for _, kind := range []plug.QuestionKind{plug.AskCall, plug.AskDirectory, "", "x"} {
		a := &asking{answer: plug.Answer{Decision: plug.Once}}
		p := &fake{answers: []answerFunc{says("", call("1", "ask", `{}`)), says("done")}}
		b := newBench(t, p, perm.Policy{}, a, asks(plug.Question{Kind: kind}))
		b.run(context.Background(), "go")
		if got := b.results()[0]; !strings.Contains(got, "can not ask a question of kind") || len(a.questions) > 0 {
			t.Errorf("%q: got %q, asked %d times", kind, got, len(a.questions))
		}
	}
}

func TestWithoutAPersonNobodyAnswers(t *testing.T) {
	for _, kind := range []plug.QuestionKind{plug.AskQuestions, plug.AskPlan} {
		p := &fake{answers: []answerFunc{says("", call("1", "ask", `{}`)), says("done")}}
		b := newBench(t, p, perm.Policy{}, nil, asks(plug.Question{Kind: kind}))
		b.o.Decided = func(plug.Review, plug.Answer) { t.Error("decided") }
		b.run(context.Background(), "go")
		if got := b.results()[0]; got != "nobody" || slices.Contains(b.types(), plug.TypePlanDecided) {
			t.Errorf("%s: got %q, %v", kind, got, b.types())
		}
	}
}

func TestAPlanIsNumberedAndItsDecisionTold(t *testing.T) {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	text := "one"
	plan := newToy("plan", plug.EffectRead, func(ctx context.Context, c *plug.Call) (plug.Result, error) {
		a, err := c.Ask(ctx, plug.Question{Kind: plug.AskPlan, Review: plug.Review{PlanID: "x", Revision: 9, Title: "a\nb", Text: text}})
		return plug.Text(string(a.Decision)), err
	})
	a := &asking{}
	p := &fake{}
	b := newBench(t, p, perm.Policy{}, a, plan)
	b.o.Plans = &Plans{}
	var told []plug.Review
	b.o.Decided = func(r plug.Review, a plug.Answer) { told = append(told, r) }
	id := ""
	for i, c := range []struct {
		text     string
		answer   plug.Decision
		revision int
		decision plug.PlanDecision
	}{{"one", plug.Deny, 1, plug.PlanSkip}, {"one", plug.Deny, 1, plug.PlanSkip}, {"two", plug.Once, 2, plug.PlanApprove}} {
		text, a.answer = c.text, plug.Answer{Decision: c.answer}
		p.answers = append(slices.Repeat([]answerFunc{says("")}, len(p.requests)), says("", call("", "plan", `{}`)), says("done"))
		b.run(context.Background(), "go")
		want := []plug.EventType{plug.TypeToolStarted, plug.TypePlanProposed, plug.TypePlanDecided, plug.TypeToolCompleted}
		if got := b.types()[2:6]; !slices.Equal(got, want) {
			t.Fatalf("plan %d: events %v", i, b.types())
		}
		proposed, decided := b.events[3].Data.(plug.PlanProposed), b.events[4].Data.(plug.PlanDecided)
		callID := b.events[2].Data.(plug.ToolStarted).ID
		if id == "" {
			id = proposed.PlanID
		}
		if proposed != (plug.PlanProposed{CallID: callID, PlanID: id, Revision: c.revision, Hash: hash(c.text), Title: "a b"}) || len(id) != 36 {
			t.Errorf("plan %d: %+v", i, proposed)
		}
		if decided != (plug.PlanDecided{CallID: callID, PlanID: id, Hash: hash(c.text), Decision: c.decision}) {
			t.Errorf("plan %d: %+v", i, decided)
		}
		if r := told[len(told)-1]; len(told) != i+1 || r.Revision != c.revision || r.Text != c.text || a.questions[i].Review != r {
			t.Errorf("plan %d: told %+v, asked %+v", i, told, a.questions[i].Review)
		}
	}
}

// The time in which a person reads a question of a call is no time of the call.
func TestAPersonsTimeIsNotTheCalls(t *testing.T) {
	slow := newToy("slow", plug.EffectRead, func(ctx context.Context, c *plug.Call) (plug.Result, error) {
		time.Sleep(2 * time.Second)
		_, err := c.Ask(ctx, plug.Question{Kind: plug.AskPlan, Review: plug.Review{Title: "t", Text: "plan"}})
		time.Sleep(3 * time.Second)
		return plug.Text("x"), err
	})
	a := &asking{answer: plug.Answer{Decision: plug.Once}}
	b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "slow", `{}`)), says("done")}}, perm.Policy{}, patient{a, time.Hour}, slow)
	synctest.Test(t, func(t *testing.T) { b.run(context.Background(), "go") })
	for _, e := range b.events {
		if d, ok := e.Data.(plug.ToolCompleted); ok && d.DurationMs != 5000 {
			t.Errorf("%d ms, want the 5 s in which the call worked", d.DurationMs)
		}
	}
	if len(a.questions) != 1 {
		t.Errorf("%d questions", len(a.questions))
	}
}

// patient thinks before it answers.
type patient struct {
	plug.Asker
	think time.Duration
}

func (p patient) Ask(ctx context.Context, q plug.Question) (plug.Answer, error) {
	time.Sleep(p.think)
	return p.Asker.Ask(ctx, q)
}

func TestPlanDecisions(t *testing.T) {
	for d, want := range map[plug.Decision]plug.PlanDecision{
		plug.Once: plug.PlanApprove, plug.Session: plug.PlanApprove, plug.Deny: plug.PlanSkip, plug.Feedback: plug.PlanContext, "x": plug.PlanSkip,
	} {
		if got := planDecision(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}

// A question of a call that has ended is withdrawn, and none is put after it.
func TestACallAsksOnlyUntilItsEnd(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan error)
	var late func(context.Context, plug.Question) (plug.Answer, error)
	leaves := newToy("leaves", plug.EffectRead, func(_ context.Context, c *plug.Call) (plug.Result, error) {
		late = c.Ask
		go func() {
			_, err := c.Ask(context.Background(), plug.Question{Kind: plug.AskPlan})
			answer <- err
		}()
		<-asked
		return plug.Text("left"), nil
	})
	p := &fake{answers: []answerFunc{says("", call("1", "leaves", `{}`)), says("done")}}
	b := newBench(t, p, perm.Policy{}, waiting(asked), leaves)
	b.run(context.Background(), "go")
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("the open question: got %v", err)
	}
	events := len(b.events)
	if _, err := late(context.Background(), plug.Question{Kind: plug.AskPlan}); !errors.Is(err, context.Canceled) || len(b.events) != events {
		t.Errorf("a late question: got %v, and %d events", err, len(b.events)-events)
	}
}

// waiting is a person who never answers.
type waiting chan struct{}

func (w waiting) Ask(ctx context.Context, _ plug.Question) (plug.Answer, error) {
	close(w)
	<-ctx.Done()
	return plug.Answer{}, ctx.Err()
}

func TestACallIsGivenWhatTheEngineHas(t *testing.T) {
	use := newToy("use", plug.EffectRead, func(ctx context.Context, c *plug.Call) (plug.Result, error) {
		v, err := c.State.Get(ctx, "k")
		return plug.Text(string(v)), err
	})
	use.prepare = func(c *plug.Call) (plug.Plan, error) {
		if c.State.Get == nil || c.Ask == nil || c.Progress == nil || c.CallID != "1" {
			return plug.Plan{}, errors.New("something is missing")
		}
		return plug.Plan{}, nil
	}
	p := &fake{answers: []answerFunc{says("", call("1", "use", `{}`)), says("done")}}
	b := newBench(t, p, perm.Policy{}, nil, use)
	b.o.Call = func(c *plug.Call) {
		of := c.SessionID + "/" + c.CallID
		c.State.Get = func(_ context.Context, key string) (json.RawMessage, error) {
			return json.RawMessage(`"` + of + "/" + key + `"`), nil
		}
	}
	b.run(context.Background(), "go")
	if got := b.results()[0]; got != `"s/1/k"` {
		t.Errorf("got %q", got)
	}
}
