package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"alisio/llm"
)

// maxID is the longest call id that is taken from a server, in bytes.
const maxID = 256

// Pairs holds that a history is one that servers take: every call is answered by
// exactly one result before the next user or assistant message.
type Pairs struct {
	// The calls of the last assistant message.
	open  []llm.ToolCall // not answered yet
	names map[string]string
}

// Add checks the next message.
func (p *Pairs) Add(m llm.Message) error {
	if m.Role != llm.RoleTool && len(p.open) > 0 {
		return fmt.Errorf("call %q before it has no result", p.open[0].ID)
	}
	switch m.Role {
	case llm.RoleUser:
		return nil
	case llm.RoleAssistant:
		return p.calls(m.Calls)
	case llm.RoleTool:
		return p.result(m.CallID)
	}
	return fmt.Errorf("unknown role %q", m.Role)
}

func (p *Pairs) calls(calls []llm.ToolCall) error {
	p.open = slices.Clone(calls)
	p.names = make(map[string]string, len(calls))
	for _, c := range calls {
		if _, twice := p.names[c.ID]; twice || c.ID == "" {
			return fmt.Errorf("call id %q is empty or used twice", c.ID)
		}
		p.names[c.ID] = c.Name
	}
	return nil
}

// result closes a call. Results may come in another order than the calls.
func (p *Pairs) result(id string) error {
	at := slices.IndexFunc(p.open, func(c llm.ToolCall) bool { return c.ID == id })
	if at < 0 {
		return fmt.Errorf("the result of %q has no open call", id)
	}
	p.open = slices.Delete(p.open, at, at+1)
	return nil
}

// Closed reports whether every call so far has its result.
func (p *Pairs) Closed() bool { return len(p.open) == 0 }

// Name is the name of a call of the last assistant message.
func (p *Pairs) Name(id string) string { return p.names[id] }

// Check adds a whole history to an encoder, message by message, and reports
// where it is not valid, instead of letting a server say so.
func (p *Pairs) Check(messages []llm.Message, add func(llm.Message)) error {
	for i, m := range messages {
		if err := p.Add(m); err != nil {
			return llm.Errorf(llm.CauseInternal, "build request: message %d: %w", i+1, err)
		}
		add(m)
	}
	if len(p.open) > 0 {
		return llm.Errorf(llm.CauseInternal, "build request: call %q has no result", p.open[0].ID)
	}
	return nil
}

// NewID makes a call id: nine random alphanumerics. Mistral takes no other.
func NewID() string { return rand.Text()[:9] }

// FitID reports whether a call id is one that can be stored and shown.
func FitID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// ShortID is the id to send for a call that another provider made, which may
// form ids as this one does not take them. One with more than most bytes is
// replaced by nine characters made from it, the same in each request.
func ShortID(id string, most int) string {
	if len(id) <= most {
		return id
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:9]
}

// CallName makes a name that servers accept of what a model made up, which
// stands in the history although no tool had it.
func CallName(name string) string {
	if name == "" {
		return "unknown"
	}
	ok := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}
	name = strings.Map(ok, name)
	return name[:min(len(name), 64)]
}

// CallArguments never sends what is no JSON object: a server that parses the
// history would answer 500 to every later request. What was wrong stands in the
// call's result.
func CallArguments(args string) string {
	if !IsObject([]byte(args)) {
		return "{}"
	}
	return args
}

// CutOff reports whether arguments ended before their JSON did; in an answer that
// was cut, whether they are no JSON, since then no other reason is as likely. Such a
// call is never run and never goes back (spec runner.md, "Truncation recovery").
func CutOff(args string, truncated bool) bool {
	if json.Valid([]byte(args)) {
		return false
	}
	var value json.RawMessage
	return truncated || errors.Is(json.NewDecoder(strings.NewReader(args)).Decode(&value), io.ErrUnexpectedEOF)
}

// IsObject reports whether b is one JSON object.
func IsObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// Tools returns the tools as they are sent: sorted by name, so that bodies share
// their bytes, each with a schema that is a JSON object.
func Tools(tools []llm.Tool) ([]llm.Tool, error) {
	sorted := slices.SortedFunc(slices.Values(tools), func(x, y llm.Tool) int { return strings.Compare(x.Name, y.Name) })
	for i, t := range sorted {
		schema := bytes.TrimSpace(t.Schema)
		if len(schema) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if !IsObject(schema) {
			return nil, llm.Errorf(llm.CauseInternal, "build request: the schema of tool %q is no JSON object", t.Name)
		}
		sorted[i].Schema = schema
	}
	return sorted, nil
}

// AppendDataURL appends an image as a JSON string with a data URL, the one form
// that every server takes.
func AppendDataURL(b []byte, mimeType string, data []byte) []byte {
	b = AppendString(b, "data:"+mimeType+";base64,")
	b = b[:len(b)-1] // base64 needs no escapes: it goes on inside the string
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

// Size estimates the bytes of a body, so that a long history is not copied again
// and again while it grows.
func Size(req llm.Request) int {
	n := 4096 + len(req.Instructions)
	for _, t := range req.Tools {
		n += 128 + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		n += 128 + len(m.Text)
		for _, raw := range m.ProviderData {
			n += len(raw)
		}
		for _, c := range m.Calls {
			n += 128 + len(c.Arguments)
		}
		for _, a := range m.Attachments {
			n += len(a.Data) * 4 / 3
		}
		for _, p := range m.Parts {
			n += len(p.Text) + len(p.Data)*4/3
		}
	}
	return n + n/16 // escapes
}
