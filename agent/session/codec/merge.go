package codec

import (
	"bytes"
	"encoding/json"
	"slices"

	"alisio/llm"
)

// shape names the objects of a stored message. What a shape does not list is
// unknown there, and kept.
type shape uint8

// The shapes. shapeNone is what is no object, or one of which nothing is kept.
const (
	shapeNone shape = iota
	shapeUser
	shapeAssistant
	shapeTool
	shapeCall
	shapeOrigin
	shapeAttachment
	shapeResult
	shapeText
	shapeImage
	shapeUI
	shapeOtherPart
	shapePart // any of the four above; an element decides which
)

// field tells whether the shape has a field, and of which shape its value, or
// each of its elements, is; shapeNone if nothing unknown can be in it.
func (s shape) field(key string) (inner shape, ok bool) {
	switch s {
	case shapeUser:
		if key == "attachments" {
			return shapeAttachment, true
		}
		return shapeNone, key == "role" || key == "text" || key == "display" || key == "context" || key == "summary"
	case shapeAssistant:
		return assistantField(key)
	case shapeTool:
		if key == "result" {
			return shapeResult, true
		}
		return shapeNone, key == "role" || key == "callId"
	case shapeResult:
		if key == "content" {
			return shapePart, true
		}
		return shapeNone, key == "isError"
	}
	return shapeNone, slices.Contains(s.flat(), key)
}

// assistantField is field for answers.
func assistantField(key string) (shape, bool) {
	switch key {
	case "calls":
		return shapeCall, true
	case "origin":
		return shapeOrigin, true
	case "role", "text", "providerData", "truncated", "interrupted":
		return shapeNone, true
	}
	return shapeNone, false
}

// flat lists the fields of the shapes that have no objects in them.
func (s shape) flat() []string {
	switch s {
	case shapeCall:
		return []string{"id", "name", "arguments"}
	case shapeOrigin:
		return []string{"provider", "api", "model", "server"}
	case shapeAttachment:
		return []string{"kind", "mimeType", "data", "bytes", "width", "height"}
	case shapeText:
		return []string{"type", "text"}
	case shapeImage:
		return []string{"type", "mimeType", "data"}
	case shapeUI:
		return []string{"type", "block"}
	case shapeOtherPart:
		return []string{"type"}
	}
	return nil
}

func shapeOf(role llm.Role) shape {
	switch role {
	case llm.RoleUser:
		return shapeUser
	case llm.RoleAssistant:
		return shapeAssistant
	case llm.RoleTool:
		return shapeTool
	}
	return shapeNone
}

// partShape tells by its first type what a part is; shapeNone if it is no object
// or has no type.
func partShape(part []byte) (shape, llm.PartType) {
	for key, value := range Fields(part) {
		if key != "type" || value[0] != '"' {
			continue
		}
		name, _ := unquote(value)
		switch t := llm.PartType(name); t {
		case llm.PartText:
			return shapeText, t
		case llm.PartImage:
			return shapeImage, t
		case llm.PartUI:
			return shapeUI, t
		default:
			return shapeOtherPart, t
		}
	}
	return shapeNone, ""
}

// mergeObject writes the object fresh and behind its fields those of old that
// the shape does not know.
func mergeObject(b []byte, s shape, fresh, old []byte) []byte {
	b = append(b, '{')
	for key, value := range Fields(fresh) {
		b = appendKey(b, key)
		inner, _ := s.field(key)
		before := lastField(old, key)
		switch {
		case inner == shapeNone || before == nil || before[0] != value[0]:
			b = append(b, value...)
		case value[0] == '[':
			b = mergeList(b, inner, value, before)
		default:
			b = mergeObject(b, inner, value, before)
		}
	}
	for key, value := range Fields(old) {
		if _, known := s.field(key); !known {
			b = append(appendKey(b, key), value...)
		}
	}
	return append(keepAttachments(b, s, fresh, old), '}')
}

// keepAttachments adds what of a message's attachments could never be used, if
// none that can be is left: the field is then not written at all.
func keepAttachments(b []byte, s shape, fresh, old []byte) []byte {
	const key = "attachments"
	before := lastField(old, key)
	if s != shapeUser || before == nil || before[0] != '[' || lastField(fresh, key) != nil {
		return b
	}
	if lost := mergeList(nil, shapeAttachment, []byte("[]"), before); len(lost) > len("[]") {
		b = append(appendKey(b, key), lost...)
	}
	return b
}

// appendKey adds a key, and a comma unless it is the object's first.
func appendKey(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(AppendString(b, key), ':')
}

// lastField returns the value of a key, the last one if it is repeated, or nil.
func lastField(object []byte, key string) (value []byte) {
	for k, v := range Fields(object) {
		if k == key {
			value = v
		}
	}
	return value
}

// mergeList writes the array fresh. Calls find their older form by id, other
// elements by position as long as there are as many as before. Elements of old
// that Decode leaves out keep their place, or come last.
func mergeList(b []byte, s shape, fresh, old []byte) []byte {
	elements := slices.Collect(elementsOf(fresh))
	var usable, lost [][]byte // of old, in order
	var places []int          // how many usable ones stand before lost[i]
	byID := make(map[string][]byte)
	for v := range elementsOf(old) {
		if !readable(s, v) {
			lost, places = append(lost, v), append(places, len(usable))
			continue
		}
		usable = append(usable, v)
		if s == shapeCall {
			byID[callID(v)] = v
		}
	}
	b = append(b, '[')
	for i, v := range elements {
		for len(usable) == len(elements) && len(places) > 0 && places[0] <= i {
			b = append(appendComma(b), lost[0]...)
			lost, places = lost[1:], places[1:]
		}
		var before []byte
		switch {
		case s == shapeCall:
			before = byID[callID(v)]
		case len(usable) == len(elements):
			before = usable[i]
		}
		b = mergeElement(appendComma(b), s, v, before)
	}
	for _, v := range lost {
		b = append(appendComma(b), v...)
	}
	return append(b, ']')
}

// callID is the id by which a call is found again.
func callID(call []byte) string {
	var d decoder
	c, _ := d.call(call)
	return c.ID
}

// appendComma adds a comma unless the array is still empty.
func appendComma(b []byte) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	return b
}

// mergeElement merges two elements of a list, unless they are parts of different
// types: the fields of one mean nothing in the other.
func mergeElement(b []byte, s shape, fresh, old []byte) []byte {
	if s == shapePart && old != nil {
		var now, then llm.PartType
		s, now = partShape(fresh)
		if _, then = partShape(old); now != then {
			old = nil
		}
	}
	if old == nil {
		return append(b, fresh...)
	}
	return mergeObject(b, s, fresh, old)
}

// readable reports whether Decode keeps an element of a list.
func readable(s shape, element []byte) bool {
	var d decoder
	ok := false
	switch s {
	case shapeCall:
		_, ok = d.call(element)
	case shapeAttachment:
		_, ok = d.attachment(element)
	case shapePart:
		_, ok = d.part(element)
	}
	return ok
}

// Same reports whether two messages agree in all but Stored.
func Same(a, b llm.Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.Display == b.Display && a.Context == b.Context && a.Summary == b.Summary && a.CallID == b.CallID && a.IsError == b.IsError &&
		a.Origin == b.Origin && a.Truncated == b.Truncated && a.Interrupted == b.Interrupted &&
		slices.Equal(a.Calls, b.Calls) &&
		slices.EqualFunc(a.Attachments, b.Attachments, sameAttachment) &&
		slices.EqualFunc(a.ProviderData, b.ProviderData, sameRaw) &&
		slices.EqualFunc(a.Parts, b.Parts, samePart)
}

func sameRaw(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

func sameAttachment(a, b llm.Attachment) bool {
	return a.MIMEType == b.MIMEType && a.Width == b.Width && a.Height == b.Height && bytes.Equal(a.Data, b.Data)
}

func samePart(a, b llm.Part) bool {
	return a.Type == b.Type && a.Text == b.Text && a.MIMEType == b.MIMEType &&
		bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Block, b.Block)
}
