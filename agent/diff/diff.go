// Package diff makes and reads unified diffs of text by lines.
//
// It knows nothing of files: Unified compares two contents, Parse turns a patch
// into hunks whose counts are right, Stat counts. It applies nothing, detects no
// renames and follows no path. Names and lines are given out as they came in,
// raw: whoever draws them strips them first.
//
// Cost is bounded: where the best diff would take too long a coarser one is
// given, which still turns one content into the other.
package diff

import "bytes"

const (
	// maxCost bounds the edits looked through for one split (Myers' D) before
	// a good split is taken for the best.
	maxCost = 256
	// maxWork bounds the steps of a whole comparison, a few tens of
	// milliseconds; what is left then is one change.
	maxWork = 6_000_000
)

// change is a run of lines replaced: old[a0:a1] by new[b0:b1], one of them
// perhaps empty.
type change struct{ a0, a1, b0, b1 int }

// split cuts text into lines that keep their ends ("\n", "\r\n"); the last one
// may have none.
func split(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte("\n"))+1)
	for line := range bytes.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// compare finds the changes that turn a into b, in order.
func compare(a, b [][]byte) []change {
	d := newComparison(a, b)
	d.box(0, len(d.a), 0, len(d.b))
	slide(d.a, d.gone)
	slide(d.b, d.added)
	var out []change
	for i, j := 0, 0; i < len(d.a) || j < len(d.b); {
		c := change{a0: i, b0: j}
		for i < len(d.a) && d.gone[i] {
			i++
		}
		for j < len(d.b) && d.added[j] {
			j++
		}
		if c.a1, c.b1 = i, j; c.a1 > c.a0 || c.b1 > c.b0 {
			out = append(out, c)
			continue
		}
		i, j = i+1, j+1
	}
	return out
}

// slide moves every run of marked lines down as far as it goes, joining those
// it meets: of the equal diffs of a repeated block, the one that people expect.
// The lines without a mark read the same afterwards.
func slide(lines []int32, marked []bool) {
	for start := 0; start < len(lines); start++ {
		if !marked[start] {
			continue
		}
		end := start + 1
		for end < len(lines) && (marked[end] || lines[start] == lines[end]) {
			if !marked[end] {
				marked[start], marked[end] = false, true
				start++
			}
			end++
		}
		start = end
	}
}
