package run

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/gate"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/llm/schema"
	"alisio/plug"
)

// Turn is what one turn works with. Of two turns with the same tools and
// instructions the second sends the bytes of the first.
type Turn struct {
	// Agent is the primary agent at work, empty for the usual one.
	Agent        string
	Instructions string
	// Tools are all tools, also those that the gate does not offer.
	Tools []plug.Tool
	Gate  *gate.Gate
	// Context is what each source says now, see Injected.
	Context []Injected
}

// source is what the turn at work was made from.
type source struct {
	now Turn
	// tools are all tools by name, nil before the first turn; offered are those that
	// the model is told of, by name.
	tools   map[string]*tool
	offered []llm.Tool
}

// tool is a tool with its compiled schema.
type tool struct {
	plug.Tool
	spec   plug.ToolSpec
	schema *schema.Schema
}

// CheckTool says what is wrong with the schema of a tool, for whoever registers one.
func CheckTool(s plug.ToolSpec) error {
	_, err := schema.Compile(s.Schema)
	return err
}

// open makes a turn ready: what was queued joins the transcript, then what the
// model works with is asked for, and what of the context has changed is told.
func (l *loop) open() error {
	// A run that goes on with another's prompt takes no text before it has an answer
	// of its own: what stands before that is the run's prompt (see package request).
	if l.prompted() || l.turn > 1 {
		if _, err := l.drain(); err != nil {
			return err
		}
	}
	if err := l.renew(); err != nil {
		return err
	}
	return l.inject(l.now.Context)
}

func (l *loop) prompted() bool { return l.in.Prompt != "" || len(l.in.Attachments) > 0 }

// renew asks what the turn works with. The tools that are offered stay the same
// slice as long as nothing about them changes.
func (l *loop) renew() error {
	now, err := l.o.Turn(l.ctx)
	if err != nil {
		return err
	}
	tools := make(map[string]*tool, len(now.Tools))
	offered := make([]llm.Tool, 0, len(now.Tools))
	for _, t := range now.Tools {
		known, err := l.known(t)
		if err != nil {
			return err
		}
		s := known.spec
		tools[s.Name] = known
		if now.Gate.Offers(s.Name, s.Effect) {
			offered = append(offered, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
		}
	}
	slices.SortFunc(offered, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	if !slices.EqualFunc(offered, l.offered, sameTool) {
		l.offered = offered
	}
	l.now, l.tools = now, tools
	return nil
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// known is a tool with its schema, which is compiled when it differs from the one
// that the last turn had under the name.
func (l *loop) known(t plug.Tool) (*tool, error) {
	known := &tool{Tool: t}
	err := guard(fmt.Sprintf("%T", t), func() error {
		known.spec = t.Spec()
		return nil
	})
	if was := l.tools[known.spec.Name]; err == nil && was != nil && bytes.Equal(was.spec.Schema, known.spec.Schema) {
		known.schema = was.schema
		return known, nil
	}
	if err == nil {
		known.schema, err = schema.Compile(known.spec.Schema)
	}
	if err != nil {
		return nil, llm.Errorf(llm.CauseInternal, "tool %s: %w", known.spec.Name, err)
	}
	return known, nil
}

// widest is the widest effect of a tool before the first turn.
func (l *loop) widest(name string) plug.Effect {
	if l.tools == nil && l.renew() != nil {
		return plug.EffectExternal
	}
	return l.declared(name)
}

// drain takes the texts that were queued for the session into the transcript, and
// reports whether there were any. What is known is kept, also when the person has
// just cancelled; a run that was cancelled before leaves the queue as it is.
func (l *loop) drain() (came bool, err error) {
	q, ok := l.o.Store.(session.Queue)
	if !ok || l.ctx.Err() != nil {
		return false, nil
	}
	ctx := l.lasting()
	waiting, err := q.Queued(ctx, l.in.SessionID)
	if err != nil {
		return false, l.breakStore(err)
	}
	if len(waiting) == 0 {
		return false, nil
	}
	if err := l.flush(); err != nil {
		return false, err
	}
	messages, err := q.Drain(ctx, l.in.SessionID, l.in.RunID)
	if err != nil {
		return false, l.breakStore(err)
	}
	l.messages = append(l.messages, messages...)
	return len(messages) > 0, nil
}

// more reports whether a run whose model is done goes on, since something was
// queued for it. At the turn limit it waits for the next run.
func (l *loop) more() (bool, error) {
	if l.turn == 0 || l.turn >= l.o.Limits.maxTurns() {
		return false, nil
	}
	came, err := l.drain()
	if came {
		l.truncated, l.repaired = false, false // they spoke of an answer that is not the last
	}
	return came, err
}
