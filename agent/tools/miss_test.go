package tools

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"alisio/agent/text"
)

func TestExplainMiss(t *testing.T) {
	const file = "package tax\n\nfunc Total(lines []Line) *big.Rat {\n\tsum := new(big.Rat)\n\tfor _, l := range lines {\n\t\tsum.Add(sum, l.Amount())\n\t}\n\treturn sum // done  \n}\n" +
		"const msg = \"it's – ok\"\nconst nl = \"a\\nb\"\nif a < b && c {\n"
	for name, c := range map[string]struct{ find, want string }{
		"line numbers":       {"4\tsum := new(big.Rat)\n5\tfor _, l := range lines {", "line numbers of read_file, and without them it differs in indentation"},
		"line numbers, tabs": {"4\t\tsum := new(big.Rat)\n5\t\tfor _, l := range lines {\n", "line numbers of read_file"},
		"escaped":            {`sum := new(big.Rat)\n\tfor _, l`, "escaped once too often"},
		"escaped quotes":     {`const msg = \"it`, "escaped once too often"},
		"entities":           {"if a &lt; b &amp;&amp; c", "HTML entities"},
		"backslash n":        {"nl = \"a\nb\"", "has a backslash and an n"},
		"spaces for tabs":    {"    sum := new(big.Rat)\n    for _, l", "indentation (the file has tabs, oldText has spaces); the file has\n4\t\tsum := new(big.Rat)\n5\t"},
		"tabs for none":      {"\tpackage tax\n\n\tfunc Total(", "differs in indentation (the file has spaces, oldText has tabs)"},
		"deeper":             {"\n\tsum.Add(sum, l.Amount())\n", "indentation"},
		"line ends":          {"return sum // done\n}", "white space at line ends; the file has\n8\t\treturn sum // done  \n9\t}"},
		"inner space":        {"func  Total(lines  []Line)", "differs in white space; the file has\n3\tfunc"},
		"case":               {"Sum := New(big.Rat)", "upper and lower case"},
		"look-alike":         {"\"it\u2019s - ok\"", "look-alike characters"},
		"one line off":       {"\tsum := new(big.Rat)\n\tfor _, l := range lines {\n\t\tsum.Sub(sum, l.Amount())\n\t}\n", "lines 4-7 come nearest, 3 of 4 lines are the same; different are\n6\t\t\tsum.Add(sum, l.Amount())\n  oldText has: \t\tsum.Sub"},
		"similar line":       {"total.Add(sum, x.Amount())", "the nearest lines are\n4\t"},
		"nothing":            {"zzzzqqqq", "nothing in it is similar: read it again"},
	} {
		got := explainMiss(file, c.find, "")
		if !strings.Contains(got, c.want) || !strings.HasPrefix(got, "oldText is not in the file") {
			t.Errorf("%s: got %q, want %q in it", name, got, c.want)
		}
	}
	wantIn(t, explainMiss("a\nthe new text\n", "the old text\n", "the new text\n"), "newText is already there")
}

// An explanation is bounded in time and size, whatever is compared: these would
// take minutes if its cost grew with the square of a file.
func TestExplainMissIsBounded(t *testing.T) {
	var code strings.Builder
	for i := 0; code.Len() < 6<<20; i++ {
		fmt.Fprintf(&code, "\tx%d := compute(%d, \"é\") // line\n", i%977, i)
	}
	for name, c := range map[string]struct{ flat, find string }{
		"many lines":    {code.String(), "\tx := comput(7, \"e\")\n\treturn\n"},
		"long oldText":  {code.String(), strings.Repeat("\tnot there at all\n", 50000)},
		"equal lines":   {strings.Repeat("same\n", 1<<19), strings.Repeat("same\n", 300) + "other\n"},
		"one long line": {strings.Repeat("ab", 8<<20), "abba" + strings.Repeat("x", 1<<20)},
		"controls":      {strings.Repeat("\x1b[31m\n", 10000), "\x1b[32m"},
	} {
		start := time.Now()
		got := explainMiss(c.flat, c.find, "")
		if d := time.Since(start); d > 20*time.Second || len(got) > maxOutput/4 || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %d bytes in %v", name, len(got), d)
		}
	}
}

func FuzzExplainMiss(f *testing.F) {
	f.Add("a\n\tb\nc\n", "  b\nc", "x")
	f.Add("12\tx\n", "12\tx", "")
	f.Fuzz(func(t *testing.T, flat, find, put string) {
		if find == "" {
			return
		}
		got := explainMiss(flat, find, put)
		if !utf8.ValidString(got) || len(got) > maxOutput || text.Plain(got) != got {
			t.Errorf("%q in %q: got %q", find, flat, got)
		}
	})
}
