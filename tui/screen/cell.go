package screen

import (
	"strings"

	"alisio/agent/text"
)

// cell is a cell of the screen. A wide glyph has a second one, whose width is rest. The
// zero value is blank.
type cell struct {
	text     string
	style    text.Style
	width    uint8
	doubtful bool // terminals differ in how wide it is
}

// rest is the width of the second cell of a glyph.
const rest = 255

// isBlank reports whether erasing makes the cell.
func (c cell) isBlank() bool {
	return (c.text == "" && c.width == 0 || c.text == " ") && c.style.On == text.Normal &&
		c.style.Attr&(text.Underline|text.Strike|text.Reverse) == 0 && c.style.Link == ""
}

func blank(cells []cell) bool {
	for _, c := range cells {
		if !c.isBlank() {
			return false
		}
	}
	return true
}

// fill makes cells of a line, and reports whether one of them is doubtful. What does
// not fit is left out.
func (s *Screen) fill(cells []cell, line text.Styled) (doubtful bool) {
	at := 0
	for _, span := range line {
		for rest := span.Text; rest != "" && at < len(cells); {
			n, _ := text.First(rest)
			c := s.glyph(rest[:n])
			rest = rest[n:]
			c.style = span.Style
			if at+int(c.width) > len(cells) {
				c = cell{style: span.Style, text: " ", width: 1} // half of a glyph
			}
			at = put(cells, at, c)
			doubtful = doubtful || c.doubtful
		}
	}
	clear(cells[at:])
	for i := range cells {
		if cells[i].isBlank() {
			cells[i] = cell{} // blanks are the same, whatever their colour
		}
	}
	return doubtful
}

// put sets a cell, and the second one of a wide glyph, and is where the next one is.
func put(cells []cell, at int, c cell) int {
	cells[at] = c
	if c.width == 2 {
		cells[at+1] = cell{width: rest, style: c.style}
		return at + 2
	}
	return at + 1
}

// longest bounds a cluster, in bytes: more marks than that on a letter are an attack on
// the terminal.
const longest = 64

// glyph is the cell of a cluster: one that the terminal can not take for anything but
// text, and that takes one or two cells.
func (s *Screen) glyph(cluster string) cell {
	if len(cluster) == 1 {
		if b := cluster[0]; b >= ' ' && b < 0x7F {
			return cell{text: ascii(b), width: 1}
		}
	}
	switch {
	case cluster == "\t":
		return cell{text: " ", width: 1}
	case strings.ContainsFunc(cluster, text.Acts), text.Valid(cluster) != cluster:
		return s.glyph(text.Head("\uFFFD", 1))
	case len(cluster) > longest:
		cluster = text.Prefix(cluster, longest)
	}
	width := text.ClusterWidth(cluster)
	if !s.features.Unicode {
		return cell{text: plainGlyph(cluster, max(width, 1)), width: uint8(max(width, 1))}
	}
	if width == 0 {
		cluster, width = " "+cluster, 1 // a mark without a letter
	}
	return cell{text: s.known.string(cluster), width: uint8(width), doubtful: text.Doubtful(cluster)}
}

// ascii is a printable ASCII character as a string that is shared.
func ascii(b byte) string {
	const all = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	return all[b-' ' : b-' '+1]
}

// interned are clusters that are on the screen, as strings of their own: a cell must not
// keep the whole text that it was cut from.
type interned map[string]string

// most bounds how many are kept.
const most = 4096

func (k *interned) string(s string) string {
	if known, ok := (*k)[s]; ok {
		return known
	}
	if *k == nil || len(*k) >= most {
		*k = interned{}
	}
	s = strings.Clone(s)
	(*k)[s] = s
	return s
}
