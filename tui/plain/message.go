package plain

import (
	"strings"

	"alisio/agent/text"
)

const (
	// pasteStart and pasteEnd are what a terminal puts around pasted text when it
	// was asked to (xterm, "bracketed paste").
	pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"
	// blockMark is the line that begins and ends a block.
	blockMark = `"""`
)

// draft is a message while its lines come in:
//
//	a line                 is a message
//	a line that ends in \  goes on with the next
//	"""                    begins a block, which the next such line ends
//	a bracketed paste      belongs to the line that it is pasted into, whatever
//	                       stands in it
//
// The zero value is ready.
type draft struct {
	text    strings.Builder
	lines   int
	block   bool
	pasting bool
	// large: a line was cut, or the message is longer than what is taken.
	large bool
	// literal: it was written as a block, so it is never a command.
	literal bool
}

// add takes a line and reports whether the message is whole.
func (d *draft) add(t typed) bool {
	d.lines++
	d.large = d.large || t.cut
	rest, pasted := d.paste(t.text)
	switch {
	case d.pasting:
		d.put(rest + "\n")
		return false
	case !pasted && strings.TrimSpace(rest) == blockMark && (d.block || d.lines == 1):
		whole := d.block
		d.block, d.literal = true, true
		return whole
	case d.block:
		d.put(rest + "\n")
		return false
	case goesOn(rest):
		d.put(rest[:len(rest)-1] + "\n")
		return false
	}
	d.put(rest)
	return true
}

// paste takes what is pasted out of a line, marks and all, and returns what stands
// behind it, or, in a paste that has not ended, the rest of the line.
func (d *draft) paste(line string) (rest string, pasted bool) {
	pasted = d.pasting
	for {
		mark := pasteStart
		if d.pasting {
			mark = pasteEnd
		}
		before, after, found := strings.Cut(line, mark)
		if !found {
			return line, pasted
		}
		d.put(before)
		d.pasting = !d.pasting
		line, pasted = after, true
	}
}

// goesOn reports whether a line ends in a backslash that no other one escapes.
func goesOn(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

func (d *draft) put(s string) {
	if d.text.Len()+len(s) > maxMessage {
		d.large = true
	}
	if !d.large {
		d.text.WriteString(s)
	}
}

// message is the text as it is sent: valid UTF-8, of the controls only newline and
// tab.
func (d *draft) message() string {
	s := strings.ReplaceAll(d.text.String(), "\r\n", "\n")
	s = text.Plain(strings.ReplaceAll(s, "\r", "\n"))
	return strings.TrimRight(s, " \t\n")
}
