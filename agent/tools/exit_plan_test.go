package tools

import (
	"context"
	"strings"
	"testing"

	"alisio/plug"
)

func TestExitPlanWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer plug.Answer
		err    error
		word   string
		next   string
	}{
		{"once", plug.Answer{Decision: plug.Once}, nil, "approved", "Carry it out as it stands"},
		{"session", plug.Answer{Decision: plug.Session, Reason: "go"}, nil, "approved", "They wrote:\ngo"},
		{"deny", plug.Answer{Decision: plug.Deny}, nil, "skipped", "Carry nothing out"},
		{"nothing", plug.Answer{}, nil, "skipped", "Carry nothing out"},
		{"unknown", plug.Answer{Decision: "perhaps"}, nil, "skipped", "Carry nothing out"},
		{"feedback", plug.Answer{Decision: plug.Feedback, Reason: "no\x1b[31m tests\u202e"}, nil, "feedback", "They wrote:\nno tests"},
		{"no surface", plug.Answer{}, plug.ErrNoSurface, "unavailable", "as your answer, in text"},
	} {
		k := newTalk(t)
		k.answer = func(plug.Question) (plug.Answer, error) { return c.answer, c.err }
		r, err := k.do(exitPlan{}, "c1", args{"plan": "\n# The plan\x1b[2J\n\n1. x\n"})
		if err != nil || !strings.HasPrefix(r.PlainText(), c.word+": ") || !strings.Contains(r.PlainText(), c.next) || r.Summary != c.word || r.IsError {
			t.Errorf("%s: got %q, %q, %v", c.name, r.PlainText(), r.Summary, err)
		}
		text := "# The plan\n\n1. x"
		want := plug.Review{Title: "The plan", Text: text} // the engine numbers it
		if q := k.asked[0]; q.Kind != plug.AskPlan || q.Review != want || q.SessionID != "s" || q.CallID != "c1" || q.Tool != "exit_plan" {
			t.Errorf("%s: asked %+v", c.name, q)
		}
	}
}

func TestExitPlanErrors(t *testing.T) {
	k := newTalk(t)
	k.answer = func(plug.Question) (plug.Answer, error) { return plug.Answer{}, context.Canceled }
	for text, want := range map[string]string{
		" \x1b[2J\n": "the plan is empty", strings.Repeat("x", maxPlan+1): "the plan has 46 KiB, more than 46 KiB: shorten it", "x": "context canceled",
	} {
		if _, err := k.do(exitPlan{}, "c", args{"plan": text}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	k.answer = func(plug.Question) (plug.Answer, error) { return plug.Answer{Decision: plug.Once}, nil }
	c := k.call("c", args{"plan": "###"})
	if r, err := (exitPlan{}).Execute(t.Context(), c, plug.Plan{}); err != nil || r.Summary != "approved" {
		t.Errorf("got %+v, %v", r, err)
	}
	if p, err := (exitPlan{}).Prepare(t.Context(), c); err != nil || p.Title != "plan" {
		t.Errorf("got %+v, %v", p, err)
	}
}
