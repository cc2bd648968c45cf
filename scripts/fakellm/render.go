package main

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"alisio/llm"
	"alisio/llm/script"
)

// created is the time in every answer: the same script gives the same bytes.
const created = 1700000000

// chunk is one object of a Chat Completions answer. A stream has deltas, a
// plain answer a message.
type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int      `json:"index"`
	Delta        *content `json:"delta,omitempty"`
	Message      *content `json:"message,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

type content struct {
	Role      string  `json:"role,omitempty"`
	Content   *string `json:"content,omitempty"`
	Reasoning string  `json:"reasoning_content,omitempty"`
	ToolCalls []call  `json:"tool_calls,omitempty"`
}

type call struct {
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt        int           `json:"prompt_tokens"`
	Completion    int           `json:"completion_tokens"`
	Total         int           `json:"total_tokens"`
	PromptDetails promptDetails `json:"prompt_tokens_details"`
	OutputDetails outputDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
}

type outputDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

// render writes one answer in the words of Chat Completions.
type render struct {
	id, model string
	usage     *usage // nil when none is to be sent
	*script.Answer
}

func (r *render) failure() *llm.Error { return r.Err }

func newUsage(u *llm.Usage) *usage {
	if u == nil {
		return nil
	}
	return &usage{
		Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output,
		PromptDetails: promptDetails{Cached: u.CachedInput},
		OutputDetails: outputDetails{Reasoning: u.Reasoning},
	}
}

// events yields the stream's events as bytes, whole.
func (r *render) events() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for d := range r.deltas() {
			if !yield(r.delta(d, nil)) {
				return
			}
		}
		if r.Err != nil {
			yield(event(errorBody(r.Err.Message, string(r.Err.Cause))))
			return
		}
		for _, b := range r.tail() {
			if !yield(b) {
				return
			}
		}
	}
}

func (r *render) deltas() iter.Seq[content] {
	return func(yield func(content) bool) {
		if !yield(content{Role: "assistant", Content: new(string)}) {
			return
		}
		for _, s := range r.Chunks(r.Reasoning) {
			if !yield(content{Reasoning: s}) {
				return
			}
		}
		for _, s := range r.Chunks(r.Text) {
			if !yield(content{Content: &s}) {
				return
			}
		}
		for i, c := range r.Calls {
			if !yield(content{ToolCalls: []call{head(i, c)}}) {
				return
			}
			for _, s := range r.Chunks(c.Arguments) {
				if !yield(content{ToolCalls: []call{{Index: &i, Function: function{Arguments: s}}}}) {
					return
				}
			}
		}
	}
}

func head(i int, c llm.ToolCall) call {
	return call{Index: &i, ID: c.ID, Type: "function", Function: function{Name: c.Name}}
}

// tail is what follows the last delta: finish reason, usage, end mark.
func (r *render) tail() [][]byte {
	finish := r.finish()
	out := [][]byte{r.delta(content{}, &finish)}
	if r.usage != nil {
		c := r.chunk("chat.completion.chunk")
		c.Choices, c.Usage = []choice{}, r.usage
		out = append(out, event(encode(c)))
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

func (r *render) finish() string {
	switch {
	case r.Truncated:
		return "length"
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (r *render) delta(d content, finish *string) []byte {
	c := r.chunk("chat.completion.chunk")
	c.Choices = []choice{{Delta: &d, FinishReason: finish}}
	return event(encode(c))
}

// whole is the answer to a request that did not ask for a stream.
func (r *render) whole() []byte {
	finish := r.finish()
	m := &content{Role: "assistant", Content: &r.Text, Reasoning: r.Reasoning}
	for _, c := range r.Calls {
		m.ToolCalls = append(m.ToolCalls, call{ID: c.ID, Type: "function", Function: function{Name: c.Name, Arguments: c.Arguments}})
	}
	c := r.chunk("chat.completion")
	c.Choices = []choice{{Message: m, FinishReason: &finish}}
	c.Usage = newUsage(r.Answer.Usage)
	return encode(c)
}

func (r *render) chunk(object string) chunk {
	return chunk{ID: r.id, Object: object, Created: created, Model: r.model}
}

// bulk yields n text deltas of size bytes each in large blocks.
func (r *render) bulk(n, size int) iter.Seq[[]byte] {
	text := bulkText(size)
	return func(yield func([]byte) bool) {
		begin, one := r.delta(content{Role: "assistant", Content: new(string)}, nil), r.delta(content{Content: &text}, nil)
		if !yield(begin) || !blocks(yield, one, n) {
			return
		}
		for _, b := range r.tail() {
			if !yield(b) {
				return
			}
		}
	}
}

func bulkText(size int) string { return strings.Repeat("bulk text ", size/10+1)[:size] }

// blocks yields n copies of one event in blocks that are built once.
func blocks(yield func([]byte) bool, one []byte, n int) bool {
	block := max(1, min(n, 64<<10/len(one)))
	buf := bytes.Repeat(one, block)
	for ; n > 0; n -= block {
		if !yield(buf[:min(n, block)*len(one)]) {
			return false
		}
	}
	return true
}

func event(data []byte) []byte {
	return append(append([]byte("data: "), data...), '\n', '\n')
}

// errorBody is an error in OpenAI's shape.
func errorBody(message, code string) []byte {
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	type body struct {
		Error detail `json:"error"`
	}
	return encode(body{detail{Message: message, Type: "error", Code: code}})
}

// encode writes JSON without the escapes that only web pages need.
func encode[T any](v T) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // The values are structs of strings and numbers.
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
