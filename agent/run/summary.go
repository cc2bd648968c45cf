package run

import (
	"context"

	"alisio/agent/compact"
	"alisio/llm"
	"alisio/plug"
)

// defaultCheckpoint is what a checkpoint may take where nobody says so, in tokens.
const defaultCheckpoint = 16_000

// summary is a request for a checkpoint: nothing of its answer is shown or stored.
type summary struct {
	messages []llm.Message
	output   int
}

// size is what it takes of the window, by estimate, in tokens.
func (s *summary) size() int { return compact.Tokens(s.messages...) + s.output }

// summaryOf makes the request for a checkpoint of messages: clipped, when they take too
// much beside it.
func (l *loop) summaryOf(messages []llm.Message, ask llm.Message) *summary {
	output := l.o.Compaction.MaxOutputTokens
	if output == 0 {
		output = defaultCheckpoint
	}
	if window := l.o.Model.ContextWindow; window > 0 {
		// Rather a shorter checkpoint than one of clipped messages: with these the request
		// would not begin with the bytes that the server has in its cache.
		output = max(leastCheckpoint, min(output, window/4))
		room := window - l.density.Whole(l.fixed()+compact.Tokens(ask)) - compact.Margin
		output = max(min(output, room-l.density.Whole(compact.Tokens(messages...))), min(output, window/8))
		messages = compact.Fit(messages, l.density.Estimated(room-output))
	} else {
		messages = compact.Fit(messages, max(l.o.Limits.MaxContextChars, 4_000)/compact.CharsPerToken)
	}
	return &summary{messages: append(messages, ask), output: output}
}

// summarize asks the session's model for a checkpoint of messages. The request begins
// with the bytes of those before it, as far as the messages fit.
func (l *loop) summarize(messages []llm.Message, wishes []compact.Wish) (c compact.Checkpoint, u llm.Usage, err error) {
	ask := compact.Ask(wishes)
	r := request{loop: l, summary: l.summaryOf(messages, ask)}
	for {
		a := r.send()
		if llm.CauseOf(a.err) == llm.CauseContextLength && !r.shrunk && l.o.Model.ContextWindow > 0 {
			r.shrunk = true
			r.refused()
			r.spent(a)
			was := *r.summary
			if r.summary = l.summaryOf(messages, ask); r.summary.size() < was.size() {
				continue
			}
			return c, u, a.err
		}
		done, err := r.summarized(a)
		if err != nil {
			return c, u, err
		}
		if !done {
			continue
		}
		guessed := a.usage == nil
		if guessed {
			u = *a.estimate(llm.Message{Text: a.said()})
		} else {
			u = *a.usage
			l.density.Counted(u.Input, a.input)
		}
		l.count(a, plug.SpentOnCompaction, &u, guessed)
		c, ok := compact.Read(a.said(), a.message.Truncated)
		if !ok {
			return c, u, unusable(a.message.Truncated, r.summary.output)
		}
		return c, u, nil
	}
}

func unusable(cut bool, output int) error {
	if cut {
		return llm.Errorf(llm.CauseOutputTruncated, "%w: its answer was cut after %d tokens (compaction.maxOutputTokens)", errUnusable, output).
			WithHint("raise compaction.maxOutputTokens")
	}
	return llm.Errorf(llm.CauseStream, "%w", errUnusable)
}

// summarized looks at an answer that is to be a checkpoint. What of one broke off is
// of no use, and so is what a model says beside a call: it is asked for anew.
func (r *request) summarized(a *answer) (done bool, err error) {
	a.text = nil
	switch {
	case r.ctx.Err() != nil:
		r.spent(a)
		return false, context.Cause(r.ctx)
	case a.err != nil && llm.OutputTruncated(a.err):
		r.spent(a)
		return false, unusable(true, r.summary.output)
	case a.err != nil:
		r.spent(a)
		return false, r.broke(a)
	case a.said() == "" && a.message.Truncated:
		r.spent(a)
		return false, unusable(true, r.summary.output)
	case a.said() == "", len(a.message.Calls) > 0 && !structured(a.said()):
		r.spent(a)
		a.message = nil
		return false, r.empty(a)
	}
	return true, nil
}

func structured(answer string) bool {
	c, _ := compact.Read(answer, false)
	return c.Structured
}
