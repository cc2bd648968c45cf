package proc

import (
	"bytes"
	"sync"
	"time"
)

const (
	// liveMax is the most that one call of onOutput gets, in bytes.
	liveMax = 8 << 10
	// livePause is the least time between two calls.
	livePause = 50 * time.Millisecond
	// skipMark begins an event before which output was left out.
	skipMark = "…"
)

// live hands new output to a watcher in its own goroutine and at its own pace,
// so that a flood or a slow watcher holds up neither the program nor the time
// limit (C083). Between two calls only the newest liveMax bytes are kept.
type live struct {
	emit func(string)
	// wake tells of text; one is enough to know, more is dropped.
	wake chan struct{}
	end  chan struct{} // closed by close
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	text    []byte
	skipped bool
	// shown is the start of the unfinished line as it was handed over already.
	shown []byte
}

func newLive(emit func(string)) *live {
	l := &live{emit: emit, wake: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{})}
	go l.run()
	return l
}

// add takes finished text and the unfinished line behind it. Of a line that
// only grows the new part is shown; one that is drawn again waits for its end.
func (l *live) add(finished, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(finished) > 0 {
		rest, grown := bytes.CutPrefix(finished, l.shown)
		if !grown {
			l.push([]byte("\n"))
		}
		l.push(rest)
		l.shown = l.shown[:0]
	}
	if rest, grown := bytes.CutPrefix(line, l.shown); grown && len(rest) > 0 {
		l.push(rest)
		l.shown = append(l.shown[:0], line...)
	}
	if len(l.text) > 0 {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (l *live) push(p []byte) {
	const most = liveMax - len(skipMark)
	if over := len(l.text) + len(p) - most; over > 0 {
		l.skipped = true
		n := min(over, len(l.text))
		l.text = append(l.text[:0], l.text[n:]...)
		p = p[over-n:]
	}
	l.text = append(l.text, p...)
}

// take returns what is to be handed over, and forgets it.
func (l *live) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := string(l.text)
	if l.skipped {
		s = skipMark + string(fromRune(l.text))
	}
	l.text, l.skipped = l.text[:0], false
	return s
}

// run hands text over: at once when nothing was handed over lately, else after
// a pause.
func (l *live) run() {
	defer close(l.done)
	for open := true; open; {
		select {
		case <-l.wake:
		case <-l.end:
			open = false
		}
		if s := l.take(); s != "" {
			l.emit(s)
		}
		if open {
			open = l.pause()
		}
	}
	if s := l.take(); s != "" {
		l.emit(s)
	}
}

// pause reports whether more can come.
func (l *live) pause() bool {
	t := time.NewTimer(livePause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.end:
		return false
	}
}

// close hands over what is left and returns when that is done.
func (l *live) close() {
	close(l.end)
	<-l.done
}
