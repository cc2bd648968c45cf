package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"alisio/llm"
	"alisio/llm/schema"
)

// Output is the form that the final answer of a run must have. The model is told
// by a paragraph behind the prompt, never by the instructions, whose bytes stay;
// an answer that does not fit is asked for once more (spec config-cli.md,
// "--output-schema"). A nil Output takes every answer.
type Output struct {
	schema *schema.Schema
	// text is the schema without white space.
	text string
}

const (
	// maxOutputSchema bounds a schema, in bytes: it is sent with every request.
	maxOutputSchema = 64 << 10
	// maxTold is how many problems the model is told.
	maxTold = 5
	// outputMark begins what the program adds to a conversation about the form of
	// the answer, so that nobody takes it for what a person said.
	outputMark = "[output schema] "
)

// NewOutput reads a schema; nil is no demand. The error names the place in it.
func NewOutput(raw json.RawMessage) (*Output, error) {
	if raw == nil {
		return nil, nil
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	bad := func(format string, args ...any) error {
		return llm.Errorf(llm.CauseBadRequest, "read output schema: "+format, args...)
	}
	switch {
	case len(raw) > maxOutputSchema:
		return nil, bad("it has %d KiB, more than %d", (len(raw)+1023)>>10, maxOutputSchema>>10)
	case !utf8.Valid(raw):
		return nil, bad("it is no valid UTF-8")
	}
	s, err := schema.Compile(raw)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, bad("%s: %w", place(raw, syntax.Offset), syntax)
	case err != nil:
		return nil, bad("%w", err)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		return nil, bad("%w", err)
	}
	return &Output{schema: s, text: text.String()}, nil
}

// place names the character behind which a reader stopped; both numbers are from 1.
func place(text []byte, offset int64) string {
	before := text[:max(0, min(int(offset)-1, len(text)))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(line)+1)
}

// Unchecked lists the places of keywords that no answer is checked by.
func (o *Output) Unchecked() []string {
	if o == nil {
		return nil
	}
	return o.schema.Unchecked()
}

// Prompt is what the model is told when a person gave the prompt.
func (o *Output) Prompt(prompt string) string {
	if o == nil {
		return prompt
	}
	if prompt != "" {
		prompt += "\n\n"
	}
	return prompt + outputMark + "When the task is done, answer with one JSON value and nothing else: " +
		"no text around it and no code fence. It has to fit this JSON Schema:\n" + o.text
}

// message is the prompt as it is stored: with what was typed beside it.
func (o *Output) message(in Input) llm.Message {
	m := llm.Message{Role: llm.RoleUser, Text: o.Prompt(in.Prompt), Attachments: in.Attachments}
	if m.Display = in.Display; m.Display == "" && m.Text != in.Prompt {
		m.Display = in.Prompt
	}
	return m
}

// check returns the JSON of an answer, as the model wrote it, and what is wrong
// with it.
func (o *Output) check(answer string) (text string, problems []schema.Problem) {
	text = Bare(answer)
	return text, o.schema.ValidateStrict([]byte(text))
}

// How a question for an answer that fits begins and ends. Stored sessions hold it.
const (
	repairMark = outputMark + "The answer does not fit the JSON Schema that was asked for:"
	repairEnd  = "\nAnswer once more, with the whole JSON value and nothing else: no text around it and no code fence."
)

// repair is what a model is told about an answer that does not fit.
func repair(problems []schema.Problem) llm.Message {
	var b strings.Builder
	b.WriteString(repairMark)
	for i, p := range problems {
		if i == maxTold {
			fmt.Fprintf(&b, "\n- and %d more", len(problems)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s", p)
	}
	b.WriteString(repairEnd)
	return llm.Message{Role: llm.RoleUser, Text: b.String()}
}

// IsRepair reports whether a message is the program's own question for an answer
// that fits. A prompt with a schema is none, whatever was typed: what was typed
// stands beside it. Without a schema nothing but the words tell, and a person can
// type them.
func IsRepair(m llm.Message) bool {
	return m.Role == llm.RoleUser && m.Display == "" && m.Context == "" && strings.HasPrefix(m.Text, repairMark) && strings.HasSuffix(m.Text, repairEnd)
}

// Bare returns what stands in the code fence that a text is, or the text, without
// white space around it. JSON never begins with a fence.
func Bare(text string) string {
	const space = " \t\r\n"
	text = strings.Trim(text, space)
	rest := strings.TrimLeft(text, "`")
	fence := text[:len(text)-len(rest)]
	info, body, lines := strings.Cut(rest, "\n")
	body, closed := strings.CutSuffix(body, fence)
	info = strings.Trim(info, space)
	if len(fence) < 3 || !lines || !closed || info != "" && !strings.EqualFold(info, "json") {
		return text
	}
	return strings.Trim(body, space)
}

// fit looks at the final answer; again: the model was asked for another one, once
// in a run, which is a turn like the others. What the output limit cut is said to
// be cut: the next answer would be cut as well.
func (l *loop) fit(m llm.Message) (again bool, err error) {
	if l.in.Output == nil {
		return false, nil
	}
	text, problems := l.in.Output.check(l.kept + m.Text)
	if len(problems) > 0 && l.kept != "" { // or it began anew instead of going on
		if last, still := l.in.Output.check(m.Text); len(still) == 0 {
			text, problems = last, nil
		}
	}
	switch {
	case m.Truncated && (len(problems) > 0 || endsOpen(m.Text)):
		return false, llm.Errorf(llm.CauseOutputTruncated,
			"the answer was cut before its JSON was complete (output limit: %d tokens)", l.maxOutput).
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
	return true, l.append(repair(problems))
}

// endsOpen reports whether a cut answer that is valid may be half of one: digits
// could follow a number, and nothing says that they do not.
func endsOpen(answer string) bool { return answer != "" && isDigit(answer[len(answer)-1]) }

func (l *loop) unfit(problems []schema.Problem) error {
	err := llm.Errorf(llm.CauseOutputSchema, "the answer does not fit the output schema, and neither did the one before: %w", problems[0])
	if l.allDenied {
		return err.WithHint("the last calls of the model were not allowed, so that it may lack what the answer needs")
	}
	return err.WithHint("the answer is kept in the session; a simpler schema, or a stronger model, may do")
}
