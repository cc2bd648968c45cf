package screen

import "strconv"

// color is a colour of a cell: none, one of the person's sixteen, one of the 256, or 24
// bits.
type color struct {
	kind colorKind
	rgb  uint32 // or the number
}

type colorKind uint8

const (
	defaultColor colorKind = iota
	ansi
	indexed
	direct
)

// append appends the parameters of SGR for the colour; base is 30 for the text and 40
// for the ground.
func (c color) append(dst []byte, base int) []byte {
	num := func(n int) { dst = append(strconv.AppendInt(dst, int64(n), 10), ';') }
	switch c.kind {
	case defaultColor:
		num(base + 9)
	case ansi:
		if c.rgb < 8 {
			num(base + int(c.rgb))
		} else {
			num(base + 60 + int(c.rgb) - 8)
		}
	case indexed:
		num(base + 8)
		num(5)
		num(int(c.rgb))
	case direct:
		num(base + 8)
		num(2)
		num(int(c.rgb >> 16))
		num(int(c.rgb >> 8 & 255))
		num(int(c.rgb & 255))
	}
	return dst
}

// nearest is the colour of the 256 that is nearest to one of 24 bits: of the cube and
// of the greys (terminal.md, section 9). The first sixteen are the person's.
func nearest(rgb uint32) uint32 {
	levels := [...]int{0, 95, 135, 175, 215, 255}
	part := func(shift int) int { return int(rgb >> shift & 255) }
	index := func(v int) int {
		best := 0
		for i, l := range levels {
			if abs(l-v) < abs(levels[best]-v) {
				best = i
			}
		}
		return best
	}
	r, g, b := part(16), part(8), part(0)
	ir, ig, ib := index(r), index(g), index(b)
	cube := distance(r, g, b, levels[ir], levels[ig], levels[ib])
	grey := min(max(((r+g+b)/3-8+5)/10, 0), 23)
	v := 8 + 10*grey
	if distance(r, g, b, v, v, v) < cube {
		return uint32(232 + grey)
	}
	return uint32(16 + 36*ir + 6*ig + ib)
}

func abs(n int) int { return max(n, -n) }

func distance(r, g, b, x, y, z int) int {
	return (r-x)*(r-x) + (g-y)*(g-y) + (b-z)*(b-z)
}
