package plain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/term"
)

// finished is what app.Run returned.
type finished struct {
	out agent.Outcome
	err error
}

// patience is how long something without a line of its own may take before the person
// is told of it.
const patience = time.Second

const waits = "what is typed now waits for the next prompt"

// work runs one prompt. It returns an error, or cancelled, when that ends the
// conversation.
func (l *Lines) work(ctx context.Context, app *agent.App, prompt string, o agent.RunOptions, advise func(error) error) (cancelled bool, err error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	l.stopping = false
	s := l.surface(stop)
	release := l.hold()
	l.shown = s
	release()
	session := l.session
	o.OnEvent = func(e plug.Event) {
		defer l.hold()()
		s.Event(e)
	}
	var f finished
	l.beside(func() { f.out, f.err = app.Run(run, session, prompt, o) }, stop, "")
	release = l.hold()
	s.Close()
	l.shown = nil
	release()
	if f.out.SessionID != "" {
		l.session = f.out.SessionID
	}
	switch {
	case Gone(s.Err()):
		return true, nil // nobody is left to tell
	case s.Err() != nil:
		return false, fmt.Errorf("write the answer: %w; the run was stopped", s.Err())
	case ctx.Err() != nil:
		return true, nil
	case l.stopping && (f.out.Status == agent.Cancelled || errors.Is(f.err, context.Canceled)):
		l.stopped()
		return false, nil
	}
	return false, l.outcome(f, advise)
}

// stopped tells of a run that the person stopped. What was typed meanwhile was
// typed for what would have come of it: it is not sent, and shown, to be copied.
func (l *Lines) stopped() {
	l.tell("stopped; what was done so far is kept")
	if len(l.waiting) == 0 || !l.in.terminal {
		return
	}
	l.tell("not sent, since it was typed while the run worked:")
	for _, t := range l.waiting {
		l.print("%s%s\n", gutter, text.Clip(one(t.text), echoCells))
	}
	l.waiting, l.size = nil, 0
}

// outcome prints how a run ended that was not stopped, and returns what is fatal.
func (l *Lines) outcome(f finished, advise func(error) error) error {
	err := f.err
	if err == nil && f.out.Err != nil {
		err = f.out.Err
	}
	var busy *agent.BusyError
	var uncertain *agent.UncertainError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &uncertain), llm.CauseOf(err) == llm.CauseStore && !errors.As(err, &busy):
		return err
	case advise != nil:
		err = advise(err)
	}
	Failure(l.out, err)
	return nil
}

// surface makes the one that a run is printed on.
func (l *Lines) surface(stop func()) *Text {
	o := TextOptions{
		Answer: l.o.Stdout, Notes: l.out, Stop: stop, Diffs: true, Dim: term.Color(l.out, l.o.Getenv),
		Shared: term.IsTerminal(l.o.Stdout) && term.IsTerminal(l.out),
		Hold:   l.hold, Live: l.draws(),
	}
	if l.o.Quiet {
		o.Notes, o.Hold = nil, nil
	}
	return NewText(o)
}

// beside does something in a goroutine of its own, and attends to the person until it
// is done.
func (l *Lines) beside(do, stop func(), late string) {
	done := make(chan struct{}) // closed once, nothing is sent
	go func() {
		defer close(done)
		do()
	}()
	l.attend(done, stop, late)
}

// attend waits for the end of something: it answers the questions that come up, keeps
// what is typed for the next prompt, and calls stop when the person interrupts. Late,
// if it says something, is told once when that takes long, unless Quiet.
func (l *Lines) attend(done <-chan struct{}, stop func(), late string) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	due := false
	for {
		lines := l.in.lines
		if l.full() {
			lines = nil
		}
		say := ""
		switch {
		case due:
			say = late
		case len(l.waiting) > 0 && l.in.terminal && !l.warned:
			say = waits
		}
		var told chan<- struct{} // the ticket to say it
		if say != "" {
			told = l.screen
		}
		select {
		case <-done:
			return
		case told <- struct{}{}:
			l.clear()
			l.tell("%s", say)
			l.warned = l.warned || say == waits
			due = false
			<-l.screen
		case <-timer.C:
			due = late != "" && !l.o.Quiet
		case a := <-l.asks:
			l.put(a, stop)
		case t := <-lines:
			l.wait(t)
		case <-l.o.Interrupts:
			l.interrupt(stop)
		}
	}
}

// interrupt stops the run; the second one ends the process.
func (l *Lines) interrupt(stop func()) {
	if l.stopping {
		if l.o.Quit != nil {
			l.Restore()
			l.o.Quit()
		}
		return
	}
	l.stopping = true
	stop()
}

// full reports that no more lines are taken in while a run works.
func (l *Lines) full() bool { return l.end != nil || l.size >= maxMessage }

// wait keeps a line that came while a run works.
func (l *Lines) wait(t typed) {
	if t.err != nil {
		l.end = t.err
		return
	}
	l.waiting = append(l.waiting, t)
	l.size += len(t.text) + 1
}

// takeWaiting takes in what has come and nobody has looked at.
func (l *Lines) takeWaiting() {
	for !l.full() {
		select {
		case t := <-l.in.lines:
			l.wait(t)
		default:
			return
		}
	}
}
