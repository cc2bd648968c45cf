package tools

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"alisio/plug"
)

func option(labels ...string) []args {
	var all []args
	for _, l := range labels {
		all = append(all, args{"label": l})
	}
	return all
}

func TestAskUserQuestion(t *testing.T) {
	k := newTalk(t)
	k.answer = func(plug.Question) (plug.Answer, error) {
		return plug.Answer{Decision: plug.Once, Chosen: []plug.Chosen{{Options: []int{1, 0, 1, 7, -1}}, {}, {Text: " my\x1b[31m own\n"}}}, nil
	}
	r, err := k.do(askUserQuestion{}, "c1", args{"questions": []args{
		{"header": "a header that is long", "question": "Which\x1b[2J one?\nNow", "options": option("A\u202e", " B "), "multiple": true},
		{"question": "Second?", "options": option("a", "b", "c")}, {"question": "Third?", "options": option("a", "b")},
		{"question": "Fourth?", "options": option("a", "b")},
	}})
	const skipped = "   skipped by the person: decide as is most careful and say how, or leave it open\n"
	want := "1. Which one? Now\n   answer: B; A\n2. Second?\n" + skipped + "3. Third?\n   answer: in their words: my own\n4. Fourth?\n" + strings.TrimSuffix(skipped, "\n")
	if err != nil || r.PlainText() != want || r.IsError || r.Summary != "2 of 4 answered" {
		t.Errorf("got %q, %q, %v", r.PlainText(), r.Summary, err)
	}
	q := k.asked[0]
	first := plug.Choice{Header: "a header th…", Question: "Which one? Now", Options: []plug.Option{{Label: "A"}, {Label: "B"}}, Multiple: true}
	if q.Kind != plug.AskQuestions || q.SessionID != "s" || q.CallID != "c1" || q.Tool != "ask_user_question" || len(q.Questions) != 4 || !reflect.DeepEqual(q.Questions[0], first) {
		t.Errorf("asked %+v", q)
	}
	if q.Plan.Title != "Which one? Now (and 3 more)" {
		t.Errorf("title %q", q.Plan.Title)
	}
}

// A model that asks nobody must not wait.
func TestAskUserQuestionWithoutASurface(t *testing.T) {
	ask := args{"questions": []args{{"question": "q", "options": option("a", "b")}}}
	for name, answer := range map[string]func(plug.Question) (plug.Answer, error){
		"error": func(plug.Question) (plug.Answer, error) { return plug.Answer{}, plug.ErrNoSurface },
		"none":  nil,
	} {
		k := newTalk(t)
		k.answer, k.none = answer, answer == nil
		r, err := k.do(askUserQuestion{}, "c", ask)
		var e struct{ Error, Message, Next string }
		if err != nil || !r.IsError || json.Unmarshal([]byte(r.PlainText()), &e) != nil || e.Error != "no_surface" || !strings.Contains(e.Next, "in text") {
			t.Errorf("%s: got %q, %v", name, r.PlainText(), err)
		}
	}
	k := newTalk(t)
	k.answer = func(plug.Question) (plug.Answer, error) { return plug.Answer{}, context.Canceled }
	if _, err := k.do(askUserQuestion{}, "c", ask); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAskUserQuestionRefuses(t *testing.T) {
	k := newTalk(t)
	one := args{"question": "q", "options": option("a", "b")}
	for want, questions := range map[string][]args{
		"got 0 questions, want 1 to 4":           {},
		"got 5 questions, want 1 to 4":           {one, one, one, one, one},
		"question 2: the question is empty":      {one, {"question": " \x1b[2J ", "options": option("a", "b")}},
		"question 1: got 1 option, want 2 to 4":  {{"question": "q", "options": option("a")}},
		"question 1: got 5 options, want 2 to 4": {{"question": "q", "options": option("a", "b", "c", "d", "e")}},
		"question 1: option 2 has no label":      {{"question": "q", "options": option("a", "\u202e")}},
		`question 1: two options are called "a"`: {{"question": "q", "options": option("a", "b", "a\x1b[0m")}},
	} {
		if _, err := k.do(askUserQuestion{}, "c", args{"questions": questions}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if len(k.asked) != 0 {
		t.Errorf("asked %d times", len(k.asked))
	}
}
