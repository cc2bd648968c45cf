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
	// secret is never shown, however it is cut into pieces.
	secret string
	emit   func(plug.Payload)

	mu      sync.Mutex
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
	p.pending = newest(append(p.pending, text[max(0, len(text)-2*progressBytes):]...))
	wait := progressEvery - time.Since(p.last)
	switch {
	case wait <= 0:
		p.flush(false)
	case p.timer == nil:
		p.timer = time.AfterFunc(wait, p.tick)
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.flush(false)
	}
}

// close shows what is left and ends the flow; nothing is emitted after it.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush(true)
	p.closed = true
}

// flush shows what is pending. What could be the beginning of the secret waits
// for more, but at the end.
func (p *progress) flush(end bool) {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	show := len(p.pending)
	if !end {
		show -= llm.MayBegin(p.pending, p.secret)
	}
	if show == 0 {
		return
	}
	p.last = time.Now()
	p.emit(plug.ToolProgress{ID: p.id, Data: llm.Redact(string(p.pending[:show]), p.secret)})
	p.pending = append(p.pending[:0], p.pending[show:]...)
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
