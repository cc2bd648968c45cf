package screen

import "alisio/agent/text"

// scroll moves rows that stand elsewhere in the next frame, where that is shorter than
// writing them: a block of them, by deleting and inserting lines within margins.
//
//	old: a b c d e f     deleted 2 at the top of a…d:  c d . . e f
//	new: c d x y e f     x y are written then
func (s *Screen) scroll(lines []text.Styled) {
	top, bottom, by := s.moved(lines)
	if by == 0 {
		return
	}
	p := &s.pen
	p.plain(s)
	p.add("\x1b[")
	p.num(top + 1)
	p.add(";")
	p.num(bottom + 1)
	p.add("r")
	// Setting margins moves the cursor home.
	p.row, p.column = 0, 0
	p.move(top, 0)
	p.add("\x1b[")
	p.num(max(by, -by))
	if by > 0 {
		p.add("M")
	} else {
		p.add("L")
	}
	p.add("\x1b[r")
	p.row, p.column = 0, 0
	s.shift(top, bottom, by)
}

// shift does to what is known of the screen what scroll does to the screen.
func (s *Screen) shift(top, bottom, by int) {
	for range max(by, -by) {
		gone, to := top, bottom
		if by < 0 {
			gone, to = bottom, top
		}
		cells, line := s.shown[gone], s.lines[gone]
		if by > 0 {
			copy(s.shown[top:bottom], s.shown[top+1:bottom+1])
			copy(s.lines[top:bottom], s.lines[top+1:bottom+1])
		} else {
			copy(s.shown[top+1:bottom+1], s.shown[top:bottom])
			copy(s.lines[top+1:bottom+1], s.lines[top:bottom])
		}
		clear(cells)
		s.shown[to], s.lines[to] = cells, line[:0]
	}
}

// worth is how many rows must be saved to set margins for it.
const worth = 3

// moved finds the rows of the screen, from top to bottom, that are in the next frame the
// same but so many rows further up (by > 0) or down. by is 0 where there are not enough.
func (s *Screen) moved(lines []text.Styled) (top, bottom, by int) {
	first, last := -1, -1
	for r := range s.rows {
		if !same(at(lines, r), s.lines[r]) {
			if first < 0 {
				first = r
			}
			last = r
		}
	}
	if last-first < worth {
		return 0, 0, 0
	}
	best := worth - 1
	for d := 1; d < last-first; d++ {
		for _, way := range [2]int{d, -d} {
			run, ink := 0, 0
			for r := first; r <= last+1; r++ {
				from := r + way
				if r <= last && from >= first && from <= last && same(at(lines, r), s.lines[from]) {
					run++
					if len(s.lines[from]) > 0 && !same(at(lines, r), s.lines[r]) {
						ink++
					}
					continue
				}
				if ink > best {
					best, by = ink, way
					top, bottom = r-run, r-1
				}
				run, ink = 0, 0
			}
		}
	}
	// The margins hold where the rows come from, too.
	if by > 0 {
		bottom += by
	} else {
		top += by
	}
	return top, bottom, by
}

// at is a line of a frame, blank below the last.
func at(lines []text.Styled, row int) text.Styled {
	if row < len(lines) {
		return lines[row]
	}
	return nil
}
