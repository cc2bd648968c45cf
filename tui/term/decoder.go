package term

import (
	"time"
	"unicode"
	"unicode/utf8"

	"alisio/agent/text"
)

const (
	esc = 0x1B
	bel = 0x07
	can = 0x18
	sub = 0x1A
	del = 0x7F

	// maxSequence bounds a control sequence that may say something, maxString what is
	// waited for of any sequence or string, in bytes.
	maxSequence = 64
	maxString   = 8 << 10
)

// Decoder turns what a terminal sends into events. It keeps its state between reads,
// which may cut anywhere, and gives the same events however they do. What it does not
// know it swallows whole: no part of an answer or of a key is ever typed (C103).
//
//	bytes ─┬─ text, controls ───────────────→ Key
//	       ├─ ESC …, CSI, SS3 ──────────────→ Key, Mouse, Focus, Resize
//	       ├─ CSI 200~ … CSI 201~ ──────────→ Paste
//	       └─ reports: CSI, OSC, DCS, APC ──→ answer, which the Terminal takes
//
// Its memory is bounded by maxString, and by maxPaste while one comes in. The zero
// value is ready.
type Decoder struct {
	// Erase is what the Backspace key sends, where it is ^H; else 0 or DEL.
	Erase byte
	// Reports is how many cursor reports were asked for and did not come: CSI 1;2R is
	// one of these, and Shift+F3 else.
	Reports int

	// Bursts makes a paste of many lines that come in one read, until a paste in brackets
	// shows that the terminal tells.
	Bursts bool

	held  []byte // a sequence or character whose end has not come
	paste *paste
	burst *burst
	// brackets tells that a paste came in brackets.
	brackets bool
}

// answer is what a terminal replied to a question, or told unasked.
type answer struct {
	kind byte   // the final of a CSI with its sign before it in sign; ']', 'P' or '_' of a string
	sign byte   // '?', '>' or 0
	n    []int  // the parameters of a CSI
	text string // the string of an OSC, DCS or APC
}

func (answer) event() {}

// Feed takes in bytes, and gives the events that they complete to emit.
func (d *Decoder) Feed(p []byte, emit func(Event)) {
	if d.Bursts && d.takeBurst(p, emit) {
		return
	}
	if len(d.held) > 0 {
		p = append(d.held, p...)
	}
	for len(p) > 0 {
		if d.paste != nil {
			var ended bool
			if p, ended = d.inPaste(p, emit); !ended {
				break
			}
			continue
		}
		n, event := d.next(p)
		if n == 0 {
			break
		}
		p = p[n:]
		if event != nil {
			emit(event)
		}
	}
	d.held = append(d.held[:0], p...)
}

// Wait is how long to wait for more before Timeout is called; 0 where nothing is held.
// A lone Esc is one after escape, which is longer over slow lines (C096); the rest of a
// sequence is waited for longer.
func (d *Decoder) Wait(escape time.Duration) time.Duration {
	switch {
	case d.burst != nil:
		return burstPause
	case d.paste != nil:
		return pastePause
	case len(d.held) == 0:
		return 0
	case d.held[0] == esc && (len(d.held) == 1 || len(d.held) == 2 && d.held[1] == esc):
		return escape
	}
	return max(sequencePause, 4*escape)
}

// sequencePause is how long the rest of a sequence that began may take.
const sequencePause = 500 * time.Millisecond

// Timeout settles what is held: an ESC is the key Esc, ESC and a character that could
// begin a sequence is that with Alt, and the start of a longer sequence is dropped.
func (d *Decoder) Timeout(emit func(Event)) {
	if d.burst != nil {
		d.endBurst(emit)
		return
	}
	p := d.held
	d.held = d.held[:0]
	switch {
	case d.paste != nil:
		emit(d.paste.event()) // what follows is typed
		d.paste = nil
	case len(p) == 0:
	case p[0] != esc:
		emit(char(utf8.RuneError)) // a character that was cut off
	case len(p) == 1:
		emit(Key{Code: Escape})
	case len(p) == 2 && p[1] == esc:
		emit(Key{Code: Escape})
		emit(Key{Code: Escape})
	case len(p) == 2:
		emit(withAlt(char(rune(p[1]))))
	}
}

// next is the first event of p and how many bytes it takes; none for what says nothing
// to us. 0 bytes: its end has not come.
func (d *Decoder) next(p []byte) (n int, event Event) {
	switch b := p[0]; {
	case b == esc:
		return d.escape(p)
	case b < ' ' || b == del:
		return 1, d.control(b)
	case b < utf8.RuneSelf:
		return 1, char(rune(b))
	}
	if !utf8.FullRune(p) {
		return 0, nil
	}
	r, n := utf8.DecodeRune(p)
	if text.Acts(r) {
		return n, nil
	}
	return n, char(r)
}

// char is a key that types a character.
func char(r rune) Key {
	k := Key{Code: Code(r), Text: string(r)}
	if lower := unicode.ToLower(r); unicode.IsUpper(r) && unicode.ToUpper(lower) == r {
		k.Code, k.Mods = Code(lower), Shift
	}
	return k
}

// withAlt is a key with Alt, which then types nothing.
func withAlt(k Key) Key {
	k.Mods |= Alt
	k.Text = ""
	return k
}

// control is the key of a C0 control or DEL.
func (d *Decoder) control(b byte) Key {
	switch {
	case b == '\t':
		return Key{Code: Tab}
	case b == '\r':
		return Key{Code: Enter}
	case b == del || b == '\b' && d.Erase == '\b':
		return Key{Code: Backspace}
	case b == '\b':
		return Key{Code: Backspace, Mods: Ctrl}
	case b == 0:
		return Key{Code: ' ', Mods: Ctrl}
	case b == 0x1F:
		return Key{Code: '/', Mods: Ctrl}
	case b > 26:
		return Key{Code: Code(b | 0x40), Mods: Ctrl}
	}
	return Key{Code: Code(b | 0x60), Mods: Ctrl}
}

// escape is what begins with an ESC.
func (d *Decoder) escape(p []byte) (n int, event Event) {
	if len(p) == 1 {
		return 0, nil
	}
	switch p[1] {
	case '[':
		return d.csi(p)
	case 'O':
		return d.ss3(p)
	case ']', 'P', '_', '^', 'X':
		return d.str(p)
	case esc:
		// rxvt sends a second ESC for Alt; else it is the key, twice.
		if len(p) == 2 {
			return 0, nil
		}
		if p[2] != '[' && p[2] != 'O' {
			return 1, Key{Code: Escape}
		}
		n, event = d.escape(p[1:])
		if n == 0 {
			return 0, nil
		}
		if k, ok := event.(Key); ok {
			return n + 1, withAlt(k)
		}
		return 1, Key{Code: Escape}
	case can, sub:
		return 2, nil
	}
	n, event = d.next(p[1:])
	if n == 0 {
		return 0, nil
	}
	if k, ok := event.(Key); ok {
		return n + 1, withAlt(k)
	}
	return n + 1, nil
}

// str is the string of an OSC, DCS, APC, PM or SOS: up to ST, or BEL, or what aborts it.
func (d *Decoder) str(p []byte) (n int, event Event) {
	for i := 2; i < len(p); i++ {
		switch b := p[i]; {
		case b == bel:
			return i + 1, answer{kind: p[1], text: string(p[2:i])}
		case b == can || b == sub:
			return i + 1, nil
		case b == esc && i+1 == len(p):
			return d.unended(p)
		case b == esc && p[i+1] == '\\':
			return i + 2, answer{kind: p[1], text: string(p[2:i])}
		case b == esc:
			return i, nil // another sequence: this one has no end
		}
	}
	return d.unended(p)
}

// unended is a string without an end yet, or without one that we wait for.
func (d *Decoder) unended(p []byte) (n int, event Event) {
	if len(p) > maxString {
		return len(p), nil
	}
	return 0, nil
}
