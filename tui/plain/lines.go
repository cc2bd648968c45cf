package plain

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"alisio/agent"
	"alisio/cmdcat"
	"alisio/llm"
	"alisio/tui/term"
)

// Lines is the line mode: a conversation on a terminal that is left as it is, or
// on pipes. Answers go to standard output and nothing else does; the head, marks,
// questions, tool lines and notices go where a person looks.
//
//	standard input ─► reader ─┐                        ┌─► the next prompt
//	interrupts ───────────────┼─► Run ─► what is typed ┼─► cmdcat, its text ──┐
//	questions of the run ─────┘    ▲                   └─► agent.App.Run ─────┤
//	        ▲                      └───────── events, printed ────────────────┤
//	        └─────────────────────────────────────────────────────────────────┘
//
// The goroutine of Run alone takes lines and answers questions, and the fields of
// its state are its own. It is made before the application, whose Asker it is.
type Lines struct {
	o   LineOptions
	out io.Writer // where a person looks
	in  *reader

	asks chan asking // unbuffered: who asks waits
	// screen holds the one ticket to print: a question keeps it until the answer.
	screen chan struct{}

	// bracketed: the terminal marks what is pasted, which must be ended.
	bracketed atomic.Bool

	catalog *cmdcat.Catalog
	session string
	// agent is that of the session now.
	agent func() string
	// shown is where the run that works is printed; who has the screen looks.
	shown *Text
	// waiting came while a run worked; size is their bytes.
	waiting []typed
	size    int
	// end is why no more lines come: io.EOF, or what reading met.
	end     error
	warned  bool      // it was said that what is typed waits
	leaving time.Time // of the last interrupt at an empty prompt
	// stopping: the run was told to stop.
	stopping bool
}

// LineOptions is the world around a line mode.
type LineOptions struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Interrupts brings SIGINT, which stops a run and not the program. What ends
	// the program cancels the context of Lines.Run. Its size is the sender's; one
	// that is dropped while another waits changes nothing.
	Interrupts <-chan os.Signal
	// Quit ends the process at once, the terminal being left as it was: an interrupt
	// came while a run is stopped already. Without it such an interrupt is ignored.
	Quit func()
	// Quiet leaves out the head, tool lines and notices of a run; NoBanner the screen
	// in front of the head.
	Quiet, NoBanner bool
}

// Talk says what a conversation is about.
type Talk struct {
	// Session is the stored session to go on with; empty: a new one.
	Session string
	// Prompt, if any, is sent first, with Images.
	Prompt string
	Images []llm.Attachment
	// Acknowledge is RunOptions.AcknowledgeUncertain of the first run.
	Acknowledge   bool
	CorrelationID string
	// Workspace and Mode, the permission mode, stand in the head. Dir is the working
	// directory, which is in the workspace.
	Workspace, Mode, Dir string
	// History gives the messages of a session, to show the last exchange of the
	// one that goes on; nil shows none.
	History func(ctx context.Context, session string) ([]llm.Message, error)
	// GoOn says, at the end, how to go on with a session; nil says nothing.
	GoOn func(ctx context.Context, session string) string
	// Advise adds what can be done to the error of a run; nil adds nothing.
	Advise func(error) error
}

// Ended is how a conversation ended that met nothing fatal.
type Ended struct {
	// Session is empty when nothing was asked.
	Session string
	// Cancelled: by interrupts, by the context, or because nobody reads the answers
	// any more (exit code 130).
	Cancelled bool
}

// NewLines makes a line mode. It reads nothing before Run.
func NewLines(o LineOptions) *Lines {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	l := &Lines{
		o: o, out: o.Stderr, in: newReader(o.Stdin, term.IsTerminal(o.Stdin)),
		asks: make(chan asking), screen: make(chan struct{}, 1),
	}
	if !term.IsTerminal(o.Stderr) && term.IsTerminal(o.Stdout) {
		l.out = o.Stdout // a question that goes into a file is seen by nobody
	}
	return l
}

// Log prints warnings of the engine, never into a question.
func (l *Lines) Log() slog.Handler {
	if l.o.Quiet {
		return slog.DiscardHandler
	}
	return NewNotices(heldWriter{l})
}

// heldWriter waits until the screen is free.
type heldWriter struct{ l *Lines }

func (h heldWriter) Write(p []byte) (int, error) {
	defer h.l.hold()()
	h.l.clear()
	return h.l.out.Write(p)
}

// clear makes room on the screen, which its caller has, for a line of another kind than
// the run's.
func (l *Lines) clear() {
	if l.shown != nil {
		l.shown.erase()
	}
}

// hold takes the screen and returns what gives it back.
func (l *Lines) hold() func() {
	l.screen <- struct{}{}
	return func() { <-l.screen }
}

// Run talks until the person leaves. It is called once. The error is what ended
// the conversation, not printed yet: a store that is broken, a session of which it
// is not known what took effect (agent.UncertainError), an input or output that is
// gone, and before the first prompt no model or server (CauseBadRequest and
// others). What a run fails with is printed, and the conversation goes on.
func (l *Lines) Run(ctx context.Context, app *agent.App, t Talk) (Ended, error) {
	l.session, l.catalog = t.Session, cmdcat.New(app)
	l.agent = func() string { return app.AgentOf(l.session) }
	go l.in.run() // see there for why it is not waited for
	defer close(l.in.over)
	defer l.bracket()()
	defer app.Bind(agent.Surface{Open: openNothing})()
	if err := l.head(ctx, app, t); err != nil {
		return Ended{Session: l.session}, err
	}
	left, err := l.talk(ctx, app, t)
	if err == nil {
		l.leave(ctx, app)
	}
	if l.session != "" && t.GoOn != nil && !l.o.Quiet {
		l.tell("%s", t.GoOn(ctx, l.session))
	}
	return Ended{Session: l.session, Cancelled: left}, err
}

// openNothing answers plugins that want to show a session: lines have no view beside
// the conversation. What plugins set is looked at with /stats, so nothing is told of
// changes.
func openNothing(sessionID string) error {
	return fmt.Errorf("a conversation in lines has no screen for it; alisio sessions show %s prints it", sessionID)
}

// talk is the loop: what is typed, and what becomes of it.
func (l *Lines) talk(ctx context.Context, app *agent.App, t Talk) (cancelled bool, err error) {
	o := agent.RunOptions{CorrelationID: t.CorrelationID, Attachments: t.Images, AcknowledgeUncertain: t.Acknowledge}
	for first := true; ; first = false {
		p := prompted{text: t.Prompt}
		if !first || t.Prompt == "" {
			p = l.prompt(ctx)
		} else {
			l.echo(t.Prompt)
		}
		if p.left || p.err != nil {
			return p.cancelled, p.err
		}
		what, err := l.command(ctx, p)
		switch {
		case Gone(err):
			return true, nil
		case err != nil:
			return false, err
		case what.leave:
			return ctx.Err() != nil, nil
		case what.next != nil:
			if err := l.moves(ctx, app, t, *what.next); err != nil {
				return false, err
			}
		}
		if what.prompt == "" {
			continue
		}
		o.Display = what.display
		cancelled, err := l.work(ctx, app, what.prompt, o, t.Advise)
		if cancelled || err != nil {
			return cancelled, err
		}
		o.Attachments, o.AcknowledgeUncertain = nil, false // they go with the first prompt
	}
}

// leave calls the end hooks of plugins. When the program is told to end, they have the
// time that it takes to close.
func (l *Lines) leave(ctx context.Context, app *agent.App) {
	if ctx.Err() != nil || l.session == "" {
		return
	}
	ctx, skip := context.WithCancel(ctx)
	defer skip()
	l.stopping, l.warned = false, true // there is no next prompt
	l.beside(func() { app.Leave(ctx, l.session) }, skip, finishing)
}
