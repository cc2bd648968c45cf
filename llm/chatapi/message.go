package chatapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"alisio/llm"
)

// maxID is the longest call id that OpenAI takes.
const maxID = 40

// history encodes messages and holds that each call has its result: every
// entry of tool_calls is answered by exactly one tool message before the next
// user or assistant message.
type history struct {
	b      []byte
	origin llm.Origin
	any    bool

	// The calls of the last assistant message.
	open  []llm.ToolCall // not answered yet
	names map[string]string
	// foreign: the calls come from another provider, which may form ids as this
	// one does not take them.
	foreign bool
	images  []toolImages
}

// toolImages are the images of one result. Tool messages hold text alone, so
// they follow in a user message behind the whole batch.
type toolImages struct {
	id, name string
	parts    []llm.Part
}

func (h *history) add(instructions string, messages []llm.Message) error {
	if instructions != "" {
		h.begin("system")
		h.content(instructions)
		h.b = append(h.b, '}')
	}
	for i, m := range messages {
		if err := h.message(m); err != nil {
			return llm.Errorf(llm.CauseInternal, "build request: message %d: %w", i+1, err)
		}
	}
	if len(h.open) > 0 {
		return llm.Errorf(llm.CauseInternal, "build request: call %q has no result", h.open[0].ID)
	}
	return nil
}

// message adds one message. A user or assistant message may only stand where
// every call before it is answered.
func (h *history) message(m llm.Message) error {
	if m.Role != llm.RoleTool && len(h.open) > 0 {
		return fmt.Errorf("call %q before it has no result", h.open[0].ID)
	}
	switch m.Role {
	case llm.RoleUser:
		h.user(m)
		return nil
	case llm.RoleAssistant:
		return h.assistant(m)
	case llm.RoleTool:
		return h.tool(m)
	}
	return fmt.Errorf("unknown role %q", m.Role)
}

// begin opens a message up to its role.
func (h *history) begin(role string) {
	if h.any {
		h.b = append(h.b, ',')
	}
	h.any = true
	h.b = append(h.b, `{"role":"`...)
	h.b = append(h.b, role...)
	h.b = append(h.b, '"')
}

// content adds plain-string content: with an array, some models copy the array
// syntax into their answers.
func (h *history) content(text string) {
	h.b = append(h.b, `,"content":`...)
	h.b = appendString(h.b, text)
}

// user adds a user message; a list of parts only where there are images.
func (h *history) user(m llm.Message) {
	h.begin("user")
	if len(m.Attachments) == 0 {
		h.content(m.Text)
		h.b = append(h.b, '}')
		return
	}
	h.b = append(h.b, `,"content":[`...)
	if m.Text != "" {
		h.textPart(m.Text)
		h.b = append(h.b, ',')
	}
	for i, a := range m.Attachments {
		if i > 0 {
			h.b = append(h.b, ',')
		}
		h.image(a.MIMEType, a.Data)
	}
	h.b = append(h.b, `]}`...)
}

func (h *history) textPart(text string) {
	h.b = append(h.b, `{"type":"text","text":`...)
	h.b = appendString(h.b, text)
	h.b = append(h.b, '}')
}

// image adds a data URL, the one form that every server takes.
func (h *history) image(mimeType string, data []byte) {
	h.b = append(h.b, `{"type":"image_url","image_url":{"url":`...)
	h.b = appendString(h.b, "data:"+mimeType+";base64,")
	h.b = h.b[:len(h.b)-1] // base64 needs no escapes: it goes on inside the string
	h.b = base64.StdEncoding.AppendEncode(h.b, data)
	h.b = append(h.b, `"}}`...)
}

// assistant adds an assistant message, as its provider gave it where that is
// the provider asked now, and opens its calls.
func (h *history) assistant(m llm.Message) error {
	if m.Text == "" && len(m.Calls) == 0 {
		return nil // servers refuse a message with neither
	}
	h.open = slices.Clone(m.Calls)
	h.foreign = m.Origin.Provider != "" && m.Origin.Provider != h.origin.Provider
	h.names = make(map[string]string, len(m.Calls))
	for _, c := range m.Calls {
		if _, twice := h.names[c.ID]; twice || c.ID == "" {
			return fmt.Errorf("call id %q is empty or used twice", c.ID)
		}
		h.names[c.ID] = c.Name
	}
	if raw := replay(m, h.origin); raw != nil {
		if h.any {
			h.b = append(h.b, ',')
		}
		h.any = true
		h.b = append(h.b, raw...)
		return nil
	}
	h.begin("assistant")
	// "" and never null: some servers refuse null, none refuses an empty string.
	h.content(m.Text)
	h.calls(m.Calls)
	h.b = append(h.b, '}')
	return nil
}

func (h *history) calls(calls []llm.ToolCall) {
	if len(calls) == 0 {
		return
	}
	h.b = append(h.b, `,"tool_calls":[`...)
	for i, c := range calls {
		if i > 0 {
			h.b = append(h.b, ',')
		}
		h.b = append(h.b, `{"id":`...)
		h.b = appendString(h.b, h.id(c.ID))
		h.b = append(h.b, `,"type":"function","function":{"name":`...)
		h.b = appendString(h.b, callName(c.Name))
		h.b = append(h.b, `,"arguments":`...)
		h.b = appendString(h.b, callArguments(c.Arguments))
		h.b = append(h.b, `}}`...)
	}
	h.b = append(h.b, ']')
}

// id is the id to send. One of another provider that is too long is replaced by
// nine characters made from it, the same in each request.
func (h *history) id(id string) string {
	if !h.foreign || len(id) <= maxID {
		return id
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:9]
}

// callName makes a name that servers accept of what a model made up, which
// stands in the history although no tool had it.
func callName(name string) string {
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

// callArguments never sends what is no JSON object: a server that parses the
// history would answer 500 to every later request. What was wrong stands in the
// call's result.
func callArguments(args string) string {
	if !object([]byte(args)) {
		return "{}"
	}
	return args
}

// object reports whether b is one JSON object.
func object(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// tool adds a result and closes its call. Results may come in another order
// than the calls.
func (h *history) tool(m llm.Message) error {
	at := slices.IndexFunc(h.open, func(c llm.ToolCall) bool { return c.ID == m.CallID })
	if at < 0 {
		return fmt.Errorf("the result of %q has no open call", m.CallID)
	}
	h.open = slices.Delete(h.open, at, at+1)
	text := m.PlainText()
	pictures := toolImages{id: h.id(m.CallID), name: h.names[m.CallID]}
	for _, p := range m.Parts {
		if p.Type == llm.PartImage {
			pictures.parts = append(pictures.parts, p)
		}
	}
	if len(pictures.parts) > 0 {
		h.images = append(h.images, pictures)
		if text == "" {
			text = "The result is an image; it follows in the next message."
		}
	}
	h.begin("tool")
	h.b = append(h.b, `,"tool_call_id":`...)
	h.b = appendString(h.b, h.id(m.CallID))
	h.content(text)
	h.b = append(h.b, '}')
	if len(h.open) == 0 {
		h.flushImages()
	}
	return nil
}

// flushImages adds the images of a finished batch as one user message: between
// two results of a batch it would part the second from its call.
func (h *history) flushImages() {
	if len(h.images) == 0 {
		return
	}
	h.begin("user")
	h.b = append(h.b, `,"content":[`...)
	for i, of := range h.images {
		if i > 0 {
			h.b = append(h.b, ',')
		}
		h.textPart(fmt.Sprintf("Image from the result of call %s (%s):", of.id, callName(of.name)))
		for _, p := range of.parts {
			h.b = append(h.b, ',')
			h.image(p.MIMEType, p.Data)
		}
	}
	h.b = append(h.b, `]}`...)
	h.images = nil
}
