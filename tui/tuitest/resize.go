package tuitest

import "slices"

// OnResize is called after a resize with the new size, as a driver sends SIGWINCH.
func (t *Terminal) OnResize(f func(columns, rows int)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resize = f
}

// Resize gives the terminal another size: the main screen is wrapped anew with its
// history, as most terminals do it, the alternate screen is cut or padded.
func (t *Terminal) Resize(columns, rows int) {
	columns, rows = max(columns, 1), max(rows, 1)
	tell := t.resized(columns, rows)
	if tell != nil {
		tell(columns, rows)
	}
}

func (t *Terminal) resized(columns, rows int) func(columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on.columns == columns && t.on.height == rows {
		return nil
	}
	t.alt.cut(columns, rows)
	if t.opts.NoReflow {
		t.main.cut(columns, rows)
	} else {
		t.main.reflow(columns)
		t.main.grow(rows)
	}
	t.tabs = stops(t.tabs, columns)
	if t.sync.shown != nil {
		t.sync.shown, t.sync.spare = t.snapshot(nil), nil
	}
	if t.modeSet(2048) {
		t.reportSize()
	}
	t.touch()
	return t.resize
}

// cut changes the size without moving text; rows go at the bottom.
func (g *grid) cut(columns, rows int) {
	for y := range g.rows {
		g.rows[y].cells = resizeRow(g.rows[y].cells, columns)
		g.rows[y].wrapped = false
	}
	for len(g.rows) < rows {
		g.rows = append(g.rows, newRow(columns, Style{}))
	}
	g.rows = g.rows[:rows]
	g.sized(columns, rows)
}

// sized keeps the cursors within and takes the scroll region back.
func (g *grid) sized(columns, rows int) {
	g.columns, g.height = columns, rows
	g.top, g.bottom = 0, rows-1
	g.pending = g.pending && g.x == columns-1
	g.x, g.y = min(g.x, columns-1), min(max(g.y, 0), rows-1)
	g.saved.x, g.saved.y = min(g.saved.x, columns-1), min(g.saved.y, rows-1)
}

func resizeRow(cells []Cell, columns int) []Cell {
	out := newRow(columns, Style{}).cells
	n := copy(out, cells)
	if n < len(cells) && cells[n].Width == 0 { // half of a wide character
		out[n-1] = Cell{Width: 1, Style: groundOf(cells[n-1].Style)}
	}
	return out
}

// grow changes the number of rows. Fewer: empty rows below the cursor go first, then the
// top goes to the history. More: the history comes back, then empty rows are added.
func (g *grid) grow(rows int) {
	for len(g.rows) > rows && g.y < len(g.rows)-1 && g.rows[len(g.rows)-1].used() == 0 {
		g.rows = g.rows[:len(g.rows)-1]
	}
	if over := len(g.rows) - rows; over > 0 {
		over = min(over, g.y) // the cursor stays on the screen
		g.remember(g.rows[:over])
		g.rows = slices.Clone(g.rows[over:])
		g.moveAll(-over)
		g.rows = g.rows[:min(rows, len(g.rows))]
	}
	if back := min(rows-len(g.rows), len(g.kept())); back > 0 && rows > g.height {
		g.pull(back)
	}
	for len(g.rows) < rows {
		g.rows = append(g.rows, newRow(g.columns, Style{}))
	}
	g.sized(g.columns, rows)
}

// pull takes rows back from the history.
func (g *grid) pull(n int) {
	kept := g.kept()
	g.rows = slices.Concat(kept[len(kept)-n:], g.rows)
	g.history = slices.Clone(kept[:len(kept)-n])
	g.moveAll(n)
}

func (g *grid) moveAll(n int) {
	g.y += n
	g.saved.y = max(0, g.saved.y+n)
	for i := range g.images {
		g.images[i].Row += n
	}
}

// reflow wraps the rows anew. The bottom of what is there stays at the bottom: where
// text takes more rows, empty ones at the end go and then the top scrolls out; where it
// takes fewer, the history comes back.
func (g *grid) reflow(columns int) {
	if columns == g.columns {
		return
	}
	height, old := g.height, g.kept()
	all := slices.Concat(old, g.rows)
	at := position{row: len(old) + g.y, column: g.x}
	if g.pending {
		at.column++
	}
	first := position{row: len(old)}
	wrapped := rewrap(all, columns, &at, &first)
	for len(wrapped) > first.row+height && at.row < len(wrapped)-1 && wrapped[len(wrapped)-1].used() == 0 {
		wrapped = wrapped[:len(wrapped)-1]
	}
	top := max(0, len(wrapped)-height)
	top = min(top, at.row)
	// What stood below the cursor and has no room is lost.
	wrapped = wrapped[:min(len(wrapped), top+height)]
	g.history = nil
	if g.keep > 0 {
		g.remember(slices.Clone(wrapped[:top]))
	}
	g.rows = slices.Clone(wrapped[top:])
	for len(g.rows) < height {
		g.rows = append(g.rows, newRow(columns, Style{}))
	}
	g.images = nil
	g.x, g.y = at.column, at.row-top
	g.pending = g.x >= columns
	g.x = min(g.x, columns-1)
	g.sized(columns, height)
}

// position is a place among rows, which moves with the text when these are wrapped anew.
type position struct{ row, column int }

// rewrap joins rows that were wrapped and cuts them to another width.
func rewrap(rows []row, columns int, at, first *position) []row {
	var out []row
	newAt, newFirst := *at, *first
	for i := 0; i < len(rows); {
		var line []Cell
		cursor := -1
		start := len(out)
		starts := -1 // where the first row of the screen begins
		j := i
		for ; j < len(rows); j++ {
			r := rows[j]
			if j == first.row {
				starts = len(line)
			}
			if j == at.row {
				cursor = len(line) + at.column
			}
			if !r.wrapped {
				line = append(line, r.cells[:r.used()]...)
				break
			}
			line = append(line, withoutPadding(r.cells)...)
		}
		i = j + 1
		out = append(out, wrapCells(line, columns, cursor, start, &newAt)...)
		if starts >= 0 {
			newFirst = position{row: min(start+starts/columns, len(out)-1)}
		}
	}
	*at, *first = newAt, newFirst
	return out
}

// withoutPadding leaves out the cell at the end of a row that a wide character did not
// fit in.
func withoutPadding(cells []Cell) []Cell {
	if n := len(cells); n > 1 && cells[n-1].Text == "" && cells[n-1].Width == 1 {
		return cells[:n-1]
	}
	return cells
}

// wrapCells cuts one line into rows, and notes where the cursor, which stands before cell
// cursor (-1: elsewhere), comes to stand; start is the number of the first row.
func wrapCells(line []Cell, columns, cursor, start int, at *position) []row {
	var out []row
	current := newRow(columns, Style{})
	x := 0
	note := func(i int) {
		if i == cursor {
			*at = position{start + len(out), x}
		}
	}
	for i := 0; i < len(line); {
		w := max(1, line[i].Width)
		if w > columns { // no room in any row
			i += w
			continue
		}
		if x+w > columns {
			current.wrapped = true
			out = append(out, current)
			current, x = newRow(columns, Style{}), 0
		}
		for k := range w {
			note(i + k)
			if i+k < len(line) {
				current.cells[x] = line[i+k]
			}
			x++
		}
		i += w
	}
	if cursor >= len(line) {
		*at = position{start + len(out), min(x+cursor-len(line), columns)}
	}
	return append(out, current)
}
