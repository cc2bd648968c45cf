package markdown

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// answer is a message as models write them, of at least n bytes.
func answer(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Step %d\n\nFirst the **parser** reads `input.go`, then it *calls* the [handler](https://example.org/docs/%d) for each "+
			"of them — naïve, 世界, done. It is a paragraph of usual length, which has to be wrapped over some rows of the screen.\n\n", i, i)
		b.WriteString("- a point with `code`\n- another one, which is longer and wraps at the end of the row of the screen\n  - nested\n\n")
		b.WriteString("```go\nfunc main() {\n\tfor i := range 10 {\n\t\tfmt.Println(\"line\", i) // comment\n\t}\n}\n```\n\n")
		b.WriteString("| Name | Value | Note |\n|---|--:|---|\n| one | 1 | the first |\n| two | 22 | the second, longer |\n\n")
	}
	return b.String()
}

// deltas cuts a text as servers do, into pieces of about a word.
func deltas(s string, n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	var out []string
	for s != "" && len(out) < n {
		k := min(1+r.IntN(9), len(s))
		out = append(out, s[:k])
		s = s[k:]
	}
	return out
}

// texts are what one message may be made of: a mixture, and each kind of leaf alone, without end.
var texts = []struct {
	name string
	make func(n int) string
}{
	{"mixed", answer},
	{"paragraph", func(n int) string { return strings.Repeat("a word, **bold** and `code` and so on ", n/37+1) }},
	{"plain", func(n int) string { return strings.Repeat("nothing but words in one long line ", n/35+1) }},
	{"lines", func(n int) string { return strings.Repeat("a line of the paragraph that never ends\n", n/40+1) }},
	{"cjk", func(n int) string { return strings.Repeat("世界和平，没有空格的长段落。", n/42+1) }},
	{"code", func(n int) string {
		return "```go\n" + strings.Repeat("\tif err := f(x, \"s\", 10); err != nil { // why\n\t\treturn err\n\t}\n", n/64+1)
	}},
	{"longcode", func(n int) string { return "```js\n" + strings.Repeat("var a=1;f(\"x\");", n/15+1) }},
	{"list", func(n int) string { return strings.Repeat("- an item with *some* text\n", n/27+1) }},
	{"table", func(n int) string {
		return "| a | b |\n|---|---|\n" + strings.Repeat("| some text | other `code` |\n", n/29+1)
	}},
	{"open", func(n int) string { return strings.Repeat("5 *x and a_b _c and [d ", n/23+1) }},
}

// look is what a screen asks for after each delta.
func look(d *Doc) {
	n := d.Len(80)
	for i := max(0, n-24); i < n; i++ {
		d.Line(i)
	}
}

func BenchmarkStream50000(b *testing.B) {
	for _, tt := range texts {
		b.Run(tt.name, func(b *testing.B) {
			pieces := deltas(tt.make(50_000*5), 50_000)
			b.ReportAllocs()
			var times []time.Duration
			for b.Loop() {
				d := &Doc{}
				times = times[:0]
				for _, p := range pieces {
					start := time.Now()
					d.Append(p)
					look(d)
					times = append(times, time.Since(start))
				}
			}
			half := len(times) / 2
			late, early := sum(times[half:]), sum(times[:half])
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs/frame")
			b.ReportMetric(float64(late)/float64(early), "late/early")
		})
	}
}

func sum(times []time.Duration) (total time.Duration) {
	for _, t := range times {
		total += t
	}
	return total
}

// A new width for a finished document of 200 KB.
func BenchmarkResize(b *testing.B) {
	for _, tt := range texts {
		b.Run(tt.name, func(b *testing.B) {
			d := whole(tt.make(200_000))
			b.ReportAllocs()
			width := 60
			for b.Loop() {
				width = 60 + (width+1)%60
				d.Len(width)
			}
		})
	}
}

// Case C101.
// Symptom: while an answer streams, the whole of it is read again for each frame.
// Trigger: 200 KB in one message, each kind of block alone.
func TestC101DeltasCostTheSameAtTheEnd(t *testing.T) {
	for _, tt := range texts {
		pieces := deltas(tt.make(60_000), 12_000)
		d := &Doc{}
		third := len(pieces) / 3
		early := measure(d, pieces[:third])
		measure(d, pieces[third:2*third])
		if late := measure(d, pieces[2*third:]); late > 4*early+50*time.Millisecond {
			t.Errorf("%s: the last third took %v, the first %v", tt.name, late, early)
		}
	}
}

func measure(d *Doc, pieces []string) time.Duration {
	start := time.Now()
	for _, p := range pieces {
		d.Append(p)
		look(d)
	}
	return time.Since(start)
}
