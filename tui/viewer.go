package tui

import "alisio/agent/text"

// Viewer shows a window of a column of blocks. It lays out the blocks that are seen
// and those that it scrolls over, so opening and drawing do not depend on how many
// there are (C107). Its place is a row of a block, so what is read stays where it is
// while blocks above and below it grow.
//
//	blocks[0]   ┄┄┄┄┄
//	blocks[1]   ─────  ← top: a row of a block        height rows are shown
//	…           ─────
//	blocks[n]   ┄┄┄┄┄                                 follow: the last row is shown
type Viewer struct {
	blocks []Block
	width  int
	height int
	top    Place
	follow bool
	mark   selection
	find   finder
}

// Place is a row of a block of a Viewer.
type Place struct{ Block, Row int }

// before orders places.
func (p Place) before(q Place) bool {
	return p.Block < q.Block || p.Block == q.Block && p.Row < q.Row
}

// NewViewer is a viewer that follows its end.
func NewViewer(columns, rows int, blocks ...Block) *Viewer {
	v := &Viewer{blocks: blocks, follow: true}
	v.Resize(columns, rows)
	return v
}

// Blocks is how many blocks there are.
func (v *Viewer) Blocks() int { return len(v.blocks) }

// Block is block i.
func (v *Viewer) Block(i int) Block { return v.blocks[i] }

// Add puts blocks at the end. Who looks at the end goes on to see it.
func (v *Viewer) Add(blocks ...Block) { v.blocks = append(v.blocks, blocks...) }

// Insert puts blocks before block at, and keeps what is shown where it is.
func (v *Viewer) Insert(at int, blocks ...Block) {
	v.blocks = append(v.blocks[:at:at], append(blocks, v.blocks[at:]...)...)
	for _, p := range []*Place{&v.top, &v.mark.from.Place, &v.mark.to.Place, &v.find.at.Place} {
		if p.Block >= at {
			p.Block += len(blocks)
		}
	}
}

// Replace puts a block in the place of block i.
func (v *Viewer) Replace(i int, b Block) { v.blocks[i] = b }

// Clear takes all blocks out.
func (v *Viewer) Clear() { *v = Viewer{width: v.width, height: v.height, follow: true} }

// Resize gives the viewer another size. The block at the top stays there, as far into
// it as before.
func (v *Viewer) Resize(columns, rows int) {
	columns, rows = max(columns, 1), max(rows, 1)
	if columns != v.width && v.width > 0 && v.top.Block < len(v.blocks) {
		b := v.blocks[v.top.Block]
		if before := b.Len(v.width); before > 0 {
			v.top.Row = v.top.Row * b.Len(columns) / before
		}
		v.mark = selection{} // its rows are others now
		v.find.at = Point{}
	}
	v.width, v.height = columns, rows
}

// Size is the columns and rows of the window.
func (v *Viewer) Size() (columns, rows int) { return v.width, v.height }

// len is the rows of block i.
func (v *Viewer) len(i int) int { return v.blocks[i].Len(v.width) }

// step is the place so many rows further on, back where n is negative, and how many
// of them there were not.
func (v *Viewer) step(p Place, n int) (at Place, missing int) {
	for n < 0 {
		if p.Row+n >= 0 {
			p.Row += n
			return p, 0
		}
		n += p.Row
		if p.Block == 0 {
			return Place{}, -n
		}
		p.Block--
		p.Row = v.len(p.Block)
	}
	for p.Block < len(v.blocks) {
		l := v.len(p.Block)
		if p.Row+n < l {
			p.Row += n
			return p, 0
		}
		n -= max(l-p.Row, 0)
		p = Place{Block: p.Block + 1}
	}
	return p, n
}

// last is the top at which the last row stands at the end of the window.
func (v *Viewer) last() Place {
	p, _ := v.step(Place{Block: len(v.blocks)}, -v.height)
	return p
}

// settle is the top that is shown: the end where it is followed, and no place beyond
// it or beyond the end of a block that shrank.
func (v *Viewer) settle() {
	if v.top.Block < len(v.blocks) {
		v.top.Row = min(v.top.Row, max(v.len(v.top.Block)-1, 0))
		v.top, _ = v.step(v.top, 0) // no empty block
	}
	if v.follow {
		v.top = v.last()
		return
	}
	// Only near the end can the window reach beyond it.
	if bottom, _ := v.step(v.top, v.height-1); bottom.Block >= len(v.blocks) {
		v.top = v.last()
	}
}

// Scroll moves the window so many rows down, up where n is negative. At the end it
// follows again.
func (v *Viewer) Scroll(n int) {
	v.settle()
	v.top, _ = v.step(v.top, n)
	v.follow = false
	if n > 0 {
		v.follow = v.AtEnd()
	}
}

// Page moves by so many windows, less a row to read on from.
func (v *Viewer) Page(n int) { v.Scroll(n * max(v.height-1, 1)) }

// Home shows the first row, End the last, and follows it.
func (v *Viewer) Home() { v.top, v.follow = Place{}, len(v.blocks) == 0 }

// End shows the last row, and follows it.
func (v *Viewer) End() { v.follow = true }

// Show scrolls as little as needed to show a place, with some rows around it.
func (v *Viewer) Show(p Place) {
	v.settle()
	const around = 2
	margin := min(around, (v.height-1)/2)
	low, _ := v.step(v.top, margin)
	high, missing := v.step(v.top, v.height-1-margin)
	switch {
	case p.before(low):
		v.top, _ = v.step(p, -margin)
		v.follow = false
	case missing == 0 && high.before(p):
		v.top, _ = v.step(p, margin-v.height+1)
		v.follow = false
	}
}

// AtEnd reports whether the last row is shown.
func (v *Viewer) AtEnd() bool {
	if v.follow {
		return true
	}
	v.settle()
	below, _ := v.step(v.top, v.height)
	return below.Block >= len(v.blocks)
}

// Below is how many rows there are below the window, counted up to limit.
func (v *Viewer) Below(limit int) int {
	v.settle()
	if v.follow {
		return 0
	}
	_, missing := v.step(v.top, v.height+limit)
	return max(limit-missing, 0)
}

// At is the place that is shown in a row of the window; none below the last.
func (v *Viewer) At(row int) (p Place, ok bool) {
	v.settle()
	p, _ = v.step(v.top, max(row, 0))
	return p, p.Block < len(v.blocks)
}

// Lines are the rows of the window, fewer where there is not so much. What is selected
// and what was found is marked in them.
func (v *Viewer) Lines() []text.Styled {
	v.settle()
	v.find.line = joined{} // the blocks may have changed
	lines := make([]text.Styled, 0, v.height)
	for p := v.top; p.Block < len(v.blocks) && len(lines) < v.height; p = (Place{Block: p.Block + 1}) {
		for l := v.len(p.Block); p.Row < l && len(lines) < v.height; p.Row++ {
			lines = append(lines, v.marked(p))
		}
	}
	return lines
}

// line is the row at a place as its block gives it.
func (v *Viewer) line(p Place) text.Styled { return v.blocks[p.Block].Line(p.Row) }

// marked is the row at a place, with what was found and what is selected in it.
func (v *Viewer) marked(p Place) text.Styled {
	return v.mark.paint(p, v.find.paint(v, p, v.line(p)))
}
