// Command gentree makes a tree of source-like files to measure listing and
// searching on: 20,000 files, about 116 MB, the same ones on every machine.
//
//	go run ./scripts/bench/gentree DIR [FILES]
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	seed      = 20260101
	perFolder = 12
	// meanSize and spread are those of the logarithm of a size in bytes; the
	// mean of the sizes is about 5,800.
	meanSize = 8.05
	spread   = 1.1
	maxSize  = 400_000
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf("usage: gentree DIR [FILES]")
	}
	files := 20_000
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fmt.Errorf("read number of files %q: want a positive number", args[1])
		}
		files = n
	}
	rnd := rand.New(rand.NewPCG(seed, seed))
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return fmt.Errorf("make tree: %w", err)
	}
	if err := os.WriteFile(filepath.Join(args[0], ".gitignore"), []byte("*.log\n/out/\nnode_modules/\n!keep.log\n"), 0o644); err != nil {
		return fmt.Errorf("make tree: %w", err)
	}
	dir, words := "", vocabulary(rnd)
	for i := range files {
		if i%perFolder == 0 {
			dir = folder(rnd, args[0], words)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make folder: %w", err)
			}
		}
		name := fmt.Sprintf("%s_%d.%s", words[rnd.IntN(len(words))], i, choose(rnd, "go", "go", "ts", "py", "md", "json"))
		if err := os.WriteFile(filepath.Join(dir, name), source(rnd, words, i), 0o644); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
	}
	return nil
}

// folder is a path of one to four names that may exist already.
func folder(rnd *rand.Rand, top string, words []string) string {
	path := []string{top}
	for range 1 + rnd.IntN(4) {
		path = append(path, words[rnd.IntN(30)])
	}
	return filepath.Join(append(path, words[rnd.IntN(len(words))])...)
}

// vocabulary is words of two to four syllables; the first are the common ones.
func vocabulary(rnd *rand.Rand) []string {
	out := []string{"return", "const", "error", "value", "name", "this", "result", "config", "Client", "Handler"}
	for len(out) < 3000 {
		var b strings.Builder
		for range 2 + rnd.IntN(3) {
			b.WriteString(choose(rnd, "re", "con", "ta", "er", "in", "set", "al", "ma", "po", "li", "st", "ver", "no", "ti", "quo", "lex", "ub", "da"))
		}
		out = append(out, b.String())
	}
	return out
}

// source is lines of words. Every 2,500th file holds the rare word, one in
// fifty is not all ASCII.
func source(rnd *rand.Rand, words []string, i int) []byte {
	size := int(min(math.Exp(meanSize+spread*rnd.NormFloat64()), maxSize))
	b := make([]byte, 0, size+100)
	for line := 0; len(b) < size; line++ {
		b = append(b, strings.Repeat("\t", rnd.IntN(4))...)
		for range 2 + rnd.IntN(9) {
			// Words towards the front come more often.
			w := int(float64(len(words)) * math.Pow(rnd.Float64(), 3))
			b = append(b, words[w]...)
			b = append(b, choose(rnd, " ", " ", " ", "(", ")", ".", ", ", " = ", "_")...)
		}
		if line == 7 && i%2500 == 0 {
			b = append(b, "NeedleInTree_42 rareLiteral"...)
		}
		if line == 3 && i%50 == 0 {
			b = append(b, "// größer als ünïcode"...)
		}
		b = append(b, '\n')
	}
	return b
}

func choose(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }
