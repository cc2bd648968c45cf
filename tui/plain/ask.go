package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"alisio/agent/text"
	"alisio/plug"
	"alisio/tui/term"
)

const (
	// quiet is how long nothing may come in between a question and the mark behind
	// which it is answered (spec commands-tui.md, "Interactive queue"): what was
	// typed or pasted before somebody could read the question is no answer.
	quiet = 300 * time.Millisecond
	// settle is how long, after what was typed has been flushed, lines are dropped on:
	// one that was being read then arrives in this time.
	settle = 50 * time.Millisecond
	// unquiet is how long an input may go on before nobody is taken to be there.
	unquiet = 10 * time.Second
	// defaultCells is the width of a question where no terminal tells its own, and
	// fewestCells the least that is used.
	defaultCells, fewestCells = 80, 20
)

// asking is a question that waits for its answer.
type asking struct {
	ctx   context.Context
	q     plug.Question
	reply chan answered // one send, never dropped
}

type answered struct {
	plug.Answer
	err error
}

// no is an answer for a question that nobody answered.
func no(reason string) answered {
	return answered{Answer: plug.Answer{Decision: plug.Deny, Reason: reason, By: plug.ByHeadless}}
}

var errOver = errors.New("the conversation is over")

// Ask implements plug.Asker: the conversation puts the question, one at a time
// whoever asks. The end of the input, an interrupt and the end of the conversation
// are a no.
func (l *Lines) Ask(ctx context.Context, q plug.Question) (plug.Answer, error) {
	a := asking{ctx: ctx, q: q, reply: make(chan answered, 1)}
	select {
	case l.asks <- a:
		r := <-a.reply
		return r.Answer, r.err
	case <-ctx.Done():
		return plug.Answer{Decision: plug.Deny}, ctx.Err()
	case <-l.in.over:
		return plug.Answer{Decision: plug.Deny}, errOver
	}
}

// put puts a question and gives the asker its answer. Nothing else is printed
// while it stands. Stop cancels the run that asks.
func (l *Lines) put(a asking, stop func()) {
	defer l.hold()()
	if l.shown != nil {
		defer l.shown.pause()() // a person's time
	}
	r := l.answer(a, stop)
	switch {
	case r.err != nil && (errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded)):
		l.tell("the question was withdrawn")
	case r.err != nil:
		l.tell("a question could not be put: %s", r.err)
	case r.By == plug.ByHeadless && (a.q.Kind == plug.AskQuestions || a.q.Kind == plug.AskPlan):
		l.tell("that is no answer: %s", r.Reason)
	case r.By == plug.ByHeadless:
		l.tell("that is a no: %s", r.Reason)
	}
	a.reply <- r
}

// answer shows a question and reads the answer.
func (l *Lines) answer(a asking, stop func()) answered {
	l.takeWaiting()
	switch a.q.Kind {
	case plug.AskQuestions, plug.AskPlan:
		if l.end != nil {
			r := no("the input has ended and nobody can be asked")
			r.Chosen = make([]plug.Chosen, len(a.q.Questions))
			return r
		}
		if a.q.Kind == plug.AskPlan {
			return l.review(a, stop)
		}
		return l.choose(a, stop)
	}
	if l.end != nil {
		return no(one(a.q.Tool) + " was not allowed, since the input has ended and nobody can be asked")
	}
	return l.allow(a, stop)
}

// allow asks whether a call may run:
//
//	what came before ─► waits for the next prompt
//	                    question shown
//	what comes now   ─► dropped, until nothing came for a while
//	                    mark ─► a line ─► y, a, n: done; ?: all of it; else again
func (l *Lines) allow(a asking, stop func()) answered {
	whole := question(a.q, l.session, l.cells(), false)
	all := l.present(whole, "; nothing is allowed before")
	grant := grantable(a.q)
	for {
		t, r := l.reply(a, stop, marks(grant))
		if r != nil {
			return *r
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(t.text), " ")
		switch word = strings.ToLower(word); {
		case t.cut:
			l.print("that is no answer: the line is too long\n")
		case word == "n" || word == "no":
			return answered{Answer: plug.Answer{Decision: plug.Deny, Reason: refusal(rest), By: plug.ByUser}}
		case rest != "":
			l.print("only n takes a reason; answer with one letter\n")
		case word == "?":
			l.print("%s\n", strings.Join(question(a.q, l.session, l.cells(), true), "\n"))
			all = true
		case !all && (word == "y" || word == "yes" || word == "a"):
			l.print("not all of it was shown yet: ? shows it\n")
		case word == "y" || word == "yes":
			return answered{Answer: plug.Answer{Decision: plug.Once, By: plug.ByUser}}
		case word == "a" && grant:
			return answered{Answer: plug.Answer{Decision: plug.Session, By: plug.ByUser}}
		case word == "a":
			l.print("this is asked every time: answer y or n\n")
		default:
			l.print("that is no answer: type a letter and Enter\n")
		}
	}
}

// marks is what stands in front of an answer.
func marks(grant bool) string {
	a := ""
	if grant {
		a = "a while this program runs, "
	}
	return "allow? y once, " + a + "n no [reason], ? all: "
}

// refusal is what the model is told after a no.
func refusal(reason string) string {
	d := draft{}
	d.put(reason)
	const most = 2000
	if reason = strings.TrimSpace(d.message()); reason == "" {
		return ""
	}
	return "the person said no: " + text.Short(reason, most)
}

// reply waits until the input is quiet, shows the mark, and reads a line that was
// begun behind it. When there is none, it says what the question is answered with.
//
//	quiet ─► flush ─► settle ─► flush, mark ─► a line
//	  ▲        ▲ late? │            │ begun before the mark?
//	  └────────┴───────┴────────────┘ dropped
//
// Late is who was stopped or slept meanwhile: what was typed then comes at the same
// moment as the timer, which must not win.
func (l *Lines) reply(a asking, stop func(), mark string) (typed, *answered) {
	dropped, started := 0, time.Now()
	var flushed, marked time.Time // marked is zero until the mark stands
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		select {
		case t := <-l.in.lines:
			if r := l.ended(t); r != nil {
				return t, r
			}
			if !marked.IsZero() {
				if !t.began.Before(marked) {
					return t, nil
				}
				marked, started = time.Time{}, time.Now()
			}
			if dropped++; time.Since(started) > unquiet {
				r := no("the input does not stop, so nobody is taken to read the question")
				return t, &r
			}
			timer.Reset(quiet)
		case <-timer.C:
			if time.Since(flushed) > 2*settle {
				flushed = l.flush()
				timer.Reset(settle)
				continue
			}
			if marked = l.mark(mark, dropped); marked.IsZero() {
				timer.Reset(settle)
			}
			dropped, flushed = 0, time.Time{}
		case <-l.o.Interrupts:
			return typed{}, l.interruptedIn(stop)
		case <-a.ctx.Done():
			l.print("\n")
			return typed{}, withdrawn(a.ctx.Err())
		}
	}
}

// interruptedIn stops what asks, and with it the question.
func (l *Lines) interruptedIn(stop func()) *answered {
	l.print("\n")
	l.interrupt(stop)
	return withdrawn(context.Canceled)
}

func withdrawn(err error) *answered {
	return &answered{Answer: plug.Answer{Decision: plug.Deny}, err: err}
}

// mark shows the mark and returns when: no line that was begun before is an answer.
// It returns zero when that took so long that nobody knows who saw what.
func (l *Lines) mark(mark string, dropped int) time.Time {
	if dropped > 0 {
		l.tell("%s typed before this could be read, and dropped", Count(dropped+l.keepWhole(), "line was", "lines were"))
	}
	at := l.flush()
	if l.in.terminal {
		l.print("\r") // over what was typed and is gone
	}
	if l.print("%s", mark); time.Since(at) > settle {
		return time.Time{}
	}
	return at
}

// flush drops what was typed and not read yet, and returns when.
func (l *Lines) flush() time.Time {
	if l.in.terminal {
		term.Discard(l.o.Stdin)
	}
	return time.Now()
}

// ended turns the end of the input into a no. On a terminal it was a key, for this
// question.
func (l *Lines) ended(t typed) *answered {
	if t.err == nil {
		return nil
	}
	l.print("\n")
	if l.in.terminal && errors.Is(t.err, io.EOF) {
		return &answered{Answer: plug.Answer{Decision: plug.Deny, By: plug.ByUser}}
	}
	l.end = t.err
	r := no("nobody can be asked, since the input has ended")
	return &r
}

// keepWhole drops what waits of a message whose end is gone, which would take in all
// that is typed later, and returns how many lines that were.
func (l *Lines) keepWhole() (dropped int) {
	whole := 0
	var d draft
	for i, t := range l.waiting {
		if d.add(t) {
			whole, d = i+1, draft{}
		}
	}
	for _, t := range l.waiting[whole:] {
		l.size -= len(t.text) + 1
	}
	dropped = len(l.waiting) - whole
	l.waiting = l.waiting[:whole]
	return dropped
}

// cells is the width of what is foreign in a question.
func (l *Lines) cells() int {
	width, _ := term.Size(l.out)
	if width == 0 {
		width = defaultCells
	}
	return max(width-len(gutter)-1, fewestCells)
}

// print writes for the person; what is foreign in it is clean already.
func (l *Lines) print(format string, args ...any) { fmt.Fprintf(l.out, format, args...) }

// tell prints a notice.
func (l *Lines) tell(format string, args ...any) { Note(l.out, format, args...) }
