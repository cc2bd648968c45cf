package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"alisio/llm"
	"alisio/llm/script"
)

// item is one item of a Responses output. Fields of other types of items are left
// out.
type item struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	Status    string     `json:"status,omitempty"`
	Role      string     `json:"role,omitempty"`
	CallID    string     `json:"call_id,omitempty"`
	Name      string     `json:"name,omitempty"`
	Arguments *string    `json:"arguments,omitempty"`
	Summary   *[]part    `json:"summary,omitempty"`
	Encrypted string     `json:"encrypted_content,omitempty"`
	Content   *[]outText `json:"content,omitempty"`
	Phase     string     `json:"phase,omitempty"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// outText is a part of a message.
type outText struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

// happening is one event of a stream. Number counts them from 0.
type happening struct {
	Type         string    `json:"type"`
	Number       int       `json:"sequence_number"`
	Response     *response `json:"response,omitempty"`
	ItemID       string    `json:"item_id,omitempty"`
	OutputIndex  *int      `json:"output_index,omitempty"`
	ContentIndex *int      `json:"content_index,omitempty"`
	SummaryIndex *int      `json:"summary_index,omitempty"`
	Delta        *string   `json:"delta,omitempty"`
	Text         *string   `json:"text,omitempty"`
	Arguments    *string   `json:"arguments,omitempty"`
	// Part and Item hold encoded values of several types.
	Part json.RawMessage `json:"part,omitempty"`
	Item json.RawMessage `json:"item,omitempty"`
}

type response struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	Created    int64             `json:"created_at"`
	Status     string            `json:"status"`
	Model      string            `json:"model"`
	Output     []json.RawMessage `json:"output"`
	Error      *fault            `json:"error"`
	Incomplete *incomplete       `json:"incomplete_details"`
	Usage      *tokens           `json:"usage"`
}

type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type tokens struct {
	Input        int           `json:"input_tokens"`
	InputDetails promptDetails `json:"input_tokens_details"`
	Output       int           `json:"output_tokens"`
	OutDetails   outputDetails `json:"output_tokens_details"`
	Total        int           `json:"total_tokens"`
}

func newTokens(u *llm.Usage) *tokens {
	if u == nil {
		return nil
	}
	return &tokens{
		Input: u.Input, InputDetails: promptDetails{Cached: u.CachedInput},
		Output: u.Output, OutDetails: outputDetails{Reasoning: u.Reasoning}, Total: u.Input + u.Output,
	}
}

// responder writes one answer in the words of the Responses API.
type responder struct {
	n     int // of the request, which ids are made from
	model string
	// encrypted: the request wants reasoning back in a form that it can return.
	encrypted bool
	*script.Answer

	number int // of the next event
}

func (r *responder) failure() *llm.Error { return r.Err }

// items are the output: reasoning, a message, calls, as far as the turn has them.
// They are the same bytes each time.
func (r *responder) items() []item {
	var out []item
	if r.Reasoning != "" {
		it := item{ID: fmt.Sprintf("rs_%d", r.n), Type: "reasoning", Summary: &[]part{{"summary_text", r.Reasoning}}}
		if r.encrypted {
			it.Encrypted = opaque(r.n, r.model, r.Reasoning)
		}
		out = append(out, it)
	}
	if r.Text != "" || r.Reasoning == "" && len(r.Calls) == 0 {
		phase := "final_answer"
		if len(r.Calls) > 0 {
			phase = "commentary"
		}
		out = append(out, item{
			ID: fmt.Sprintf("msg_%d", r.n), Type: "message", Status: "completed", Role: "assistant",
			Content: &[]outText{{"output_text", r.Text, []string{}}}, Phase: phase,
		})
	}
	for i, c := range r.Calls {
		out = append(out, item{
			ID: fmt.Sprintf("fc_%d_%d", r.n, i+1), Type: "function_call", Status: "completed",
			CallID: c.ID, Name: c.Name, Arguments: &c.Arguments,
		})
	}
	if last := len(out) - 1; r.Truncated && out[last].Status != "" {
		out[last].Status = "incomplete"
	}
	return out
}

// opaque is what a client can only give back: it differs with all that was said.
func opaque(n int, model, text string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", n, model, text))
	return "gAAAA" + base64.StdEncoding.EncodeToString(sum[:])
}

// output is the output as it stands in a whole response.
func (r *responder) output() []json.RawMessage {
	out := []json.RawMessage{}
	for _, it := range r.items() {
		out = append(out, encode(it))
	}
	return out
}

func (r *responder) response(status string, output []json.RawMessage) *response {
	v := &response{
		ID: fmt.Sprintf("resp_%d", r.n), Object: "response", Created: created, Status: status, Model: r.model, Output: output,
	}
	switch status {
	case "in_progress":
		return v
	case "failed":
		v.Error = &fault{Code: string(r.Err.Cause), Message: r.Err.Message}
	case "incomplete":
		v.Incomplete = &incomplete{Reason: "max_output_tokens"}
	}
	v.Usage = newTokens(r.Answer.Usage)
	return v
}

func (r *responder) status() string {
	switch {
	case r.Err != nil:
		return "failed"
	case r.Truncated:
		return "incomplete"
	}
	return "completed"
}

// whole is the answer to a request that did not ask for a stream.
func (r *responder) whole() []byte { return encode(r.response(r.status(), r.output())) }

// event is one event as bytes; it takes the next number.
func (r *responder) event(h happening) []byte {
	h.Number = r.number
	r.number++
	return append([]byte("event: "+h.Type+"\n"), event(encode(h))...)
}

// events yields the stream's events as bytes, whole. A turn's error comes behind
// its pieces: no item of it is done.
func (r *responder) events() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !r.begin(yield) {
			return
		}
		for i, it := range r.items() {
			if !r.item(yield, i, it) {
				return
			}
		}
		r.end(yield, r.output())
	}
}

func (r *responder) begin(yield func([]byte) bool) bool {
	running := r.response("in_progress", []json.RawMessage{})
	return yield(r.event(happening{Type: "response.created", Response: running})) &&
		yield(r.event(happening{Type: "response.in_progress", Response: running}))
}

func (r *responder) end(yield func([]byte) bool, output []json.RawMessage) bool {
	status := r.status()
	if status == "failed" {
		output = []json.RawMessage{}
	}
	return yield(r.event(happening{Type: "response." + status, Response: r.response(status, output)}))
}

// item yields the events of one item.
func (r *responder) item(yield func([]byte) bool, index int, it item) bool {
	send := func(h happening) bool {
		h.OutputIndex = &index
		return yield(r.event(h))
	}
	if !send(happening{Type: "response.output_item.added", Item: encode(it.begun())}) {
		return false
	}
	var ok bool
	switch it.Type {
	case "reasoning":
		ok = r.thought(send, it)
	case "message":
		ok = r.said(send, it)
	default:
		ok = r.called(send, it)
	}
	return ok && (r.Err != nil || send(happening{Type: "response.output_item.done", Item: encode(it)}))
}

// begun is an item before anything of it has come.
func (i item) begun() item {
	i.Encrypted, i.Phase = "", ""
	if i.Status != "" {
		i.Status = "in_progress"
	}
	switch i.Type {
	case "reasoning":
		i.Summary = &[]part{}
	case "message":
		i.Content = &[]outText{}
	default:
		i.Arguments = new(string)
	}
	return i
}

func (r *responder) thought(send func(happening) bool, it item) bool {
	at := new(int)
	empty, whole := encode(part{Type: "summary_text"}), encode((*it.Summary)[0])
	if !send(happening{Type: "response.reasoning_summary_part.added", ItemID: it.ID, SummaryIndex: at, Part: empty}) {
		return false
	}
	for _, s := range r.Chunks(r.Reasoning) {
		if !send(happening{Type: "response.reasoning_summary_text.delta", ItemID: it.ID, SummaryIndex: at, Delta: &s}) {
			return false
		}
	}
	return r.Err != nil ||
		send(happening{Type: "response.reasoning_summary_text.done", ItemID: it.ID, SummaryIndex: at, Text: &r.Reasoning}) &&
			send(happening{Type: "response.reasoning_summary_part.done", ItemID: it.ID, SummaryIndex: at, Part: whole})
}

func (r *responder) said(send func(happening) bool, it item) bool {
	at := new(int)
	empty := encode(outText{Type: "output_text", Annotations: []string{}})
	if !send(happening{Type: "response.content_part.added", ItemID: it.ID, ContentIndex: at, Part: empty}) {
		return false
	}
	for _, s := range r.Chunks(r.Text) {
		if !send(happening{Type: "response.output_text.delta", ItemID: it.ID, ContentIndex: at, Delta: &s}) {
			return false
		}
	}
	return r.Err != nil || r.saidAll(send, it)
}

// saidAll tells the whole text twice more, as servers do.
func (r *responder) saidAll(send func(happening) bool, it item) bool {
	at, text := new(int), (*it.Content)[0]
	return send(happening{Type: "response.output_text.done", ItemID: it.ID, ContentIndex: at, Text: &text.Text}) &&
		send(happening{Type: "response.content_part.done", ItemID: it.ID, ContentIndex: at, Part: encode(text)})
}

func (r *responder) called(send func(happening) bool, it item) bool {
	for _, s := range r.Chunks(*it.Arguments) {
		if !send(happening{Type: "response.function_call_arguments.delta", ItemID: it.ID, Delta: &s}) {
			return false
		}
	}
	return r.Err != nil || send(happening{Type: "response.function_call_arguments.done", ItemID: it.ID, Arguments: it.Arguments})
}

// bulk yields n text deltas of size bytes each in large blocks. They all have one
// number, so that a block is built once; the whole text follows, as always.
func (r *responder) bulk(n, size int) iter.Seq[[]byte] {
	text := bulkText(size)
	return func(yield func([]byte) bool) {
		r.Text = strings.Repeat(text, n)
		it := r.items()[0]
		at := new(int)
		added := happening{Type: "response.output_item.added", OutputIndex: at, Item: encode(it.begun())}
		if !r.begin(yield) || !yield(r.event(added)) {
			return
		}
		one := r.event(happening{Type: "response.output_text.delta", ItemID: it.ID, OutputIndex: at, ContentIndex: at, Delta: &text})
		if !blocks(yield, one, n) {
			return
		}
		send := func(h happening) bool {
			h.OutputIndex = at
			return yield(r.event(h))
		}
		if r.saidAll(send, it) && send(happening{Type: "response.output_item.done", Item: encode(it)}) {
			r.end(yield, []json.RawMessage{encode(it)})
		}
	}
}

// pieces are the items that an answer sent, as they are in requests that give them
// back.
type pieces struct {
	ids [][]byte // quoted
	all []byte   // all items, with the commas between them
}

// sentItems are the items that a request can give back: those of a failed answer,
// and those of one that is none of the script's turns, are not known. A call that was
// cut is nothing that can come back.
func (r *responder) sentItems() (p pieces) {
	if r.Err != nil || !r.encrypted {
		return p
	}
	var all [][]byte
	for _, it := range r.items() {
		if it.Arguments != nil && (it.Status == "incomplete" || *it.Arguments != "" && !json.Valid([]byte(*it.Arguments))) {
			continue
		}
		p.ids = append(p.ids, encode(it.ID))
		all = append(all, encode(it))
	}
	p.all = anyCall(bytes.Join(all, []byte(",")))
	return p
}

// anyCall takes out which call an item is of: a client gives one of its own to a call
// whose id was used before.
func anyCall(items []byte) []byte {
	return regexp.MustCompile(`"call_id":"[^"]*"`).ReplaceAll(items, []byte(`"call_id":""`))
}

// broken tells how a request gives back a part of the answer alone, or not as it
// was: servers refuse such a pair.
func (p pieces) broken(body []byte) error {
	for _, id := range p.ids {
		if bytes.Contains(body, append([]byte(`"id":`), id...)) && !bytes.Contains(body, p.all) {
			return fmt.Errorf("item %s comes back without the items that were given with it, in their order and byte for byte: %s", id, p.all)
		}
	}
	return nil
}
