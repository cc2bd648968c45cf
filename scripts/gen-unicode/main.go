// Gen-unicode writes agent/text/tables.go from the Unicode Character Database.
//
//	go run ./scripts/gen-unicode DIR
//
// DIR holds the text files of one version as unicode.org publishes them, flat
// or in its folders: UnicodeData.txt, EastAsianWidth.txt,
// DerivedCoreProperties.txt, auxiliary/GraphemeBreakProperty.txt and
// emoji/emoji-data.txt. Run it from the top of the repository. It fetches
// nothing and is no part of the program.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	maxRune = 0x10FFFF
	output  = "agent/text/tables.go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/gen-unicode DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// run reads dir and writes output.
func run(dir string) error {
	d, err := load(dir)
	if err != nil {
		return err
	}
	raw, err := d.render()
	if err != nil {
		return err
	}
	src, err := format.Source(raw)
	if err != nil {
		return fmt.Errorf("format tables: %w", err)
	}
	if err := os.WriteFile(output, src, 0o644); err != nil {
		return fmt.Errorf("write tables: %w", err)
	}
	return nil
}

// data is what the tables need to know of every code point.
type data struct {
	version  string
	class    []string // Grapheme_Cluster_Break, refined as agent/text names it
	width    []byte   // 0, 1 or 2 cells
	emoji    []bool
	combines []rune // marks that a skeleton drops
	decomp   [][3]rune
}

// load reads the files and derives the properties.
func load(dir string) (*data, error) {
	d := &data{class: make([]string, maxRune+1), width: make([]byte, maxRune+1), emoji: make([]bool, maxRune+1)}
	// What no file names is Other and one cell wide, private use included.
	for i := range d.class {
		d.class[i], d.width[i] = "Other", 1
	}
	// The order matters: each file overrides the ones before it.
	steps := []struct {
		file string
		read func(lo, hi rune, fields []string)
	}{
		{"EastAsianWidth.txt", d.eastAsian},
		{"auxiliary/GraphemeBreakProperty.txt", d.grapheme},
		{"emoji/emoji-data.txt", d.emojiData},
		{"DerivedCoreProperties.txt", d.core},
		{"UnicodeData.txt", d.unicodeData},
	}
	for _, s := range steps {
		if err := d.each(dir, s.file, s.read); err != nil {
			return nil, err
		}
	}
	d.finish()
	return d, nil
}

// fileVersion is 16.0.0 of a first line "# EastAsianWidth-16.0.0.txt".
func fileVersion(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, v, _ := bytes.Cut(line, []byte("-"))
	v, _, _ = bytes.Cut(v, []byte(".txt"))
	return string(v)
}

// each calls f for every line of a file of the database: a code point or range
// and the other fields.
func (d *data) each(dir, name string, f func(lo, hi rune, fields []string)) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join(dir, filepath.Base(name)))
	}
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	if d.version == "" {
		d.version = fileVersion(text)
	}
	for n, in := 1, bufio.NewScanner(bytes.NewReader(text)); in.Scan(); n++ {
		line, _, _ := strings.Cut(in.Text(), "#")
		fields := strings.Split(line, ";")
		if len(fields) < 2 {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		first, last, isRange := strings.Cut(fields[0], "..")
		if !isRange {
			last = first
		}
		lo, err1 := strconv.ParseUint(first, 16, 21)
		hi, err2 := strconv.ParseUint(last, 16, 21)
		if err1 != nil || err2 != nil || lo > hi || hi > maxRune {
			return fmt.Errorf("read %s: line %d: bad range %q", name, n, fields[0])
		}
		f(rune(lo), rune(hi), fields[1:])
	}
	return nil
}

// eastAsian takes Wide and Fullwidth as two cells; Ambiguous stays one.
func (d *data) eastAsian(lo, hi rune, f []string) {
	for r := lo; r <= hi && (f[0] == "W" || f[0] == "F"); r++ {
		d.width[r] = 2
	}
}

// grapheme takes Grapheme_Cluster_Break as it is.
func (d *data) grapheme(lo, hi rune, f []string) {
	for r := lo; r <= hi; r++ {
		d.class[r] = f[0]
	}
}

// emojiData: a character drawn as an emoji by itself has two cells. Every
// Extended_Pictographic is Other in Grapheme_Cluster_Break, so nothing is lost.
func (d *data) emojiData(lo, hi rune, f []string) {
	for r := lo; r <= hi; r++ {
		switch f[0] {
		case "Emoji":
			d.emoji[r] = true
		case "Emoji_Presentation":
			d.width[r] = 2
		case "Extended_Pictographic":
			d.class[r] = "Pictographic"
		}
	}
}

// core refines the classes by Indic_Conjunct_Break (GB9c). ZWNJ is the one
// Extend that is not InCB=Extend; finish names it.
func (d *data) core(lo, hi rune, f []string) {
	if f[0] != "InCB" || len(f) < 2 {
		return
	}
	for r := lo; r <= hi; r++ {
		switch f[1] {
		case "Linker", "Consonant":
			d.class[r] = f[1]
		case "Extend":
			if d.class[r] == "Extend" {
				d.class[r] = "ConjunctExtend"
			}
		}
	}
}

// unicodeData takes the general category, combining class and canonical
// decomposition. Names of the form <…, First> open a range of letters, none of
// which has width 0, so the ends suffice.
func (d *data) unicodeData(r, _ rune, f []string) {
	category, combining, mapping := f[1], f[2], f[4]
	switch category {
	case "Mn", "Me", "Cc", "Cf", "Zl", "Zp", "Cs":
		d.width[r] = 0
	}
	if class, _ := strconv.Atoi(combining); class >= 200 && category == "Mn" {
		d.combines = append(d.combines, r)
	}
	if mapping != "" && !strings.HasPrefix(mapping, "<") {
		e := [3]rune{r}
		for i, part := range strings.Fields(mapping) {
			v, _ := strconv.ParseUint(part, 16, 21)
			e[i+1] = rune(v)
		}
		d.decomp = append(d.decomp, e)
	}
}

// finish settles what several files have a say in.
func (d *data) finish() {
	for r := range d.class {
		switch {
		case r == 0xAD, d.class[r] == "Prepend" && d.width[r] == 0:
			d.width[r] = 1 // soft hyphen, Arabic number signs: drawn
		case r >= 0x1160 && r <= 0x11FF, r >= 0xD7B0 && r <= 0xD7FF:
			d.width[r] = 0 // vowels and finals are drawn inside the syllable
		}
	}
	// A mark that is dropped needs no mapping, and none keeps it.
	d.decomp = slices.DeleteFunc(d.decomp, func(e [3]rune) bool {
		return slices.Contains(d.combines, e[0])
	})
	for i, e := range d.decomp {
		if slices.Contains(d.combines, e[2]) {
			d.decomp[i][2] = 0
		}
	}
	slices.SortFunc(d.decomp, func(a, b [3]rune) int { return int(a[0] - b[0]) })
	slices.Sort(d.combines)
}
