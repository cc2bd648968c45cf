package tuitest

import "slices"

// grid is one of the two screens: its cells, its cursor and what scrolled off its top.
type grid struct {
	columns, height int
	rows            []row
	history         []row
	keep            int // rows of history at most
	x, y            int
	pending         bool // the last column was written: the next character wraps
	top, bottom     int  // the scroll region, both within
	saved           cursorState
	keys            []int // the stack of the kitty keyboard protocol
	images          []Placement
}

// cursorState is what DECSC keeps.
type cursorState struct {
	x, y    int
	pending bool
	pen     Style
	origin  bool
	sets    charsets
}

func newGrid(columns, height, keep int) *grid {
	g := &grid{columns: columns, height: height, keep: keep, bottom: height - 1}
	g.rows = make([]row, height)
	for i := range g.rows {
		g.rows[i] = newRow(columns, Style{})
	}
	return g
}

func newRow(columns int, ground Style) row {
	r := row{cells: make([]Cell, columns)}
	for i := range r.cells {
		r.cells[i] = Cell{Width: 1, Style: ground}
	}
	return r
}

func (g *grid) row() *row { return &g.rows[g.y] }

// moveTo puts the cursor at a place that exists.
func (g *grid) moveTo(x, y int) {
	g.x, g.y, g.pending = min(max(x, 0), g.columns-1), min(max(y, 0), g.height-1), false
}

// part makes sure that column x starts no second half: of a wide character that would
// be cut there nothing stays but its ground.
func (g *grid) part(y, x int) {
	cells := g.rows[y].cells
	if x <= 0 || x >= g.columns || cells[x].Width != 0 {
		return
	}
	cells[x-1] = Cell{Width: 1, Style: groundOf(cells[x-1].Style)}
	cells[x] = Cell{Width: 1, Style: groundOf(cells[x].Style)}
}

// groundOf is the style of an erased cell: the ground stays (BCE), all else goes.
func groundOf(s Style) Style { return Style{Bg: s.Bg} }

// erase clears the cells from x up to but not including end of row y.
func (g *grid) erase(y, x, end int, ground Style) {
	x, end = max(x, 0), min(end, g.columns)
	if x >= end {
		return
	}
	g.part(y, x)
	g.part(y, end)
	cells := g.rows[y].cells
	for i := x; i < end; i++ {
		cells[i] = Cell{Width: 1, Style: ground}
	}
	if end == g.columns {
		g.rows[y].wrapped = false
	}
}

func (g *grid) eraseRows(from, end int, ground Style) {
	for y := max(from, 0); y < min(end, g.height); y++ {
		g.erase(y, 0, g.columns, ground)
	}
}

// insert shifts the cells from the cursor on to the right by n, remove to the left.
func (g *grid) insert(n int, ground Style) {
	n = min(n, g.columns-g.x)
	cells := g.row().cells
	g.part(g.y, g.x)
	g.part(g.y, g.columns-n)
	copy(cells[g.x+n:], cells[g.x:g.columns-n])
	for i := g.x; i < g.x+n; i++ {
		cells[i] = Cell{Width: 1, Style: ground}
	}
	g.row().wrapped = false
}

func (g *grid) remove(n int, ground Style) {
	n = min(n, g.columns-g.x)
	cells := g.row().cells
	g.part(g.y, g.x)
	g.part(g.y, g.x+n)
	copy(cells[g.x:], cells[g.x+n:])
	for i := g.columns - n; i < g.columns; i++ {
		cells[i] = Cell{Width: 1, Style: ground}
	}
	g.row().wrapped = false
}

// scrollUp moves the rows from top to bottom up by n. What leaves the first row of the
// screen goes to the history.
func (g *grid) scrollUp(top, bottom, n int, ground Style) {
	n = min(n, bottom-top+1)
	if top == 0 && g.keep > 0 {
		g.remember(g.rows[:n])
	}
	gone := slices.Clone(g.rows[top : top+n])
	copy(g.rows[top:], g.rows[top+n:bottom+1])
	for i := range gone {
		r := newRow(g.columns, ground)
		if top != 0 || g.keep == 0 { // nobody else holds the cells
			r = blank(gone[i], ground)
		}
		g.rows[bottom-n+1+i] = r
	}
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
	g.shiftImages(top, bottom, -n)
}

func blank(r row, ground Style) row {
	for i := range r.cells {
		r.cells[i] = Cell{Width: 1, Style: ground}
	}
	r.wrapped = false
	return r
}

func (g *grid) scrollDown(top, bottom, n int, ground Style) {
	n = min(n, bottom-top+1)
	gone := slices.Clone(g.rows[bottom-n+1 : bottom+1])
	copy(g.rows[top+n:bottom+1], g.rows[top:bottom-n+1])
	for i := range gone {
		g.rows[top+i] = blank(gone[i], ground)
	}
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
	g.rows[bottom].wrapped = false
	g.shiftImages(top, bottom, n)
}

// remember adds rows to the history, whose oldest rows are dropped in large pieces.
func (g *grid) remember(rows []row) {
	g.history = append(g.history, rows...)
	if over := len(g.history) - g.keep; over > g.keep/4+64 || over > 0 && g.keep < 64 {
		g.history = slices.Clone(g.history[over:])
	}
}

// kept is the history, no longer than it may be.
func (g *grid) kept() []row { return g.history[max(0, len(g.history)-g.keep):] }

// lineFeed moves the cursor down, and scrolls at the bottom of the region.
func (g *grid) lineFeed(ground Style) {
	switch {
	case g.y == g.bottom:
		g.scrollUp(g.top, g.bottom, 1, ground)
	case g.y < g.height-1:
		g.y++
	}
}

func (g *grid) reverseFeed(ground Style) {
	switch {
	case g.y == g.top:
		g.scrollDown(g.top, g.bottom, 1, ground)
	case g.y > 0:
		g.y--
	}
}
