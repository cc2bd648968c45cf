package script

import (
	"context"
	"iter"
	"maps"
	"sync"
	"time"

	"alisio/llm"
)

// api is the protocol name in the origin of scripted messages.
const api = "script"

// Provider returns a provider that answers with the script's turns, from the
// first one on; each call of Provider starts anew. Requests take their turn
// when their sequence is first ranged over. A request beyond the last turn,
// and a turn that can not be made ready, fail with CauseBadRequest, which
// nobody retries.
func (s *Script) Provider(id string) llm.Provider {
	return &provider{id: id, script: s, vars: map[string]string{}}
}

type provider struct {
	id     string
	script *Script

	mu   sync.Mutex
	next int // turns handed out
	vars map[string]string
}

func (p *provider) ID() string { return p.id }

func (p *provider) Close() error { return nil }

// Models lists the script's model, if it names one.
func (p *provider) Models(context.Context) ([]llm.Model, error) {
	if p.script.Model == "" {
		return nil, nil
	}
	return []llm.Model{{ID: p.script.Model}}, nil
}

// Stream answers a request with the next turn.
func (p *provider) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	used := false
	return func(yield func(llm.Event, error) bool) {
		if used {
			yield(llm.Event{}, llm.Errorf(llm.CauseInternal, "a stream was ranged over twice"))
			return
		}
		used = true
		t, a, err := p.take(req)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		p.send(ctx, req, t, a, yield)
	}
}

// take hands out the next turn. A turn that can not be made ready is used up.
func (p *provider) take(req llm.Request) (*Turn, *Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.script.Turns) {
		return nil, nil, llm.Errorf(llm.CauseBadRequest,
			"the script is over: it has %d turns and this is one request more", len(p.script.Turns))
	}
	t := &p.script.Turns[p.next]
	p.next++
	vars := maps.Clone(p.vars)
	a, err := t.Answer(p.next, results(req.Messages), vars)
	if err != nil {
		return nil, nil, llm.Errorf(llm.CauseBadRequest, "script turn %d: %w", p.next, err)
	}
	p.vars = vars
	return t, a, nil
}

// send streams an answer: reasoning, text, an event for each fragment of a call,
// then the whole or the error.
func (p *provider) send(ctx context.Context, req llm.Request, t *Turn, a *Answer, yield func(llm.Event, error) bool) {
	pause := t.StartMs
	for ev := range a.events() {
		if !wait(ctx, pause) {
			yield(llm.Event{}, ctx.Err())
			return
		}
		pause = t.DelayMs
		if !yield(ev, nil) {
			return
		}
	}
	pause = t.EndMs
	if len(a.Reasoning)+len(a.Text)+len(a.Calls) == 0 {
		pause += t.StartMs
	}
	switch {
	case !wait(ctx, pause):
		yield(llm.Event{}, ctx.Err())
		return
	case a.Err != nil:
		yield(llm.Event{}, a.Err)
		return
	case t.NoEnd:
		return
	}
	model := req.Model
	if model == "" {
		model = p.script.Model
	}
	m := a.message()
	m.Origin = llm.Origin{Provider: p.id, API: api, Model: model}
	yield(llm.Event{Kind: llm.Completed, Message: m, Usage: a.Usage}, nil)
}

func (a *Answer) events() iter.Seq[llm.Event] {
	return func(yield func(llm.Event) bool) {
		for _, s := range a.Chunks(a.Reasoning) {
			if !yield(llm.Event{Kind: llm.ReasoningDelta, Text: s}) {
				return
			}
		}
		for _, s := range a.Chunks(a.Text) {
			if !yield(llm.Event{Kind: llm.TextDelta, Text: s}) {
				return
			}
		}
		for _, c := range a.Calls {
			for range 1 + len(a.Chunks(c.Arguments)) {
				if !yield(llm.Event{Kind: llm.CallDelta}) {
					return
				}
			}
		}
	}
}

// message builds the completed message. An empty argument text is "{}", as
// with every wire client.
func (a *Answer) message() *llm.Message {
	m := &llm.Message{Role: llm.RoleAssistant, Text: a.Text, Truncated: a.Truncated}
	for _, c := range a.Calls {
		if c.Arguments == "" {
			c.Arguments = "{}"
		}
		m.Calls = append(m.Calls, c)
	}
	return m
}

// err builds a fresh error: its receiver may change it.
func (f *Failure) err() *llm.Error {
	return &llm.Error{
		Cause:      f.Cause,
		Status:     f.Status,
		Message:    f.Message,
		RetryAfter: time.Duration(f.RetryAfterMs) * time.Millisecond,
		Stream:     f.Stream,
		Permanent:  f.Permanent,
	}
}

// results joins the text of the tool messages since the last assistant
// message with newlines.
func results(msgs []llm.Message) string {
	start := 0
	for i, m := range msgs {
		if m.Role == llm.RoleAssistant {
			start = i + 1
		}
	}
	var parts []llm.Part
	for _, m := range msgs[start:] {
		if m.Role == llm.RoleTool {
			parts = append(parts, m.Parts...)
		}
	}
	return llm.PartsText(parts)
}

// wait pauses for some milliseconds and reports whether ctx is still good.
func wait(ctx context.Context, ms int) bool {
	if ms == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Open parses a script and returns its provider.
func Open(id string, data []byte) (llm.Provider, error) {
	s, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return s.Provider(id), nil
}
