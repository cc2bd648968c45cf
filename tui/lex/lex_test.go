package lex

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/agent/text"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files below testdata")

// letters stand for roles in the golden files: under each line of source a line of these.
var letters = map[text.Role]byte{
	text.Normal: ' ', text.Keyword: 'k', text.String: 's', text.Number: 'n', text.Comment: 'c', text.Name: 'N', text.Mark: '.',
	text.Added: '+', text.Removed: '-', text.Dim: 'd', text.Heading: 'h', text.Quote: 'q',
}

// Each file of testdata is source in the language of its name, as lines that begin with
// "| "; under each is what it is taken for.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, error %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lexer, ok := Lookup(name)
			if !ok {
				t.Fatalf("no lexer for %s", name)
			}
			var b strings.Builder
			var st State
			for line := range strings.Lines(string(data)) {
				source, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "|")
				if !ok {
					continue
				}
				source = strings.TrimPrefix(source, " ")
				var spans text.Styled
				st, spans = lexer.Line(st, source)
				if got := spans.String(); got != source {
					t.Errorf("got text %q, want %q", got, source)
				}
				marks := ""
				for _, s := range spans {
					marks += strings.Repeat(string(letters[s.Role]), text.Width(s.Text))
				}
				fmt.Fprintf(&b, "%s\n", strings.TrimRight("| "+source, " "))
				if m := strings.TrimRight(marks, " "); m != "" {
					fmt.Fprintf(&b, "  %s\n", m)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, want := b.String(), string(data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	tests := []struct {
		name, want string
		ok         bool
	}{
		{"go", "go", true}, {"Go", "go", true}, {"golang", "go", true}, {"C++", "c", true}, {"c#", "csharp", true},
		{"main.go", "go", true}, {"src/app/page.tsx", "javascript", true}, {"12:20:src/main.rs", "rust", true},
		{"go title=\"x.py\"", "go", true}, {"python {1,3}", "python", true}, {"{.ruby}", "ruby", true}, {"language-js", "javascript", true},
		{"Dockerfile", "dockerfile", true}, {"CMakeLists.txt", "cmake", true}, {"archive.tar.sql", "sql", true}, {".bashrc", "bash", true},
		{"", "", false}, {"text", "text", false}, {"txt", "text", false}, {"klingon", "", false}, {"  ", "", false},
		{strings.Repeat("go ", 100), "", false}, {"...", "", false},
	}
	for _, tt := range tests {
		l, ok := Lookup(tt.name)
		if ok != tt.ok || l.Name() != tt.want {
			t.Errorf("Lookup(%q): got %q, %v, want %q, %v", tt.name, l.Name(), ok, tt.want, tt.ok)
		}
	}
}

// Two languages of one name: the second would never be found.
func TestNamesAreUnique(t *testing.T) {
	seen := make(map[string]string)
	for _, l := range languages {
		for _, list := range []string{l.names, l.keywords, l.consts, l.types, l.defining} {
			if list != "" && (list[0] != ' ' || list[len(list)-1] != ' ') {
				t.Errorf("%s: the list %q lacks a blank at an end", strings.Fields(l.names)[0], list)
			}
		}
		for _, name := range strings.Fields(l.names) {
			if other, ok := seen[name]; ok {
				t.Errorf("%s is a name of %s and of %s", name, other, strings.Fields(l.names)[0])
			}
			seen[name] = strings.Fields(l.names)[0]
		}
	}
}

func TestZeroLexerLeavesTextPlain(t *testing.T) {
	st, spans := Lexer{}.Line(State{}, "if x {")
	if st != (State{}) || len(spans) != 1 || spans[0].Role != text.Normal {
		t.Errorf("got %v, %+v", st, spans)
	}
}

// pieces of source that open, close and confuse.
var pieces = []string{
	`"`, "'", "`", "\\", "/*", "*/", "//", "#", "--", "<!--", "-->", "<script>", "</script>", "<style>", "${", "{", "}", "<<EOF", "EOF",
	"R\"x(", ")x\"", "r##\"", "\"##", "'''", `"""`, "@@ -1,2 +3,4 @@", "+", "-", " ", "  ", "\t", "|", ">", ": ", "- ", "key", "0x1F", "1e+9",
	"é", "界", "\u0301", "👩‍👩‍👧", "\xff", "if", "func", "=begin", "[[", "]]", "$", "@", "%", "&amp;", "<a href=\"x\">", "/", "re/[/]/g", "'a",
	"{-", "-}", "<#", "#>", "$$", "\\\"", "=", "(", ")", ";", "::", "!", "?", "~", ".", ",", "<", "1", "_", "::::",
}

// check reads lines in one language and complains unless their text came through.
func check(t *testing.T, l Lexer, source string) {
	t.Helper()
	var st State
	for line := range strings.SplitSeq(source, "\n") {
		next, spans := l.Line(st, line)
		if got := spans.String(); got != line {
			t.Fatalf("%s: got %q, want %q", l.Name(), got, line)
		}
		if len(spans) > maxLine+1 {
			t.Fatalf("%s: got %d spans for %d bytes", l.Name(), len(spans), len(line))
		}
		for i, s := range spans {
			if s.Text == "" || i > 0 && s.Role == spans[i-1].Role {
				t.Fatalf("%s: got spans %+v: an empty one, or two of a role", l.Name(), spans)
			}
		}
		again, _ := l.Line(st, line)
		if again != next {
			t.Fatalf("%s: got state %+v and %+v for one line", l.Name(), again, next)
		}
		st = next
	}
}

func TestRandomSource(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 60 {
		var b strings.Builder
		for range 60 {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(6) == 0 {
				b.WriteByte('\n')
			}
		}
		for i := range languages {
			check(t, Lexer{&languages[i]}, b.String())
		}
	}
}

// Every kind of repeated opening in one line of a megabyte: linear, so far below the
// bound even on a slow machine.
func TestLongLines(t *testing.T) {
	for _, piece := range pieces {
		line := strings.Repeat(piece, 1<<20/len(piece))
		for i := range languages {
			l := Lexer{&languages[i]}
			start := time.Now()
			_, spans := l.Line(State{}, line)
			if d := time.Since(start); d > 200*time.Millisecond {
				t.Errorf("%s: %q repeated took %v", l.Name(), piece, d)
			}
			n := 0
			for _, s := range spans {
				n += len(s.Text)
			}
			if n != len(line) {
				t.Errorf("%s: got %d bytes of %d", l.Name(), n, len(line))
			}
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("go", "x := `a\nb` // c")
	f.Add("html", "<script>`${\xff</script>")
	f.Add("html", "<script>`${\n</script>")
	f.Add("yaml", "a: |\n  b\nc: 'd\n  e'")
	f.Fuzz(func(t *testing.T, name, source string) {
		if l, ok := Lookup(name); ok {
			check(t, l, source)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	for _, tt := range []struct{ name, line string }{
		{"go", `	if err := d.open(ctx, "name", 0x1F); err != nil { // why`},
		{"javascript", "  const total = items.map(i => `${i.price * 2} €`).join('') || /a[/]b/g;"},
		{"yaml", "    - name: \"build\" # the first"},
		{"html", `<a href="https://example.org" class=x>text &amp; more</a>`},
	} {
		l, _ := Lookup(tt.name)
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(tt.line)))
			var st State
			for b.Loop() {
				st, _ = l.Line(st, tt.line)
			}
		})
	}
}
