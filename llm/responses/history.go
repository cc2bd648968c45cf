package responses

import (
	"encoding/json"
	"slices"

	"alisio/llm"
	"alisio/llm/wire"
)

// maxID is the longest call id that OpenAI takes, in bytes.
const maxID = 64

// history encodes messages as input items, and holds that each call has its
// result.
type history struct {
	wire.Pairs
	b      []byte
	origin llm.Origin
	any    bool

	// verbatim: the last assistant message went back as its provider gave it.
	verbatim bool
	// custom are the calls of it that are custom tool calls.
	custom map[string]bool
}

func (h *history) message(m llm.Message) {
	switch m.Role {
	case llm.RoleUser:
		h.user(m)
	case llm.RoleAssistant:
		h.assistant(m)
	case llm.RoleTool:
		h.result(m)
	}
}

// next begins an item.
func (h *history) next(begin string) {
	if h.any {
		h.b = append(h.b, ',')
	}
	h.any = true
	h.b = append(h.b, begin...)
}

// user adds a user message; a list of parts only where there are images.
func (h *history) user(m llm.Message) {
	h.next(`{"role":"user","content":`)
	if len(m.Attachments) == 0 {
		h.b = append(wire.AppendString(h.b, m.Text), '}')
		return
	}
	h.b = append(h.b, '[')
	if m.Text != "" {
		h.text(m.Text)
	}
	for _, a := range m.Attachments {
		h.image(a.MIMEType, a.Data)
	}
	h.b = append(h.b, `]}`...)
}

// text adds a part to a list.
func (h *history) text(s string) {
	h.comma()
	h.b = append(h.b, `{"type":"input_text","text":`...)
	h.b = append(wire.AppendString(h.b, s), '}')
}

// image adds a part to a list. Some servers check that detail is there.
func (h *history) image(mimeType string, data []byte) {
	h.comma()
	h.b = append(h.b, `{"type":"input_image","detail":"auto","image_url":`...)
	h.b = append(wire.AppendDataURL(h.b, mimeType, data), '}')
}

func (h *history) comma() {
	if h.b[len(h.b)-1] != '[' {
		h.b = append(h.b, ',')
	}
}

// assistant adds an assistant message: the items as its provider gave them where
// that is the provider asked now, else its text and its calls. Servers refuse
// a message with neither, and reasoning with nothing behind it.
func (h *history) assistant(m llm.Message) {
	h.verbatim, h.custom = false, nil
	if m.Text == "" && len(m.Calls) == 0 {
		return
	}
	items := stored(m, h.origin)
	switch {
	case items == nil:
		if m.Text != "" {
			h.next(`{"role":"assistant","content":`)
			h.b = append(wire.AppendString(h.b, m.Text), '}')
		}
		h.calls(m.Calls)
	case stands(items, m.Calls):
		h.verbatim, h.custom = true, map[string]bool{}
		for _, it := range items {
			h.next("")
			h.b = append(h.b, it.raw...)
			if it.Type == customCall {
				h.custom[it.CallID] = true
			}
		}
	default:
		h.mended(items, m.Calls)
	}
}

// mended adds a message whose calls are no longer those of the provider's items:
// a call was cut, or its arguments were no JSON. Reasoning stands only right
// before what it led to, and is refused without it (C046): it is left out
// together with all ids of items. The phases of texts stay.
func (h *history) mended(items []storedItem, calls []llm.ToolCall) {
	for _, it := range items {
		switch {
		case it.isMessage():
			h.next("{")
			for key, value := range wire.Members(it.raw) {
				if key == "id" || key == "status" {
					continue
				}
				if h.b[len(h.b)-1] != '{' {
					h.b = append(h.b, ',')
				}
				h.b = append(append(wire.AppendString(h.b, key), ':'), value...)
			}
			h.b = append(h.b, '}')
		case it.isCall() && len(calls) > 0 && calls[0].ID == it.CallID:
			h.calls(calls[:1])
			calls = calls[1:]
		}
	}
	h.calls(calls)
}

func (h *history) calls(calls []llm.ToolCall) {
	for _, c := range calls {
		h.next(`{"type":"function_call","call_id":`)
		h.b = wire.AppendString(h.b, wire.ShortID(c.ID, maxID))
		h.b = append(h.b, `,"name":`...)
		h.b = wire.AppendString(h.b, wire.CallName(c.Name))
		h.b = append(h.b, `,"arguments":`...)
		h.b = append(wire.AppendString(h.b, wire.CallArguments(c.Arguments)), '}')
	}
}

// result adds what a call gave: a string, or a list of parts where there are
// images.
func (h *history) result(m llm.Message) {
	id := m.CallID
	if !h.verbatim {
		id = wire.ShortID(id, maxID)
	}
	kind := "function_call_output"
	if h.custom[m.CallID] {
		kind = "custom_tool_call_output"
	}
	h.next(`{"type":"` + kind + `","call_id":`)
	h.b = wire.AppendString(h.b, id)
	h.b = append(h.b, `,"output":`...)
	if !hasImage(m.Parts) {
		h.b = append(wire.AppendString(h.b, m.PlainText()), '}')
		return
	}
	h.b = append(h.b, '[')
	for _, p := range m.Parts {
		switch p.Type {
		case llm.PartText:
			h.text(p.Text)
		case llm.PartImage:
			h.image(p.MIMEType, p.Data)
		}
	}
	h.b = append(h.b, `]}`...)
}

func hasImage(parts []llm.Part) bool {
	return slices.ContainsFunc(parts, func(p llm.Part) bool { return p.Type == llm.PartImage })
}

// storedItem is an item of a message's provider data.
type storedItem struct {
	Type      string `json:"type"`
	Role      string `json:"role"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Input     string `json:"input"`
	raw       json.RawMessage
}

func (s *storedItem) isMessage() bool { return s.Type == "message" }

func (s *storedItem) isCall() bool { return s.Type == functionCall || s.Type == customCall }

// stored returns the provider's items of a message, or nil when it must be
// rebuilt: it is from elsewhere, or has what no answer has.
func stored(m llm.Message, origin llm.Origin) []storedItem {
	if !m.Origin.Serves(origin) || len(m.ProviderData) == 0 {
		return nil
	}
	items := make([]storedItem, len(m.ProviderData))
	for i, raw := range m.ProviderData {
		it := &items[i]
		if it.raw = raw; json.Unmarshal(raw, it) != nil {
			// Of a call that is no call of ours the message's words say more.
			return nil
		}
		switch {
		case it.Type == "", it.Type == "function_call_output", it.Type == "custom_tool_call_output",
			it.isMessage() && it.Role != "assistant":
			return nil
		}
	}
	return items
}

// stands reports whether the calls of the items are those of the message, and
// ones that servers take.
func stands(items []storedItem, calls []llm.ToolCall) bool {
	n := 0
	for _, it := range items {
		if !it.isCall() {
			continue
		}
		if n == len(calls) || !it.stands(calls[n]) {
			return false
		}
		n++
	}
	return n == len(calls)
}

func (s *storedItem) stands(c llm.ToolCall) bool {
	if s.CallID != c.ID || wire.CallName(s.Name) != s.Name {
		return false
	}
	return s.Type == customCall || wire.IsObject([]byte(s.Arguments))
}
