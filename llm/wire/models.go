package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"alisio/llm"
)

const (
	// maxCatalog is the largest catalog that is read, in bytes.
	maxCatalog = 8 << 20
	// maxEntry is the largest entry that is read, in bytes.
	maxEntry = 256 << 10
	// maxModels is how many entries of a catalog are looked at.
	maxModels = 10_000
	// maxModelID is the longest id that is taken, in bytes.
	maxModelID = 256
)

// Models lists the server's catalog with what that one answer tells. Zero
// windows are common: many servers have no field for them, and llama.cpp's
// n_ctx_train, which is not the window in use, is not taken for one.
func (e *Endpoint) Models(ctx context.Context) ([]llm.Model, error) {
	resp, err := e.Do(ctx, http.MethodGet, "/models", nil, "")
	if err != nil {
		return nil, first(ctx.Err(), err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxCatalog+1))
	if err != nil {
		return nil, first(ctx.Err(), e.Broken(err))
	}
	list, ok := catalog(data)
	if !ok || len(data) > maxCatalog {
		fault := e.InBand(data)
		if fault.Status == 0 {
			fault = llm.Errorf(llm.CauseBadRequest, "%s sent no list of models", e.Host)
		}
		return nil, fault.WithHint("check the base URL")
	}
	return models(ctx, list)
}

// catalog finds the list: an array, or one under data or models. A server that
// sends both (llama.cpp) says more in data.
func catalog(raw []byte) ([]json.RawMessage, bool) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, false
	}
	if raw[0] == '[' {
		list, _ := Elements(raw, maxModels)
		return list, true
	}
	var envelope struct {
		Data   json.RawMessage `json:"data"`
		Models json.RawMessage `json:"models"`
	}
	if json.Unmarshal(raw, &envelope) != nil || !Present(envelope.Data) && !Present(envelope.Models) {
		return nil, false
	}
	var found []json.RawMessage
	for _, list := range []json.RawMessage{envelope.Models, envelope.Data} {
		if Present(list) && list[0] != '[' {
			return nil, false
		}
		if entries, _ := Elements(list, maxModels); len(entries) > 0 {
			found = entries
		}
	}
	return found, true
}

// entry is a model of a catalog with every field that tells a limit, in tokens.
// Zero is unknown.
type entry struct {
	ID   json.RawMessage `json:"id"`
	Key  json.RawMessage `json:"key"` // LM Studio
	Name json.RawMessage `json:"name"`

	TopProvider struct {
		ContextLength       Count `json:"context_length"`
		MaxCompletionTokens Count `json:"max_completion_tokens"`
	} `json:"top_provider"` // OpenRouter
	LoadedInstances []struct {
		ContextLength Count `json:"context_length"`
		Config        struct {
			ContextLength Count `json:"context_length"`
		} `json:"config"`
	} `json:"loaded_instances"` // LM Studio
	LoadedContextLength Count `json:"loaded_context_length"` // LM Studio
	ContextLength       Count `json:"context_length"`        // OpenRouter
	ContextWindow       Count `json:"context_window"`        // Groq
	MaxModelLen         Count `json:"max_model_len"`         // vLLM
	MaxContextLength    Count `json:"max_context_length"`    // Mistral, LM Studio
	MaxInputTokens      Count `json:"max_input_tokens"`      // Anthropic-shaped
	InputTokenLimit     Count `json:"inputTokenLimit"`       // Gemini

	MaxCompletionTokens Count `json:"max_completion_tokens"` // Groq
	MaxOutputTokens     Count `json:"max_output_tokens"`
	MaxTokens           Count `json:"max_tokens"`       // Anthropic-shaped
	OutputTokenLimit    Count `json:"outputTokenLimit"` // Gemini

	Pricing json.RawMessage `json:"pricing"` // OpenRouter
}

// window takes what the server will really give before what the model could
// take: the upstream's limit, then a loaded instance, then the model's own.
func (e *entry) window() int {
	fields := []Count{e.TopProvider.ContextLength, e.LoadedContextLength}
	for _, i := range e.LoadedInstances {
		fields = append(fields, i.ContextLength, i.Config.ContextLength)
	}
	return positive(append(fields, e.ContextLength, e.ContextWindow, e.MaxModelLen,
		e.MaxContextLength, e.MaxInputTokens, e.InputTokenLimit)...)
}

// output is the most tokens of one answer.
func (e *entry) output() int {
	return positive(e.TopProvider.MaxCompletionTokens, e.MaxCompletionTokens, e.MaxOutputTokens, e.MaxTokens, e.OutputTokenLimit)
}

// price reads what one token costs, written as a string or a number. Without
// both sides there is no price; a negative one means that it varies.
func (e *entry) price() *llm.Price {
	var p struct {
		Prompt     json.RawMessage `json:"prompt"`
		Completion json.RawMessage `json:"completion"`
		CacheRead  json.RawMessage `json:"input_cache_read"`
	}
	if len(e.Pricing) == 0 || json.Unmarshal(e.Pricing, &p) != nil {
		return nil
	}
	in, ok1 := perMillion(p.Prompt)
	out, ok2 := perMillion(p.Completion)
	if !ok1 || !ok2 {
		return nil
	}
	cached, ok := perMillion(p.CacheRead)
	if !ok {
		cached = in
	}
	return &llm.Price{Input: in, Output: out, CachedInput: cached}
}

// perMillion turns the price of a token into that of a million, without the
// rounding error of the multiplication.
func perMillion(raw json.RawMessage) (float64, bool) {
	text := Text(raw)
	if text == "" {
		text = string(raw)
	}
	token, err := strconv.ParseFloat(text, 64)
	if err != nil || !(token >= 0 && token <= 1) {
		return 0, false
	}
	return math.Round(token*1e15) / 1e9, true
}

func positive(fields ...Count) int {
	for _, n := range fields {
		if n > 0 {
			return int(n)
		}
	}
	return 0
}

// models keeps the server's order. Ids that could not be typed or shown, and
// repeated ones, are left out.
func models(ctx context.Context, list []json.RawMessage) ([]llm.Model, error) {
	found := make([]llm.Model, 0, len(list))
	known := map[string]bool{}
	for _, raw := range list {
		var e entry
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(raw) > maxEntry {
			continue
		}
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
			e.ID = raw // a bare name
		} else if json.Unmarshal(raw, &e) != nil && len(e.ID) == 0 {
			continue
		}
		id := modelID(e)
		if id == "" || known[id] {
			continue
		}
		known[id] = true
		found = append(found, llm.Model{ID: id, ContextWindow: e.window(), MaxOutputTokens: e.output(), Price: e.price()})
	}
	return found, nil
}

// modelID is the id to name in requests, exactly as the server writes it; ""
// for one that could draw on a terminal.
func modelID(e entry) string {
	for _, raw := range []json.RawMessage{e.ID, e.Key, e.Name} {
		id := Text(raw)
		if id == "" {
			continue
		}
		odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
		if len(id) > maxModelID || strings.ContainsFunc(id, odd) {
			return ""
		}
		return id
	}
	return ""
}
