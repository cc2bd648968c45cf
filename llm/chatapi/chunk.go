package chatapi

import (
	"encoding/json"
	"errors"

	"alisio/llm"
	"alisio/llm/wire"
)

const (
	// maxNarrow is the longest chunk that encoding/json takes apart alone, in
	// bytes: its choices can cost a hundred times as much.
	maxNarrow = 64 << 10
	// maxChoices is how many choices of a longer one are looked at; one was asked
	// for.
	maxChoices = 128
	// maxParts is how many parts of content, or pieces of reasoning_details, one
	// chunk may hold.
	maxParts = 1 << 16
)

// chunk is one object of a stream, or a whole plain answer. Every field is
// optional. What differs in type between servers is kept raw.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Type    string          `json:"type"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	XGroq   *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
	Timings *timings `json:"timings"`
}

// wideChunk is a chunk that may hold very many choices.
type wideChunk struct {
	chunk
	Choices choices `json:"choices"` // hides the chunk's own
}

// choices are the first ones of a chunk.
type choices []choice

// UnmarshalJSON takes any JSON value. Choices behind the first 128 are left out.
func (c *choices) UnmarshalJSON(b []byte) error {
	entries, _ := wire.Elements(b, maxChoices)
	*c = make([]choice, len(entries))
	for i, e := range entries {
		_ = json.Unmarshal(e, &(*c)[i]) // what has another type is skipped, as everywhere
	}
	return nil
}

type choice struct {
	Index        *int            `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"` // of a plain answer
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
	Usage        *usage          `json:"usage"` // Moonshot puts it here
}

// delta is a piece of the message, or the whole one. Raw fields are strings on
// most servers, and lists, objects or null on some.
type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningText    json.RawMessage `json:"reasoning_text"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ExtraContent     json.RawMessage `json:"extra_content"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage `json:"function_call"`
}

// fragments returns the entries of tool_calls, also a lone one, and a legacy
// function_call. It reports false when there are more than an answer may hold.
func (d *delta) fragments() (entries []json.RawMessage, ok bool) {
	switch {
	case !wire.Present(d.ToolCalls):
		ok = true
	case d.ToolCalls[0] == '[':
		entries, ok = wire.Split(d.ToolCalls, maxCalls)
	default:
		entries, ok = []json.RawMessage{d.ToolCalls}, true
	}
	if wire.Present(d.FunctionCall) {
		entries = append(entries, d.FunctionCall)
	}
	return entries, ok
}

// decode reads a chunk. A field of a type that nobody expects is skipped, as if
// it were absent; text that is no JSON object is an error.
func decode(data []byte) (chunk, error) {
	var c chunk
	var err error
	if len(data) <= maxNarrow {
		err = json.Unmarshal(data, &c)
	} else {
		var w wideChunk
		err = json.Unmarshal(data, &w)
		c = w.chunk
		c.Choices = w.Choices
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && mistyped.Field != "" {
		err = nil
	}
	return c, err
}

// fault returns the error that a chunk holds, or nil.
func (c *chunk) fault(data []byte) json.RawMessage {
	if wire.Faulty(c.Error) {
		return c.Error
	}
	for _, ch := range c.Choices {
		if wire.Faulty(ch.Error) {
			return ch.Error
		}
	}
	if c.Object == "error" || c.Type == "error" {
		return data
	}
	return nil
}

// part is an entry of content that is a list (Mistral).
type part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking json.RawMessage `json:"thinking"`
}

// parts is what the parts of content say.
type parts struct {
	reasoning, text []byte
	// thinking: there was a part of reasoning.
	thinking bool
	// left is how many more parts are taken.
	left int
}

// content splits content into reasoning and text. Mistral sends a list of parts
// when a model thinks. It reports false when there are more parts than one chunk
// may hold.
func content(raw json.RawMessage) (p parts, ok bool) {
	if !wire.Present(raw) || raw[0] != '[' {
		p.text = []byte(wire.Text(raw))
		return p, true
	}
	p.left = maxParts
	ok = p.read(raw, func(one part) bool {
		switch one.Type {
		case "text":
			p.text = append(p.text, one.Text...)
		case "thinking":
			p.thinking = true
			return p.think(one.Thinking)
		}
		return true
	})
	return p, ok
}

// think takes the text of a thinking part: a string, or a list of text parts.
func (p *parts) think(raw json.RawMessage) bool {
	p.reasoning = append(p.reasoning, wire.Text(raw)...)
	return p.read(raw, func(one part) bool {
		p.reasoning = append(p.reasoning, one.Text...)
		return true
	})
}

// read gives the parts in a list to take, one at a time.
func (p *parts) read(raw json.RawMessage, take func(part) bool) bool {
	entries, ok := wire.Elements(raw, p.left)
	p.left -= len(entries)
	for _, e := range entries {
		var one part
		_ = json.Unmarshal(e, &one) // what is no part says nothing
		if !take(one) {
			return false
		}
	}
	return ok
}

// reasoning returns the first non-empty of the three fields and its name: some
// servers send the same text in two of them.
func (d *delta) reasoning() (name, s string) {
	for i, raw := range []json.RawMessage{d.ReasoningContent, d.Reasoning, d.ReasoningText} {
		if s := wire.Text(raw); s != "" {
			return reasoningFields[i], s
		}
	}
	return "", ""
}

// reasoningFields are the names of the fields that reasoning comes in, in their
// order of precedence.
var reasoningFields = [3]string{"reasoning_content", "reasoning", "reasoning_text"}

// usage is every form of a usage report. Cached tokens are part of the prompt's.
type usage struct {
	PromptTokens        wire.Count `json:"prompt_tokens"`
	CompletionTokens    wire.Count `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptCacheHitTokens wire.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// words turns a report into ours; nil when it counts nothing.
func (u *usage) words() *llm.Usage {
	if u == nil {
		return nil
	}
	w := llm.Usage{
		Input:       int(u.PromptTokens),
		Output:      int(u.CompletionTokens),
		CachedInput: int(u.PromptTokensDetails.CachedTokens),
		Reasoning:   int(u.CompletionTokensDetails.ReasoningTokens),
	}
	if w.CachedInput == 0 {
		w.CachedInput = int(u.PromptCacheHitTokens)
	}
	return wire.Usage(w)
}

// timings is llama.cpp's report.
type timings struct {
	CacheN     wire.Count `json:"cache_n"`
	PromptN    wire.Count `json:"prompt_n"`
	PredictedN wire.Count `json:"predicted_n"`
}

func (t *timings) words() *llm.Usage {
	if t == nil || t.PromptN+t.CacheN+t.PredictedN == 0 {
		return nil
	}
	return &llm.Usage{Input: int(t.CacheN + t.PromptN), CachedInput: int(t.CacheN), Output: int(t.PredictedN)}
}
