package diff

import "math"

// comparison marks the lines of a that go and the lines of b that come. Lines
// are compared by number, equal lines have equal numbers.
//
// The method is the linear-space one of Myers, "An O(ND) Difference Algorithm
// and Its Variations" (1986): paths of growing cost from both corners of a box
// until they meet, then the same for the two boxes before and after that point.
type comparison struct {
	a, b        []int32
	gone, added []bool
	// fwd and back hold for each diagonal, x - y + shift, the x that the paths
	// from the top left and from the bottom right have reached.
	fwd, back []int
	shift     int
	work      int
}

// newComparison numbers the lines. Nothing in it is longer than both contents
// together.
func newComparison(a, b [][]byte) *comparison {
	number := make(map[string]int32, len(a))
	intern := func(lines [][]byte) []int32 {
		out := make([]int32, len(lines))
		for i, line := range lines {
			n, ok := number[string(line)]
			if !ok {
				n = int32(len(number))
				number[string(line)] = n
			}
			out[i] = n
		}
		return out
	}
	d := &comparison{a: intern(a), b: intern(b)}
	d.gone, d.added = make([]bool, len(a)), make([]bool, len(b))
	d.shift = len(b) + 1
	d.fwd, d.back = make([]int, len(a)+len(b)+3), make([]int, len(a)+len(b)+3)
	return d
}

// box compares a[a0:a1] with b[b0:b1].
func (d *comparison) box(a0, a1, b0, b1 int) {
	for {
		for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
			a0, b0 = a0+1, b0+1
		}
		for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
			a1, b1 = a1-1, b1-1
		}
		if a0 == a1 || b0 == b1 || d.work >= maxWork {
			mark(d.gone[a0:a1])
			mark(d.added[b0:b1])
			return
		}
		// The call takes the first part, the loop the second: the depth stays small
		// when the split is near the start.
		x, y := d.middle(a0, a1, b0, b1)
		d.box(a0, x, b0, y)
		a0, b0 = x, y
	}
}

// mark marks all of a run.
func mark(lines []bool) {
	for i := range lines {
		lines[i] = true
	}
}

// front is one of the two sets of paths: the diagonals lo, lo+2, … hi.
type front struct {
	at     []int
	lo, hi int
	limit  int // what stands beyond the ends, never taken
}

// widen makes room for one more edit, within the diagonals of the box. An end
// that would leave the box goes inward instead, which keeps the parity.
func (f *front) widen(lowest, highest int) {
	if f.lo > lowest {
		f.lo--
		f.at[f.lo-1] = f.limit
	} else {
		f.lo++
	}
	if f.hi < highest {
		f.hi++
		f.at[f.hi+1] = f.limit
	} else {
		f.hi--
	}
}

// middle gives a point on a cheapest path through the box, or on a good one
// when that costs too much. Neither side of the box is empty and neither its
// first nor its last lines are equal, so the point is not a corner.
func (d *comparison) middle(a0, a1, b0, b1 int) (x, y int) {
	lowest, highest := a0-b1+d.shift, a1-b0+d.shift
	start, end := a0-b0+d.shift, a1-b1+d.shift
	f := front{at: d.fwd, lo: start, hi: start, limit: -1}
	r := front{at: d.back, lo: end, hi: end, limit: math.MaxInt}
	f.at[start], r.at[end] = a0, a1
	odd := (start-end)&1 != 0
	for cost := 1; ; cost++ {
		f.widen(lowest, highest)
		for k := f.hi; k >= f.lo; k -= 2 {
			x := d.down(f.at, k, a1, b1)
			if odd && k >= r.lo && k <= r.hi && r.at[k] <= x {
				return x, x - k + d.shift
			}
		}
		r.widen(lowest, highest)
		for k := r.hi; k >= r.lo; k -= 2 {
			x := d.up(r.at, k, a0, b0)
			if !odd && k >= f.lo && k <= f.hi && x <= f.at[k] {
				return x, x - k + d.shift
			}
		}
		if d.work += f.hi - f.lo + r.hi - r.lo + 2; cost >= maxCost || d.work >= maxWork {
			return d.furthest(&f, &r, change{a0, a1, b0, b1})
		}
	}
}

// down goes one edit on along diagonal k, then as far as lines are equal.
func (d *comparison) down(at []int, k, a1, b1 int) int {
	x := max(at[k-1]+1, at[k+1])
	from := x
	for y := x - k + d.shift; x < a1 && y < b1 && d.a[x] == d.b[y]; y++ {
		x++
	}
	d.work += x - from
	at[k] = x
	return x
}

// up is down for the paths that come from the end.
func (d *comparison) up(at []int, k, a0, b0 int) int {
	x := min(at[k-1], at[k+1]-1)
	from := x
	for y := x - k + d.shift; x > a0 && y > b0 && d.a[x-1] == d.b[y-1]; y-- {
		x--
	}
	d.work += from - x
	at[k] = x
	return x
}

// furthest gives the end of the path that has come the longest way.
func (d *comparison) furthest(f, r *front, box change) (x, y int) {
	best := 0
	for k := f.lo; k <= f.hi; k += 2 {
		px := min(f.at[k], box.a1, box.b1+k-d.shift)
		py := px - k + d.shift
		if way := px - box.a0 + py - box.b0; way > best {
			best, x, y = way, px, py
		}
	}
	for k := r.lo; k <= r.hi; k += 2 {
		px := max(r.at[k], box.a0, box.b0+k-d.shift)
		py := px - k + d.shift
		if way := box.a1 - px + box.b1 - py; way > best {
			best, x, y = way, px, py
		}
	}
	return x, y
}
