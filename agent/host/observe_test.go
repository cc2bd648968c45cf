package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/plug"
)

// journal is a store of events that numbers what is stored.
type journal struct {
	mu     sync.Mutex
	events []plug.Event
	page   int
	err    error
	reads  int
}

func (j *journal) store(session string, p plug.Payload) plug.Event {
	e := plug.Event{SessionID: session, Data: p}
	if p.EventType().Ephemeral() {
		return e
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e.ID = int64(len(j.events) + 1)
	j.events = append(j.events, e)
	return e
}

func (j *journal) after(_ context.Context, session string, id int64) ([]plug.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads++
	var out []plug.Event
	for _, e := range j.events {
		if e.ID > id && e.SessionID == session && (j.page == 0 || len(out) < j.page) {
			out = append(out, e)
		}
	}
	return out, j.err
}

func delta(n int) plug.Payload { return plug.Delta{Delta: fmt.Sprint(n)} }
func turn(n int) plug.Payload  { return plug.TurnCompleted{Turn: n} }

// seen keeps what an observer got.
type seen struct {
	mu     sync.Mutex
	events []plug.Event
}

func (s *seen) add(e plug.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

func (s *seen) ids(session string) (ids []int64, ephemeral int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		switch {
		case e.SessionID != session:
		case e.ID == 0:
			ephemeral++
		default:
			ids = append(ids, e.ID)
		}
	}
	return ids, ephemeral
}

func watch(t *testing.T, h *Host, id string, types []plug.EventType, do func(ctx context.Context, e plug.Event)) (undo func()) {
	t.Helper()
	plugin(t, h, id, func(api *plug.API) (err error) {
		undo, err = api.Observe(plug.Observer{Types: types, Event: do})
		return err
	})
	return undo
}

func TestObserversSeeEventsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		h := toyHost(t, Options{After: j.after})
		var all, turns seen
		watch(t, h, "all", nil, func(_ context.Context, e plug.Event) { all.add(e) })
		watch(t, h, "turns", []plug.EventType{plug.TypeTurnCompleted}, func(_ context.Context, e plug.Event) { turns.add(e) })
		for n := range 100 {
			h.Publish(j.store("s", delta(n)))
			h.Publish(j.store("s", turn(n)))
		}
		h.Publish(plug.Event{}) // of no type
		synctest.Wait()
		if len(all.events) != 200 || !reflect.DeepEqual(all.events[198].Data, delta(99)) || !reflect.DeepEqual(all.events[199].Data, turn(99)) {
			t.Errorf("got %d events", len(all.events))
		}
		ids, ephemeral := turns.ids("s")
		if len(ids) != 100 || ephemeral != 0 || !slices.IsSorted(ids) {
			t.Errorf("got %d turns and %d deltas", len(ids), ephemeral)
		}
		if j.reads != 0 {
			t.Errorf("the store was read %d times", j.reads)
		}
	})
}

// An observer that falls behind misses ephemeral events alone, whatever is
// published meanwhile, and sees each stored one once, in order.
func TestSlowObserverMissesEphemeralsAlone(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			j := &journal{page: 1 + r.IntN(50)}
			h := toyHost(t, Options{After: j.after})
			var got seen
			pace := rand.New(rand.NewPCG(seed, 2))
			watch(t, h, "slow", nil, func(_ context.Context, e plug.Event) {
				time.Sleep(time.Duration(pace.IntN(3)) * time.Millisecond)
				got.add(e)
			})
			var some seen // by one that wants one type alone, and is slower still
			watch(t, h, "picky", []plug.EventType{plug.TypeTurnCompleted}, func(_ context.Context, e plug.Event) {
				time.Sleep(5 * time.Millisecond)
				some.add(e)
			})
			sessions := []string{"a", "b", "c"}
			starts := 0
			count := map[string]int{}
			for n := range 3000 {
				s := sessions[r.IntN(len(sessions))]
				p := turn(n)
				switch r.IntN(4) {
				case 0:
				case 1:
					p = plug.RunStarted{}
					starts++
				default:
					p = delta(n)
				}
				if !p.EventType().Ephemeral() {
					count[s]++
				}
				h.Publish(j.store(s, p))
				if r.IntN(400) == 0 {
					time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			ephemeral := 0
			for _, s := range sessions {
				ids, n := got.ids(s)
				ephemeral += n
				if len(ids) != count[s] || !slices.IsSorted(ids) || len(slices.Compact(ids)) != count[s] {
					t.Errorf("seed %d: session %s: %d of %d stored events, sorted %v", seed, s, len(ids), count[s], slices.IsSorted(ids))
				}
			}
			stored := count["a"] + count["b"] + count["c"]
			if n := len(some.events); n != stored-starts || slices.ContainsFunc(some.events, func(e plug.Event) bool { return e.Data.EventType() != plug.TypeTurnCompleted }) {
				t.Errorf("seed %d: the picky one saw %d events, want %d", seed, n, stored-starts)
			}
			if ephemeral == 0 || ephemeral >= 3000-stored || j.reads == 0 {
				t.Errorf("seed %d: %d deltas, %d reads", seed, ephemeral, j.reads)
			}
			if d := h.Diagnostics(); len(d) != 0 {
				t.Errorf("got %v", d)
			}
		})
	}
}

// Publishing never waits, also for an observer that never returns, which keeps no
// more than its ring.
func TestPublishNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		h := toyHost(t, Options{After: j.after})
		watch(t, h, "hangs", nil, func(context.Context, plug.Event) { time.Sleep(time.Hour) })
		begin := time.Now()
		for n := range 10_000 {
			h.Publish(j.store("s", turn(n)))
		}
		if time.Since(begin) != 0 {
			t.Errorf("it took %s", time.Since(begin))
		}
		if o := h.r.observers.rows[0].value; len(o.ring) > ringSize || len(o.gaps) != 1 {
			t.Errorf("it keeps %d events and %d gaps", len(o.ring), len(o.gaps))
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("closing took %s", took)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestPanicEndsTheObserver(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("no luck") }, "goexit": goexit} {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			h := toyHost(t, Options{After: j.after})
			var other seen
			calls := 0
			undo := watch(t, h, "bad", nil, func(context.Context, plug.Event) { calls++; fail() })
			watch(t, h, "good", nil, func(_ context.Context, e plug.Event) { other.add(e) })
			for n := range 10 {
				h.Publish(j.store("s", turn(n)))
				synctest.Wait()
			}
			if calls != 1 || len(other.events) != 10 || len(h.r.observers.rows) != 1 {
				t.Errorf("%s: %d calls, the other saw %d, %d are left", name, calls, len(other.events), len(h.r.observers.rows))
			}
			d := h.Diagnostics()
			if name == "panic" && (len(d) != 1 || d[0].Code != ObserverFailed || d[0].Plugin != "bad" || d[0].Err.Error() != "observer: panic: no luck") {
				t.Errorf("got %v", d)
			}
			undo()
		})
	}
}

// What the store does not give is told of once; what comes later is seen.
func TestStoreThatHasNothing(t *testing.T) {
	for name, o := range map[string]Options{
		"fails":   {After: func(context.Context, string, int64) ([]plug.Event, error) { return nil, errors.New("disk gone") }},
		"panics":  {After: func(context.Context, string, int64) ([]plug.Event, error) { panic("disk gone") }},
		"forgets": {After: func(context.Context, string, int64) ([]plug.Event, error) { return nil, nil }},
		"old ones": {After: func(context.Context, string, int64) ([]plug.Event, error) {
			return []plug.Event{{ID: 1, SessionID: "s", Data: turn(1)}, {ID: 1 << 60, SessionID: "other", Data: turn(1)}, {ID: 1 << 60, SessionID: "s"}}, nil
		}},
		"none": {},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := toyHost(t, o)
			j := &journal{}
			var got seen
			watch(t, h, "slow", nil, func(_ context.Context, e plug.Event) { time.Sleep(time.Millisecond); got.add(e) })
			for n := range 2 * ringSize {
				h.Publish(j.store("s", turn(n)))
			}
			time.Sleep(time.Minute)
			last := j.store("s", turn(-1))
			h.Publish(last)
			time.Sleep(time.Minute)
			ids, _ := got.ids("s")
			if len(ids) < ringSize || len(ids) > ringSize+3 || ids[len(ids)-1] != last.ID {
				t.Errorf("%s: saw %d, the last %d", name, len(ids), ids[len(ids)-1])
			}
			if d := h.Diagnostics(); len(d) != 1 || d[0].Code != ObserverFailed || !strings.Contains(d[0].Err.Error(), "session s: stored events behind") {
				t.Errorf("%s: got %v", name, d)
			}
		})
	}
}

func TestCloseDrainsObservers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		h := toyHost(t, Options{After: j.after})
		var got seen
		watch(t, h, "slow", nil, func(_ context.Context, e plug.Event) { time.Sleep(time.Millisecond); got.add(e) })
		for n := range 2 * ringSize {
			h.Publish(j.store("s", turn(n)))
		}
		if err := h.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if ids, _ := got.ids("s"); len(ids) != 2*ringSize {
			t.Errorf("saw %d", len(ids))
		}
	})
}

func TestUndoneObserverSeesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		j := &journal{}
		var got seen
		var undo func()
		undo = watch(t, h, "once", nil, func(ctx context.Context, e plug.Event) {
			got.add(e)
			undo() // from its own goroutine
			if ctx.Err() == nil {
				t.Error("its context goes on")
			}
		})
		for n := range 10 {
			h.Publish(j.store("s", turn(n)))
		}
		synctest.Wait()
		if len(got.events) != 1 {
			t.Errorf("saw %d", len(got.events))
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	h := New(Options{})
	defer h.Close(context.Background())
	for range 3 {
		if _, err := h.observe(h.own, plug.Observer{Event: func(context.Context, plug.Event) {}}); err != nil {
			b.Fatal(err)
		}
	}
	e := plug.Event{SessionID: "s", Data: delta(1)}
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(e)
	}
}
