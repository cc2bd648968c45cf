package frontmatter

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// show writes a value on one line: 'text', !true, ~, [list], {map}.
func show(v Value) string {
	switch v.Kind {
	case Text:
		return "'" + v.Text + "'"
	case Bool:
		return "!" + v.Text
	case List:
		var items []string
		for _, i := range v.Items {
			items = append(items, show(i))
		}
		return "[" + strings.Join(items, " ") + "]"
	case Map:
		var fields []string
		for _, f := range v.Fields {
			fields = append(fields, f.Key+"="+show(f.Value))
		}
		return "{" + strings.Join(fields, " ") + "}"
	}
	return "~"
}

func problems(d Document) string {
	var all []string
	for _, p := range d.Problems {
		all = append(all, fmt.Sprintf("%d: %s", p.Line, p.Text))
	}
	return strings.Join(all, "\n")
}

const wanted = ": the value is no YAML, it wants quotes; it was taken as if it had them"

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in, fields, body string
		line                   int
		problems               string
	}{
		{"nothing", "", "", "", 1, ""},
		{"no block", "# Title\n---\nx: 1\n---\n", "", "# Title\n---\nx: 1\n---\n", 1, ""},
		{"simple", "---\nname: a\ndescription: b c\n---\nbody\n", "{name='a' description='b c'}", "body\n", 5, ""},
		{"order", "---\nz: 1\na: 2\nm: 3\n---\n", "{z='1' a='2' m='3'}", "", 6, ""},
		{"empty block", "---\n---\nbody", "{}", "body", 3, ""},
		{"comments alone", "---\n# x\n---\nbody", "{}", "body", 4, ""},
		{"null", "---\n~\n---\nbody", "{}", "body", 4, ""},
		{"CRLF", "---\r\nname: a\r\n---\r\nb\r\nc\r", "{name='a'}", "b\nc\n", 4, ""},
		{"byte order mark", "\xef\xbb\xbf---\nname: a\n---\nb", "{name='a'}", "b", 4, ""},
		{"blanks behind the fence", "---  \nname: a\n---\t\nb", "{name='a'}", "b", 4, ""},
		{"fence at the end", "---\nname: a\n---", "{name='a'}", "", 4, ""},
		{"not a fence", "----\nname: a\n---\n", "", "----\nname: a\n---\n", 1, ""},
		{"never closed", "---\nname: a\nbody", "", "---\nname: a\nbody", 1, "1: --- is never closed, so that all is text and nothing frontmatter"},
		{"kinds", "---\na: true\nb: \"true\"\nc: 1.10\nd:\ne: [x, 2]\nf: {k: v}\ng: 2024-01-02\nh: null\ni: 'no'\n---\n",
			"{a=!true b='true' c='1.10' d=~ e=['x' '2'] f={k='v'} g='2024-01-02' h=~ i='no'}", "", 12, ""},
		{"block texts", "---\na: |\n  one\n  two\nb: >\n  x\n  y\n---\n", "{a='one\ntwo\n' b='x y\n'}", "", 9, ""},
		{"block list", "---\ntools:\n  - Read\n  - Bash(git:*)\n---\n", "{tools=['Read' 'Bash(git:*)']}", "", 6, ""},
		{"colon in a value", "---\nname: a\ndescription: Use when: it's so\n---\n", "{name='a' description='Use when: it's so'}", "", 5, "3" + wanted},
		{"colon at the end", "---\ndescription: as follows:\n---\n", "{description='as follows:'}", "", 4, "2" + wanted},
		{"nested colon", "---\nmetadata:\n  note: a: b\n---\n", "{metadata={note='a: b'}}", "", 5, "3" + wanted},
		{"two lists in a row", "---\nargument-hint: [pr] [priority]\n---\n", "{argument-hint='[pr] [priority]'}", "", 4, "2" + wanted},
		{"star", "---\ntools: *\nglobs: *.go\n---\n", "{tools='*' globs='*.go'}", "", 5, "2" + wanted + "\n3" + wanted},
		{"at sign", "---\nx: @a\ny: `b`\nz: %c\n---\n", "{x='@a' y='`b`' z='%c'}", "", 6, "2" + wanted + "\n3" + wanted + "\n4" + wanted},
		{"twice", "---\na: 1\nb: 2\na: 3\n---\n", "{a='1' b='2'}", "", 6, `4: key "a" is there twice, first in line 2, which counts`},
		{"merge key", "---\n<<: {a: 1}\n---\n", "{<<={a='1'}}", "", 4, ""},
		{"wrong bytes", "---\na: x\xffy\n---\nb\xc3", "{a='x\ufffdy'}", "b\ufffd", 4, "1: the file is not valid UTF-8: wrong bytes were replaced"},
		{"second block stays", "---\na: 1\n---\n---\nb: 2\n---\n", "{a='1'}", "---\nb: 2\n---\n", 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			fields := ""
			if d.Found {
				fields = show(Value{Kind: Map, Fields: d.Fields})
			}
			if fields != c.fields || d.Body != c.body || d.BodyLine != c.line || problems(d) != c.problems {
				t.Errorf("got %s, body %q in line %d, problems %q", fields, d.Body, d.BodyLine, problems(d))
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for _, c := range []struct {
		name, in string
		line     int
		reason   string
	}{
		{"list", "---\n- a\n---\nbody", 2, "the block holds no keys"},
		{"text", "---\n\njust text\n---\nbody", 3, "the block holds no keys"},
		{"indent", "---\na: 1\nb: 2\n   c: 3\n---\nbody", 4, ""},
		{"quote never closed", "---\na: 1\nb: \"x\nc: 3\n---\nbody", 3, ""},
		{"list never closed", "---\na: 1\nb: 2\nc: [x\nd: 3\n---\nbody", 4, ""},
		{"tab", "---\na:\n\t- b\n---\nbody", 3, ""},
		{"anchor", "---\na: &x 1\n---\nbody", 2, "anchors (&) and aliases (*) are not taken; a text that begins so wants quotes"},
		{"alias", "---\na: 1\nb: &x [1]\nc: *x\n---\nbody", 3, "anchors (&) and aliases (*) are not taken; a text that begins so wants quotes"},
		{"anchor at the root", "---\n&x\na: 1\n---\nbody", 2, "anchors (&) and aliases (*) are not taken; a text that begins so wants quotes"},
		{"anchor of a key", "---\n&x a: 1\n---\nbody", 2, ""},
		{"map as a key", "---\n? {a: 1}\n: b\n---\nbody", 2, "a key is no plain word"},
		{"too deep", "---\na: " + deep + "\n---\nbody", 2, "lists and maps are nested deeper than 8"},
		{"two documents", "---\na: 1\n...\nb: 2\n---\nbody", 0, ""},
		{"control character", "---\na: x\x1by\n---\nbody", 2, "control characters are not allowed"},
		{"too large", "---\na: " + strings.Repeat("x", MaxBytes) + "\n---\nbody", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse([]byte(c.in))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v, want an error", d, err)
			}
			if c.line > 0 && e.Line != c.line || c.reason != "" && e.Reason != c.reason || e.Reason == "" {
				t.Errorf("got line %d, %q", e.Line, e.Reason)
			}
			if !d.Found || d.Fields != nil || (d.Body != "body" && c.name != "too large") {
				t.Errorf("got %+v, want the body alone", d)
			}
			if want := fmt.Sprintf("read frontmatter: line %d: %s", e.Line, e.Reason); err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
		})
	}
}

// The start of a file is enough for the fields.
func TestParseOfTheStart(t *testing.T) {
	d, err := Parse([]byte("---\na: 1\n---\n" + strings.Repeat("x", 100)))
	if v, ok := d.Get("a"); err != nil || !ok || v.Text != "1" {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, ok := d.Get("b"); ok {
		t.Error("got a key that is not there")
	}
	if d, err := Parse([]byte("---\n" + strings.Repeat("x: y\n", MaxBytes))); err == nil || !d.Found {
		t.Errorf("a block without an end: got %v", err)
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"a: Read, Grep ,Bash": {"Read", "Grep", "Bash"}, "a: [Read, 'Grep ', ~]": {"Read", "Grep"}, "a: one": {"one"},
		"a: Bash(git add:*, git rm:*), Read": {"Bash(git add:*, git rm:*)", "Read"}, "a:": nil, "a: ','": nil,
		"a: x)y, z": {"x)y", "z"}, "a:\n- true\n- 2": {"true", "2"},
	} {
		d, err := Parse([]byte("---\n" + in + "\n---\n"))
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if got, ok := d.Fields[0].Value.Words(); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, v := range []Value{{Kind: Map}, {Kind: List, Items: []Value{{Kind: List}}}} {
		if got, ok := v.Words(); ok {
			t.Errorf("%s: got %q", show(v), got)
		}
	}
}

func TestTruthAndScalar(t *testing.T) {
	for in, want := range map[string][2]bool{
		"true": {true, true}, `"true"`: {true, true}, "'False'": {false, true}, "yes": {true, true}, "OFF": {false, true},
		"maybe": {}, "1": {}, "": {}, "[true]": {},
	} {
		d, err := Parse([]byte("---\na: " + in + "\n---\n"))
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		v := d.Fields[0].Value
		if got, ok := v.Truth(); got != want[0] || ok != want[1] {
			t.Errorf("%q: got %v, %v, want %v", in, got, ok, want)
		}
		if _, ok := v.Scalar(); ok != (v.Kind != List) {
			t.Errorf("%q: scalar %v of %s", in, ok, v.Kind)
		}
	}
}

// A small text must not become a large one, nor take long.
func TestHostileBlocksAreCheap(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 20; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	half := MaxBytes / 2
	for name, block := range map[string]string{
		"billion laughs": laughs, "flow": strings.Repeat("[", half), "maps": strings.Repeat("{a: ", half/4),
		"items": strings.Repeat("- ", half), "keys": strings.Repeat("? ", half), "colons": strings.Repeat("a: ", half/2),
		"quotes": strings.Repeat("a: \"\n", half/4), "lines": strings.Repeat("x: a: b\n", half/4), "stars": strings.Repeat("a: *a\n", half/4),
		"one key": strings.Repeat("a: 1\n", half/3), "many keys": manyKeys(3000), "indents": indents(300), "tags": strings.Repeat("!!a ", half/2),
		"comments": strings.Repeat("#\n", half), "errors": strings.Repeat("a\n", 90) + "]",
	} {
		start := time.Now()
		d, err := Parse([]byte("---\n" + block + "\n---\nbody"))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
		if name == "billion laughs" && err == nil {
			t.Error("billion laughs were taken")
		}
		if len(d.Problems) > maxProblems {
			t.Errorf("%s: %d problems", name, len(d.Problems))
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

func indents(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\n---\nbody", "---\na: b: c\n---\n", "\xef\xbb\xbf---\r\na: [x] [y]\r\n---\r\n", "---\na: &x 1\nb: *x\n---\n",
		"---\na: |\n  x\n---\n", "---\n? [a]\n: b\n---\n", "---\na: 1\na: 2\n---\n", "---\n- x\n---\n", "---\na: \"\\x41\"\n---\n", "---\na: !!binary x\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if !utf8.ValidString(d.Body) || strings.Contains(d.Body, "\r") {
			t.Errorf("body %q", d.Body)
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+2 || d.Fields != nil) {
			t.Errorf("error %v, fields %v", err, d.Fields)
		}
		seen := map[string]bool{}
		for _, f := range d.Fields {
			if seen[f.Key] || f.Line < 2 || f.Value.Line < 0 {
				t.Errorf("field %+v", f)
			}
			seen[f.Key] = true
			f.Value.Words()
			f.Value.Truth()
			show(f.Value)
		}
	})
}
