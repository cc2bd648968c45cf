package tools

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"alisio/plug"
)

const (
	// maxScan bounds the bytes that are read for the shown part of a file.
	maxScan = 1 << 20
	// maxLine is how much of one line is shown, in bytes of the result.
	maxLine = 8000
	// maxAround is what stands around the lines at most.
	maxAround = 2000
	maxPage   = maxOutput - maxAround
)

// pageRoom is how many bytes of lines a page may have: what is beyond the bound of a
// result would be cut out of its middle, and nobody would read on there.
func pageRoom(c *plug.Call) int {
	if c.MaxChars <= 0 {
		return maxPage
	}
	return min(maxPage, max(1, c.MaxChars-min(maxAround, c.MaxChars/6)))
}

// page is the part of a text that one result shows:
//
//	name · lines 1-2 of 9 · sha256: … · CRLF line ends
//	1<tab>first line
//	2<tab>second line
//	(more: startLine: 3 reads on)
type page struct {
	survey
	name     string
	encoding encoding
	// sum is the hash of the whole file, empty when it is too large for edits and
	// for a blob, which has none.
	sum  string
	blob bool

	// room bounds body, in bytes.
	room  int
	body  []byte
	shown int
	odd   oddities
	// next is the line to go on with, nextByte the place in a line that was cut
	// and whose end is not known; both zero at the end of the text.
	next, nextByte int64
}

// fill shows up to limit lines of buf, which begins at the page's position.
// The position to go on with is always behind the start, however long a line
// is.
func (p *page) fill(buf []byte, atEnd bool, limit int) {
	at, line := p.at, p.line
	if n := runeTail(buf); at > 0 && n < len(buf) && !p.invalid {
		buf, at = buf[n:], at+int64(n)
	}
	for len(buf) > 0 {
		text, rest, ended := bytes.Cut(buf, []byte{'\n'})
		if p.shown == limit || !p.line1(bytes.TrimSuffix(text, []byte{'\r'}), line, at, ended || atEnd) {
			p.next = line
			return
		}
		if p.nextByte > 0 {
			return
		}
		at += int64(len(buf) - len(rest))
		buf, line = rest, line+1
	}
	if !atEnd {
		p.next = line
	}
}

// line1 shows one line, or reports that there is no room for it. A line that
// is too long is cut, with the position that reads on in it; when its end is
// not known either, that is where the page ends.
func (p *page) line1(text []byte, line, at int64, whole bool) bool {
	mark := len(p.body)
	p.body = append(strconv.AppendInt(p.body, line, 10), '\t')
	body, used, odd := appendVisible(p.body, text, min(maxLine, p.room))
	cut := used < len(text)
	if p.shown > 0 && (len(body) > p.room || (!cut && !whole)) {
		p.body = p.body[:mark]
		return false
	}
	p.body = body
	p.odd.add(odd)
	p.shown++
	if cut || !whole {
		p.body = fmt.Appendf(p.body, " [cut; startByte: %d reads on in line %d]", at+int64(used), line)
	}
	if !whole {
		p.nextByte = at + int64(used)
	}
	p.body = append(p.body, '\n')
	return true
}

// runeTail counts the bytes at the start that are the rest of a character: a
// model may give any byte to start at.
func runeTail(b []byte) int {
	n := 0
	for n < len(b) && n < utf8.UTFMax-1 && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}

// pastEnd tells that the asked position is not in the text.
func (p *page) pastEnd(a readArgs) error {
	switch {
	case !p.whole:
		return fmt.Errorf("%s: that position is past the first %s, which is as far as read_file goes; use a program such as sed or tail",
			p.name, bytesText(maxSurvey))
	case a.StartByte > 0:
		return fmt.Errorf("%s has %d bytes of text; startByte %d is past its end", p.name, p.size, a.StartByte)
	}
	return fmt.Errorf("%s has %s; startLine %d is past its end", p.name, count(int(p.lines), "line"), a.StartLine)
}

// String is the page with its header and what there is to say about it.
func (p *page) String() string {
	var b strings.Builder
	b.Grow(len(p.body) + 512)
	b.WriteString(p.name)
	p.header(&b)
	b.WriteByte('\n')
	b.Write(p.body)
	switch {
	case p.nextByte > 0:
		fmt.Fprintf(&b, "(more: startByte: %d reads on)\n", p.nextByte)
	case p.next > 0:
		fmt.Fprintf(&b, "(more: startLine: %d reads on)\n", p.next)
	}
	switch {
	case !p.invalid && !p.odd.invalid:
	case p.blob:
		b.WriteString("(not UTF-8 throughout: other bytes are shown as U+FFFD)\n")
	default:
		b.WriteString("(not UTF-8 throughout: other bytes are shown as U+FFFD; edit_file takes only ASCII text here)\n")
	}
	if p.odd.hidden {
		b.WriteString("(<U+…> stands for an invisible character of the file)\n")
	}
	if p.sum == "" && !p.blob {
		fmt.Fprintf(&b, "(larger than %s: it is not hashed and can not be edited with these tools)\n", bytesText(maxFile))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// header writes what is known of the whole file behind its name. Nothing is said
// of what is usual, such as UTF-8 and LF.
func (p *page) header(b *strings.Builder) {
	switch {
	case p.shown == 0:
		b.WriteString(" · empty file")
	case p.whole:
		fmt.Fprintf(b, " · lines %d-%d of %d", p.line, p.line+int64(p.shown)-1, p.lines)
	default:
		fmt.Fprintf(b, " · lines %d-%d", p.line, p.line+int64(p.shown)-1)
	}
	if p.sum != "" {
		b.WriteString(" · sha256: " + p.sum)
	}
	if p.encoding != utf8Text {
		b.WriteString(" · " + p.encoding.String())
	}
	switch {
	case p.crlf == 0 || !p.whole:
	case p.crlf == p.newlines:
		b.WriteString(" · CRLF line ends")
	default:
		b.WriteString(" · mixed line ends")
	}
}
