package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBase(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"ws/a/b", "ws/c", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(filepath.Join(dir, "ws"), filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, bad := range []string{filepath.Join(dir, "other"), dir, filepath.Join(dir, "ws/none")} {
		if err := w.SetBase(bad); err == nil {
			t.Errorf("%s was taken for a base", bad)
		}
	}
	if err := w.SetBase(filepath.Join(dir, "ws/a/b")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".":                             ".",
		"x":                             "x",
		"./x/":                          "x",
		"..":                            "..",
		"../y":                          "../y",
		"../../c/z":                     "../../c/z",
		"../../../other/q":              filepath.Join(dir, "other/q"),
		filepath.Join(dir, "ws/c/z"):    "../../c/z",
		filepath.Join(dir, "ws"):        "../..",
		filepath.Join(dir, "ws/a/b2/x"): "../b2/x",
	} {
		got, err := w.Resolve(path)
		if err != nil || got.Name != want || !got.Inside {
			t.Errorf("%s: got %q inside %v, %v, want %q", path, got.Name, got.Inside, err, want)
		}
		// What is shown must mean the same when it comes back.
		again, err := w.Resolve(got.Name)
		if err != nil || again.Abs != got.Abs {
			t.Errorf("%s comes back as %q, want %q", got.Name, again.Abs, got.Abs)
		}
	}
}

func TestApprovalsAreCounted(t *testing.T) {
	outside := t.TempDir()
	w, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	contains := func(path string) bool {
		target, err := w.Resolve(path)
		return err == nil && target.Inside
	}
	file := filepath.Join(outside, "f")
	if contains(file) {
		t.Fatal("it is inside before it was approved")
	}
	first, err := w.Approve(outside)
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.Approve(outside)
	if err != nil {
		t.Fatal(err)
	}
	first()
	first() // twice counts once
	if !contains(file) {
		t.Error("one of two approvals taken back closed it")
	}
	second()
	if contains(file) {
		t.Error("it is open after both were taken back")
	}
	if named, err := w.Approve(w.roots[0].abs); err != nil {
		t.Error(err)
	} else if named(); !contains(w.roots[0].abs) {
		t.Error("an approval taken back closed the workspace itself")
	}
}
