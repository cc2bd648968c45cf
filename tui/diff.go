package tui

import (
	"strconv"

	"alisio/agent/diff"
	"alisio/agent/text"
)

// Lexer gives the lines of one file their roles, one after the other. The text of what
// it returns is the line.
type Lexer func(line string) text.Styled

// Diff is a Block that shows what changed in files: line numbers, a sign for each
// line, what is new within a line, and three dots where lines are left out.
//
//	41   sum := new(big.Rat)
//	42 − for _, l := range lines { … }
//	42 + for _, l := range lines { … }
type Diff struct {
	rows []change
	// numbers is how many cells the line numbers take.
	numbers int
	width   int
	laid    []text.Styled
	of      []int // the row that a laid row shows
}

// change is a line of a diff, or what stands between them.
type change struct {
	kind   diff.Kind // 0: no line of the file
	number int
	line   text.Styled
}

// NewDiff reads a patch in unified form. Where it is none it is shown as it is, and
// the error says why. lex, which may be nil, gives a lexer for a path, or nil.
func NewDiff(patch string, lex func(path string) Lexer) (*Diff, error) {
	d := &Diff{}
	files, err := diff.Parse(patch)
	if err != nil {
		for _, l := range Clean(patch) {
			d.rows = append(d.rows, change{line: text.Unstyled(l)})
		}
		return d, err
	}
	for _, f := range files {
		d.file(f, len(files) > 1, lex)
	}
	for _, r := range d.rows {
		d.numbers = max(d.numbers, len(strconv.Itoa(r.number)))
	}
	return d, nil
}

// Stat is how many lines are added and removed.
func (d *Diff) Stat() (added, removed int) {
	for _, r := range d.rows {
		switch r.kind {
		case diff.Added:
			added++
		case diff.Removed:
			removed++
		}
	}
	return added, removed
}

func (d *Diff) say(s string, role text.Role) {
	d.rows = append(d.rows, change{line: text.Of(s, role)})
}

// file takes in what happens to one file; named says its path.
func (d *Diff) file(f diff.FileDiff, named bool, lex func(string) Lexer) {
	path := f.NewPath
	if path == "" {
		path = f.OldPath
	}
	if named {
		d.say(text.Line(path), text.Heading)
	}
	switch {
	case f.Binary:
		d.say("binary contents differ", text.Dim)
	case f.NewPath == "":
		d.say("the file is deleted", text.Dim)
	case f.OldPath == "":
		d.say("a new file", text.Dim)
	}
	for i, h := range f.Hunks {
		if i > 0 {
			d.say("⋯", text.Dim)
		}
		// The two sides are two texts: a comment that one opens is none of the other.
		var before, after Lexer
		if lex != nil {
			before, after = lex(path), lex(path)
		}
		d.hunk(h, before, after)
	}
	if f.Cut {
		d.say("⋯ more lines changed than are shown", text.Warn)
	}
}

// hunk takes in one changed place.
func (d *Diff) hunk(h diff.Hunk, before, after Lexer) {
	was, is := h.OldStart, h.NewStart
	first := len(d.rows)
	raw := make([]string, 0, len(h.Lines))
	for _, l := range h.Lines {
		line := Clean(l.Text)[0]
		raw = append(raw, line)
		row := change{kind: l.Kind, number: is, line: text.Unstyled(line)}
		switch l.Kind {
		case diff.Removed:
			row.number, row.line = was, read(before, line)
			was++
		case diff.Added:
			row.line = read(after, line)
			is++
		default:
			row.line = read(after, line)
			read(before, line)
			was, is = was+1, is+1
		}
		if l.NoEOL {
			row.line = row.line.With(" ⏎ no newline at the end", text.Dim)
		}
		d.rows = append(d.rows, row)
	}
	d.pair(d.rows[first:], raw)
}

// read is the line with its roles.
func read(lex Lexer, line string) text.Styled {
	if lex == nil {
		return text.Unstyled(line)
	}
	return lex(line)
}

// pair marks what changed within lines: where so many lines are added as were removed
// right before them, one by one.
func (d *Diff) pair(rows []change, raw []string) {
	run := func(i int, k diff.Kind) int {
		for ; i < len(rows) && rows[i].kind == k; i++ {
		}
		return i
	}
	for i := 0; i < len(rows); {
		if rows[i].kind != diff.Removed {
			i++
			continue
		}
		mid := run(i, diff.Removed)
		end := run(mid, diff.Added)
		if end-mid == mid-i {
			for k := range mid - i {
				gone, fresh := within(raw[i+k], raw[mid+k])
				mark(&rows[i+k], gone, text.RemovedWord)
				mark(&rows[mid+k], fresh, text.AddedWord)
			}
		}
		i = end
	}
}

func mark(c *change, spans []span, role text.Role) {
	for _, s := range spans {
		c.line = c.line.Restyled(s.from, s.to, func(st text.Style) text.Style {
			st.On = role
			return st
		})
	}
}

// Len lays the lines out; long ones are broken behind their signs.
func (d *Diff) Len(width int) int {
	if width != d.width || d.laid == nil {
		d.width, d.laid, d.of = width, d.laid[:0], d.of[:0]
		for i, r := range d.rows {
			cells := width
			if r.kind != 0 {
				cells -= d.margin()
			}
			for _, piece := range r.line.Wrap(max(cells, 1)) {
				d.laid, d.of = append(d.laid, piece), append(d.of, i)
			}
		}
	}
	return len(d.laid)
}

// margin is the cells before the text of a line: number, space, sign, space.
func (d *Diff) margin() int { return d.numbers + 3 }

// Line is row i.
func (d *Diff) Line(i int) text.Styled {
	r := d.rows[d.of[i]]
	if r.kind == 0 {
		return d.laid[i]
	}
	sign, role := " ", text.Normal
	switch r.kind {
	case diff.Added:
		sign, role = "+", text.Added
	case diff.Removed:
		sign, role = "−", text.Removed
	}
	number := strconv.Itoa(r.number)
	head := blanks(d.numbers-len(number)) + number
	if d.goesOn(i) {
		head, sign = blanks(d.numbers), " "
	}
	line := append(text.Of(head+" ", text.Dim).With(sign+" ", role), d.laid[i]...)
	if role == text.Normal {
		return line
	}
	return Ground(Pad(line, d.width, Left), role)
}

// Continues reports whether row i goes on with the line of the row before.
func (d *Diff) Continues(i int) (gap string, yes bool) {
	if !d.goesOn(i) {
		return "", false
	}
	first := i - 1
	for d.goesOn(first) {
		first--
	}
	return lost(d.rows[d.of[i]].line.String(), d.laid[first:i]), true
}

// Text is the bytes of row i that are of the file: no number, no sign, no filling.
func (d *Diff) Text(i int) (from, to int) {
	r := d.rows[d.of[i]]
	switch {
	case r.kind == 0:
	case r.kind == diff.Removed && !d.goesOn(i):
		from = d.margin() + len("−") - 1 // the sign is one cell
	default:
		from = d.margin()
	}
	return from, from + len(d.laid[i].String())
}

func (d *Diff) goesOn(i int) bool { return i > 0 && d.of[i] == d.of[i-1] }
