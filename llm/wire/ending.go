package wire

// Ending follows JSON text and knows when its outermost object or array has ended,
// at a constant cost a byte. It does not know whether the text is valid.
type Ending struct {
	depth            int
	begun            bool
	inString, escape bool
}

// Closed reports whether the text so far is whole.
func (e *Ending) Closed() bool { return e.begun && e.depth == 0 }

// Feed takes the next piece of the text, which may end anywhere.
func (e *Ending) Feed(b []byte) {
	for _, c := range b {
		switch {
		case e.escape:
			e.escape = false
		case e.inString && c == '\\':
			e.escape = true
		case c == '"':
			e.inString = !e.inString
		case e.inString:
		case c == '{' || c == '[':
			e.depth++
			e.begun = true
		case c == '}' || c == ']':
			e.depth--
		}
	}
}
