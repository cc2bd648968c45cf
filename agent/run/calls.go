package run

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

const (
	// maxParallel is how many reads run at once.
	maxParallel = 4
	// maxCalls is how many calls of one answer are run: a model that repeats
	// itself without end must not keep the tools busy for as long.
	maxCalls = 100
)

// calls runs the calls of one answer and appends their results in the order of
// the calls, whatever happens: an answer with calls is never left without them.
//
//	read read read | write | read read     "|" is a barrier
func (l *loop) calls(calls []llm.ToolCall) error {
	results := make([]done, len(calls))
	run := min(len(calls), maxCalls)
	for i := 0; i < run; {
		n := l.batch(calls[i:run])
		l.runBatch(calls[i:i+n], results[i:i+n])
		i += n
	}
	for i, c := range calls[run:] {
		w := &work{ToolCall: c, started: time.Now()}
		l.started(w, l.declared(c.Name))
		results[run+i] = l.end(w.refuse("not run: only the first %d calls of one answer are", maxCalls))
	}
	return l.settleResults(calls, results)
}

// batch returns how many calls from the front run together.
func (l *loop) batch(calls []llm.ToolCall) int {
	n := 0
	for n < len(calls) && n < maxParallel && l.parallel(calls[n]) {
		n++
	}
	return max(1, n)
}

func (l *loop) parallel(c llm.ToolCall) bool {
	t, ok := l.tools[c.Name]
	return ok && (t.spec.Concurrent || t.spec.Effect == plug.EffectRead)
}

// runBatch prepares the calls one after another, so that questions and events
// come in order, and executes each beside the others as soon as it may run.
func (l *loop) runBatch(calls []llm.ToolCall, results []done) {
	var wg sync.WaitGroup
	for i, c := range calls {
		w := l.begin(c)
		if len(calls) == 1 {
			results[i] = l.end(w)
			break
		}
		wg.Go(func() { results[i] = l.end(w) })
	}
	wg.Wait()
}

// done is a finished call.
type done struct {
	result plug.Result
	denied bool
	// chars is how long the text was before it was cut, zero if it was not;
	// whole is how read_file names what holds all of it, empty if nothing does.
	chars int
	whole string
}

// settleResults bounds, counts and stores the results of one answer.
func (l *loop) settleResults(calls []llm.ToolCall, results []done) error {
	left := batchChars(l.o.Model.ContextWindow)
	messages := make([]llm.Message, 0, len(calls))
	denied, ends := 0, false
	for i, c := range calls {
		r := l.bound(results[i], min(left, resultChars(l.o.Model.ContextWindow))).result
		text := r.PlainText()
		left = dec(left, utf8.RuneCountInString(text))
		if results[i].denied {
			denied++
		}
		if t := l.tools[c.Name]; t == nil || !t.spec.Polling {
			switch n := l.doom.seen(c, text); {
			case n >= doomEnd:
				ends = true
			case n >= doomNote:
				r.Parts = append(r.Parts, llm.Part{Type: llm.PartText, Text: l.doom.note()})
			}
		}
		messages = append(messages, session.ResultMessage(c.ID, r))
	}
	l.denied += denied
	l.allDenied = denied == len(calls)
	if err := l.append(messages...); err != nil {
		return err
	}
	switch {
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	case ends:
		return llm.Errorf(llm.CauseDoomLoop,
			"the model made the same call with the same result %d times in a row", doomEnd).
			WithHint("say in the prompt what to do differently, or try another model")
	}
	return nil
}
