// Package codec writes messages and results as they are stored, with the field
// names of older programs, and reads what those and other versions wrote. What it
// does not know survives a rewrite.
//
// It knows no store: bytes in, messages out.
package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"alisio/llm"
	"alisio/plug"
)

// ManyBrackets is the number of Brackets in a foreign value from which its nesting
// could be a reader's 10,000 levels, which encoding/json refuses.
const ManyBrackets = 9000

// Encode writes a message as it is stored (spec store.md, "Stored message
// bodies"). The items of ProviderData and the blocks of ui parts stand in it byte
// for byte, without the white space around them; one that is no JSON value is an
// error. What m.Stored holds beyond the message's fields is kept, and a message
// that nobody changed since it was read is written as it was.
func Encode(m llm.Message) ([]byte, error) {
	b, err := appendMessage(nil, m)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	if len(m.Stored) == 0 {
		return b, nil
	}
	before, err := Decode(m.Stored)
	switch {
	case err != nil || before.Role != m.Role:
		return b, nil
	case Same(before, m):
		return m.Stored, nil
	}
	return mergeObject(nil, shapeOf(m.Role), b, m.Stored), nil
}

// appendMessage writes the fields of a message, in the order of the spec.
func appendMessage(b []byte, m llm.Message) ([]byte, error) {
	b = append(b, `{"role":`...)
	b = AppendString(b, string(m.Role))
	start, err := len(b), within(m)
	if err != nil {
		return nil, err
	}
	switch m.Role {
	case llm.RoleUser:
		b = appendUser(b, m)
	case llm.RoleAssistant:
		b, err = appendAssistant(b, m)
	case llm.RoleTool:
		b = append(b, `,"callId":`...)
		b = AppendString(b, m.CallID)
		b = append(b, `,"result":`...)
		b, err = appendResult(b, m.Parts, m.IsError)
	default:
		err = fmt.Errorf("unknown role %q", m.Role)
	}
	if err != nil {
		return nil, err
	}
	b = append(b, '}')
	if m.Role != llm.RoleUser && nested(b[start:], MaxNesting-1) {
		return nil, fmt.Errorf("%w: provider data or block is nested more than %d levels", ErrTooMuch, MaxNesting)
	}
	return b, nil
}

// Brackets counts what could open a level; those inside strings too, which does
// no harm: then the slow check is made for nothing.
func Brackets(b []byte) int { return bytes.Count(b, []byte{'['}) + bytes.Count(b, []byte{'{'}) }

// appendUser writes what follows the role. "bytes" is the size of the data, so
// that readers can budget without decoding it.
func appendUser(b []byte, m llm.Message) []byte {
	b = append(b, `,"text":`...)
	b = AppendString(b, m.Text)
	if m.Summary {
		b = append(b, `,"summary":true`...)
	}
	if m.Display != "" {
		b = append(b, `,"display":`...)
		b = AppendString(b, m.Display)
	}
	if m.Context != "" {
		b = append(b, `,"context":`...)
		b = AppendString(b, m.Context)
	}
	if len(m.Attachments) == 0 {
		return b
	}
	b = append(b, `,"attachments":[`...)
	for i, a := range m.Attachments {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendAttachment(b, a)
	}
	return append(b, ']')
}

// appendAttachment leaves out a size that is not known.
func appendAttachment(b []byte, a llm.Attachment) []byte {
	b = append(b, `{"kind":"image","mimeType":`...)
	b = AppendString(b, a.MIMEType)
	b = append(b, `,"data":"`...)
	b = base64.StdEncoding.AppendEncode(b, a.Data)
	b = append(b, `","bytes":`...)
	b = strconv.AppendInt(b, int64(len(a.Data)), 10)
	if a.Width > 0 {
		b = append(b, `,"width":`...)
		b = strconv.AppendInt(b, int64(a.Width), 10)
	}
	if a.Height > 0 {
		b = append(b, `,"height":`...)
		b = strconv.AppendInt(b, int64(a.Height), 10)
	}
	return append(b, '}')
}

// appendAssistant always writes "calls": older programs read it without asking.
// The origin and what says that the answer is not whole are written only where
// they say something.
func appendAssistant(b []byte, m llm.Message) ([]byte, error) {
	b = append(b, `,"text":`...)
	b = AppendString(b, m.Text)
	b = append(b, `,"calls":[`...)
	for i, c := range m.Calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = AppendString(b, c.ID)
		b = append(b, `,"name":`...)
		b = AppendString(b, c.Name)
		b = append(b, `,"arguments":`...)
		b = AppendString(b, c.Arguments)
		b = append(b, '}')
	}
	b = append(b, ']')
	b, err := appendProviderData(b, m.ProviderData)
	if err != nil {
		return nil, err
	}
	if m.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	if m.Origin != (llm.Origin{}) {
		b = append(b, `,"origin":{"provider":`...)
		b = AppendString(b, m.Origin.Provider)
		b = append(b, `,"api":`...)
		b = AppendString(b, m.Origin.API)
		b = append(b, `,"model":`...)
		b = AppendString(b, m.Origin.Model)
		if m.Origin.Server != "" {
			b = append(b, `,"server":`...)
			b = AppendString(b, m.Origin.Server)
		}
		b = append(b, '}')
	}
	if m.Interrupted {
		b = append(b, `,"interrupted":true`...)
	}
	return b, nil
}

// appendProviderData checks each item by itself, so that none can end the list and
// add fields to the message.
func appendProviderData(b []byte, items []json.RawMessage) ([]byte, error) {
	if len(items) == 0 {
		return b, nil
	}
	b = append(b, `,"providerData":[`...)
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if !json.Valid(item) {
			return nil, fmt.Errorf("provider data item %d is no JSON value", i)
		}
		b = appendRaw(b, item)
	}
	return append(b, ']'), nil
}

// appendRaw adds a valid JSON value without the white space around it.
func appendRaw(b, value []byte) []byte { return append(b, bytes.Trim(value, " \t\r\n")...) }

// appendResult writes a tool's result in the form that messages and the journal
// share.
func appendResult(b []byte, parts []llm.Part, isError bool) ([]byte, error) {
	b = append(b, `{"content":[`...)
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendPart(b, p); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	b = append(b, ']')
	if isError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}'), nil
}

// appendPart writes of a part of an unknown type nothing but the type: what else
// it had stands in Stored, if the message was read from the store.
func appendPart(b []byte, p llm.Part) ([]byte, error) {
	b = append(b, `{"type":`...)
	b = AppendString(b, string(p.Type))
	switch p.Type {
	case llm.PartText:
		b = append(b, `,"text":`...)
		b = AppendString(b, p.Text)
	case llm.PartImage:
		b = append(b, `,"mimeType":`...)
		b = AppendString(b, p.MIMEType)
		b = append(b, `,"data":"`...)
		b = base64.StdEncoding.AppendEncode(b, p.Data)
		b = append(b, '"')
	case llm.PartUI:
		if !json.Valid(p.Block) {
			return nil, errors.New("the block is no JSON value")
		}
		b = append(b, `,"block":`...)
		b = appendRaw(b, p.Block)
	}
	return append(b, '}'), nil
}

// EncodeResult is appendResult for the journal.
func EncodeResult(r plug.Result) (string, error) {
	b, err := appendResult(nil, r.Parts, r.IsError)
	if err != nil {
		return "", fmt.Errorf("encode result: %w", err)
	}
	switch {
	case len(r.Parts) > MaxParts:
		return "", fmt.Errorf("encode result: %w", tooMany(MaxParts, "parts of a result"))
	case nested(b, MaxNesting):
		return "", fmt.Errorf("encode result: %w: a block is nested more than %d levels", ErrTooMuch, MaxNesting)
	}
	return string(b), nil
}
