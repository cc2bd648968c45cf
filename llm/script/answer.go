package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"alisio/llm"
)

// defaultChunk is the number of characters of a delta when a turn names none:
// about what servers send.
const defaultChunk = 16

// Answer is a turn made ready for one request: captures taken, names put in,
// ids given.
type Answer struct {
	Text, Reasoning string
	Calls           []llm.ToolCall
	Usage           *llm.Usage
	Truncated       bool
	Err             *llm.Error
	// Chunk is the number of characters of a delta, never zero.
	Chunk int
}

// Answer makes turn t ready for request number n (from 1, for call ids). The
// captures are taken from results, the text of the tool results since the last
// assistant message, and added to vars, which the caller keeps from turn to
// turn.
func (t *Turn) Answer(n int, results string, vars map[string]string) (*Answer, error) {
	for _, name := range sortedKeys(t.Capture) {
		re, err := compile(name, t.Capture[name])
		if err != nil {
			return nil, err
		}
		m := re.FindStringSubmatch(results)
		if m == nil {
			return nil, fmt.Errorf("capture %s: %q matches nothing in the tool results", name, t.Capture[name])
		}
		vars[name] = m[1]
	}
	a := &Answer{Usage: t.Usage, Truncated: t.Truncated, Chunk: t.Chunk}
	if a.Chunk == 0 {
		a.Chunk = defaultChunk
	}
	var err error
	if a.Text, err = expand(t.Text, vars, asIs); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	if a.Reasoning, err = expand(t.Reasoning, vars, asIs); err != nil {
		return nil, fmt.Errorf("reasoning: %w", err)
	}
	if a.Calls, err = t.calls(n, vars); err != nil {
		return nil, err
	}
	if t.Error != nil {
		a.Err = t.Error.err()
	}
	return a, nil
}

func (t *Turn) calls(n int, vars map[string]string) ([]llm.ToolCall, error) {
	var out []llm.ToolCall
	for i, c := range t.Calls {
		raw, err := c.text()
		if err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
		args, err := expand(raw, vars, escaped)
		if err != nil {
			return nil, fmt.Errorf("call %d: arguments: %w", i+1, err)
		}
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", n, i+1)
		}
		out = append(out, llm.ToolCall{ID: id, Name: c.Name, Arguments: args})
	}
	return out, nil
}

// Chunks cuts s into pieces of a.Chunk characters. An empty s has none.
func (a *Answer) Chunks(s string) []string {
	var out []string
	for s != "" {
		end := 0
		for i := 0; i < a.Chunk && end < len(s); i++ {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// expand puts the values of vars in the place of ${NAME}. What is no name
// between brackets stays as it is.
func expand(s string, vars map[string]string, quote func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, rest, closed := strings.Cut(after, "}")
		literal := strings.HasSuffix(before, "$")
		switch v, known := vars[name]; {
		case !closed || !isName(name):
			b.WriteString("${")
			rest = after
		case literal:
			b.WriteString("{" + name + "}") // The first $ stands for itself.
		case !known:
			return "", fmt.Errorf("${%s} was never captured", name)
		default:
			b.WriteString(quote(v))
		}
		s = rest
	}
}

// isName reports whether s is a letter or _ and then letters, digits and _.
func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func asIs(s string) string { return s }

// escaped returns s as it stands between the quotes of a JSON string.
func escaped(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return "" // A string always has a JSON form.
	}
	return string(b[1 : len(b)-1])
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
