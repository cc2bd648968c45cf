package markdown

import (
	"bytes"
	"strings"

	"alisio/agent/text"
)

// input makes foreign text safe as it arrives. What it gave out never changes: a carriage
// return is the end of a line here, as in CommonMark, and a backspace is nothing.
type input struct {
	strip text.Stripper
	taken int  // bytes of the unfinished line that were given out
	cr    bool // the last byte was a carriage return: a newline after it is part of it
	raw   []byte
	out   []byte
}

// add gives the text that delta adds.
func (n *input) add(delta string) string {
	n.raw = n.raw[:0]
	if !n.cr && !strings.ContainsAny(delta, "\r\b") {
		n.raw = append(n.raw, delta...)
	} else {
		for i := 0; i < len(delta); i++ {
			c := delta[i]
			if c != '\b' && (c != '\n' || !n.cr) {
				if c == '\r' {
					n.raw = append(n.raw, '\n')
				} else {
					n.raw = append(n.raw, c)
				}
			}
			n.cr = c == '\r'
		}
	}
	n.out = n.strip.Append(n.out[:0], n.raw)
	pending := n.strip.Pending()
	from := n.taken
	n.taken = len(pending)
	if len(n.out) == 0 {
		return string(pending[from:])
	}
	// The lines that ended begin with what was pending before.
	return string(bytes.Join([][]byte{n.out[from:], pending}, nil))
}

// finish gives the text that the end of the stream adds: a character that was cut off.
func (n *input) finish() string {
	out := n.strip.Flush(nil)[n.taken:]
	n.taken = 0
	return string(out)
}
