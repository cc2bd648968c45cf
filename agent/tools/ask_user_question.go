package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of questions, in characters: one has to be read at a glance.
const (
	maxHeader      = 12
	maxQuestion    = 1000
	maxLabel       = 100
	maxOptionText  = 300
	maxWrittenText = 4000
)

// askUserQuestion puts questions with options to the person, who may also skip one or
// answer in words of their own. It is answered by a person or not at all, and no answer
// allows anything.
type askUserQuestion struct{}

type questionArgs struct {
	Questions []plug.Choice `json:"questions"`
}

func (askUserQuestion) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name: "ask_user_question",
		Description: "Ask the person to choose, when the task can not go on well without their decision. " +
			"They can also answer in their own words, or skip.",
		Schema: json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","minItems":1,"maxItems":4,` +
			`"items":{"type":"object","properties":{"header":{"type":"string","description":"at most 12 characters"},` +
			`"question":{"type":"string"},"options":{"type":"array","minItems":2,"maxItems":4,"items":{"type":"object",` +
			`"properties":{"label":{"type":"string"},"description":{"type":"string"}},"required":["label"],"additionalProperties":false}},` +
			`"multiple":{"type":"boolean"}},"required":["question","options"],"additionalProperties":false}}},` +
			`"required":["questions"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
		Needs:  plug.NeedPerson,
	}
}

// choices reads the questions as they can be shown.
func (askUserQuestion) choices(c *plug.Call) ([]plug.Choice, error) {
	var a questionArgs
	if err := c.Decode(&a); err != nil {
		return nil, err
	}
	if n := len(a.Questions); n < 1 || n > 4 {
		return nil, fmt.Errorf("got %s, want 1 to 4", count(n, "question"))
	}
	for i := range a.Questions {
		if err := shownChoice(&a.Questions[i]); err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
	}
	return a.Questions, nil
}

// shownChoice makes a question fit to be shown, on one line each.
func shownChoice(q *plug.Choice) error {
	q.Header = text.OneLine(q.Header, maxHeader)
	if q.Question = text.OneLine(q.Question, maxQuestion); q.Question == "" {
		return errors.New("the question is empty")
	}
	if n := len(q.Options); n < 2 || n > 4 {
		return fmt.Errorf("got %s, want 2 to 4", count(n, "option"))
	}
	for i := range q.Options {
		o := &q.Options[i]
		o.Label, o.Description = text.OneLine(o.Label, maxLabel), text.OneLine(o.Description, maxOptionText)
		if o.Label == "" {
			return fmt.Errorf("option %d has no label", i+1)
		}
		if slices.ContainsFunc(q.Options[:i], func(p plug.Option) bool { return p.Label == o.Label }) {
			return fmt.Errorf("two options are called %q", o.Label)
		}
	}
	return nil
}

func (t askUserQuestion) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	questions, err := t.choices(c)
	if err != nil {
		return plug.Plan{}, err
	}
	title := questions[0].Question
	if n := len(questions) - 1; n > 0 {
		title = fmt.Sprintf("%s (and %d more)", text.Short(title, maxTitle-20), n)
	}
	return readPlan(title, nil)
}

func (t askUserQuestion) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	questions, err := t.choices(c)
	if err != nil {
		return plug.Result{}, err
	}
	a, err := ask(ctx, c, plug.Question{Kind: plug.AskQuestions, Tool: t.Spec().Name, Plan: p, Questions: questions})
	if errors.Is(err, plug.ErrNoSurface) {
		return plug.Error("%s", noSurface).WithSummary("nobody to ask"), nil
	}
	if err != nil {
		return plug.Result{}, err
	}
	out, answered := answers(questions, a.Chosen)
	return plug.Text(out).WithSummary("%d of %d answered", answered, len(questions)), nil
}

// noSurface is an error that a model can take apart: a code, what it means, and what
// to do now.
const noSurface = `{"error":"no_surface","message":"nobody can be asked in this session: no person is at a terminal",` +
	`"next":"if the task can go on with a careful assumption, make it and say which; ` +
	`else put the question in text at the end of your answer and stop"}`

// ask asks for the call.
func ask(ctx context.Context, c *plug.Call, q plug.Question) (plug.Answer, error) {
	if c.Ask == nil {
		return plug.Answer{}, plug.ErrNoSurface
	}
	q.SessionID, q.CallID = c.SessionID, c.CallID
	return c.Ask(ctx, q)
}

// answers writes a question and its answer in two lines each.
func answers(questions []plug.Choice, chosen []plug.Chosen) (out string, answered int) {
	var b strings.Builder
	for i, q := range questions {
		var words []string
		if i < len(chosen) {
			words = answer(q, chosen[i])
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, q.Question)
		if len(words) == 0 {
			b.WriteString("   skipped by the person: decide as is most careful and say how, or leave it open\n")
			continue
		}
		answered++
		b.WriteString("   answer: " + strings.Join(words, "; ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), answered
}

// answer is what was chosen, in words.
func answer(q plug.Choice, c plug.Chosen) []string {
	var words []string
	for _, i := range c.Options {
		if i >= 0 && i < len(q.Options) && !slices.Contains(words, q.Options[i].Label) {
			words = append(words, q.Options[i].Label)
		}
	}
	if s := strings.TrimSpace(text.Short(text.Plain(c.Text), maxWrittenText)); s != "" {
		words = append(words, "in their words: "+s)
	}
	return words
}
