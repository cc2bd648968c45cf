package chatapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"alisio/llm"
)

// body encodes a request by hand in a fixed order, so that the bodies of a
// conversation share their bytes up to the last stored message and prompt
// caches hit (spec runner.md, "Stable prefix"):
//
//	model, stream, effort, tools sorted by name | messages | limits
//
// It fails when the history is not valid, instead of letting a server say so.
func (c *Client) body(req llm.Request) ([]byte, error) {
	b := make([]byte, 0, size(req))
	b = append(b, `{"model":`...)
	b = appendString(b, req.Model)
	b = append(b, `,"stream":true`...)
	if c.cfg.StreamUsage {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if req.Effort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = appendString(b, req.Effort)
	}
	b, err := appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"messages":[`...)
	h := history{b: b, origin: c.origin(req.Model)}
	if err := h.add(req.Instructions, req.Messages); err != nil {
		return nil, err
	}
	b = append(h.b, ']')
	if name := c.tokenParameter(); name != "" && req.MaxOutputTokens > 0 {
		b = append(b, ',')
		b = appendString(b, name)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(req.MaxOutputTokens), 10)
	}
	return append(b, '}'), nil
}

// size estimates the bytes of a body, so that a long history is not copied again
// and again while it grows.
func size(req llm.Request) int {
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

// tokenParameter is the field for the output limit, "" for none. max_tokens is
// the only one that most compatible servers read; OpenAI's reasoning models
// refuse it.
func (c *Client) tokenParameter() string {
	switch c.cfg.TokenParameter {
	case "":
		return "max_tokens"
	case "omit":
		return ""
	}
	return c.cfg.TokenParameter
}

// appendTools leaves the field out when there are no tools: OpenAI refuses an
// empty list.
func appendTools(b []byte, tools []llm.Tool) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	byName := func(x, y llm.Tool) int { return strings.Compare(x.Name, y.Name) }
	if !slices.IsSortedFunc(tools, byName) {
		tools = slices.SortedFunc(slices.Values(tools), byName)
	}
	b = append(b, `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		schema := bytes.TrimSpace(t.Schema)
		if len(schema) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if schema[0] != '{' || !json.Valid(schema) {
			return nil, llm.Errorf(llm.CauseInternal, "build request: the schema of tool %q is no JSON object", t.Name)
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = appendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = appendString(b, t.Description)
		b = append(b, `,"parameters":`...)
		b = append(b, schema...)
		b = append(b, `}}`...)
	}
	return append(b, ']'), nil
}

const hex = "0123456789abcdef"

// appendString appends s as a JSON string. Invalid UTF-8, lone surrogates with
// it, becomes U+FFFD: servers refuse such bodies.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		b = append(b, s[from:i]...)
		b = appendEscape(b, r)
		i += n
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendEscape appends one character that can not stand as it is.
func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case utf8.RuneError:
		return append(b, "\uFFFD"...)
	}
	return append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
}
