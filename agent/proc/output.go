package proc

import (
	"strconv"
	"unicode/utf8"

	"alisio/agent/text"
)

// output takes a program's bytes, cleans them and keeps head and tail, so that
// memory is bounded whatever is printed (C082). It has no ReadFrom. Cleaning
// comes before cutting (C086), so escapes and redraws use up nothing; so does
// taking out the secret, of which a cut would leave two halves.
//
//	bytes -> Stripper -> redact -> keeper (result)
//	                            └> live (onOutput)
type output struct {
	strip  text.Stripper
	redact func(text []byte, gone int, last bool) (out []byte, held, still int)
	clean  []byte // of one write, behind what was held; used again
	held   []byte // may be the beginning of the secret
	gone   int    // bytes of held that were part of one
	keep   keeper
	live   *live // nil when nobody watches
}

func newOutput(head, tail int, onOutput func(string)) *output {
	if head == 0 {
		head = defaultHead
	}
	if tail == 0 {
		tail = defaultTail
	}
	o := &output{keep: keeper{headMax: head, tailMax: tail}}
	if onOutput != nil {
		o.live = newLive(onOutput)
	}
	return o
}

func (o *output) write(p []byte) {
	o.clean = o.strip.Append(append(o.clean[:0], o.held...), p)
	o.pass(o.strip.Pending(), false)
}

// pass hands on what of clean is certain, and shows the unfinished line.
func (o *output) pass(line []byte, last bool) {
	out := o.clean
	if o.redact != nil {
		var held int
		out, held, o.gone = o.redact(o.clean, o.gone, last)
		o.held = append(o.held[:0], o.clean[len(o.clean)-held:]...)
		if held > 0 {
			line = append(o.held[:held:held], line...)
		}
		line, _, _ = o.redact(line, o.gone, false)
	}
	o.keep.write(out)
	if o.live != nil {
		o.live.add(out, line)
	}
}

// finish ends the stream and returns the text with the number of bytes that
// were left out of it.
func (o *output) finish() (string, int64) {
	o.clean = o.strip.Flush(append(o.clean[:0], o.held...))
	o.pass(nil, true)
	if o.live != nil {
		o.live.close()
	}
	return o.keep.text()
}

// keeper keeps the first headMax bytes and the last tailMax bytes.
type keeper struct {
	headMax, tailMax int
	head             []byte
	tail             []byte // a ring once it is full
	at               int    // where the ring is written next
	total            int64
}

func (k *keeper) write(p []byte) {
	k.total += int64(len(p))
	n := min(len(p), k.headMax-len(k.head))
	k.head = append(k.head, p[:n]...)
	p = p[n:]
	n = min(len(p), k.tailMax-len(k.tail))
	k.tail = append(k.tail, p[:n]...)
	p = p[n:]
	if len(p) > k.tailMax {
		p = p[len(p)-k.tailMax:]
	}
	for len(p) > 0 {
		n := copy(k.tail[k.at:], p)
		k.at = (k.at + n) % k.tailMax
		p = p[n:]
	}
}

// text joins what was kept. A cut is made between characters and marked.
func (k *keeper) text() (string, int64) {
	tail := append(k.tail[k.at:len(k.tail):len(k.tail)], k.tail[:k.at]...)
	if k.total == int64(len(k.head)+len(tail)) {
		return string(k.head) + string(tail), 0
	}
	head := k.head
	for i := 1; i <= min(utf8.UTFMax, len(head)); i++ {
		if last := head[len(head)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	tail = fromRune(tail)
	dropped := k.total - int64(len(head)+len(tail))
	mark := "\n[" + strconv.FormatInt(dropped, 10) + " bytes left out]\n"
	return string(head) + mark + string(tail), dropped
}

// fromRune returns valid UTF-8 that was cut at its start from its first whole
// character on.
func fromRune(p []byte) []byte {
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}
