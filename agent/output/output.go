// Package output is the form that the final answer of a run has to have: a JSON Schema,
// what the model is told of it, and what is wrong with an answer. It asks nobody and
// keeps nothing.
package output

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

// Schema is what the final answer of a run has to fit. The model is told by a
// paragraph behind the prompt, never by the instructions, whose bytes stay; an answer
// that does not fit is asked for once more (spec config-cli.md, "--output-schema"). A
// nil Schema takes every answer.
type Schema struct {
	schema *schema.Schema
	// text is the schema without white space.
	text string
}

const (
	// maxSchema bounds a schema, in bytes: it is sent with every request.
	maxSchema = 64 << 10
	// maxTold is how many problems the model is told.
	maxTold = 5
	// mark begins what the program adds to a conversation about the form of
	// the answer, so that nobody takes it for what a person said.
	mark = "[output schema] "
)

// New reads a schema; nil is no demand. The error names the place in it.
func New(raw json.RawMessage) (*Schema, error) {
	if raw == nil {
		return nil, nil
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	bad := func(format string, args ...any) error {
		return llm.Errorf(llm.CauseBadRequest, "read output schema: "+format, args...)
	}
	switch {
	case len(raw) > maxSchema:
		return nil, bad("it has %d KiB, more than %d", (len(raw)+1023)>>10, maxSchema>>10)
	case !utf8.Valid(raw):
		return nil, bad("it is no valid UTF-8")
	}
	compiled, err := schema.Compile(raw)
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
	return &Schema{schema: compiled, text: text.String()}, nil
}

// place names the character behind which a reader stopped; both numbers are from 1.
func place(text []byte, offset int64) string {
	before := text[:max(0, min(int(offset)-1, len(text)))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(line)+1)
}

// Unchecked lists the places of keywords that no answer is checked by.
func (s *Schema) Unchecked() []string {
	if s == nil {
		return nil
	}
	return s.schema.Unchecked()
}

// Prompt is what the model is told when a person gave the prompt.
func (s *Schema) Prompt(prompt string) string {
	if s == nil {
		return prompt
	}
	if prompt != "" {
		prompt += "\n\n"
	}
	return prompt + mark + "When the task is done, answer with one JSON value and nothing else: " +
		"no text around it and no code fence. It has to fit this JSON Schema:\n" + s.text
}

// Check returns the JSON of an answer, as the model wrote it, and what is wrong
// with it.
func (s *Schema) Check(answer string) (text string, problems []schema.Problem) {
	text = Bare(answer)
	return text, s.schema.ValidateStrict([]byte(text))
}

// Mark is how a question for an answer that fits begins, repairEnd how it ends. Stored
// sessions hold them.
const (
	Mark      = mark + "The answer does not fit the JSON Schema that was asked for:"
	repairEnd = "\nAnswer once more, with the whole JSON value and nothing else: no text around it and no code fence."
)

// Repair is what a model is told about an answer that does not fit.
func Repair(problems []schema.Problem) llm.Message {
	var b strings.Builder
	b.WriteString(Mark)
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
	return m.Role == llm.RoleUser && m.Display == "" && m.Context == "" && strings.HasPrefix(m.Text, Mark) && strings.HasSuffix(m.Text, repairEnd)
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
