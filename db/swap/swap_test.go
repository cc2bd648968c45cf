package swap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const stamp = "20250304-050607"

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func put(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// content is a database of so many bytes.
func content(n int, b byte) string {
	return "SQLite format 3\x00" + string(bytes.Repeat([]byte{b}, n-16))
}

func begin(t *testing.T, old string) *Swap {
	t.Helper()
	path := put(t, filepath.Join(t.TempDir(), "x.sqlite"), old)
	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	t.Cleanup(func() { f.Close() })
	return &Swap{File: f, Path: path, Stamp: stamp}
}

// Between any two steps the file is what it was, or is marked, or is what it shall be;
// the file itself, which others may have open, stays the same one.
func TestPut(t *testing.T) {
	for _, sizes := range [][2]int{{5000, 3 << 20}, {3 << 20, 5000}, {0, 4096}, {100, 512}} {
		old, want := "", content(sizes[1], 'n')
		if sizes[0] > 0 {
			old = content(sizes[0], 'o')
		}
		s := begin(t, old)
		put(t, s.Path+"-wal", "log")
		put(t, s.Path+"-shm", "index")
		was := must(os.Stat(s.Path))(t)
		fresh := put(t, filepath.Join(filepath.Dir(s.Path), "fresh"), want)
		aside := must(s.Aside())(t)
		if read(t, aside) != old || read(t, aside+"-wal") != "log" || len(Left(s.Path)) != 0 {
			t.Fatalf("set aside: %q and %q, left %v", read(t, aside), read(t, aside+"-wal"), Left(s.Path))
		}
		fresh = must(s.Settle(fresh))(t)
		var steps []string
		s.Step = func(name string) {
			steps = append(steps, name)
			got := read(t, s.Path)
			if m, marked := ReadMark(s.File, s.Path); marked {
				if m.Aside != aside || m.Recovered != fresh {
					t.Errorf("behind %s the mark says %+v", name, m)
				}
			} else if name != "written" {
				t.Errorf("behind %s: %.60q is no mark", name, got)
			}
		}
		if err := s.Put(fresh, aside); err != nil {
			t.Fatal(err)
		}
		got := read(t, s.Path)
		if len(got) != len(want) || got[96:] != want[96:] || got[:24] != want[:24] {
			t.Errorf("%d bytes are %d: %.100q", len(want), len(got), got)
		}
		if got[24:28] == want[24:28] || got[40:44] == want[40:44] || got[92:96] != got[24:28] {
			t.Errorf("its numbers are %x, %x and %x", got[24:28], got[40:44], got[92:96])
		}
		if !os.SameFile(was, must(os.Stat(s.Path))(t)) {
			t.Error("it is another file")
		}
		for _, end := range []string{"-wal", "-shm"} {
			if _, err := os.Lstat(s.Path + end); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", end, err)
			}
		}
		if len(steps) < 5 || steps[0] != "marked" {
			t.Errorf("steps %v", steps)
		}
	}
}

// A repair that was cut short is finished, unless what it had made is not as it was.
func TestFinish(t *testing.T) {
	for _, harm := range []string{"", "gone", "changed"} {
		s := begin(t, content(9000, 'o'))
		fresh := must(s.Settle(put(t, s.Path+".new", content(2<<20, 'n'))))(t)
		aside := must(s.Aside())(t)
		func() {
			defer func() { recover() }()
			s.Step = func(name string) {
				if name == "piece" {
					panic("cut short")
				}
			}
			_ = s.Put(fresh, aside)
		}()
		s.Step = nil
		switch harm {
		case "gone":
			os.Remove(fresh)
		case "changed":
			put(t, fresh, content(2<<20, 'x'))
		}
		before := read(t, s.Path)
		m, ok := ReadMark(s.File, s.Path)
		if !ok || !Marked([]byte(before)[:64]) {
			t.Fatal("there is no mark")
		}
		done, err := s.Finish(m)
		if done != (harm == "") || err != nil {
			t.Errorf("%q: finished %v, %v", harm, done, err)
		}
		if got := read(t, s.Path); done && got[512:] != content(2<<20, 'n')[512:] || !done && got != before {
			t.Errorf("%q: the file is %.40q", harm, got)
		}
	}
}

// A mark names nothing but what a repair makes beside the database.
func TestMarkIsForeign(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{".damaged-" + stamp + "\n.recovered-" + stamp + "-2\n" + sum + "\n", true},
		{"/../../x\n.recovered-" + stamp + "\n" + sum + "\n", false},
		{".damaged-" + stamp + "\n/../x\n" + sum + "\n", false},
		{".damaged-" + stamp + "\n.recovered-" + stamp + "\nab\n", false},
		{".damaged-" + stamp, false},
		{"", false},
	} {
		head := append([]byte(markWord), tt.text...)
		head = append(head, make([]byte, 512)...)
		if m, ok := ReadMark(bytes.NewReader(head), "/a/x"); ok != tt.ok || ok && (m.Aside != "/a/x.damaged-"+stamp || m.Recovered != "/a/x.recovered-"+stamp+"-2") {
			t.Errorf("%q: %+v, %v", tt.text, m, ok)
		}
	}
	if _, ok := ReadMark(strings.NewReader(markWord), "/a/x"); ok {
		t.Error("a part of a mark is taken for one")
	}
}

// Only files of these very names are a repair's own.
func TestLeftAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	left := []string{
		".checked-" + stamp, ".checked-" + stamp + "-2-wal", ".checked-" + stamp + "-new", ".checked-" + stamp + "-new-shm",
		".checked-" + stamp + "-new.v3.backup", ".damaged-" + stamp + "-wal.part", ".damaged-" + stamp + ".part", ".recovered-" + stamp,
	}
	others := []string{
		"", "-wal", ".checked-mine", ".checked-" + stamp + ".txt", "." + stamp + ".backup", ".v3.backup", ".damaged-" + stamp + "-wal",
		".damaged-20240304-050607", ".damaged-" + stamp, ".damaged-" + stamp + "-2", ".recovered", ".recovered-now",
	}
	for _, end := range append(slices.Clone(left), others...) {
		put(t, path+end, "x")
	}
	if err := os.Mkdir(path+".checked-20250304-050608", 0o700); err != nil {
		t.Fatal(err)
	}
	names := func(all []string) (out []string) {
		for _, n := range all {
			out = append(out, strings.TrimPrefix(n, path))
		}
		return out
	}
	if got := names(Left(path)); !slices.Equal(got, left) {
		t.Errorf("left is %q, want %q", got, left)
	}
	want := []string{".damaged-" + stamp + "-2", ".damaged-" + stamp, ".damaged-20240304-050607", ".recovered-" + stamp}
	if got := names(Kept(path)); !slices.Equal(got, want) {
		t.Errorf("kept is %q, want %q", got, want)
	}
	if got := names(DropBackups(path, 0)); !slices.Equal(got, []string{"." + stamp + ".backup"}) {
		t.Errorf("dropped %q", got)
	}
	if got := Free(path + ".damaged-" + stamp); got != path+".damaged-"+stamp+"-3" {
		t.Errorf("free is %q", got)
	}
}

func TestRestore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	if from, _, err := Restore(path, stamp); from != "" || err != nil {
		t.Errorf("of nothing: %q, %v", from, err)
	}
	aside := put(t, path+".damaged-"+stamp, "damaged")
	put(t, aside+"-wal", "its log")
	put(t, path+".recovered-"+stamp, "recovered")
	if from, _, err := Restore(path, stamp); from != aside || err != nil || read(t, path) != "damaged" || read(t, path+"-wal") != "its log" {
		t.Errorf("from %q, %v", from, err)
	}
	if read(t, aside) != "damaged" || len(Left(path)) != 1 {
		t.Errorf("left %v", Left(path))
	}
	newer := strings.Repeat("newer log", 100)
	// The log that stayed is the last, but if it is of a later database.
	os.Remove(path)
	put(t, path+"-wal", newer)
	if from, _, err := Restore(path, stamp); from != "" || err != nil {
		t.Errorf("with a later log: from %q, %v", from, err)
	}
	then := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	if err := os.Chtimes(path+"-wal", then, then); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Restore(path, stamp); err != nil || read(t, path+"-wal") != newer {
		t.Errorf("the log is %q, %v", read(t, path+"-wal"), err)
	}
	// Nobody's file is replaced.
	if _, _, err := Restore(path, stamp); !errors.Is(err, fs.ErrExist) || read(t, path) != "damaged" {
		t.Errorf("got %v", err)
	}
}

// A database is made again from the newest of what lies beside it, but from a backup
// never with a log.
func TestRestoreFromTheNewest(t *testing.T) {
	const day = ".damaged-20250301-000000"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a newer backup", map[string]string{day: "a", ".recovered-20250302-000000": "b", ".20250303-000000.backup": "c"}, ".20250303-000000.backup"},
		{"a newer recovered one", map[string]string{day: "a", ".recovered-20250304-000000": "b", ".20250303-000000.backup": "c"}, ".recovered-20250304-000000"},
		{"a newer damaged one", map[string]string{day + "-2": "a", day: "b", ".20250203-000000.backup": "c"}, day + "-2"},
		{"of one repair", map[string]string{day: "a", ".20250301-000000.backup": "c"}, day},
		{"a backup and a log", map[string]string{day: "a", ".20250303-000000.backup": "c", "-wal": strings.Repeat("l", 600)}, ""},
	} {
		path := filepath.Join(t.TempDir(), "x.1.20260101-000000.sqlite")
		for end, text := range tt.files {
			put(t, path+end, text)
		}
		then := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
		_ = os.Chtimes(path+"-wal", then, then)
		from, others, err := Restore(path, stamp)
		want := ""
		if tt.want != "" {
			want = path + tt.want
			if got := read(t, path); got != tt.files[tt.want] {
				t.Errorf("%s: the database is %q", tt.name, got)
			}
		}
		if from != want || err != nil || len(others) < 1 || slices.Contains(others, from) {
			t.Errorf("%s: from %q but %q, %v", tt.name, from, others, err)
		}
	}
}

// A restore that was cut short behind its log, or failed, is made by the next with all
// that there is; a log that lies there empty is none.
func TestRestoreIsCutShort(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(path, aside string)
	}{
		{"killed behind the log", func(path, aside string) { put(t, path+"-wal", read(t, aside+"-wal")) }},
		{"with an empty log", func(path, _ string) { put(t, path+"-wal", "") }},
		{"killed before, with copies left", func(path, _ string) { put(t, path+".checked-"+stamp+"-wal", "a part") }},
		{"another file came first", func(path, _ string) {
			put(t, path, "another")
			if _, _, err := Restore(path, stamp); err == nil {
				t.Error("it is restored over another file")
			}
			if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a log without its database is left")
			}
			os.Remove(path)
		}},
	} {
		path := filepath.Join(t.TempDir(), "x.sqlite")
		aside := put(t, path+".damaged-"+stamp, content(5000, 'o'))
		put(t, aside+"-wal", strings.Repeat("l", 600))
		then := time.Date(2025, 3, 4, 5, 6, 8, 0, time.UTC)
		if err := os.Chtimes(aside+"-wal", then, then); err != nil {
			t.Fatal(err)
		}
		tt.harm(path, aside)
		from, _, err := Restore(path, stamp)
		if from != aside || err != nil || read(t, path) != content(5000, 'o') || read(t, path+"-wal") != strings.Repeat("l", 600) {
			t.Errorf("%s: from %q, %v", tt.name, from, err)
		}
		if info := must(os.Stat(path + "-wal"))(t); !info.ModTime().Equal(then) && tt.name != "killed behind the log" {
			t.Errorf("%s: the log is of %v", tt.name, info.ModTime())
		}
	}
}

func TestLost(t *testing.T) {
	log := strings.Repeat("l", 600)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, ""},
		{"new", map[string]string{"": ""}, ""},
		{"cut off before its first page's end", map[string]string{"": "SQLite format 3", "-wal": log}, "-wal"},
		{"sound", map[string]string{"": content(512, 'x'), "-wal": log, ".damaged-" + stamp: "x"}, ""},
		{"empty with a log", map[string]string{"": "", "-wal": log}, "-wal"},
		{"no file with a log", map[string]string{"-wal": log}, "-wal"},
		{"a log of nothing", map[string]string{"-wal": "x"}, ""},
		{"moved away", map[string]string{".damaged-" + stamp: "x"}, ".damaged-" + stamp},
		{"not put back", map[string]string{".recovered-" + stamp: "x"}, ".recovered-" + stamp},
	} {
		path := filepath.Join(t.TempDir(), "x.sqlite")
		for end, text := range tt.files {
			put(t, path+end, text)
		}
		err := Lost(path)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), path+tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
