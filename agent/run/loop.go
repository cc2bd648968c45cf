package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// loop is the state of one run. The goroutine that called Do alone changes it,
// but for the fields under mu; the goroutines of a batch read what stands above
// messages.
type loop struct {
	o  Options
	in Input
	// caller is what the person can cancel; ctx also ends when the store breaks.
	caller context.Context
	ctx    context.Context
	stop   context.CancelFunc

	// tools are all of them by name; offered are those that the model is told
	// of, by name, the same in every request.
	tools   map[string]*tool
	offered []llm.Tool
	// messages is the transcript as it is stored; usedIDs are its call ids.
	messages []llm.Message
	usedIDs  map[string]bool
	doom     doom
	// turn is 1-based; tokens and usage are those of this run so far.
	turn   int
	tokens int
	usage  llm.Usage
	// text is the answer, or what there is of it; truncated: the limit cut it.
	text      string
	truncated bool
	// denied counts calls; allDenied speaks of the last turn with calls.
	denied    int
	allDenied bool

	maxOutput    int
	outputSource plug.OutputSource

	mu     sync.Mutex
	seq    int64
	broken error
}

func newLoop(ctx context.Context, o Options, in Input) (*loop, error) {
	if in.RunID == "" {
		in.RunID = NewID()
	}
	in.Prompt = strings.ToValidUTF8(in.Prompt, "\uFFFD")
	l := &loop{o: o, in: in, caller: ctx, usedIDs: make(map[string]bool)}
	l.maxOutput, l.outputSource = o.Limits.output(in.MaxOutputTokens, o.Model)
	if err := l.offer(); err != nil {
		return nil, err
	}
	if err := l.load(); err != nil {
		return nil, err
	}
	l.ctx, l.stop = context.WithCancel(ctx)
	return l, nil
}

// offer indexes the tools and lists those that the gate offers, by name.
func (l *loop) offer() error {
	l.tools = make(map[string]*tool, len(l.o.Tools))
	for _, t := range l.o.Tools {
		known, err := newTool(t)
		if err != nil {
			return llm.Errorf(llm.CauseInternal, "%w", err)
		}
		l.tools[known.spec.Name] = known
		if !l.o.Gate.Offers(known.spec.Effect) {
			continue
		}
		s := known.spec
		l.offered = append(l.offered, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	slices.SortFunc(l.offered, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// append stores messages and then takes them into the transcript.
func (l *loop) append(messages ...llm.Message) error {
	if len(messages) == 0 {
		return nil
	}
	// What is known is kept, also when the person has just cancelled.
	if err := l.o.Store.Append(context.WithoutCancel(l.ctx), l.in.SessionID, l.in.RunID, messages...); err != nil {
		return l.breakStore(fmt.Errorf("store messages: %w", err))
	}
	l.messages = append(l.messages, messages...)
	return nil
}

// emit stores an event, unless it is ephemeral, and then shows it. It may be
// called from the goroutines of parallel calls. A failure ends the run.
func (l *loop) emit(p plug.Payload) {
	if p.EventType().Ephemeral() {
		l.show(p)
		return
	}
	l.emitBy(p, l.addEvent)
}

func (l *loop) addEvent(ctx context.Context, e plug.Event) (int64, error) {
	return l.o.Store.AddEvent(ctx, e)
}

// emitBy is emit for an event that is stored together with something else. An
// event that can not be stored is shown to nobody, and ends the run.
func (l *loop) emitBy(p plug.Payload, store func(context.Context, plug.Event) (int64, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.event(p)
	id, err := store(context.WithoutCancel(l.ctx), e)
	if err != nil {
		l.seq--
		if l.broken == nil {
			l.broken = llm.Errorf(llm.CauseStore, "store event: %w", err)
			l.stop()
		}
		return l.broken
	}
	e.ID = id
	if l.in.OnEvent != nil {
		l.in.OnEvent(e)
	}
	return nil
}

// show shows an event that is not stored: an ephemeral one, or the one that tells
// of a broken store.
func (l *loop) show(p plug.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.in.OnEvent != nil {
		l.in.OnEvent(l.event(p))
	}
}

// event makes the next event of the run; mu is held.
func (l *loop) event(p plug.Payload) plug.Event {
	l.seq++
	return plug.Event{
		RunID: l.in.RunID, SessionID: l.in.SessionID, Seq: l.seq, Time: time.Now(),
		CorrelationID: l.in.CorrelationID, Data: p,
	}
}

// breakStore ends the run because what happens can no longer be kept.
func (l *loop) breakStore(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = llm.Errorf(llm.CauseStore, "%w", err)
		l.stop()
	}
	return l.broken
}

func (l *loop) storeError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}
