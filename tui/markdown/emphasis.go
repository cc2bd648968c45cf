package markdown

import "unicode"

// delim is a run of marks of emphasis (CommonMark 6.2). n is what is left of it, all how
// many there were.
type delim struct {
	node        int
	char        byte
	n, all      int
	open, close bool
}

// delimiters reads a run of "*", "_" or "~".
func (p *inline) delimiters(i int) int {
	c := p.s[i]
	n := 0
	for n <= longRun && i+n < p.end && p.s[i+n] == c {
		n++
	}
	if n > longRun {
		return p.literal(i, i+longRun, p.s[i:i+longRun])
	}
	if c == '~' && n != 2 {
		return p.literal(i, i+n, p.s[i:i+n])
	}
	before, after := p.around(i, i+n)
	left, right := flanks(before, after), flanks(after, before)
	d := delim{node: len(p.nodes), char: c, n: n, all: n, open: left, close: right}
	if c == '_' {
		d.open = left && (!right || isPunct(before))
		d.close = right && (!left || isPunct(after))
	}
	if d.open || d.close {
		p.delims = append(p.delims, d)
	}
	return p.literal(i, i+n, p.s[i:i+n])
}

// flanks reports whether a run between the two characters leans towards inner. Beside
// scripts without blanks between words it does wherever it could: "**注意：**请".
func flanks(outer, inner rune) bool {
	if unicode.IsSpace(inner) {
		return false
	}
	return !isPunct(inner) || unicode.IsSpace(outer) || isPunct(outer) || isWide(outer)
}

// emphasis pairs the runs from the index bottom on, and returns those that are still
// open. Openers are looked for down to where an equal search ended before, so that the
// whole takes linear time.
func (p *inline) emphasis(bottom int) []delim {
	var floors [18]int
	stack := p.stack[:0]
	for _, d := range p.delims[bottom:] {
		for d.close && d.n > 0 {
			key := floor(d)
			at := p.opener(stack, d, floors[key])
			if at < 0 {
				floors[key] = len(stack)
				break
			}
			p.pair(&stack[at], &d)
			stack = stack[:at+1]
			if stack[at].n == 0 {
				stack = stack[:at]
			}
			for i := range floors {
				floors[i] = min(floors[i], len(stack))
			}
		}
		if d.open && d.n > 0 {
			stack = append(stack, d)
		}
	}
	p.delims, p.stack = p.delims[:bottom], stack
	return stack
}

// floor numbers the kinds of closers that search alike.
func floor(d delim) int {
	k := 0
	switch d.char {
	case '_':
		k = 6
	case '~':
		k = 12
	}
	if d.open {
		k += 3
	}
	return k + d.all%3
}

// opener is the index of the opener that d closes, -1 for none.
func (p *inline) opener(stack []delim, d delim, floor int) int {
	at := p.nodes[d.node].from
	for i := len(stack) - 1; i >= floor; i-- {
		o := &stack[i]
		if at-p.nodes[o.node].from > reach {
			return -1
		}
		if o.char != d.char || (o.close || d.open) && (o.all+d.all)%3 == 0 && (o.all%3 != 0 || d.all%3 != 0) {
			continue
		}
		return i
	}
	return -1
}

// pair takes two marks, or one, of an opener and its closer for emphasis.
func (p *inline) pair(o, c *delim) {
	use, attr := 1, italic
	if o.n >= 2 && c.n >= 2 {
		use, attr = 2, bold
	}
	if o.char == '~' {
		attr = strike
	}
	o.n, c.n = o.n-use, c.n-use
	p.nodes[o.node].text = p.nodes[o.node].text[:o.n]
	p.nodes[c.node].text = p.nodes[c.node].text[:c.n]
	p.nodes[o.node+1].attr[attr]++
	p.nodes[c.node].attr[attr]--
}

// pretend shows what is open as if it ended with the text, so that nothing changes when
// its end comes.
func (p *inline) pretend(live []delim) {
	for _, d := range live {
		n := &p.nodes[d.node]
		if d.n > 3 || d.node+1 >= len(p.nodes) || len(p.s)-n.from > reach {
			continue
		}
		attr := &p.nodes[d.node+1].attr
		switch {
		case d.char == '~':
			attr[strike]++
		case d.n == 1:
			attr[italic]++
		case d.n == 2:
			attr[bold]++
		default:
			attr[italic]++
			attr[bold]++
		}
		n.text = ""
	}
}
