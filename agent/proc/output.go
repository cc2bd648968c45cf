package proc

import "alisio/agent/text"

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
