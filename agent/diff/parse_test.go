package diff

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	patch := "diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n" +
		"@@ -1,3 +1,3 @@ func main() {\n a\n-b\n+B\n\n" +
		"@@ -9 +9,0 @@\n--- gone\n" +
		"\n--- /dev/null\t2024-01-01\n+++ b/new file\t\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n" +
		"--- old.txt\n+++ new.txt\r\n@@ -1 +1 @@\n-a\r\n+b\n"
	want := []FileDiff{
		{OldPath: "x.go", NewPath: "x.go", Hunks: []Hunk{
			{1, 3, 1, 3, "func main() {", []Line{{Same, "a", false}, {Removed, "b", false}, {Added, "B", false}, {Same, "", false}}},
			{9, 1, 9, 0, "", []Line{{Removed, "-- gone", false}}},
		}},
		{NewPath: "new file", Hunks: []Hunk{{0, 0, 1, 1, "", []Line{{Added, "x", true}}}}},
		{OldPath: "old.txt", NewPath: "new.txt", Hunks: []Hunk{
			{1, 1, 1, 1, "", []Line{{Removed, "a\r", false}, {Added, "b", false}}},
		}},
	}
	got, err := Parse(patch)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if added, removed := Stat(patch); added != 3 || removed != 3 {
		t.Errorf("Stat = %d, %d, want 3, 3", added, removed)
	}
}

func TestParsePrefixes(t *testing.T) {
	const body = "@@ -1 +1 @@\n-a\n+b\n"
	for head, want := range map[string][2]string{
		"--- a/x\n+++ b/x\n":       {"x", "x"},
		"--- a/x\n+++ a/x\n":       {"a/x", "a/x"},
		"--- x\n+++ b/x\n":         {"x", "b/x"},
		"--- a/x\n+++ /dev/null\n": {"x", ""},
		"--- /dev/null\n+++ b/x\n": {"", "x"},
		"--- a/../x\n+++ b/../x\n": {"../x", "../x"},
	} {
		got, err := Parse(head + body)
		if err != nil || got[0].OldPath != want[0] || got[0].NewPath != want[1] {
			t.Errorf("%q: %+v, %v, want %q", head, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "--- a/x\n+++ b/x\n"
	for _, c := range []struct{ patch, want string }{
		{"", "no file"},
		{"hello\n", "line 1: got \"hello\""},
		{"--- a/x\n", "+++"},
		{"--- a/x\n+++ \n", "empty name"},
		{"--- /dev/null\n+++ /dev/null\n", "both sides"},
		{"--- \"a/x\n+++ b/x\n", "bad name"},
		{head, "no hunk"},
		{"diff --git a/x b/y\nrename from x\nrename to y\n", "want a line"},
		{head + "@@ -1 +1 @@\n-a\n", "too early: 0 old and 1 new"},
		{head + "@@ -1,2 +1,2 @@\n a\n", "too early"},
		{head + "@@ -1 +1 @@\n-a\n-b\n", "line 5: hunk has more"},
		{head + "@@ -1 +1 @@\n-a\n+b\n+c\n", "line 6: hunk has more"},
		{head + "@@ -1 +1 @@\n-a\n+b\nc\n", "line 6: got \"c\""},
		{head + "@@ -1 +1 @@\n-a\nb\n", "in a hunk"},
		{head + "@@ -1 +1\n-a\n+b\n", "bad hunk header"},
		{head + "@@ -0 +1 @@\n-a\n+b\n", "bad hunk header"},
		{head + "@@ -0,0 +0,0 @@\n", "bad hunk header"},
		{head + "@@ -1,-1 +1 @@\n", "bad hunk header"},
		{head + "@@ -+1 +1 @@\n", "bad hunk header"},
		{head + "@@ -1,9999999999 +1 @@\n", "bad hunk header"},
		{head + "@@ -5 +5 @@\n-a\n+b\n@@ -5 +6 @@\n-a\n+b\n", "not after"},
		{head + "@@ -5 +5 @@\n-a\n+b\n@@ -6 +5 @@\n-a\n+b\n", "not after"},
		{head + "@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+c\n", "after one without a newline"},
		{head + "Binary files differ\n@@ -1 +1 @@\n", "want a line"},
		{"--- a/x\n+++ b/x\n@@ -1,0 +1 @@\n+\n" + strings.Repeat("x", maxPatch), "at most"},
	} {
		got, err := Parse(c.patch)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "parse patch: ") {
			t.Errorf("Parse(%.80q) = %+v, %v, want %q", c.patch, got, err, c.want)
		}
	}
}

func TestStatOfAnyText(t *testing.T) {
	for patch, want := range map[string][2]int{
		"":                      {0, 0},
		"+a\n-b\n":              {0, 0},
		"@@ -1 +1,5 @@\n-a\n+b": {1, 1},
		"@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n+ e\n": {1, 1},
		"@@ -1 +1 @@\nwhat\n-a\n+b\n":              {1, 1},
	} {
		if a, r := Stat(patch); a != want[0] || r != want[1] {
			t.Errorf("Stat(%q) = %d, %d, want %v", patch, a, r, want)
		}
	}
}

// FuzzParse: any text, no panic, and hunks are what their headers say.
func FuzzParse(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n")
	f.Add("diff --git a/x b/x\n--- \"a/\\303\\251\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
	f.Fuzz(func(t *testing.T, patch string) {
		Stat(patch)
		files, err := Parse(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			for _, h := range file.Hunks {
				old, new := h.OldLines, h.NewLines
				for _, l := range h.Lines {
					if l.Kind != Added {
						old--
					}
					if l.Kind != Removed {
						new--
					}
				}
				if old != 0 || new != 0 {
					t.Fatalf("%d old, %d new lines too few in %q", old, new, patch)
				}
			}
		}
	})
}
