package workspace

import (
	"path"
	"strings"
	"testing"
	"time"
)

func TestWildcard(t *testing.T) {
	tests := []struct {
		pattern, yes, no string // names separated by spaces
	}{
		{"a", "a", "b aa A"},
		{"*", "a .a abc", "a/b"},
		{"*.go", "a.go .go", "a/b.go a.gox"},
		{"a*b*c", "abc aXbXc abbcc", "ab acb a/bc"},
		{"?", "a .", "/ ab"},
		{"**", "a a/b a/b/c", ""},
		{"**/x", "x a/x a/b/x", "ax a/bx x/a"},
		{"a/**", "a/b a/b/c", "a ab b/a"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab a/xb a/b/c"},
		{"a/**/**/b", "a/b a/x/b a/x/y/b", "ab"},
		{"a**b", "ab axxb", "a/b a/x/b"},
		{"**a", "a xa", "x/a"},
		{"a**/b", "a/b ax/b", "a/x/b b"},
		{"[abc]", "a b c", "d ab /"},
		{"[!abc]", "d ]", "a / dd"},
		{"[^abc]", "d", "a /"},
		{"[]a]", "] a", "b"},
		{"[a-c-e]", "a b c - e", "d"},
		{"[-a]", "- a", "b"},
		{"a[--9]b", "a-b a.b a5b", "a/b"},
		{"[a-]", "a -", "b"},
		{"[c-a]", "c", "a b"},
		{`[\]]`, "]", `\`},
		{`[\\]`, `\`, "]"},
		{"[[:digit:]x]", "0 9 x", "a :"},
		{"[![:upper:]]", "a 1", "A"},
		{"[[:x]", "[ : x", "a"},
		{`\*`, "*", "a"},
		{`a\bc`, "abc", `a\bc`},
		{"é", "é", "e"},
	}
	for _, tt := range tests {
		w, err := compileWildcard(inBytes, tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for _, s := range strings.Fields(tt.yes) {
			if !w.match(inBytes, s) {
				t.Errorf("%s does not match %s", tt.pattern, s)
			}
		}
		for _, s := range strings.Fields(tt.no) {
			if w.match(inBytes, s) {
				t.Errorf("%s matches %s", tt.pattern, s)
			}
		}
	}
	for _, bad := range []string{"[", "[a", "[]", "[!]", `a\`, `[\`, "[[:nope:]]", "[a-", `[a-\`} {
		if _, err := compileWildcard(inBytes, bad); err == nil {
			t.Errorf("%s compiled", bad)
		}
	}
}

func TestWildcardIsBounded(t *testing.T) {
	start := time.Now()
	for _, p := range []string{strings.Repeat("*a", 300), strings.Repeat("**/a", 300), strings.Repeat("*", 4000) + "b", strings.Repeat("?*", 500) + "b"} {
		w, err := compileWildcard(inRunes, p)
		if err != nil {
			t.Fatal(err)
		}
		if w.match(inRunes, strings.Repeat("a", 4000)+"c") {
			t.Errorf("%.20s matches", p)
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// FuzzWildcard compares with path.Match where both mean the same.
func FuzzWildcard(f *testing.F) {
	for _, s := range [][2]string{{"a*b", "axb"}, {"[a-c]?", "b\xff"}, {"*é[^x]", "éy"}, {"\xb4*", "\xb4++"}, {`\*`, "*"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, p, s string) {
		got, err := compileWildcard(inRunes, p)
		compileWildcard(inBytes, p)
		if err != nil {
			return
		}
		m := got.match(inRunes, s)
		if strings.Contains(p, "**") || strings.ContainsAny(p, "[") || strings.ToValidUTF8(p+s, "") != p+s {
			return
		}
		want, err := path.Match(p, s)
		if err == nil && want != m {
			t.Fatalf("%q on %q: %v, path.Match says %v", p, s, m, want)
		}
	})
}
