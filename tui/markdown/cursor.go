package markdown

import "strings"

// cursor reads the start of a line by columns, in which a tab goes to the next stop of
// four (CommonMark 2.2).
type cursor struct {
	s    string
	i    int // bytes read
	col  int // column of what comes next
	rest int // columns left of a tab that was read in part
}

// indent is the number of columns of blanks ahead.
func (c *cursor) indent() int {
	col := c.col + c.rest
	for i := c.i; i < len(c.s); i++ {
		switch c.s[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col
		}
	}
	return col - c.col
}

// skip reads at most n columns of blanks.
func (c *cursor) skip(n int) {
	part := min(n, c.rest)
	c.rest, c.col, n = c.rest-part, c.col+part, n-part
	for n > 0 && c.i < len(c.s) {
		switch c.s[c.i] {
		case ' ':
			c.col, n = c.col+1, n-1
		case '\t':
			w := 4 - c.col%4
			part := min(n, w)
			c.col, n, c.rest = c.col+part, n-part, w-part
		default:
			return
		}
		c.i++
	}
}

// read reads n bytes that are no blanks.
func (c *cursor) read(n int) { c.i, c.col = c.i+n, c.col+n }

// next is the first byte that is no blank, 0 at the end.
func (c *cursor) next() byte {
	if t := strings.TrimLeft(c.s[c.i:], " \t"); t != "" {
		return t[0]
	}
	return 0
}

// text is what is left of the line.
func (c *cursor) text() string {
	if c.rest == 0 {
		return c.s[c.i:]
	}
	return strings.Repeat(" ", c.rest) + c.s[c.i:]
}

// ink is what is left without the blanks in front.
func (c *cursor) ink() string { return strings.TrimLeft(c.s[c.i:], " \t") }
