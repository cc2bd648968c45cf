package plain

import (
	"context"
	"errors"
	"fmt"

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

// work runs one prompt. It returns an error, or cancelled, when that ends the
// conversation.
func (l *Lines) work(ctx context.Context, app *agent.App, prompt string, o agent.RunOptions, advise func(error) error) (cancelled bool, err error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	l.stopping = false
	s := l.surface(stop)
	o.OnEvent = func(e plug.Event) {
		defer l.hold()()
		s.Event(e)
	}
	done := make(chan finished, 1) // one send, never dropped
	go func() {
		out, err := app.Run(run, l.session, prompt, o)
		done <- finished{out, err}
	}()
	f := l.attend(done, stop)
	release := l.hold()
	s.Close()
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
		Hold:   l.hold,
	}
	if l.o.Quiet {
		o.Notes, o.Hold = nil, nil
	}
	return NewText(o)
}

// attend waits for the end of a run: it answers its questions, keeps what is typed
// for the next prompt, and stops it when the person interrupts.
func (l *Lines) attend(done <-chan finished, stop func()) finished {
	for {
		lines := l.in.lines
		if l.full() {
			lines = nil
		}
		var told chan<- struct{} // the ticket to say that lines wait
		if len(l.waiting) > 0 && l.in.terminal && !l.warned {
			told = l.screen
		}
		select {
		case f := <-done:
			return f
		case told <- struct{}{}:
			l.tell("what is typed now waits for the next prompt")
			l.warned = true
			<-l.screen
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
