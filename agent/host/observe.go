package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"alisio/plug"
)

// ringSize is how many events wait for an observer before it has fallen behind.
const ringSize = 256

// observer is one observer with the events that wait for it. Events of one
// session come in order. Where the ring is full, ephemeral events are dropped,
// and a stored one opens a gap for its session: what the session stores from
// there on is read from the store once the ring has been emptied up to there.
//
//	Publish --> ring (256) --> run --> Event
//	     `--> gap of a session --> After(store) --^
type observer struct {
	plug.Observer
	h     *Host
	owner *entry

	mu   sync.Mutex
	ring []plug.Event
	gaps map[string]*gap
	// put and taken count the events that came into the ring and left it.
	put, taken uint64
	// wake has room for one sign: there is something, or the end has come.
	wake chan struct{}
	// draining: what waits is still delivered, and then the observer ends.
	draining bool
	// done is closed when run has returned.
	done   chan struct{}
	cancel context.CancelFunc
}

// gap is what an observer missed of a session.
type gap struct {
	// from is the last stored event that it has or had no need of, to the last one
	// that it missed.
	from, to int64
	// after is the count of put at which it opened.
	after uint64
}

func (h *Host) observe(e *entry, o plug.Observer) (undo func(), err error) {
	if err := refusal("observer", "", o.Check()); err != nil {
		return nil, err
	}
	o.Types = slices.Clone(o.Types)
	ctx, cancel := context.WithCancel(context.Background())
	ob := &observer{
		Observer: o, h: h, owner: e, gaps: map[string]*gap{},
		wake: make(chan struct{}, 1), done: make(chan struct{}), cancel: cancel,
	}
	undo, err = add(h, e, &h.r.observers, anyName, "observer", "", ob, cancel)
	if err != nil {
		cancel()
		return nil, err
	}
	// It ends with its registration; drain waits for it.
	go ob.run(ctx)
	return undo, nil
}

// Publish hands an event to the observers that want it. It never waits for one.
// Events of one session must be published in order.
func (h *Host) Publish(e plug.Event) {
	if e.Data == nil {
		return
	}
	h.mu.Lock()
	rows := h.r.observers.rows // never changed in place, see add
	h.mu.Unlock()
	for _, r := range rows {
		r.value.offer(e)
	}
}

func (o *observer) wants(e plug.Event) bool {
	return len(o.Types) == 0 || slices.Contains(o.Types, e.Data.EventType())
}

// offer puts an event into the ring, or notes the gap.
func (o *observer) offer(e plug.Event) {
	if !o.wants(e) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	// What has no id can not be read from the store.
	stored := e.ID != 0 && !e.Data.EventType().Ephemeral()
	g := o.gaps[e.SessionID]
	switch {
	case g != nil:
		if stored {
			g.to = max(g.to, e.ID)
		}
	case len(o.ring) < ringSize:
		o.ring = append(o.ring, e)
		o.put++
	case stored:
		o.gaps[e.SessionID] = &gap{from: e.ID - 1, to: e.ID, after: o.put}
	}
	o.sign()
}

func (o *observer) sign() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run delivers until the registration is undone, or what waited has been
// delivered while the host drains. A panic of the observer ends it.
func (o *observer) run(ctx context.Context) {
	defer close(o.done)
	defer o.cancel()
	defer o.leave() // also when the observer ends its goroutine
	for ctx.Err() == nil {
		e, session, state := o.next()
		var err error
		switch state {
		case event:
			err = o.deliver(ctx, e)
		case missed:
			err = o.catchUp(ctx, session)
		case nothing:
			select {
			case <-o.wake:
			case <-ctx.Done():
			}
		case ended:
			return
		}
		if err != nil {
			o.tell("panic", err)
			return
		}
	}
}

// work is what an observer's goroutine finds to do.
type work int

const (
	nothing work = iota
	event
	missed
	ended
)

// next takes the next event, or finds a session of which events were missed and
// all earlier ones are delivered.
func (o *observer) next() (plug.Event, string, work) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var first *gap
	var session string
	for id, g := range o.gaps {
		if g.after <= o.taken && (first == nil || g.from < first.from) {
			first, session = g, id
		}
	}
	switch {
	case first != nil:
		return plug.Event{}, session, missed
	case len(o.ring) > 0:
		e := o.ring[0]
		o.ring[0] = plug.Event{}
		if o.ring = o.ring[1:]; len(o.ring) == 0 {
			o.ring = nil
		}
		o.taken++
		return e, "", event
	case o.draining:
		return plug.Event{}, "", ended
	}
	return plug.Event{}, "", nothing
}

// deliver calls the observer on the goroutine of run. The error is its panic.
func (o *observer) deliver(ctx context.Context, e plug.Event) error {
	_, err := guard(func() (struct{}, error) {
		o.Event(ctx, e)
		return struct{}{}, nil
	})
	return err
}

// catchUp delivers from the store what an observer missed of a session, until
// there is no more. The error is the observer's panic.
func (o *observer) catchUp(ctx context.Context, session string) error {
	for ctx.Err() == nil {
		from, to, closed := o.gapOf(session)
		if closed {
			return nil
		}
		events, err := o.stored(ctx, session, from)
		at := from
		for _, e := range events {
			if e.ID <= at || e.SessionID != session || e.Data == nil {
				continue
			}
			at = e.ID
			if ctx.Err() != nil || !o.wants(e) {
				continue
			}
			if err := o.deliver(ctx, e); err != nil {
				return err
			}
		}
		if at == from && ctx.Err() == nil {
			// They are lost to it; what comes later is not.
			if err == nil {
				err = errors.New("the store has none")
			}
			o.tell("missed events", fmt.Errorf("session %s: stored events behind %d are missing: %w", tell(session), from, err))
			at = to
		}
		o.advance(session, at)
	}
	return nil
}

// stored reads the events behind one.
func (o *observer) stored(ctx context.Context, session string, from int64) ([]plug.Event, error) {
	if o.h.o.After == nil {
		return nil, errors.New("there is no store to read them from")
	}
	return guard(func() ([]plug.Event, error) { return o.h.o.After(ctx, session, from) })
}

// gapOf says where the catching up of a session stands, and ends it where nothing
// more was missed: from then on its events come through the ring again.
func (o *observer) gapOf(session string) (from, to int64, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := o.gaps[session]
	if closed = g.from >= g.to; closed {
		delete(o.gaps, session)
	}
	return g.from, g.to, closed
}

func (o *observer) advance(session string, from int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gaps[session].from = from
}

func (o *observer) tell(what string, err error) {
	key := fmt.Sprintf("observer %s %p %s", o.owner.id(), o, what)
	o.h.note(key, Diagnostic{Code: ObserverFailed, Plugin: o.owner.id(), Err: fmt.Errorf("observer: %w", err)})
}

// leave takes an observer that has ended out of the list.
func (o *observer) leave() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	l := &o.h.r.observers
	l.rows = slices.DeleteFunc(slices.Clone(l.rows), func(r *row[*observer]) bool { return r.value == o })
}

// drain lets the observers finish what waits for them, for as long as a plugin
// may take to be disposed.
func (h *Host) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.o.Limits.Dispose)
	defer cancel()
	rows := rowsOf(h, &h.r.observers)
	for _, r := range rows {
		o := r.value
		o.mu.Lock()
		o.draining = true
		o.mu.Unlock()
		o.sign()
	}
	for _, r := range rows {
		select {
		case <-r.value.done:
		case <-ctx.Done():
		}
		r.value.cancel()
	}
}
