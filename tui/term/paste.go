package term

import (
	"bytes"
	"strings"
	"time"

	"alisio/agent/text"
)

// maxPaste bounds a paste, in bytes. Of a longer one the start is kept.
const maxPaste = 16 << 20

// pasteEnd ends a bracketed paste.
const pasteEnd = "\x1b[201~"

// paste is a bracketed paste that comes in.
type paste struct {
	data []byte
	cut  bool
}

// add keeps more of it, up to maxPaste.
func (p *paste) add(b []byte) {
	if room := maxPaste - len(p.data); len(b) > room {
		b, p.cut = b[:room], true
	}
	p.data = append(p.data, b...)
}

// event is the paste, as text that can be shown. Terminals send CR for the ends of
// lines.
func (p *paste) event() Paste {
	s := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\b", "").Replace(string(p.data))
	return Paste{Text: text.Plain(s), Cut: p.cut}
}

// pastePause ends a paste whose end was lost: keys must work again.
const pastePause = 2 * time.Second

// inPaste takes the bytes of a paste, and returns what follows it, or what may be the
// start of its end.
func (d *Decoder) inPaste(p []byte, emit func(Event)) (rest []byte, ended bool) {
	if i := bytes.Index(p, []byte(pasteEnd)); i >= 0 {
		d.paste.add(p[:i])
		emit(d.paste.event())
		d.paste = nil
		return p[i+len(pasteEnd):], true
	}
	keep := 0
	for n := min(len(pasteEnd)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, []byte(pasteEnd[:n])) {
			keep = n
			break
		}
	}
	d.paste.add(p[:len(p)-keep])
	return p[len(p)-keep:], false
}

// burst is text that comes faster than anybody types, from a terminal that does not
// bracket what is pasted (C095).
type burst struct{ paste }

const (
	// burstPause ends a burst: pasted text comes without one.
	burstPause = 25 * time.Millisecond
	// leastBurst is how many bytes in one read, with the end of a line among them and
	// text after it, nobody types.
	leastBurst = 16
)

// takeBurst takes a read that is a burst, or goes on with one, and reports whether it
// did. Nothing in it sends anything: Enter is pressed after it.
func (d *Decoder) takeBurst(p []byte, emit func(Event)) bool {
	if bytes.IndexByte(p, esc) >= 0 {
		if d.burst != nil {
			d.endBurst(emit)
		}
		return false
	}
	if d.burst == nil {
		i := bytes.IndexAny(p, "\r\n")
		if d.brackets || d.paste != nil || len(d.held) > 0 || len(p) < leastBurst || i < 0 || len(bytes.Trim(p[i:], "\r\n")) == 0 {
			return false
		}
		d.burst = &burst{}
	}
	d.burst.add(p)
	return true
}

func (d *Decoder) endBurst(emit func(Event)) {
	event := d.burst.event()
	d.burst = nil
	emit(event)
}
