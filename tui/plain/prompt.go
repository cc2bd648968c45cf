package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/term"
)

const (
	promptMark   = "> "
	continueMark = ". "
	// maxAgent bounds the name of an agent in front of a prompt, in cells.
	maxAgent = 20
	// moment is how soon a second interrupt at an empty prompt leaves.
	moment = 2 * time.Second
	// echoCells bounds how much of a prompt that was not typed here is shown.
	echoCells = 200
)

const (
	howOut  = "Ctrl+D leaves, and so does Ctrl+C once more"
	tooLong = "a line or the message is longer than can be taken, and was not sent: write it to a file and name that"
	noEnd   = `the input ended within a block, which was not sent: a line of """ ends it`
)

// prompted is what was typed, or how the conversation ends.
type prompted struct {
	text string
	// literal: it is no command, whatever it begins with.
	literal bool
	// left: the person leaves; cancelled: not by the end of the input.
	left, cancelled bool
	err             error
}

// prompt reads until there is something to send.
func (l *Lines) prompt(ctx context.Context) prompted {
	for {
		var d draft
		p, again := l.read(ctx, &d)
		if again {
			continue
		}
		if p.left || p.err != nil {
			return p
		}
		s := d.message()
		switch {
		case d.large:
			l.tell(tooLong)
		case strings.TrimSpace(s) == "":
		case !d.literal && leaves(s):
			return prompted{left: true}
		case !d.literal && strings.HasPrefix(s, "//") && !strings.Contains(s, "\n"):
			return prompted{text: s[1:], literal: true}
		default:
			return prompted{text: s, literal: d.literal}
		}
	}
}

// leaves reports whether a line asks to leave: people type into a terminal what
// leaves other programs, and no model can make anything of it.
func leaves(s string) bool {
	switch strings.ToLower(s) {
	case "exit", "quit":
		return true
	}
	return false
}

// read fills a draft. Again: what was typed was taken back.
func (l *Lines) read(ctx context.Context, d *draft) (p prompted, again bool) {
	mark := l.promptMark()
	for {
		if t, ok := l.next(); ok {
			if t.err != nil {
				return l.atEnd(d, t.err), false
			}
			if mark != "" {
				l.print("%s", mark)
			}
			l.echoLine(d, t)
			if d.add(t) {
				return p, false
			}
			mark = ""
			continue
		}
		if mark != "" {
			l.print("%s", mark)
		}
		select {
		case t := <-l.in.lines:
			if t.err != nil {
				l.end = t.err
				mark = ""
				continue
			}
			l.leaving = time.Time{}
			if !l.in.terminal {
				l.echoLine(d, t)
			}
			if d.add(t) {
				return p, false
			}
			mark = l.between(d)
		case a := <-l.asks:
			l.stopping = false
			l.put(a, func() {})
			mark = l.promptMark()
		case <-l.o.Interrupts:
			return l.interrupted(d)
		case <-ctx.Done():
			l.print("\n")
			return prompted{left: true, cancelled: true}, false
		}
	}
}

// promptMark stands in front of a prompt. It names the agent that the prompt goes to,
// unless that is the one which nobody has to choose.
func (l *Lines) promptMark() string {
	if id := l.agent(); id != agent.DefaultAgent {
		return text.Clip(text.Line(id), maxAgent) + promptMark
	}
	return promptMark
}

// next takes what waits, and when all of it is taken the end of the input.
func (l *Lines) next() (typed, bool) {
	if len(l.waiting) > 0 {
		t := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.size -= len(t.text) + 1
		return t, true
	}
	return typed{err: l.end}, l.end != nil
}

// between is the mark within a message: none where many lines come.
func (l *Lines) between(d *draft) string {
	if d.block || d.pasting || !l.in.terminal {
		return ""
	}
	return continueMark
}

// atEnd is what becomes of a message that the input ended in.
func (l *Lines) atEnd(d *draft, err error) prompted {
	switch {
	case l.in.terminal && !term.IsTerminal(l.o.Stdin):
		return prompted{left: true, cancelled: true} // it was hung up
	case !errors.Is(err, io.EOF):
		return prompted{err: fmt.Errorf("read standard input: %w", err)}
	case d.block || d.pasting:
		l.tell(noEnd)
	case d.lines > 0:
		return prompted{} // a last line that was to go on
	default:
		l.print("\n")
	}
	return prompted{left: true}
}

// interrupted takes a message back that was begun; at an empty prompt the second
// one within a moment leaves.
func (l *Lines) interrupted(d *draft) (p prompted, again bool) {
	l.print("\n")
	if d.lines > 0 {
		return p, true
	}
	if !l.leaving.IsZero() && time.Since(l.leaving) < moment {
		return prompted{left: true, cancelled: true}, false
	}
	l.leaving = time.Now()
	l.tell(howOut)
	return p, true
}

// echoLine shows the first line of a message that no terminal has shown here.
func (l *Lines) echoLine(d *draft, t typed) {
	if d.lines == 0 {
		l.print("%s\n", text.Clip(one(t.text), echoCells))
	}
}

// echo shows a prompt that was given with the program.
func (l *Lines) echo(prompt string) {
	if l.o.Quiet {
		return
	}
	first, rest, _ := strings.Cut(prompt, "\n")
	l.print("%s%s\n", l.promptMark(), text.Clip(one(first), echoCells))
	if rest != "" {
		l.print("%s%s\n", continueMark, Count(strings.Count(rest, "\n")+1, "more line", "more lines"))
	}
}
