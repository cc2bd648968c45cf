package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func accept(t *testing.T, s *Store, root, hash string) {
	t.Helper()
	if aside, err := s.Accept(root, hash, moment(0)); err != nil || aside != "" {
		t.Fatalf("accept: %q, %v", aside, err)
	}
}

// moment is a time of tests, in minutes.
func moment(n int) time.Time { return time.Date(2026, 1, 2, 3, n, 0, 0, time.UTC) }

// hash is a hash of tests.
func hash(n int) string { return fmt.Sprintf("%064x", n) }

func accepted(t *testing.T, s *Store, root, hash string) bool {
	t.Helper()
	ok, err := s.Accepted(root, hash)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// absolute makes a root that is absolute on this system.
func absolute(name string) string {
	if runtime.GOOS == "windows" {
		return `C:\` + name
	}
	return "/" + name
}

func TestBranchesDoNotAskAgain(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "state"))
	a, b := absolute("a"), absolute("b")
	if accepted(t, s, a, hash(1)) {
		t.Error("trusted before anybody said so")
	}
	accept(t, s, a, hash(1))
	accept(t, s, a, hash(2))
	for n, want := range map[int]bool{1: true, 2: true, 3: false} {
		if got := accepted(t, s, a, hash(n)); got != want {
			t.Errorf("hash %d: got %v, want %v", n, got, want)
		}
		if accepted(t, s, b, hash(n)) || accepted(t, s, a+"/", hash(n)) {
			t.Errorf("hash %d is trusted at another root", n)
		}
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{s.file: 0o600, filepath.Dir(s.file): 0o700 | os.ModeDir} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("%s: got mode %v, %v, want %v", path, info.Mode(), err, want)
			}
		}
	}
}

func TestListAndRevoke(t *testing.T) {
	s := New(t.TempDir())
	a, b := absolute("a"), absolute("b")
	for i, e := range []Entry{{Root: b, Hash: hash(1)}, {Root: a, Hash: hash(2)}, {Root: a, Hash: hash(3)}, {Root: a, Hash: hash(2)}} {
		if _, err := s.Accept(e.Root, e.Hash, moment(i)); err != nil {
			t.Fatal(err)
		}
	}
	want := []Entry{{a, hash(2), moment(3)}, {a, hash(3), moment(2)}, {b, hash(1), moment(0)}}
	if got, err := s.List(); err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %v, %v\nwant %v", got, err, want)
	}
	for _, want := range []bool{true, false} {
		if found, err := s.Revoke(a); found != want || err != nil {
			t.Errorf("revoke: got %v, %v, want %v", found, err, want)
		}
	}
	if accepted(t, s, a, hash(2)) || !accepted(t, s, b, hash(1)) {
		t.Error("revoking one root took the wrong one")
	}
}

func TestHashesOfARootAreBounded(t *testing.T) {
	d, err := decode(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxHashes + 2 {
		d.add("/a", record{Hash: hash(i), Accepted: moment(i)})
	}
	kept := d.projects["/a"]
	if len(kept) != maxHashes || kept[0].Hash != hash(2) || kept[maxHashes-1].Hash != hash(maxHashes+1) {
		t.Errorf("got %d hashes from %s to %s", len(kept), kept[0].Hash, kept[len(kept)-1].Hash)
	}
}

func TestTheWholeListIsBounded(t *testing.T) {
	d, err := decode(nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 4000)
	for i := range 300 {
		d.add(fmt.Sprintf("/%03d/%s", i, long), record{Hash: hash(i), Accepted: moment(i)})
	}
	d.add("/old", record{Hash: hash(1), Accepted: moment(-1)})
	data, err := d.encode("/old")
	if err != nil || len(data) > maxStore+1 {
		t.Fatalf("got %d bytes, %v", len(data), err)
	}
	d, err = decode(data)
	if err != nil {
		t.Fatal(err)
	}
	_, oldest := d.projects["/000/"+long]
	_, newest := d.projects["/299/"+long]
	if _, kept := d.projects["/old"]; !kept || oldest || !newest || len(d.projects) < 200 {
		t.Errorf("got %d roots, the oldest %v, the newest %v, the one in hand %v", len(d.projects), oldest, newest, kept)
	}
}

func TestWhatIsAcceptedIsChecked(t *testing.T) {
	s := New(t.TempDir())
	for _, tt := range []struct{ root, hash string }{
		{"relative", hash(1)}, {"", hash(1)}, {absolute("\xff"), hash(1)}, {absolute("a"), ""}, {absolute("a"), "xyz"},
		{absolute("a"), strings.Repeat("A", 64)}, {absolute("a"), hash(1) + "00"},
	} {
		if _, err := s.Accept(tt.root, tt.hash, moment(0)); err == nil {
			t.Errorf("%q, %q: got no error", tt.root, tt.hash)
		}
	}
	if all, err := s.List(); err != nil || all != nil {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestWithoutAHomeNothingIsTrusted(t *testing.T) {
	s := New("")
	if accepted(t, s, absolute("a"), hash(1)) {
		t.Error("trusted")
	}
	if _, err := s.Accept(absolute("a"), hash(1), moment(0)); err == nil || !strings.Contains(err.Error(), "ALISIO_STATE_HOME") {
		t.Errorf("got %v", err)
	}
	if found, err := s.Revoke(absolute("a")); found || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestDamagedListTrustsNothing(t *testing.T) {
	a := absolute("a")
	entry := fmt.Sprintf(`{"sha256": %q, "accepted": "2026-01-02T03:04:05Z"}`, hash(1))
	root, _ := json.Marshal(a)
	tests := map[string]string{
		"empty": "", "cut": `{"version": 1, "projects": {` + string(root) + `: [` + entry, "list": "[]", "null": "null",
		"no version": `{"projects": {` + string(root) + `: [` + entry + `]}}`, "zero": `{"version": 0, "projects": {}}`,
		"text version": `{"version": "1", "projects": {}}`, "no projects": `{"version": 1}`,
		"projects list": `{"version": 1, "projects": []}`, "entry text": `{"version": 1, "projects": {` + string(root) + `: ["` + hash(1) + `"]}}`,
		"one entry of two": `{"version": 1, "projects": {` + string(root) + `: [` + entry + `, {}]}}`, "NUL": "\x00",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			s := New(t.TempDir())
			write(t, s.file, text)
			ok, err := s.Accepted(a, hash(1))
			want := fmt.Sprintf("read trust %q: %v", s.file, ErrDamaged)
			if ok || !errors.Is(err, ErrDamaged) || err.Error() != want {
				t.Errorf("got %v, %v, want %s", ok, err, want)
			}
			if _, err := s.Revoke(a); !errors.Is(err, ErrDamaged) {
				t.Errorf("revoke: got %v", err)
			}
			if got := content(t, s.file); got != text {
				t.Errorf("the file became %q", got)
			}
			aside, err := s.Accept(absolute("b"), hash(2), moment(0))
			if err != nil || filepath.Dir(aside) != filepath.Dir(s.file) || content(t, aside) != text {
				t.Fatalf("got %q, %v", aside, err)
			}
			if accepted(t, s, a, hash(1)) || !accepted(t, s, absolute("b"), hash(2)) {
				t.Error("the new list is not the new answer alone")
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWhatIsNoListIsNotTouched(t *testing.T) {
	s := New(t.TempDir())
	const newer = `{"version": 2, "projects": "elsewhere"}`
	write(t, s.file, newer)
	if ok, err := s.Accepted(absolute("a"), hash(1)); ok || err == nil || !strings.Contains(err.Error(), "newer alisio") {
		t.Errorf("got %v, %v", ok, err)
	}
	if _, err := s.Accept(absolute("a"), hash(1), moment(0)); err == nil || content(t, s.file) != newer {
		t.Errorf("got %v, the file is %s", err, content(t, s.file))
	}
	if err := errors.Join(os.Remove(s.file), os.Mkdir(s.file, 0o700)); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Accepted(absolute("a"), hash(1)); ok || err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v, %v", ok, err)
	}
	if _, err := s.Accept(absolute("a"), hash(1), moment(0)); err == nil {
		t.Error("a directory in the place of the list: got no error")
	}
}

func TestMembersOfNewerVersionsStay(t *testing.T) {
	s := New(t.TempDir())
	a, _ := json.Marshal(absolute("a"))
	write(t, s.file, fmt.Sprintf(`{"version": 1, "new": {"x": [1]}, "projects": {%s: [{"sha256": %q, "accepted": "2026-01-02T03:04:05Z", "by": "me"}]}}`, a, hash(1)))
	accept(t, s, absolute("a"), hash(2))
	accept(t, s, absolute("b"), hash(3))
	var got struct {
		New      json.RawMessage
		Projects map[string][]struct{ By string }
	}
	if err := json.Unmarshal([]byte(content(t, s.file)), &got); err != nil {
		t.Fatal(err)
	}
	if !accepted(t, s, absolute("a"), hash(1)) || !strings.Contains(string(got.New), `"x"`) || got.Projects[absolute("a")][0].By != "me" {
		t.Errorf("got %s", content(t, s.file))
	}
}

// Answers that several processes are given at the same time are all kept.
func TestAnswersOfSeveralProcesses(t *testing.T) {
	const processes, each = 4, 5
	home, name := os.Getenv("ALISIO_TRUST_TEST_HOME"), os.Getenv("ALISIO_TRUST_TEST_NAME")
	if home != "" {
		for i := range each {
			accept(t, New(home), absolute(name), hash(i))
		}
		return
	}
	home = t.TempDir()
	var children []*exec.Cmd
	for i := range processes {
		c := exec.Command(os.Args[0], "-test.run=^TestAnswersOfSeveralProcesses$")
		c.Env = append(os.Environ(), "ALISIO_TRUST_TEST_HOME="+home, fmt.Sprintf("ALISIO_TRUST_TEST_NAME=p%d", i))
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if all, err := New(home).List(); err != nil || len(all) != processes*each {
		t.Errorf("got %d answers, %v, want %d", len(all), err, processes*each)
	}
}

// Accepted reports whether just this content is trusted.
func (s *Store) Accepted(root, hash string) (bool, error) {
	answer, err := s.Answer(root, hash)
	return answer == Same, err
}

func TestAnswerTellsOfAnotherContent(t *testing.T) {
	s := New(t.TempDir())
	accept(t, s, absolute("a"), hash(1))
	for _, c := range []struct {
		root, hash string
		want       Answer
	}{{"a", hash(1), Same}, {"a", hash(2), Other}, {"a", "", Other}, {"b", hash(1), None}} {
		if got, err := s.Answer(absolute(c.root), c.hash); got != c.want || err != nil {
			t.Errorf("%v: got %v, %v", c, got, err)
		}
	}
}

// Symptom: alisio trust list panicked, or drew on the terminal. Trigger: a text in
// the place of a hash.
func TestWhatIsNoHashIsDamage(t *testing.T) {
	a, _ := json.Marshal(absolute("a"))
	for _, h := range []string{"ab", strings.Repeat("\x1b", 64), strings.ToUpper(hash(1)[:63]) + "A", hash(1) + "00", hash(1)[1:]} {
		s := New(t.TempDir())
		quoted, _ := json.Marshal(h)
		write(t, s.file, fmt.Sprintf(`{"version": 1, "projects": {%s: [{"sha256": %s, "accepted": "2026-01-02T03:04:05Z"}]}}`, a, quoted))
		if all, err := s.List(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: got %v, %v", h, all, err)
		}
	}
}
