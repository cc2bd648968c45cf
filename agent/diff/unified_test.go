package diff

import (
	"fmt"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		name, path    string
		before, after []byte
		context       int
		want          string
	}{
		{"equal", "f", []byte("a\n"), []byte("a\n"), 3, ""},
		{"both missing", "f", nil, nil, 3, ""},
		{"one line", "f", []byte("a\nb\nc\n"), []byte("a\nB\nc\n"), 1,
			"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"negative context", "f", []byte("a\nb\nc\n"), []byte("a\nB\nc\n"), -1,
			"--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+B\n"},
		{"new file", "d/f", nil, []byte("a\nb\n"), 3,
			"--- /dev/null\n+++ b/d/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"new empty file", "f", nil, []byte{}, 3, "--- /dev/null\n+++ b/f\n"},
		{"filled file", "f", []byte{}, []byte("a\n"), 3, "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		{"deleted file", "f", []byte("a\n"), nil, 3, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"newline lost", "f", []byte("a\nb\n"), []byte("a\nb"), 3,
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		{"newline missing on both", "f", []byte("a\nb"), []byte("A\nb"), 3,
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"},
		{"crlf kept", "f", []byte("a\r\nb\r\n"), []byte("a\r\nb\n"), 1,
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n"},
		{"binary", "f", []byte("a\x00"), []byte("b"), 3, "--- a/f\n+++ b/f\nBinary files differ\n"},
		{"name with a space", "a b", []byte("a\n"), nil, 0,
			"--- a/a b\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"odd name", "é\n\"\xff\u202e", nil, []byte("a\n"), 0,
			"--- /dev/null\n+++ \"b/é\\012\\\"\\377\\342\\200\\256\"\n@@ -0,0 +1 @@\n+a\n"},
	} {
		if got := Unified(c.path, c.before, c.after, c.context); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestHunksJoinWhenTheirContextTouches(t *testing.T) {
	lines := strings.SplitAfter("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n", "\n")
	for gap, want := range map[int]int{5: 1, 6: 1, 7: 2} {
		changed := append([]string(nil), lines...)
		changed[3], changed[3+gap+1] = "A\n", "B\n"
		patch := Unified("f", []byte(strings.Join(lines, "")), []byte(strings.Join(changed, "")), 3)
		files, err := Parse(patch)
		if err != nil || len(files[0].Hunks) != want {
			t.Errorf("gap %d: %v, want %d hunks in\n%s", gap, err, want, patch)
		}
	}
}

func TestUnifiedMax(t *testing.T) {
	var before, after strings.Builder
	for i := range 100 {
		fmt.Fprintf(&before, "old %d\nsame\nsame\nsame\nsame\nsame\nsame\nsame\n", i)
		fmt.Fprintf(&after, "new %d\nplus\nsame\nsame\nsame\nsame\nsame\nsame\nsame\n", i)
	}
	b, a := []byte(before.String()), []byte(after.String())
	whole := Unified("f", b, a, 3)
	if got := UnifiedMax("f", b, a, 3, len(whole)); got != whole {
		t.Error("a diff that fits was changed")
	}
	for _, limit := range []int{0, 1, 8, 9, 20, 100, 101, 1000} {
		got := UnifiedMax("f", b, a, 3, limit)
		if len(got) > 3*limit+100 {
			t.Errorf("limit %d gave %d bytes", limit, len(got))
		}
		files, err := Parse(got)
		if err != nil || !files[0].Cut {
			t.Fatalf("limit %d: %v in\n%s", limit, err, got)
		}
		added, removed := Stat(got)
		mark := fmt.Sprintf("\n\\ diff cut: %d added and %d removed lines more\n", 200-added, 100-removed)
		if !strings.HasSuffix(got, mark) {
			t.Errorf("limit %d: no %q at the end of\n%s", limit, mark, got)
		}
		for _, h := range files[0].Hunks {
			if len(h.Lines) == 0 {
				t.Errorf("limit %d: empty hunk", limit)
			}
		}
	}
}

func TestNamesComeBack(t *testing.T) {
	for _, path := range []string{
		"main.go", "a b/c d", " x ", "é", "a\tb", "a\nb", `q"\`, "\xff\xfe", "\u202e\u2028", "/abs", "a/b/a/", "\ufffd",
		"dev/null", "x\r",
	} {
		files, err := Parse(Unified(path, []byte("a\n"), []byte("b\n"), 3))
		if err != nil || files[0].OldPath != path || files[0].NewPath != path {
			t.Errorf("%q came back as %+v, %v", path, files, err)
		}
	}
}
