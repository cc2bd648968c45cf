package tuitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Golden compares the screen that is shown with testdata/NAME.golden. Where the test
// program has a flag -update (flag.Bool("update", …)) that is set, it writes the file.
func (t *Terminal) Golden(tb testing.TB, name string) {
	tb.Helper()
	Golden(tb, name, t.Dump())
}

// Golden compares a text with testdata/NAME.golden, or writes it.
func Golden(tb testing.TB, name, got string) {
	tb.Helper()
	path := goldenFile(name)
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Errorf("%v; go test -update writes it; got\n%s", err, got)
		return
	}
	if d := Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); d != "" {
		tb.Errorf("%s is not what is shown (- wanted, + got; go test -update rewrites it):\n%s", path, d)
	}
}

func goldenFile(name string) string {
	return filepath.Join("testdata", filepath.FromSlash(name)+".golden")
}

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Expected is what Golden compares with, and whether there is something: none where it
// is being written.
func Expected(name string) (want string, ok bool) {
	data, err := os.ReadFile(goldenFile(name))
	return strings.ReplaceAll(string(data), "\r\n", "\n"), err == nil && !updating()
}

const context = 2 // lines around what differs

// Diff tells by lines how got differs from want: "- " what is missing, "+ " what is new,
// "  " what stands around it. It is empty when they are the same.
func Diff(want, got string) string {
	if want == got {
		return ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	type line struct {
		mark byte
		text string
	}
	var lines []line
	common := lcs(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, line{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, line{'-', a[i]})
			i++
		default:
			lines = append(lines, line{'+', b[j]})
			j++
		}
	}
	var out strings.Builder
	last := -1
	for n := range lines {
		near := false
		for k := max(0, n-context); k <= min(len(lines)-1, n+context); k++ {
			near = near || lines[k].mark != ' '
		}
		if !near {
			continue
		}
		if n != last+1 {
			out.WriteString("  …\n")
		}
		fmt.Fprintf(&out, "%c %s\n", lines[n].mark, lines[n].text)
		last = n
	}
	return out.String()
}

// lcs is the table of the lengths of the longest common subsequences of the ends of a
// and b. Dumps have some hundred lines.
func lcs(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
