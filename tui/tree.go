package tui

import (
	"slices"

	"alisio/agent/text"
)

// Node is a node of a Tree. Parent is the ID of another node, or of none.
type Node struct {
	ID, Parent string
	Label      text.Styled
	Side       text.Styled // at the right edge
}

// Tree shows nodes below their parents, and folds them. Nodes of which the parent is
// missing or its own child are roots: a plugin may say what it likes.
type Tree struct {
	Window
	nodes  []Node
	folded map[string]bool
	rows   []branch
}

// branch is a node that is shown.
type branch struct {
	node     int
	depth    int
	children int
}

// maxDepth bounds the indentation; deeper nodes stand below their parents unindented.
const maxDepth = 16

// Set gives the tree its nodes, in the order in which siblings are shown. What is
// folded and what is chosen stay, by ID.
func (t *Tree) Set(nodes []Node) {
	id := t.ID()
	t.nodes = nodes
	folded := map[string]bool{}
	for _, n := range nodes {
		if t.folded[n.ID] {
			folded[n.ID] = true
		}
	}
	t.folded = folded
	t.arrange()
	t.Find(id)
}

// arrange finds the rows that are shown.
func (t *Tree) arrange() {
	at := make(map[string]int, len(t.nodes))
	for i, n := range t.nodes {
		if _, twice := at[n.ID]; !twice {
			at[n.ID] = i
		}
	}
	children := make([][]int, len(t.nodes)+1)
	roots := len(t.nodes)
	for i, n := range t.nodes {
		parent, ok := at[n.Parent]
		if !ok || t.circular(at, i) {
			parent = roots
		}
		children[parent] = append(children[parent], i)
	}
	t.rows = t.rows[:0]
	// A stack, not recursion: the depth is somebody else's choice.
	type item struct{ node, depth int }
	var stack []item
	push := func(of, depth int) {
		for _, c := range slices.Backward(children[of]) {
			stack = append(stack, item{c, depth})
		}
	}
	for push(roots, 0); len(stack) > 0; {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.rows = append(t.rows, branch{it.node, it.depth, len(children[it.node])})
		if !t.folded[t.nodes[it.node].ID] {
			push(it.node, it.depth+1)
		}
	}
	t.Count = len(t.rows)
	t.Choose(t.Chosen)
}

// circular reports whether a node is among its own ancestors.
func (t *Tree) circular(at map[string]int, i int) bool {
	slow, fast := i, i
	up := func(i int) (int, bool) { p, ok := at[t.nodes[i].Parent]; return p, ok }
	for {
		var ok bool
		for range 2 {
			if fast, ok = up(fast); !ok {
				return false
			}
			if fast == i {
				return true
			}
		}
		if slow, _ = up(slow); slow == fast {
			return false // a ring above, which this one hangs on
		}
	}
}

// ID is that of the chosen node, "" where there is none.
func (t *Tree) ID() string {
	if t.Chosen < 0 || t.Chosen >= len(t.rows) {
		return ""
	}
	return t.nodes[t.rows[t.Chosen].node].ID
}

// Find chooses a node that is shown, by its ID.
func (t *Tree) Find(id string) bool {
	for i, r := range t.rows {
		if t.nodes[r.node].ID == id {
			t.Choose(i)
			return true
		}
	}
	return false
}

// Fold closes the chosen node, or where it is closed or has nothing below it goes to
// its parent. Unfold opens it, or goes to its first child.
func (t *Tree) Fold() {
	id := t.ID()
	if id == "" {
		return
	}
	r := t.rows[t.Chosen]
	if r.children > 0 && !t.folded[id] {
		t.set(id, true)
		return
	}
	for i := t.Chosen - 1; i >= 0; i-- {
		if t.rows[i].depth < r.depth {
			t.Choose(i)
			return
		}
	}
}

// Unfold opens the chosen node, or goes to its first child.
func (t *Tree) Unfold() {
	id := t.ID()
	switch {
	case id == "" || t.rows[t.Chosen].children == 0:
	case t.folded[id]:
		t.set(id, false)
	default:
		t.Move(1)
	}
}

// Toggle opens or closes the chosen node.
func (t *Tree) Toggle() {
	if id := t.ID(); id != "" && t.rows[t.Chosen].children > 0 {
		t.set(id, !t.folded[id])
	}
}

func (t *Tree) set(id string, folded bool) {
	t.folded[id] = folded // Set made it: there is a node
	t.arrange()
}

// Lines are the rows that are shown.
func (t *Tree) Lines(width int) []text.Styled {
	var lines []text.Styled
	top := t.Top()
	for i := top; i < min(top+t.Height, t.Count); i++ {
		r := t.rows[i]
		n := t.nodes[r.node]
		sign := "  "
		switch {
		case r.children > 0 && t.folded[n.ID]:
			sign = "▸ "
		case r.children > 0:
			sign = "▾ "
		}
		row := text.Of(blanks(2*min(r.depth, maxDepth))+sign, text.Dim)
		row = append(row, n.Label...)
		if len(n.Side) > 0 {
			row = Sides(row, n.Side, width-markWidth)
		}
		lines = append(lines, Row(row, width, i == t.Chosen))
	}
	return lines
}
