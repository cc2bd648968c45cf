package workspace

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain lets the test binary be a search program that scripts/bench/search.sh
// measures as a whole process: ALISIO_SEARCH=PATTERN [ALISIO_SEARCH_FLAGS=i] in
// the directory to search, or ALISIO_SEARCH_LIST=1 to list it.
func TestMain(m *testing.M) {
	if p, list := os.Getenv("ALISIO_SEARCH"), os.Getenv("ALISIO_SEARCH_LIST"); p != "" || list != "" {
		if err := searchProcess(p); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func searchProcess(pattern string) error {
	w, err := Open(".")
	if err != nil {
		return err
	}
	defer w.Close()
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer out.Flush()
	if pattern == "" {
		_, err = w.walk(context.Background(), ListQuery{}, func(f found) bool {
			out.WriteString(f.rel)
			out.WriteByte('\n')
			return true
		})
		return err
	}
	q := SearchQuery{Pattern: pattern, IgnoreCase: os.Getenv("ALISIO_SEARCH_FLAGS") == "i", MaxLine: maxShown}
	_, err = w.Search(context.Background(), q, func(m Match) bool {
		fmt.Fprintf(out, "%s:%d:%s\n", m.Name, m.Line, m.Text)
		return true
	})
	return err
}

// benchTree is ALISIO_BENCH_TREE, or a tree made by scripts/bench/gentree.
func benchTree(b *testing.B) string {
	b.Helper()
	if dir := os.Getenv("ALISIO_BENCH_TREE"); dir != "" {
		return dir
	}
	dir := filepath.Join(os.TempDir(), "alisio-bench-tree")
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err != nil {
		if out, err := exec.Command("go", "run", "alisio/scripts/bench/gentree", dir).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func BenchmarkSearch(b *testing.B) {
	w, err := Open(benchTree(b))
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for _, q := range []SearchQuery{
		{Pattern: "rareLiteral"},
		{Pattern: "Handler", Literal: true},
		{Pattern: `NeedleInTree_\d+`},
		{Pattern: `(quo|lex)\w+Client`},
		{Pattern: "needleintree", IgnoreCase: true},
		{Pattern: `\w{4}\s\d+`},
	} {
		b.Run(fmt.Sprintf("%s,i=%v", q.Pattern, q.IgnoreCase), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = 0
				if _, err := w.Search(b.Context(), q, func(Match) bool { n++; return true }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n), "matches")
		})
	}
}

func BenchmarkList(b *testing.B) {
	w, err := Open(benchTree(b))
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.List(b.Context(), ListQuery{Limit: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLower(b *testing.B) {
	text, dst := make([]byte, 64<<10), make([]byte, 64<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		lower(dst, text)
	}
}
