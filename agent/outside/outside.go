// Package outside records what happens in a session outside its runs: events that no
// run tells of, and effects that a plugin wants, which go through the gate and stand in
// the journal like the calls of a model. What happens there is no part of the
// transcript.
package outside

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"alisio/agent/gate"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// Recorder records. It is safe for concurrent use.
type Recorder struct {
	Store session.Store
	// Publish shows an event to observers.
	Publish func(plug.Event)
	// Hold keeps the sessions of a root from other processes until release.
	Hold func(ctx context.Context, root string) (release func(), err error)
	Log  *slog.Logger

	mu   sync.Mutex
	live map[string]bool // effects that are under way, by the id of their call
}

// Events are those of one thing that happens: they have a run id of their own, numbers
// from 1, and no row among the runs (spec events.md, "Delivery").
type Events struct {
	r            *Recorder
	session, run string
	seq          int64
}

// Events begins some of a session.
func (r *Recorder) Events(sessionID string) *Events {
	return &Events{r: r, session: sessionID, run: run.NewID()}
}

// next makes the next event.
func (e *Events) next(p plug.Payload) plug.Event {
	e.seq++
	return plug.Event{RunID: e.run, SessionID: e.session, Seq: e.seq, Time: time.Now(), Data: p}
}

// Emit stores an event and then shows it to observers. That the session is not
// stored, since nothing was said in it yet, is no error: then nothing is kept of it.
func (e *Events) Emit(ctx context.Context, p plug.Payload) error {
	event := e.next(p)
	if !p.EventType().Ephemeral() {
		id, err := e.r.Store.AddEvent(context.WithoutCancel(ctx), event)
		switch {
		case errors.Is(err, session.ErrNotFound):
			return nil
		case err != nil:
			return session.Caused(err)
		}
		event.ID = id
	}
	e.r.Publish(event)
	return nil
}

// Effect is one that a plugin wants in a session.
type Effect struct {
	// Root is the session itself, or of a child the one that all began with.
	Session, Root string
	Plugin, Tool  string
	Plan          plug.Plan
	Gate          *gate.Gate
	Do            func(context.Context) (plug.Exit, error)
}

// Carry carries an effect out: the gate decides, the journal has it before it begins,
// and its end is told. It keeps the session from other processes, to which the call
// would look like a dead one's.
func (r *Recorder) Carry(ctx context.Context, f Effect) (plug.Exit, error) {
	if f.Session == "" {
		return plug.Exit{}, llm.Errorf(llm.CauseBadRequest, "nothing was said yet: the session does not exist")
	}
	free, err := r.Hold(ctx, f.Root)
	if err != nil {
		return plug.Exit{}, session.Caused(err)
	}
	defer free()
	f.Plan.Title = text.OneLine(f.Plan.Title, maxTold)
	events := r.Events(f.Session)
	call := session.Call{
		Session: f.Session, ID: "plugin-" + run.NewID(), RunID: events.run, Name: f.Plugin + "/" + f.Tool,
		Effect: f.Plan.Effect, Started: time.Now(),
	}
	told := func(p plug.Payload) {
		if err := events.Emit(ctx, p); err != nil {
			r.Log.Warn("an event of a plugin's call is not kept", "error", err)
		}
	}
	told(plug.ToolStarted{ID: call.ID, Name: call.Name, Arguments: "{}", Effect: call.Effect, Title: f.Plan.Title})
	revoke, err := allowed(ctx, f.Gate, gate.Request{
		SessionID: f.Session, CallID: call.ID, Tool: call.Name, Plan: f.Plan, Observe: told,
	})
	defer revoke()
	if err == nil {
		defer r.lives(call.ID)()
		_, err = r.Store.BeginCall(ctx, call)
	}
	if err != nil {
		told(plug.ToolCompleted{ID: call.ID, Name: call.Name, IsError: true, Preview: err.Error()})
		return plug.Exit{}, err
	}
	exit, failed := f.Do(ctx)
	if err := r.end(ctx, events, call, exit, failed); err != nil {
		return exit, err
	}
	return exit, failed
}

// end stores and tells how a call ended.
func (r *Recorder) end(ctx context.Context, events *Events, call session.Call, exit plug.Exit, failed error) (err error) {
	call.Done, call.Ended = true, time.Now()
	call.Result = plug.Text(exit.Output).WithSummary("exit %d", exit.Code)
	if failed != nil {
		call.Result = plug.Error("%s", failed)
	}
	e := events.next(plug.ToolCompleted{
		ID: call.ID, Name: call.Name, IsError: failed != nil || exit.Code != 0, DurationMs: call.Ended.Sub(call.Started).Milliseconds(),
		Preview: text.Short(call.Result.PlainText(), maxTold), Summary: call.Result.Summary,
	})
	if e.ID, err = r.Store.EndCall(context.WithoutCancel(ctx), call, e); err != nil {
		return session.Caused(err)
	}
	r.Publish(e)
	return nil
}

// maxOpened is how often an effect may lead to further directories, as a call may.
const maxOpened = 8

// allowed asks the gate, and again when a directory was opened on the way: what was
// approved holds until revoke.
func allowed(ctx context.Context, g *gate.Gate, r gate.Request) (revoke func(), err error) {
	var releases []func()
	revoke = func() {
		for _, release := range slices.Backward(releases) {
			release()
		}
	}
	v := gate.Verdict{Opened: true}
	for n := 0; err == nil && v.Opened && n <= maxOpened; n++ {
		v, err = g.Decide(ctx, r)
		if v.Release != nil {
			releases = append(releases, v.Release)
		}
	}
	if err == nil && !v.Allowed {
		err = fmt.Errorf("not allowed: %s", v.Reason)
	}
	return revoke, err
}

// lives notes that a call is under way, until end.
func (r *Recorder) lives(id string) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live = make(map[string]bool)
	}
	r.live[id] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.live, id)
	}
}

// Alive reports whether a call of the journal is an effect that this process carries
// out now: nobody has to say what became of it.
func (r *Recorder) Alive(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[id]
}

// maxTold bounds what is told of a plugin's call, in characters.
const maxTold = 2000
