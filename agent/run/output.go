package run

import (
	"alisio/agent/output"
	"alisio/llm"
	"alisio/llm/schema"
)

// prompt is the input as it is stored: with what was typed beside it.
func prompt(in Input) llm.Message {
	m := llm.Message{Role: llm.RoleUser, Text: in.Output.Prompt(in.Prompt), Attachments: in.Attachments}
	if m.Display = in.Display; m.Display == "" && m.Text != in.Prompt {
		m.Display = in.Prompt
	}
	return m
}

// fit looks at the final answer; again: the model was asked for another one, once
// in a run, which is a turn like the others. What the output limit cut is said to
// be cut: the next answer would be cut as well.
func (l *loop) fit(m llm.Message) (again bool, err error) {
	if l.in.Output == nil {
		return false, nil
	}
	text, problems := l.in.Output.Check(l.kept + m.Text)
	if len(problems) > 0 && l.kept != "" { // or it began anew instead of going on
		if last, still := l.in.Output.Check(m.Text); len(still) == 0 {
			text, problems = last, nil
		}
	}
	switch {
	case m.Truncated && (len(problems) > 0 || endsOpen(m.Text)):
		return false, llm.Errorf(llm.CauseOutputTruncated,
			"the answer was cut before its JSON was complete (output limit: %d tokens)", l.sentOutput).
			WithHint("raise limits.maxOutputTokens, or ask for less in one answer")
	case len(problems) == 0:
		l.text = text
		return false, nil
	case l.repaired:
		return false, l.unfit(problems)
	case l.turn >= l.o.Limits.maxTurns():
		return false, errTurns
	}
	l.repaired = true
	return true, l.append(output.Repair(problems))
}

// endsOpen reports whether a cut answer that is valid may be half of one: digits
// could follow a number, and nothing says that they do not.
func endsOpen(answer string) bool {
	if answer == "" {
		return false
	}
	last := answer[len(answer)-1]
	return last >= '0' && last <= '9'
}

func (l *loop) unfit(problems []schema.Problem) error {
	err := llm.Errorf(llm.CauseOutputSchema, "the answer does not fit the output schema, and neither did the one before: %w", problems[0])
	if l.allDenied {
		return err.WithHint("the last calls of the model were not allowed, so that it may lack what the answer needs")
	}
	return err.WithHint("the answer is kept in the session; a simpler schema, or a stronger model, may do")
}
