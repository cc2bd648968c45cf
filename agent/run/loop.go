package run

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"alisio/agent/clock"
	"alisio/agent/compact"
	"alisio/agent/doom"
	"alisio/agent/ledger"
	"alisio/agent/prefix"
	"alisio/llm"
	"alisio/plug"
)

// loop is the state of one run. The goroutine that called Do alone changes it,
// but for its outbox; the goroutines of a batch read what stands above
// messages.
type loop struct {
	o  Options
	in Input
	// caller is what the person can cancel; ctx also ends when the store breaks, and
	// with clock.ErrLimit when the run's time is used up.
	caller context.Context
	ctx    context.Context
	stop   context.CancelFunc

	source
	plans *Plans
	// messages is the transcript as it is stored; usedIDs are its call ids.
	messages []llm.Message
	usedIDs  map[string]bool
	doom     doom.Loop
	recall
	// turn is 1-based; tokens and usage are those of this run so far.
	turn   int
	tokens int
	usage  tally
	// text is the answer, or what there is of it; kept is what broke off before, of the
	// turn at work; truncated: the limit cut it.
	text      string
	kept      string
	truncated bool
	asked
	compacting
	// repaired: the model was asked for an answer that fits.
	repaired bool
	// denied counts calls; allDenied speaks of the last turn with calls.
	denied    int
	allDenied bool

	answerCap
	outbox
}

// outbox is what waits to be stored and shown. It may be used by all goroutines of
// the run.
type outbox struct {
	mu  sync.Mutex
	seq int64
	// held are the events that are stored with what comes next, and answer the
	// messages that they tell of; see hold.
	held   []plug.Event
	answer []llm.Message
	broken error
	// over: the event that ends the run is out, and none comes after it.
	over bool
}

// asked is what a run knows of its requests: those that were fresh are counted, notice
// goes with the next one.
type asked struct {
	requests int
	notice   string
	where    where
	ended    ended
	// reported is what the context took by the server's last report, in tokens, and
	// reportedAt how many messages that were; zero for none.
	reported   int
	reportedAt int
	density    compact.Density
	// refusedInput and refusedOutput are the estimate and the cap of the request that was
	// refused last as too long, zero for none since the last report.
	refusedInput, refusedOutput int
}

// answerCap bounds an answer, in tokens.
type answerCap struct {
	maxOutput    int
	outputSource plug.OutputSource
	outputBound  plug.OutputBound
	// sentOutput is what the budget left of it in the last request.
	sentOutput int
}

// ended is what the event that ends the run tells beside its error.
type ended struct {
	timeout    *plug.Timeout
	truncation *plug.Truncation
}

// tally is what answers used; guessed: a part of it is an estimate.
type tally struct {
	llm.Usage
	guessed bool
}

func newLoop(ctx context.Context, o Options, in Input) (*loop, error) {
	if in.RunID == "" {
		in.RunID = NewID()
	}
	in.Prompt = strings.ToValidUTF8(in.Prompt, "\uFFFD")
	in.Display = strings.ToValidUTF8(in.Display, "\uFFFD")
	l := &loop{
		o: o, in: in, caller: ctx, plans: o.Plans, usedIDs: make(map[string]bool), recall: newRecall(),
	}
	if l.plans == nil {
		l.plans = &Plans{}
	}
	if l.o.Last == nil {
		l.o.Last = &prefix.Last{}
	}
	if l.o.Ledger == nil {
		l.o.Ledger = ledger.New(ledger.Limits{})
	}
	l.maxOutput, l.outputSource = o.Limits.output(in.MaxOutputTokens, o.Model)
	l.sentOutput = l.maxOutput
	l.limit()
	if err := l.load(); err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

// limit begins the run's time.
func (l *loop) limit() {
	l.where.stage = plug.StageOther
	if l.o.Limits.Timeout <= 0 {
		l.ctx, l.stop = context.WithCancel(l.caller)
		return
	}
	active := l.o.Clock
	if active == nil {
		active = &clock.Active{}
		active.Start()
	}
	ctx, free := active.Limit(l.caller, l.o.Limits.Timeout)
	var stop context.CancelFunc
	l.ctx, stop = context.WithCancel(ctx)
	l.stop = func() { stop(); free() }
}

// append stores messages and then takes them into the transcript.
func (l *loop) append(messages ...llm.Message) error {
	if len(messages) == 0 {
		return nil
	}
	if err := l.flush(); err != nil {
		return err
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
	if d, ok := p.(plug.PrefixChanged); ok {
		l.o.Last.Told(d.Cause)
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
	if l.over {
		return nil
	}
	if err := l.flushLocked(); err != nil {
		return err
	}
	l.held = append(l.held, l.event(p))
	return l.storeHeld(func(ctx context.Context, events []plug.Event, _ []llm.Message) ([]int64, error) {
		number, err := store(ctx, events[0])
		return []int64{number}, err
	})
}

// hold numbers an event that is stored, and then shown, with what comes next at
// the latest: each commit costs as much as what it stores. Nothing waits, asks or
// has an effect before that. The messages are in the transcript already.
func (l *loop) hold(p plug.Payload, messages ...llm.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, l.event(p))
	l.answer = append(l.answer, messages...)
}

// flush stores and shows what is held.
func (l *loop) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushLocked()
}

func (l *loop) flushLocked() error {
	for len(l.held) > 0 {
		rest := l.held[1:]
		l.held = l.held[:1:1]
		err := l.storeHeld(func(ctx context.Context, events []plug.Event, messages []llm.Message) ([]int64, error) {
			number, err := l.o.Store.AddEvent(ctx, events[0], messages...)
			return []int64{number}, err
		})
		if err != nil {
			l.seq -= int64(len(rest))
			return err
		}
		l.held = rest
	}
	return nil
}

// storeHeld stores what is held by store, and shows it; mu is held. What can not
// be stored is shown to nobody, and ends the run.
func (l *loop) storeHeld(store func(context.Context, []plug.Event, []llm.Message) ([]int64, error)) error {
	events, messages := l.held, l.answer
	l.held, l.answer = nil, nil
	numbers, err := store(context.WithoutCancel(l.ctx), events, messages)
	if err != nil {
		l.seq -= int64(len(events))
		return l.breakLocked(fmt.Errorf("store event: %w", err))
	}
	l.tell(events, numbers)
	return nil
}

// tell shows stored events; mu is held.
func (l *loop) tell(events []plug.Event, numbers []int64) {
	if l.in.OnEvent == nil {
		return
	}
	for i, e := range events {
		e.ID = numbers[i]
		l.in.OnEvent(e)
	}
}

// show shows an event that is not stored: an ephemeral one, or the one that tells
// of a broken store.
func (l *loop) show(p plug.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over && l.flushLocked() == nil && l.in.OnEvent != nil {
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
	return l.breakLocked(err)
}

func (l *loop) breakLocked(err error) error {
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
