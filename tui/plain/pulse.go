package plain

import (
	"fmt"
	"time"

	"alisio/agent/text"
	"alisio/plug"
	"alisio/tui/term"
)

const (
	// silent is how long a model says nothing before that is told of on a terminal,
	// where the line is written again; elsewhere each line is one more, and rare.
	silent = 10 * time.Second
	rare   = time.Minute
	// redraw takes the line away that stands on a terminal.
	redraw = "\r\x1b[K"
)

// pulse is what a run was last heard of, and what is told while it is not heard of:
//
//	event ─► a wait, counted down ─► its line stays ─┐
//	event ───────────────────────────────────────────┴─► silent ─► waiting for the model
//
// No event tells that a request was sent: a run that works on no call and says nothing
// waits for the model.
type pulse struct {
	timer *time.Timer
	last  time.Time
	// retry is the wait that is counted down, nil for none.
	retry *plug.RequestRetry
	// stands: a line of ours is the last on the screen, without its end.
	stands bool
}

// listen begins to tell of silence. Whoever calls it has the screen, as all below.
func (t *Text) listen() {
	if t.hold == nil || t.pulse != nil {
		return
	}
	p := &pulse{last: time.Now()}
	t.pulse = p
	p.timer = time.AfterFunc(t.patience(), func() {
		defer t.hold()()
		if t.pulse == p { // else it was over when the screen was free
			p.timer.Reset(t.beat(p))
		}
	})
}

// heard takes the line away that stands, since there is something else to tell.
func (t *Text) heard() {
	if p := t.pulse; p != nil {
		t.counted(p)
		p.last = time.Now()
	}
}

// deaf ends the telling.
func (t *Text) deaf() {
	if p := t.pulse; p != nil {
		t.counted(p)
		p.timer.Stop()
		t.pulse = nil
	}
}

// retries tells of a wait, which on a terminal is counted down.
func (t *Text) retries(d plug.RequestRetry) {
	t.endLine()
	if t.pulse == nil || !t.live {
		t.notice("%s", retried(d, d.AfterMs))
		return
	}
	t.pulse.retry = &d
	t.pulse.timer.Reset(t.beat(t.pulse))
}

// beat tells what is to be told now, and returns when there is more.
func (t *Text) beat(p *pulse) time.Duration {
	passed := time.Since(p.last)
	if p.retry != nil {
		wait := time.Duration(p.retry.AfterMs) * time.Millisecond
		if left := wait - passed; left > 0 {
			t.stand(p, "notice: "+retried(*p.retry, left.Milliseconds()))
			return (left-1)%time.Second + 1
		}
		t.counted(p)
		p.last = p.last.Add(wait)
		passed -= wait
	}
	switch most := t.patience(); {
	case len(t.titles) > 0 || t.space && len(t.line) > 0: // a call works, or the line is the answer's
		return most
	case passed < most:
		return most - passed
	}
	line := "waiting for the model: " + text.Duration(passed.Round(time.Second))
	if t.live {
		t.stand(p, line)
		return time.Second
	}
	t.note(line)
	return rare
}

// patience is how long nothing is told of silence.
func (t *Text) patience() time.Duration {
	if t.live {
		return silent
	}
	return rare
}

// stand writes the line that stands, in place of the one before.
func (t *Text) stand(p *pulse, line string) {
	columns, _ := term.Size(t.notes)
	if columns == 0 {
		columns = defaultCells
	}
	fmt.Fprint(t.notes, redraw+t.dimmed(text.Clip(line, max(columns-1, fewestCells))))
	p.stands = true
}

// erase takes the line away that stands; it comes again if there is nothing new.
func (t *Text) erase() {
	if p := t.pulse; p != nil && p.stands {
		fmt.Fprint(t.notes, redraw)
		p.stands = false
	}
}

// counted ends what stands: of a wait a line stays, as where nothing is counted down.
func (t *Text) counted(p *pulse) {
	t.erase()
	if d := p.retry; d != nil {
		p.retry = nil
		t.notice("%s", retried(*d, d.AfterMs))
	}
}
