package codec

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"alisio/llm"
	"alisio/plug"
)

// Decode reads a stored message, of any version and of other programs that keep
// the same fields. What is missing, null or of a wrong type is zero. An attachment
// or image part that can not be shown to a model is left out. Calls whose
// arguments are an object get it as text. m.Stored is the body if it holds anything
// that m does not; the message's raw parts are slices of the body.
//
// An error tells of a body that is no JSON object or whose role is unknown, and,
// with ErrTooMuch, of one that holds more than the bounds of this package. A body
// nested more than 10,000 levels is no JSON here.
func Decode(body []byte) (llm.Message, error) {
	if !json.Valid(body) {
		return llm.Message{}, errors.New("decode message: the body is no JSON")
	}
	object, _ := ValueAt(body, 0)
	var d decoder
	var m llm.Message
	for key, value := range Fields(object) {
		if key == "role" {
			m.Role = llm.Role(d.text(value))
			break
		}
	}
	shape := shapeOf(m.Role)
	if shape == shapeNone {
		return llm.Message{}, fmt.Errorf("decode message: unknown role %.40q", m.Role)
	}
	if nested(object, MaxNesting) {
		return llm.Message{}, fmt.Errorf("decode message: %w: nested more than %d levels", ErrTooMuch, MaxNesting)
	}
	for key, value := range Fields(object) {
		if _, ok := shape.field(key); ok {
			d.field(&m, key, value)
		} else {
			d.more = true
		}
		if d.err != nil {
			return llm.Message{}, fmt.Errorf("decode message: %w", d.err)
		}
	}
	if d.more {
		m.Stored = body
	}
	return m, nil
}

// decoder reads values and remembers whether there was more in them than it
// could give back, or than it takes.
type decoder struct {
	more bool
	err  error
}

// field reads one known field. A repeated key counts once more, so that the last
// one holds, as in the programs that wrote it.
func (d *decoder) field(m *llm.Message, key string, value []byte) {
	switch key {
	case "text":
		m.Text = d.text(value)
	case "display":
		if m.Display = d.text(value); m.Display == "" {
			d.wrong(value) // an empty one is not written again
		}
	case "context":
		if m.Context = d.text(value); m.Context == "" {
			d.wrong(value)
		}
	case "summary":
		m.Summary = d.flag(value)
	case "attachments":
		m.Attachments = list(d, value, MaxAttachments, "attachments", d.attachment)
	case "calls":
		m.Calls = list(d, value, MaxCalls, "calls", d.call)
	case "providerData":
		m.ProviderData = list(d, value, MaxProviderData, "items of provider data", func(v []byte) (json.RawMessage, bool) { return v, true })
	case "origin":
		m.Origin = d.origin(value)
	case "truncated":
		m.Truncated = d.flag(value)
	case "interrupted":
		m.Interrupted = d.flag(value)
	case "callId":
		m.CallID = d.text(value)
	case "result":
		m.Parts, m.IsError = d.result(value)
	}
}

// list reads an array of at most so many elements, those that can not be used
// counted too; read reports whether one can.
func list[T any](d *decoder, value []byte, most int, what string, read func([]byte) (T, bool)) []T {
	if value[0] != '[' {
		d.wrong(value)
		return nil
	}
	var all []T
	n := 0
	for element := range elementsOf(value) {
		if n++; n > most {
			d.err = tooMany(most, what)
			return nil
		}
		one, ok := read(element)
		if !ok {
			d.more = true
			continue
		}
		all = append(all, one)
	}
	return all
}

// wrong notes a value that is not of its field's type; null is as good as none.
func (d *decoder) wrong(value []byte) {
	if string(value) != "null" {
		d.more = true
	}
}

// text reads a string. It is valid UTF-8 whatever stood there.
func (d *decoder) text(value []byte) string {
	if value[0] != '"' {
		d.wrong(value)
		return ""
	}
	s, exact := unquote(value)
	if !exact {
		d.more = true
	}
	return s
}

// flag reads true or false; anything else is false.
func (d *decoder) flag(value []byte) bool {
	if string(value) != "true" && string(value) != "false" {
		d.wrong(value)
	}
	return string(value) == "true"
}

// size reads a count of pixels or bytes.
func (d *decoder) size(value []byte) int {
	n, err := strconv.Atoi(string(value))
	if err != nil || n <= 0 {
		d.wrong(value)
		return 0
	}
	return n
}

// arguments are text; other programs store the object itself.
func (d *decoder) arguments(value []byte) string {
	if value[0] != '{' {
		return d.text(value)
	}
	d.more = true
	return string(value)
}

// call reads a tool call. The id may be empty: Mend deals with what can not be
// answered.
func (d *decoder) call(value []byte) (llm.ToolCall, bool) {
	var c llm.ToolCall
	if value[0] != '{' {
		return c, false
	}
	for key, v := range Fields(value) {
		switch key {
		case "id":
			c.ID = d.text(v)
		case "name":
			c.Name = d.text(v)
		case "arguments":
			c.Arguments = d.arguments(v)
		default:
			d.more = true
		}
	}
	return c, true
}

// origin reads who produced a message; a broken one is none, and the message is
// then rebuilt from its text and calls.
func (d *decoder) origin(value []byte) llm.Origin {
	if value[0] != '{' {
		d.wrong(value)
	}
	var o llm.Origin
	for key, v := range Fields(value) {
		switch key {
		case "provider":
			o.Provider = d.text(v)
		case "api":
			o.API = d.text(v)
		case "model":
			o.Model = d.text(v)
		case "server":
			o.Server = d.text(v)
		default:
			d.more = true
		}
	}
	return o
}

// attachment reads an image. One that is broken, of another kind or of a format
// that models do not take is not given out, so that it fails no request.
func (d *decoder) attachment(value []byte) (llm.Attachment, bool) {
	var a llm.Attachment
	size, kind := 0, "image"
	for key, v := range Fields(value) {
		switch key {
		case "kind":
			kind = d.text(v)
		case "mimeType":
			a.MIMEType = d.text(v)
		case "data":
			a.Data = d.bytes(v)
		case "bytes":
			size = d.size(v)
		case "width":
			a.Width = d.size(v)
		case "height":
			a.Height = d.size(v)
		default:
			d.more = true
		}
	}
	if size != len(a.Data) {
		d.more = true
	}
	return a, kind == "image" && imageType(a.MIMEType) && len(a.Data) > 0
}

// imageType tells of the formats that may be in a message.
func imageType(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// bytes reads base64; nil if it is broken.
func (d *decoder) bytes(value []byte) []byte {
	data, err := base64.StdEncoding.DecodeString(d.text(value))
	if err != nil {
		d.more = true
		return nil
	}
	return data
}

// result reads a tool's result; a bare string stands for one text.
func (d *decoder) result(value []byte) (parts []llm.Part, isError bool) {
	if value[0] == '"' {
		d.more = true
		return d.content(value), false
	}
	if value[0] != '{' {
		d.wrong(value)
	}
	for key, v := range Fields(value) {
		switch key {
		case "content":
			parts = d.content(v)
		case "isError":
			isError = d.flag(v)
		default:
			d.more = true
		}
	}
	return parts, isError
}

// content reads the parts of a result; a bare string stands for one text.
func (d *decoder) content(value []byte) []llm.Part {
	if value[0] == '"' {
		d.more = true
		return []llm.Part{{Type: llm.PartText, Text: d.text(value)}}
	}
	return list(d, value, MaxParts, "parts of a result", d.part)
}

// part reads one piece of a result. One of an unknown type has nothing but its
// type.
func (d *decoder) part(value []byte) (llm.Part, bool) {
	shape, name := partShape(value)
	if shape == shapeNone {
		return llm.Part{}, false
	}
	p := llm.Part{Type: name}
	for key, v := range Fields(value) {
		if _, ok := shape.field(key); !ok {
			d.more = true
			continue
		}
		switch key {
		case "type":
			d.text(v) // notes what the name can not hold
		case "text":
			p.Text = d.text(v)
		case "mimeType":
			p.MIMEType = d.text(v)
		case "data":
			p.Data = d.bytes(v)
		case "block":
			p.Block = v
		}
	}
	switch shape {
	case shapeImage:
		return p, imageType(p.MIMEType) && len(p.Data) > 0
	case shapeUI:
		return p, len(p.Block) > 0
	}
	return p, true
}

// DecodeResult reads a result of the journal. One that can not be read is a
// failure that says so: the call is known to have ended.
func DecodeResult(body string) plug.Result {
	raw := []byte(body)
	if !json.Valid(raw) {
		return plug.Error("the stored result can not be read")
	}
	value, _ := ValueAt(raw, 0)
	if nested(value, MaxNesting) {
		return plug.Error("the stored result can not be read")
	}
	var d decoder
	parts, isError := d.result(value)
	if d.err != nil {
		return plug.Error("the stored result can not be read: %v", d.err)
	}
	return plug.Result{Parts: parts, IsError: isError}
}
