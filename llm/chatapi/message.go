package chatapi

import (
	"fmt"
	"slices"

	"alisio/llm"
	"alisio/llm/wire"
)

// maxID is the longest call id that OpenAI takes.
const maxID = 40

// history encodes messages, and holds that each call has its result.
type history struct {
	wire.Pairs
	b      []byte
	origin llm.Origin
	any    bool

	// foreign: the calls of the last assistant message come from another
	// provider, which may form ids as this one does not take them.
	foreign bool
	images  []toolImages
	// users go out as one message; leading: no other stands before them.
	users   []llm.Message
	leading bool
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
	h.leading = true
	if err := h.Check(messages, h.message); err != nil {
		return err
	}
	h.flushUsers()
	return nil
}

func (h *history) message(m llm.Message) {
	if m.Role == llm.RoleUser {
		if !h.joins(m) {
			h.flushUsers()
		}
		h.users = append(h.users, m)
		return
	}
	h.flushUsers()
	h.leading = false
	switch m.Role {
	case llm.RoleAssistant:
		h.assistant(m)
	case llm.RoleTool:
		h.tool(m)
	}
}

// joins reports whether a user message goes out in one with those before it. The
// templates of some models want user and assistant to take turns, and refuse a
// conversation in which context has a message of its own beside the prompt. But
// what was sent is never opened again, or caches would lose it: context comes with
// the message before it, and a prompt only with what a session began with. Prompts
// after a request that failed stay apart.
func (h *history) joins(m llm.Message) bool {
	prompt := func(m llm.Message) bool { return m.Context == "" }
	return len(h.users) > 0 && (!prompt(m) || h.leading && !slices.ContainsFunc(h.users, prompt))
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
	h.b = wire.AppendString(h.b, text)
}

// flushUsers adds what waits as one user message; a list of parts only where there
// are images.
func (h *history) flushUsers() {
	users := h.users
	if len(users) == 0 {
		return
	}
	h.begin("user")
	if slices.ContainsFunc(users, func(m llm.Message) bool { return len(m.Attachments) > 0 }) {
		h.parts(users)
	} else {
		text := users[0].Text
		for _, m := range users[1:] {
			text += "\n\n" + m.Text
		}
		h.content(text)
	}
	h.b = append(h.b, '}')
	h.users, h.leading = users[:0], false
}

// parts adds content as a list.
func (h *history) parts(users []llm.Message) {
	h.b = append(h.b, `,"content":`...)
	next := byte('[')
	for _, m := range users {
		if m.Text != "" {
			h.b = append(h.b, next)
			h.textPart(m.Text)
			next = ','
		}
		for _, a := range m.Attachments {
			h.b = append(h.b, next)
			h.image(a.MIMEType, a.Data)
			next = ','
		}
	}
	h.b = append(h.b, ']')
}

func (h *history) textPart(text string) {
	h.b = append(h.b, `{"type":"text","text":`...)
	h.b = wire.AppendString(h.b, text)
	h.b = append(h.b, '}')
}

func (h *history) image(mimeType string, data []byte) {
	h.b = append(h.b, `{"type":"image_url","image_url":{"url":`...)
	h.b = wire.AppendDataURL(h.b, mimeType, data)
	h.b = append(h.b, `}}`...)
}

// assistant adds an assistant message, as its provider gave it where that is
// the provider asked now.
func (h *history) assistant(m llm.Message) {
	if m.Text == "" && len(m.Calls) == 0 {
		return // servers refuse a message with neither
	}
	h.foreign = m.Origin.Provider != "" && m.Origin.Provider != h.origin.Provider
	if raw := replay(m, h.origin); raw != nil {
		if h.any {
			h.b = append(h.b, ',')
		}
		h.any = true
		h.b = append(h.b, raw...)
		return
	}
	h.begin("assistant")
	// "" and never null: some servers refuse null, none refuses an empty string.
	h.content(m.Text)
	h.calls(m.Calls)
	h.b = append(h.b, '}')
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
		h.b = wire.AppendString(h.b, h.id(c.ID))
		h.b = append(h.b, `,"type":"function","function":{"name":`...)
		h.b = wire.AppendString(h.b, wire.CallName(c.Name))
		h.b = append(h.b, `,"arguments":`...)
		h.b = wire.AppendString(h.b, wire.CallArguments(c.Arguments))
		h.b = append(h.b, `}}`...)
	}
	h.b = append(h.b, ']')
}

func (h *history) id(id string) string {
	if !h.foreign {
		return id
	}
	return wire.ShortID(id, maxID)
}

func (h *history) tool(m llm.Message) {
	text := m.PlainText()
	pictures := toolImages{id: h.id(m.CallID), name: h.Name(m.CallID)}
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
	h.b = wire.AppendString(h.b, h.id(m.CallID))
	h.content(text)
	h.b = append(h.b, '}')
	if h.Closed() {
		h.flushImages()
	}
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
		h.textPart(fmt.Sprintf("Image from the result of call %s (%s):", of.id, wire.CallName(of.name)))
		for _, p := range of.parts {
			h.b = append(h.b, ',')
			h.image(p.MIMEType, p.Data)
		}
	}
	h.b = append(h.b, `]}`...)
	h.images = nil
}
