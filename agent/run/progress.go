package run

import (
	"sync"
	"time"
	"unicode/utf8"

	"alisio/llm"
	"alisio/plug"
)

const (
	// progressEvery and progressBytes bound tool_progress (spec events.md): 20
	// events a second a call, 8 KiB each.
	progressEvery = 50 * time.Millisecond
	progressBytes = 8 << 10
)

// progress passes a call's live output on, whatever the tool does: what comes
// too fast is joined, and of what is too much the newest stays.
type progress struct {
	id string
	// take keeps the secret from being shown, however it is cut into pieces; nil
	// when there is none.
	take llm.Redaction
	emit func(plug.Payload)

	mu      sync.Mutex
	held    []byte // what take leaves for later, and what it says of that
	gone    int
	pending []byte
	last    time.Time
	timer   *time.Timer
	closed  bool
}

// add takes new output. After the call's end it does nothing.
func (p *progress) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || text == "" {
		return
	}
	p.push(text, false)
	wait := progressEvery - time.Since(p.last)
	switch {
	case wait <= 0:
		p.flush()
	case p.timer == nil:
		p.timer = time.AfterFunc(wait, p.tick)
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.flush()
	}
}

// close shows what is left and ends the flow; nothing is emitted after it.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.push("", true)
		p.flush()
	}
	p.closed = true
}

// push takes the secret out before it leaves out what is too much: a key that
// is cut in two is not found again. What could be the beginning of one waits for
// more, but at the end.
func (p *progress) push(text string, last bool) {
	out := []byte(text)
	if p.take != nil {
		all := append(p.held, text...)
		var held int
		out, held, p.gone = p.take(all, p.gone, last)
		p.held = append([]byte(nil), all[len(all)-held:]...)
	}
	p.pending = newest(append(p.pending, out...))
}

// flush shows what is pending.
func (p *progress) flush() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if len(p.pending) == 0 {
		return
	}
	p.last = time.Now()
	p.emit(plug.ToolProgress{ID: p.id, Data: string(p.pending)})
	p.pending = p.pending[:0]
}

// newest keeps the last progressBytes of b, from a rune's start.
func newest(b []byte) []byte {
	if len(b) <= progressBytes {
		return b
	}
	b = b[len(b)-progressBytes:]
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}
