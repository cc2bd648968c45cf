package tui

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/tui/term"
)

// notes is a Model that writes down when what happened, in milliseconds.
type notes struct {
	begin time.Time
	got   []string
	tick  time.Duration
	fail  error
	// unseen events change nothing.
	unseen string
}

func (n *notes) add(what string) {
	n.got = append(n.got, fmt.Sprintf("%d %s", time.Since(n.begin).Milliseconds(), what))
}

func (n *notes) Handle(event any) (changed, more bool) {
	switch ev := event.(type) {
	case term.Key:
		n.add(ev.Text)
		if ev.Text == "p" {
			panic("oh no")
		}
		return ev.Text != n.unseen, ev.Text != "q"
	case string:
		n.add(ev)
		return ev != n.unseen, true
	}
	return true, true
}

func (n *notes) Draw() error         { n.add("draw"); return n.fail }
func (n *notes) Tick() time.Duration { return n.tick }

// run gives a loop to do, in a bubble, and ends it.
func run(t *testing.T, n *notes, do func(keys chan<- term.Event, l *Loop)) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n.begin = time.Now()
		keys := make(chan term.Event, 16)
		l := NewLoop(keys, n)
		ended := make(chan error, 1)
		go func() { ended <- l.Run(t.Context()) }()
		synctest.Wait()
		do(keys, l)
		synctest.Wait()
		select {
		case err = <-ended:
		default:
			close(keys)
			err = <-ended
		}
		if l.Post("late") {
			t.Error("a loop that ended takes events")
		}
	})
	return err
}

func key(s string) term.Key { return term.Key{Text: s} }

func wantNotes(t *testing.T, n *notes, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(n.got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(n.got, "\n"), strings.Join(want, "\n"))
	}
}

// A frame that a key caused is drawn at once; others wait for their time.
func TestLoopFrames(t *testing.T) {
	n := &notes{unseen: "unseen"}
	err := run(t, n, func(keys chan<- term.Event, l *Loop) {
		time.Sleep(20 * time.Millisecond)
		l.Post("a")
		synctest.Wait()
		l.Post("b")
		synctest.Wait()
		keys <- key("k")
		synctest.Wait()
		l.Post("c")
		time.Sleep(5 * time.Millisecond)
		l.Post("d")
		l.Post("unseen")
		time.Sleep(100 * time.Millisecond)
		keys <- key("unseen")
		time.Sleep(100 * time.Millisecond)
	})
	if err != nil {
		t.Error(err)
	}
	wantNotes(t, n, "0 draw", "20 a", "20 draw", "20 b", "20 k", "20 draw", "20 c", "25 d", "25 unseen", "36 draw", "125 unseen")
}

// What waits is handled together and drawn once.
func TestLoopDrains(t *testing.T) {
	n := &notes{}
	run(t, n, func(keys chan<- term.Event, l *Loop) {
		for _, k := range "abc" {
			keys <- key(string(k))
		}
	})
	wantNotes(t, n, "0 draw", "0 a", "0 b", "0 c", "0 draw")
}

// Only what moves wakes the loop, and not more often than frames are drawn.
func TestLoopTicks(t *testing.T) {
	n := &notes{tick: 100 * time.Millisecond}
	run(t, n, func(_ chan<- term.Event, l *Loop) { time.Sleep(350 * time.Millisecond) })
	wantNotes(t, n, "0 draw", "100 draw", "200 draw", "300 draw")

	n = &notes{tick: time.Millisecond}
	run(t, n, func(_ chan<- term.Event, l *Loop) { time.Sleep(40 * time.Millisecond) })
	wantNotes(t, n, "0 draw", "16 draw", "32 draw")

	n = &notes{}
	run(t, n, func(_ chan<- term.Event, l *Loop) { time.Sleep(time.Hour) })
	wantNotes(t, n, "0 draw")
}

func TestLoopEnds(t *testing.T) {
	n := &notes{}
	if err := run(t, n, func(keys chan<- term.Event, _ *Loop) { keys <- key("q") }); err != nil {
		t.Errorf("told to end: %v", err)
	}
	gone := errors.New("terminal is gone")
	if err := run(t, &notes{fail: gone}, func(chan<- term.Event, *Loop) {}); !errors.Is(err, gone) {
		t.Errorf("drawing fails: %v", err)
	}
	var p *Panic
	err := run(t, &notes{}, func(keys chan<- term.Event, _ *Loop) { keys <- key("p") })
	if !errors.As(err, &p) || p.Value != "oh no" || !strings.Contains(p.Stack, "loop_test.go") {
		t.Errorf("a panic: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := NewLoop(nil, &notes{}).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// A flood of events from work does not keep a key from being seen, nor the screen from
// being drawn.
func TestLoopUnderAFlood(t *testing.T) {
	n := &slow{}
	synctest.Test(t, func(t *testing.T) {
		keys := make(chan term.Event, 1)
		l := NewLoop(keys, n)
		ended := make(chan error, 1)
		go func() { ended <- l.Run(t.Context()) }()
		poster := make(chan struct{})
		go func() {
			defer close(poster)
			for l.Post("more") {
			}
		}()
		time.Sleep(time.Second)
		keys <- key("q")
		sent := time.Now()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		<-poster
		if took := time.Since(sent); took > 2*FrameTime {
			t.Errorf("the key was handled after %v", took)
		}
	})
	if n.frames < 30 {
		t.Errorf("%d frames in a second", n.frames)
	}
}

// slow is a Model for which each event takes a millisecond.
type slow struct{ frames int }

func (s *slow) Handle(event any) (changed, more bool) {
	time.Sleep(time.Millisecond)
	_, isKey := event.(term.Key)
	return true, !isKey
}
func (s *slow) Draw() error         { s.frames++; return nil }
func (s *slow) Tick() time.Duration { return 0 }
