package responses

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"alisio/llm"
	"alisio/llm/wire"
)

// maxCacheKey is the longest prompt_cache_key that OpenAI takes, in bytes.
const maxCacheKey = 64

// optional are the fields without which a request still is one (C045). store is
// among them so that its refusal is seen; it is never left out.
func optional() []wire.Field {
	return []wire.Field{
		{Name: "store"},
		{Name: "include", Also: []string{"reasoning.encrypted_content"}},
		{Name: "stream_options", Also: []string{"include_obfuscation"}},
		{Name: "reasoning.summary"},
		{Name: "parallel_tool_calls"},
		{Name: "prompt_cache_key"},
	}
}

// body encodes a request by hand in a fixed order, so that the bodies of a
// conversation share their bytes up to the last stored message and prompt
// caches hit (spec runner.md, "Stable prefix"; protocol, "Stateless multi-turn
// recipe"):
//
//	model, stream, store, extra, tools sorted by name, instructions | input |
//	parallel calls, include, cache key, effort, limit
//
// What a server may refuse stands behind the input, since a new process has to learn of
// that anew.
// It fails when the history is not valid, instead of letting a server say so.
func (c *Client) body(req llm.Request, without wire.Names) ([]byte, error) {
	if without.Has("store") {
		return nil, llm.Errorf(llm.CauseBadRequest, "%s refuses store:false, so it would keep the conversation", c.endpoint.Host).
			WithHint("use the chat protocol with this server, or another server")
	}
	b := make([]byte, 0, wire.Size(req))
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, req.Model)
	b = append(b, `,"stream":true,"store":false`...)
	b, err := wire.AppendExtra(b, c.cfg.ExtraBody, c.own(req)...)
	if err != nil {
		return nil, err
	}
	b, err = appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	if req.Instructions != "" {
		b = append(b, `,"instructions":`...)
		b = wire.AppendString(b, req.Instructions)
	}
	b = append(b, `,"input":[`...)
	h := history{b: b, origin: c.origin(req.Model)}
	if err := h.Check(req.Messages, h.message); err != nil {
		return nil, err
	}
	b = append(h.b, ']')
	if len(req.Tools) > 0 && !without.Has("parallel_tool_calls") {
		b = append(b, `,"parallel_tool_calls":true`...)
	}
	if !without.Has("include") {
		b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	}
	if !without.Has("stream_options") {
		b = append(b, `,"stream_options":{"include_obfuscation":false}`...)
	}
	if req.SessionID != "" && !without.Has("prompt_cache_key") {
		b = append(b, `,"prompt_cache_key":`...)
		b = wire.AppendString(b, cacheKey(req.SessionID))
	}
	b = appendReasoning(b, req.Effort, without)
	if req.MaxOutputTokens > 0 && c.cfg.TokenParameter != "omit" {
		b = append(b, `,"max_output_tokens":`...)
		b = strconv.AppendInt(b, int64(req.MaxOutputTokens), 10)
	}
	return append(b, '}'), nil
}

// own are the members that a request has of its own, or could have: a field that
// a server refused does not come back by another way. The last four would let a
// server keep the conversation, which no member may.
func (c *Client) own(req llm.Request) []string {
	own := []string{"model", "stream", "stream_options", "include", "tools", "parallel_tool_calls", "instructions", "input",
		"store", "previous_response_id", "conversation", "background"}
	if req.Effort != "" {
		own = append(own, "reasoning")
	}
	if req.SessionID != "" {
		own = append(own, "prompt_cache_key")
	}
	if req.MaxOutputTokens > 0 && c.cfg.TokenParameter != "omit" {
		own = append(own, "max_output_tokens")
	}
	return own
}

// appendReasoning asks for an effort, and for summaries with it: there is no
// summary text unless it is asked for. Models that do not reason refuse both.
func appendReasoning(b []byte, effort string, without wire.Names) []byte {
	if effort == "" {
		return b
	}
	b = append(b, `,"reasoning":{"effort":`...)
	b = wire.AppendString(b, effort)
	if !without.Has("reasoning.summary") {
		b = append(b, `,"summary":"auto"`...)
	}
	return append(b, '}')
}

// cacheKey is the session's id, or what stands for one that is too long.
func cacheKey(session string) string {
	if len(session) <= maxCacheKey {
		return session
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(session)))
}

// appendTools writes the flat form. strict is said, because servers may take a
// missing one for true, and then refuse schemas with optional arguments.
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
		b = append(b, `{"type":"function","name":`...)
		b = wire.AppendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
		b = append(b, `,"parameters":`...)
		b = append(b, t.Schema...)
		b = append(b, `,"strict":false}`...)
	}
	return append(b, ']'), nil
}
