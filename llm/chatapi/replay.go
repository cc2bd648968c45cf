package chatapi

import (
	"encoding/json"

	"alisio/llm"
	"alisio/llm/wire"
)

// replay returns the message as its provider gave it, or nil when it must be
// rebuilt because it is from elsewhere. Where its calls are no longer those of
// the message, or none that a server would take, the calls alone are made anew:
// a thinking model refuses every later request without its reasoning.
func replay(m llm.Message, origin llm.Origin) json.RawMessage {
	if !m.Origin.Serves(origin) || len(m.ProviderData) != 1 {
		return nil
	}
	raw := m.ProviderData[0]
	var stored struct {
		Role  string            `json:"role"`
		Calls []json.RawMessage `json:"tool_calls"`
	}
	if json.Unmarshal(raw, &stored) != nil || stored.Role != "assistant" {
		return nil
	}
	calls := make([]storedCall, len(stored.Calls))
	same := len(calls) == len(m.Calls)
	for i, c := range stored.Calls {
		calls[i].raw = c
		if json.Unmarshal(c, &calls[i]) != nil {
			return nil
		}
		same = same && calls[i].stands(m.Calls[i])
	}
	if same {
		return raw
	}
	return mended(raw, calls, m.Calls)
}

// storedCall is a call as the provider gave it.
type storedCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	raw json.RawMessage
}

// stands reports whether the call is that of the message, and one that servers
// take.
func (s storedCall) stands(c llm.ToolCall) bool {
	return s.ID == c.ID && wire.CallName(s.Function.Name) == s.Function.Name && wire.IsObject([]byte(s.Function.Arguments))
}

// mended is the stored message with the given calls in place of its own. What
// stood beside a call (a thought's signature) stays beside it.
func mended(raw json.RawMessage, stored []storedCall, calls []llm.ToolCall) json.RawMessage {
	byID := make(map[string]storedCall, len(stored))
	for _, s := range stored {
		byID[s.ID] = s
	}
	b := []byte{'{'}
	add := func(key string, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(wire.AppendString(b, key), ':'), value...)
	}
	for key, value := range wire.Members(raw) {
		if key != "tool_calls" {
			add(key, value)
		}
	}
	if len(calls) > 0 {
		list := []byte{'['}
		for i, c := range calls {
			if i > 0 {
				list = append(list, ',')
			}
			list = appendMended(list, byID[c.ID], c)
		}
		add("tool_calls", append(list, ']'))
	}
	return append(b, '}')
}

// appendMended adds one call: as it was stored where it stands, else made from
// the message's with what stood beside it.
func appendMended(b []byte, s storedCall, c llm.ToolCall) []byte {
	if s.raw != nil && s.stands(c) {
		return append(b, s.raw...)
	}
	b = append(b, `{"id":`...)
	b = wire.AppendString(b, c.ID)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = wire.AppendString(b, wire.CallName(c.Name))
	b = append(b, `,"arguments":`...)
	b = append(wire.AppendString(b, wire.CallArguments(c.Arguments)), '}')
	for key, value := range wire.Members(s.raw) {
		switch key {
		case "id", "type", "function", "index":
		default:
			b = append(append(append(b, ','), wire.AppendString(nil, key)...), ':')
			b = append(b, value...)
		}
	}
	return append(b, '}')
}
