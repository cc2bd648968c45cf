// Package script is a provider that answers from a script instead of a model:
// for tests of the engine, for demonstrations and for work without a network.
// It is as honest as a fake can be: turn n answers the n-th request whatever
// the prompt says, and of the request it reads only the tool results that a
// turn asks to capture. It opens no socket and no file.
//
// A script is one JSON object. Unknown keys are errors.
//
//	{"model": "toy",                      optional: the catalog's one entry
//	 "turns": [
//	  {"text": "I look at it.",           visible text
//	   "reasoning": "Hm.",                sent before the text
//	   "calls": [{"name": "read_file", "id": "c1",
//	              "arguments": {"path": "a.go"}}],
//	   "usage": {"input": 9, "output": 3, "cachedInput": 4, "reasoning": 1},
//	   "truncated": false,                the output limit cut this answer
//	   "chunk": 16,                       characters a delta
//	   "startMs": 0,                      silence before the first event
//	   "delayMs": 0,                      pause before each delta but the first
//	   "endMs": 0,                        silence behind the last delta
//	   "noEnd": false},                   neither completed nor an error comes
//	  {"capture": {"SHA": "sha256: ([0-9a-f]+)"},
//	   "calls": [{"name": "edit_file", "arguments": {"expectedHash": "${SHA}"}}]},
//	  {"error": {"cause": "server", "message": "the model fell over",
//	             "status": 503, "retryAfterMs": 0,
//	             "stream": "lost",        or incomplete, empty, error
//	             "permanent": false}}]}
//
// Arguments are an object, or a string that is sent as it is (so that broken
// JSON can be sent too). A capture is a regular expression with one group, run
// over the text of the tool results that came since the last assistant
// message; from its turn on ${NAME} stands for what the group matched, in text
// and reasoning as it is, in arguments escaped for a JSON string. $${NAME} is
// a literal ${NAME}. An unknown name and a capture without a match are errors.
// An error comes after the text and calls of its turn have been streamed. The pauses
// end with the request: by a large one a model falls silent for good.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"alisio/llm"
)

// Script is a list of answers.
type Script struct {
	// Model is the one model of the catalog; may be empty.
	Model string
	// Turns are the answers, in order.
	Turns []Turn
}

// Turn is one answer as it is written in a script.
type Turn struct {
	Text      string            `json:"text"`
	Reasoning string            `json:"reasoning"`
	Calls     []Call            `json:"calls"`
	Capture   map[string]string `json:"capture"`
	// Usage is nil when the answer reports none. Keys are the field names with
	// a small first letter.
	Usage     *llm.Usage `json:"usage"`
	Truncated bool       `json:"truncated"`
	Error     *Failure   `json:"error"`
	// Chunk is the number of characters of a delta; zero is 16.
	Chunk int `json:"chunk"`
	// StartMs, DelayMs and EndMs are the pauses in milliseconds before the first
	// event, before each delta but the first, and behind the last delta.
	StartMs int `json:"startMs"`
	DelayMs int `json:"delayMs"`
	EndMs   int `json:"endMs"`
	// NoEnd: the sequence ends without the event or the error that it owes.
	NoEnd bool `json:"noEnd"`
}

// Call is a tool call of a turn.
type Call struct {
	Name string `json:"name"`
	// Arguments is a JSON object, a JSON string holding the text to send, or
	// absent for {}.
	Arguments json.RawMessage `json:"arguments"`
	// ID is made from the request's number when empty.
	ID string `json:"id"`
}

// Failure is how a turn fails.
type Failure struct {
	Cause        llm.Cause `json:"cause"`
	Message      string    `json:"message"`
	Status       int       `json:"status"`
	RetryAfterMs int       `json:"retryAfterMs"`
	// Stream is how the stream ended, empty when there was none.
	Stream    llm.StreamEnd `json:"stream"`
	Permanent bool          `json:"permanent"`
}

// Parse reads a script. Errors name the turn, counted from 1.
func Parse(data []byte) (*Script, error) {
	var raw struct {
		Model string            `json:"model"`
		Turns []json.RawMessage `json:"turns"`
	}
	if err := Decode(data, &raw); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	s := &Script{Model: raw.Model, Turns: make([]Turn, len(raw.Turns))}
	for i, r := range raw.Turns {
		t := &s.Turns[i]
		if err := Decode(r, t); err != nil {
			return nil, fmt.Errorf("read script: turn %d: %w", i+1, err)
		}
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("read script: turn %d: %w", i+1, err)
		}
	}
	return s, nil
}

// Decode reads exactly one JSON value into v: an unknown key and anything
// after the value are errors. A syntax error names its line.
func Decode[T any](data []byte, v *T) error {
	err := llm.DecodeStrict(data, v)
	var s *json.SyntaxError
	switch {
	case errors.As(err, &s):
		at := data[:min(int(s.Offset), len(data))]
		return fmt.Errorf("line %d: %w", 1+bytes.Count(at, []byte("\n")), err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON is cut short")
	}
	return err
}

// Check reports what is wrong with a turn, without running it.
func (t *Turn) Check() error {
	if t.Chunk < 0 || t.StartMs < 0 || t.DelayMs < 0 || t.EndMs < 0 {
		return errors.New("chunk, startMs, delayMs and endMs can not be negative")
	}
	for i, c := range t.Calls {
		if c.Name == "" {
			return fmt.Errorf("call %d: name is missing", i+1)
		}
		if _, err := c.text(); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	for _, name := range sortedKeys(t.Capture) {
		if _, err := compile(name, t.Capture[name]); err != nil {
			return err
		}
	}
	switch {
	case t.Error == nil:
		return nil
	case t.NoEnd:
		return errors.New("an error is an end: noEnd can not stand beside it")
	case !slices.Contains(causes, t.Error.Cause):
		return fmt.Errorf("error: unknown cause %q", t.Error.Cause)
	}
	switch t.Error.Stream {
	case "", llm.StreamLost, llm.StreamIncomplete, llm.StreamEmpty, llm.StreamFailed:
		return nil
	}
	return fmt.Errorf("error: unknown end of a stream %q", t.Error.Stream)
}

// causes are those that a provider can fail with.
var causes = []llm.Cause{
	llm.CauseTimeout, llm.CauseAuth, llm.CauseQuota, llm.CauseRateLimited,
	llm.CauseUnreachable, llm.CauseServer, llm.CauseBadRequest, llm.CauseStream,
	llm.CauseContextLength, llm.CauseOutputTruncated, llm.CauseFiltered,
	llm.CauseInternal,
}

// text returns the arguments as they are sent, before captures are put in.
func (c Call) text() (string, error) {
	b := bytes.TrimSpace(c.Arguments)
	switch {
	case len(b) == 0 || string(b) == "null":
		return "{}", nil
	case b[0] == '"':
		var s string
		err := json.Unmarshal(b, &s)
		return s, err
	case b[0] == '{':
		var out bytes.Buffer
		err := json.Compact(&out, b)
		return out.String(), err
	}
	return "", errors.New("arguments are neither an object nor a string")
}

func compile(name, expr string) (*regexp.Regexp, error) {
	if !isName(name) {
		return nil, fmt.Errorf("capture %q: a name is letters, digits and _", name)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", name, err)
	}
	if re.NumSubexp() != 1 {
		return nil, fmt.Errorf("capture %s: %d groups, want one", name, re.NumSubexp())
	}
	return re, nil
}
