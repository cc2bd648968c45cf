package text

// Wrap cuts s into lines of at most so many cells (at least 1): at newlines,
// else at spaces, which go with the break, else before and after wide
// characters, else between clusters. A cluster wider than a whole line becomes
// "…". There is always at least one line.
func Wrap(s string, cells int) []string {
	pieces := wrap(s, cells)
	lines := make([]string, len(pieces))
	for i, p := range pieces {
		lines[i] = ellipsis
		if !p.tooWide {
			lines[i] = s[p.from:p.to]
		}
	}
	return lines
}

// piece is a line of s as the bytes that are in it; tooWide where it is one cluster
// that no line can hold.
type piece struct {
	from, to int
	tooWide  bool
}

// wrap is Wrap as places in s.
func wrap(s string, cells int) []piece {
	w := wrapper{s: s, cells: max(cells, 1)}
	for w.next < len(s) {
		w.step()
	}
	return append(w.lines, piece{from: w.start, to: len(s)})
}

// wrapper is the state of Wrap, in bytes of s and in cells.
//
//	s: ... | start … cut | spaces | after … next | ...
//	         the line if it is broken   carried over
type wrapper struct {
	s          string
	cells      int
	lines      []piece
	start      int  // of the line
	next       int  // the cluster that is looked at
	width      int  // of s[start:next]
	cut, after int  // last chance to break: end of the line, start of the next
	carried    int  // width of s[after:next]
	inked      bool // the line has more than spaces
}

// step handles one cluster.
func (w *wrapper) step() {
	n, cells := First(w.s[w.next:])
	switch cluster := w.s[w.next : w.next+n]; {
	case cluster == "\n" || cluster == "\r\n":
		w.begin(w.next, w.next+n)
		w.next += n
		return
	case cluster == " ":
		w.space()
		return
	case cells > w.cells:
		w.tooWide(n)
		return
	case cells == 2 && w.inked && w.after < w.next:
		w.chance(w.next)
	}
	for w.width+cells > w.cells {
		if w.after > w.start {
			carried := w.carried
			w.begin(w.cut, w.after)
			w.width, w.inked = carried, carried > 0
		} else {
			w.begin(w.next, w.next)
		}
	}
	w.next += n
	w.width, w.carried, w.inked = w.width+cells, w.carried+cells, true
	if cells == 2 {
		w.chance(w.next)
	}
}

// space handles a space: it is a chance to break, with the spaces before it.
// Where the line is full it is the break, with all spaces after it and one
// newline.
func (w *wrapper) space() {
	inRun := w.after == w.next && w.cut < w.after
	if w.width < w.cells {
		if w.inked && !inRun {
			w.cut = w.next
		}
		w.next++
		w.width++
		if w.inked {
			w.after, w.carried = w.next, 0
		}
		return
	}
	end := w.next
	if inRun {
		end = w.cut
	}
	for w.next < len(w.s) && w.s[w.next] == ' ' {
		w.next++
	}
	if w.next < len(w.s) && w.s[w.next] == '\n' {
		w.next++
	}
	w.begin(end, w.next)
}

// tooWide replaces a cluster of n bytes that no line can hold.
func (w *wrapper) tooWide(n int) {
	if w.next > w.start {
		w.begin(w.next, w.next)
	}
	w.lines = append(w.lines, piece{from: w.next, to: w.next + n, tooWide: true})
	w.next += n
	w.start, w.after = w.next, w.next
}

// chance notes that the line may be broken at at.
func (w *wrapper) chance(at int) { w.cut, w.after, w.carried = at, at, 0 }

// begin ends the line at end and starts the next at start.
func (w *wrapper) begin(end, start int) {
	w.lines = append(w.lines, piece{from: w.start, to: end})
	w.start, w.cut, w.after = start, start, start
	w.width, w.carried, w.inked = 0, 0, false
}
