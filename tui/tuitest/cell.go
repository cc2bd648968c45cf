package tuitest

import (
	"fmt"
	"strings"
)

// Color is the colour of a cell: the default one, one of the palette, or 24 bits.
type Color uint32

const (
	indexed Color = 1 << 24
	direct  Color = 2 << 24
)

// Default is the colour of the terminal's own text or ground.
const Default Color = 0

// Indexed is colour n of the palette of 256.
func Indexed(n int) Color { return indexed | Color(n&0xFF) }

// RGB is a colour of 24 bits.
func RGB(r, g, b int) Color { return direct | Color(r&0xFF)<<16 | Color(g&0xFF)<<8 | Color(b&0xFF) }

// Index is the number of a colour of the palette.
func (c Color) Index() (n int, ok bool) { return int(c & 0xFF), c&^0xFF == indexed }

// Bits is the colour in 8 bits a channel, with the palette of xterm; ok is false for the
// default colour, which a theme chooses.
func (c Color) Bits() (r, g, b uint8, ok bool) {
	if n, palette := c.Index(); palette {
		r, g, b = paletteRGB(n)
		return r, g, b, true
	}
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c != Default
}

var colorNames = [16]string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

func (c Color) String() string {
	switch n, ok := c.Index(); {
	case c == Default:
		return "default"
	case !ok:
		return fmt.Sprintf("#%06x", uint32(c&0xFFFFFF))
	case n < len(colorNames):
		return colorNames[n]
	default:
		return fmt.Sprint(n)
	}
}

// Attr is a set of attributes.
type Attr uint16

// The attributes. Which kind of underline it is stands in Style.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	Reverse
	Hidden
	Strike
	Overline
)

var attrNames = [...]string{"bold", "faint", "italic", "blink", "reverse", "hidden", "strike", "overline"}

// Underline is a kind of underline.
type Underline uint8

// The kinds, with the numbers of SGR 4:n.
const (
	NoUnderline Underline = iota
	Single
	Double
	Curly
	Dotted
	Dashed
)

var underlineNames = [...]string{"", "underline", "double-underline", "curly-underline", "dotted-underline", "dashed-underline"}

// Style is how a cell is shown. Link is where it leads, LinkID the id that joins the
// pieces of a link.
type Style struct {
	Fg, Bg, Line Color // Line is the colour of the underline
	Attr         Attr
	Underline    Underline
	Link, LinkID string
}

// String names what differs from the default, in one fixed order; it is empty for the
// default.
func (s Style) String() string {
	var words []string
	for i, name := range attrNames {
		if s.Attr&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	if s.Underline != NoUnderline {
		words = append(words, underlineNames[s.Underline])
	}
	for _, c := range []struct {
		name  string
		color Color
	}{{"fg", s.Fg}, {"bg", s.Bg}, {"line", s.Line}} {
		if c.color != Default {
			words = append(words, c.name+"="+c.color.String())
		}
	}
	if s.Link != "" {
		words = append(words, fmt.Sprintf("link=%q", s.Link))
	}
	return strings.Join(words, " ")
}

// Cell is one place of the screen. The second half of a wide character is a cell of
// width 0 without text, in the style of the first. A cell that nothing was written into
// has no text and width 1.
type Cell struct {
	Text  string
	Width int
	Style
}

// String is what is seen: a space where nothing was written.
func (c Cell) String() string {
	if c.Text == "" && c.Width == 1 {
		return " "
	}
	return c.Text
}

// row is a line of cells; wrapped means that its text goes on in the next row.
type row struct {
	cells   []Cell
	wrapped bool
}

// used is the number of cells up to the last that has text or a ground.
func (r *row) used() int {
	n := len(r.cells)
	for n > 0 && r.cells[n-1].Text == "" && r.cells[n-1].Width == 1 && r.cells[n-1].Style == (Style{}) {
		n--
	}
	return n
}

func (r *row) String() string { return strings.TrimRight(rowText(r.cells), " ") }

func rowText(cells []Cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.String())
	}
	return b.String()
}
