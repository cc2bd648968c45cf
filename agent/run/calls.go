package run

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"alisio/agent/doom"
	"alisio/agent/session"
	"alisio/agent/text"
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
	clear(l.news)
	if len(calls) == 1 {
		return l.call(calls[0])
	}
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
	messages, ends := l.settle(calls, results)
	if err := l.append(messages...); err != nil {
		return err
	}
	return l.verdict(ends)
}

// call runs the only call of an answer: its result and the message that answers
// it are stored at once.
func (l *loop) call(c llm.ToolCall) error {
	w := l.begin(c)
	l.at(where{stage: plug.StageTool, tool: text.Short(c.Name, 80)})
	d := l.perform(w)
	l.at(where{stage: plug.StageOther})
	messages, ends := l.settle([]llm.ToolCall{c}, []done{d})
	if err := l.journalEnd(w, &d.result, messages...); err != nil {
		return err
	}
	l.messages = append(l.messages, messages...)
	return l.verdict(ends)
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
		if i == 0 {
			l.at(where{stage: plug.StageTool, tool: text.Short(c.Name, 80)})
		}
		wg.Go(func() { results[i] = l.end(w) })
	}
	wg.Wait()
	l.at(where{stage: plug.StageOther})
}

// done is a finished call.
type done struct {
	result plug.Result
	denied bool
	// back: the call went back to the model with files to read first.
	back bool
	// files is how many characters of the result are instruction files.
	files int
	// chars is how long the text was before it was cut, zero if it was not;
	// whole is how read_file names what holds all of it, empty if nothing does.
	chars int
	whole string
}

// settle bounds and counts the results of one answer and makes the messages that
// answer its calls; ends: the model goes in circles.
func (l *loop) settle(calls []llm.ToolCall, results []done) (messages []llm.Message, ends bool) {
	left, one := batchChars(l.o.Model.ContextWindow), resultChars(l.o.Model.ContextWindow)
	for i, d := range results { // no other result takes the room of instruction files
		results[i].files = min(d.files, left)
		left -= results[i].files
	}
	denied := 0
	for i, c := range calls {
		d := results[i]
		r := l.bound(d, min(left+d.files, one)).result
		text := r.PlainText()
		left = dec(left, dec(utf8.RuneCountInString(text), d.files))
		if d.denied {
			denied++
		}
		if t := l.tools[c.Name]; !d.back && (t == nil || !t.spec.Polling) {
			switch n := l.doom.Seen(c, text); {
			case n >= doom.End:
				ends = true
			case n >= doom.Note:
				r.Parts = append(r.Parts, llm.Part{Type: llm.PartText, Text: l.doom.Text()})
			}
		}
		messages = append(messages, session.ResultMessage(c.ID, r))
	}
	l.denied += denied
	l.allDenied = denied == len(calls)
	return messages, ends
}

// verdict says whether the run goes on behind an answer's calls.
func (l *loop) verdict(ends bool) error {
	switch {
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	case ends:
		return llm.Errorf(llm.CauseDoomLoop,
			"the model made the same call with the same result %d times in a row", doom.End).
			WithHint("say in the prompt what to do differently, or try another model")
	}
	return nil
}
