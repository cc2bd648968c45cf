// Package svg draws a screen of the virtual terminal as a picture for people to look at:
// in a review, in a manual. Nothing is compared by it.
package svg

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"alisio/tui/tuitest"
)

// Theme has the colours that a terminal's owner chooses, as "#rrggbb".
type Theme struct{ Text, Ground, Cursor string }

// Dark and Light are two themes.
func Dark() Theme { return Theme{Text: "#d8dee9", Ground: "#1c1e26", Cursor: "#88c0d0"} }

// Light is black on white, nearly.
func Light() Theme { return Theme{Text: "#2e3440", Ground: "#fafafa", Cursor: "#5e81ac"} }

// The size of a cell, in pixels of the picture, and the margin around the screen.
const (
	cellWidth  = 9
	cellHeight = 18
	baseline   = 14
	margin     = 8
)

// Write writes the picture. Every piece of text is stretched to its cells, so that columns
// are straight whatever fonts there are.
func Write(w io.Writer, s *tuitest.Screen, theme Theme) error {
	b := bufio.NewWriter(w)
	width, height := s.Columns*cellWidth+2*margin, s.Rows*cellHeight+2*margin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="%d %d %d %d" `+
		`font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="15">`+"\n",
		width, height, -margin, -margin, width, height)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s"/>`+"\n", -margin, -margin, width, height, theme.Ground)
	for y, cells := range s.Cells {
		for _, r := range runs(cells) {
			r.ground(b, y, theme)
		}
	}
	for _, p := range s.Images {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="%s" stroke-dasharray="4 2"/>`+"\n",
			p.Column*cellWidth, p.Row*cellHeight, p.Columns*cellWidth, p.Rows*cellHeight, theme.Cursor)
	}
	if c := s.Cursor; !c.Hidden {
		x, y, w, h := c.Column*cellWidth, c.Row*cellHeight, cellWidth, cellHeight
		switch c.Shape {
		case 3, 4:
			y, h = y+cellHeight-2, 2
		case 5, 6:
			w = 2
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" opacity="0.6"/>`+"\n", x, y, w, h, theme.Cursor)
	}
	for y, cells := range s.Cells {
		for _, r := range runs(cells) {
			r.text(b, y, theme)
		}
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

// run is a piece of a row in one style.
type run struct {
	from, cells int
	s           string
	style       tuitest.Style
}

// runs cuts a row. A piece that is not plain ASCII is cut at every cluster, since fonts
// differ in how wide they draw it.
func runs(cells []tuitest.Cell) []run {
	var out []run
	for x, c := range cells {
		if c.Width == 0 {
			continue
		}
		text := c.String()
		simple := len(text) == 1
		if n := len(out) - 1; n >= 0 && simple && out[n].style == c.Style && len(out[n].s) == out[n].cells {
			out[n].s += text
			out[n].cells++
			continue
		}
		out = append(out, run{x, c.Width, text, c.Style})
	}
	return out
}

// colors are those that are seen, "" for a ground that needs no drawing.
func (r *run) colors(t Theme) (fg, bg string) {
	fg, bg = hex(r.style.Fg, t.Text), hex(r.style.Bg, "")
	if r.style.Attr&tuitest.Reverse != 0 {
		fg, bg = hex(r.style.Bg, t.Ground), hex(r.style.Fg, t.Text)
	}
	return fg, bg
}

func hex(c tuitest.Color, otherwise string) string {
	r, g, b, ok := c.Bits()
	if !ok {
		return otherwise
	}
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

func (r *run) ground(b *bufio.Writer, y int, t Theme) {
	if _, bg := r.colors(t); bg != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n",
			r.from*cellWidth, y*cellHeight, r.cells*cellWidth, cellHeight, bg)
	}
}

func (r *run) text(b *bufio.Writer, y int, t Theme) {
	bare := strings.TrimSpace(r.s) == ""
	lines := r.decoration()
	if r.style.Attr&tuitest.Hidden != 0 || bare && lines == "" {
		return
	}
	fg, _ := r.colors(t)
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"`,
		r.from*cellWidth, y*cellHeight+baseline, r.cells*cellWidth, fg)
	for _, a := range []struct {
		attr tuitest.Attr
		how  string
	}{{tuitest.Bold, ` font-weight="bold"`}, {tuitest.Italic, ` font-style="italic"`}, {tuitest.Faint, ` opacity="0.6"`}} {
		if r.style.Attr&a.attr != 0 {
			b.WriteString(a.how)
		}
	}
	if lines != "" {
		fmt.Fprintf(b, ` style="text-decoration:%s"`, lines)
	}
	b.WriteString(">")
	xml.EscapeText(b, []byte(r.s)) // the error is kept by b
	b.WriteString("</text>\n")
}

// decoration are the lines of the text, as CSS has them.
func (r *run) decoration() string {
	var words []string
	if r.style.Underline != tuitest.NoUnderline {
		kind := [...]string{"", "solid", "double", "wavy", "dotted", "dashed"}[r.style.Underline]
		words = append(words, "underline", kind)
		if c := hex(r.style.Line, ""); c != "" {
			words = append(words, c)
		}
	}
	if r.style.Attr&tuitest.Strike != 0 {
		words = append(words, "line-through")
	}
	if r.style.Attr&tuitest.Overline != 0 {
		words = append(words, "overline")
	}
	return strings.Join(words, " ")
}
