package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// C181. Symptom: a Go glob matcher goes out of range on a name that is not
// valid UTF-8, and JSON turns such a name into one that does not exist.
// Trigger: `touch $'\xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7'`, `touch $'inv_\xfe.txt'`;
// the names must come back byte for byte.
func TestC181QuotedNames(t *testing.T) {
	for _, c := range [][2]string{
		{"main.go", "main.go"},
		{"dir/a b.txt", "dir/a b.txt"},
		{`back\slash`, `back\slash`},
		{`it's "so"`, `it's "so"`},
		{"écran 日本.txt", "écran 日本.txt"},
		{"", ""},
		{"\xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7", `"\xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7"`},
		{"inv_\xfe.txt", `"inv_\xfe.txt"`},
		{`"q" \`, `"\"q\" \\"`},
		{"a\nb\x1b[2J", `"a\u000ab\u001b[2J"`},
		{"shot v\u00a01.png", `"shot v\u00a01.png"`},
		{"é\u202etxt\U000e0041", `"é\u202etxt\U000e0041"`},
		{" lead", `" lead"`},
		{"trail ", `"trail "`},
		{"\ufffd\xff", "\"\ufffd\\xff\""},
	} {
		got := QuoteName(c[0])
		if got != c[1] {
			t.Errorf("QuoteName(%q) = %s, want %s", c[0], got, c[1])
		}
		name, quoted, err := UnquoteName(got)
		if name != c[0] || quoted != (c[0] != c[1]) || err != nil {
			t.Errorf("UnquoteName(%s) = %q, %v, %v", got, name, quoted, err)
		}
	}
}

func TestUnquoteNameErrors(t *testing.T) {
	for _, s := range []string{`"`, `"open`, `"a"b"`, `"\q"`, `"\ud800"`, "\"a\nb\""} {
		name, quoted, err := UnquoteName(s)
		if name != s || quoted || err == nil {
			t.Errorf("UnquoteName(%q) = %q, %v, %v", s, name, quoted, err)
		} else if len(err.Error()) > 400 || !strings.HasPrefix(err.Error(), "unquote name ") {
			t.Errorf("error %q", err)
		}
	}
	if name, quoted, err := UnquoteName("`raw`"); name != "`raw`" || quoted || err != nil {
		t.Errorf("only double quotes quote: %q, %v, %v", name, quoted, err)
	}
}

func FuzzQuoteName(f *testing.F) {
	f.Add("inv_\xfe.txt")
	f.Add("\"a\u2028\\")
	f.Fuzz(func(t *testing.T, name string) {
		q := QuoteName(name)
		if !utf8.ValidString(q) || !IsPlain(q) {
			t.Fatalf("not plain: %q", q)
		}
		if got, _, err := UnquoteName(q); got != name || err != nil {
			t.Fatalf("%q came back as %q, %v", name, got, err)
		}
	})
}
