package run

import (
	"crypto/sha256"
	"fmt"

	"alisio/llm"
)

const (
	doomNote = 3
	doomEnd  = 5
)

// doom counts equal calls with equal results in a row (spec runner.md, "Doom
// loop").
type doom struct {
	last  [sha256.Size]byte
	count int
}

// seen notes a finished call and returns how often in a row it came.
func (d *doom) seen(c llm.ToolCall, result string) int {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d\n%s%s%s", len(c.Name), len(c.Arguments), len(result), c.Name, c.Arguments, result)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	if sum != d.last {
		d.last, d.count = sum, 0
	}
	d.count++
	return d.count
}

// note is what the model is told when it repeats itself.
func (d *doom) note() string {
	return fmt.Sprintf("\n[note: this call gave this very result %d times in a row; another one will not differ. Do something else, or say what is missing.]", d.count)
}
