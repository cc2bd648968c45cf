package text

import "strings"

// Table is rows of cells. Each cell is shown as one clean line; blanks in front of it
// stay, so that rows may be set in.
type Table [][]string

// gap stands between two columns.
const gap = "  "

// String writes the rows with their columns under each other, by cells of the
// screen, and without blanks at their ends.
func (t Table) String() string {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t {
		var line strings.Builder
		for i, s := range row {
			s = cell(s)
			line.WriteString(s + strings.Repeat(" ", widths[i]-Width(s)) + gap)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// widths are those of the columns, in cells of the screen.
func (t Table) widths() []int {
	var widths []int
	for _, row := range t {
		for i, s := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell(s)))
		}
	}
	return widths
}

// Clip shortens the cells of a column so that rows fit into so many cells of the
// screen, as far as least allows.
func (t Table) Clip(column, cells, least int) {
	for i, w := range t.widths() {
		if i != column {
			cells -= w + len(gap)
		}
	}
	for _, row := range t {
		if column < len(row) {
			row[column] = Clip(cell(row[column]), max(least, cells))
		}
	}
}

// cell is Line that keeps the blanks in front.
func cell(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " "))] + Line(s)
}
