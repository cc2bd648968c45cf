package chatapi

import (
	"strconv"

	"alisio/llm"
	"alisio/llm/wire"
)

// body encodes a request by hand in a fixed order, so that the bodies of a
// conversation share their bytes up to the last stored message and prompt
// caches hit (spec runner.md, "Stable prefix"):
//
//	model, stream, extra, tools sorted by name | messages | usage, effort, limits
//
// The fields that the server refuses are left out; these stand behind the messages,
// since a new process has to learn of them anew.
// It fails when the history is not valid, instead of letting a server say so.
func (c *Client) body(req llm.Request, without wire.Names) ([]byte, error) {
	b := make([]byte, 0, wire.Size(req))
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, req.Model)
	b = append(b, `,"stream":true`...)
	b, err := wire.AppendExtra(b, c.cfg.ExtraBody, c.own(req)...)
	if err != nil {
		return nil, err
	}
	b, err = appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"messages":[`...)
	h := history{b: b, origin: c.origin(req.Model)}
	if err := h.add(req.Instructions, req.Messages); err != nil {
		return nil, err
	}
	b = append(h.b, ']')
	if c.cfg.StreamUsage && !without.Has("stream_options") {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if req.Effort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = wire.AppendString(b, req.Effort)
	}
	if name := c.tokenParameter(); name != "" && req.MaxOutputTokens > 0 && !without.Has(name) {
		b = append(b, ',')
		b = wire.AppendString(b, name)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(req.MaxOutputTokens), 10)
	}
	return append(b, '}'), nil
}

// own are the members that a request has of its own, or could have: a field that
// a server refused does not come back by another way.
func (c *Client) own(req llm.Request) []string {
	own := []string{"model", "stream", "stream_options", "tools", "messages"}
	if req.Effort != "" {
		own = append(own, "reasoning_effort")
	}
	if name := c.tokenParameter(); name != "" && req.MaxOutputTokens > 0 {
		own = append(own, name)
	}
	return own
}

// optional are the fields without which a request still is one (C045).
func (c *Client) optional() []wire.Field {
	fields := []wire.Field{{Name: "stream_options", Also: []string{"include_usage"}}}
	if name := c.tokenParameter(); name != "" {
		fields = append(fields, wire.Field{Name: name, Value: true})
	}
	return fields
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
	tools, err := wire.Tools(tools)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = wire.AppendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
		b = append(b, `,"parameters":`...)
		b = append(b, t.Schema...)
		b = append(b, `}}`...)
	}
	return append(b, ']'), nil
}
