package db

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/db/blob"
	"alisio/db/report"
)

// says returns the findings of a level in lines.
func says(r Report, l report.Level) string {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Level == l {
			b.WriteString(f.What + "\n")
		}
	}
	return b.String()
}

func optionsOf(d *DB) Options { return Options{Path: d.path, Home: d.home} }

func TestCheckOfASoundStore(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "home"))
	create1(t, d, "s", `{"role":"user","text":"a"}`)
	putBlob(t, d, "s", "picture")
	o := optionsOf(d)
	shut(t, d)
	before := must(os.ReadFile(o.Path))(t)
	r := must(Check(t.Context(), o))(t)
	if !r.Sound() || says(r, Note) != "" {
		t.Errorf("found %+v", r.Findings)
	}
	for _, want := range []string{"whole", "1 blob, 7 B", "a write-ahead log"} {
		if !strings.Contains(says(r, Good), want) {
			t.Errorf("%q is not in\n%s", want, says(r, Good))
		}
	}
	if !bytes.Equal(before, must(os.ReadFile(o.Path))(t)) {
		t.Error("the check changed the file")
	}
}

func TestCheckOfNoStore(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "a", "x.sqlite"), Home: filepath.Join(dir, "a")}
	if r := must(Check(t.Context(), o))(t); !r.Sound() || !strings.Contains(says(r, Note), "no database") {
		t.Errorf("found %+v", r.Findings)
	}
	if _, err := os.Lstat(o.Home); err == nil {
		t.Error("the check made a directory")
	}
}

// Databases that no program of today has opened yet: older ones, and what a
// process leaves that dies between making the file and its first migration.
func TestCheckOfAnOlderStore(t *testing.T) {
	for _, tt := range []struct{ name, note string }{
		{"sessions-v1.sqlite", "of version 1, and is brought up to version 1002"},
		{"sessions-v2.sqlite", "of version 2, and is brought up to version 1002"},
		{"sessions-v3.sqlite", "of version 3, and is brought up to version 1002"},
		{"sessions-v4.sqlite", "of version 4, and is brought up to version 1002"},
		{"sessions-v6.sqlite", "of version 6, and is brought up to version 1002"},
		{"", "nothing is stored yet"},
	} {
		dir := t.TempDir()
		o := Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir}
		if tt.name != "" {
			_, o.Path = fixture(t, tt.name)
			o.Home = filepath.Dir(o.Path)
		} else if err := os.WriteFile(o.Path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(o.Path, 0o600), os.Chmod(o.Home, 0o700)); err != nil {
			t.Fatal(err)
		}
		before := must(os.ReadFile(o.Path))(t)
		r := must(Check(t.Context(), o))(t)
		if !r.Sound() || !strings.Contains(says(r, Note), tt.note) {
			t.Errorf("%q: found %+v", tt.name, r.Findings)
		}
		if !bytes.Equal(before, must(os.ReadFile(o.Path))(t)) {
			t.Errorf("%q: the check changed the file", tt.name)
		}
	}
}

// What an old schema has is looked at as ever.
func TestCheckFindsInAnOlderStore(t *testing.T) {
	dir, path := fixture(t, "sessions-v1.sqlite")
	pool, conn, err := openRaw(t.Context(), writable(path, commonPragmas))
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(t.Context(), `INSERT INTO messages (session, body) VALUES ('nobody', '{half')`)
	if err := errors.Join(err, conn.Close(), pool.Close()); err != nil {
		t.Fatal(err)
	}
	r := must(Check(t.Context(), Options{Path: path, Home: dir}))(t)
	for _, want := range []string{"1 message can not be read", "1 message belongs to no session"} {
		if !strings.Contains(says(r, Note), want) {
			t.Errorf("%q is not in\n%s", want, says(r, Note))
		}
	}
}

func TestCheckFinds(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", `{"role":"user"}`, `{half`)
	gone, bad, old := putBlob(t, d, "s", "gone"), putBlob(t, d, "s", "bad"), Blob{}
	write(t, d, func(tx *Tx) error {
		if err := tx.BeginCall(Call{Session: "s", ID: "c", Status: "pending", StartedMs: 1}); err != nil {
			return err
		}
		old = Blob{Hash: blob.Hash([]byte("old")), MIME: "x", Size: 3, CreatedMs: 1}
		if err := tx.AddBlob(old); err != nil {
			return err
		}
		return tx.BeginRun(Run{ID: "r", Session: "s", Status: "running", CreatedMs: 1})
	})
	if err := os.Remove(blobAt(d.home, gone)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blobAt(d.home, bad), []byte("BAD"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := optionsOf(d)
	shut(t, d)
	if err := os.Chmod(o.Path, 0o644); err != nil {
		t.Fatal(err)
	}
	r := must(Check(t.Context(), o))(t)
	notes, problems := says(r, Note), says(r, Problem)
	for _, want := range []string{"1 message can not be read and is skipped: number 2", "1 session has tool calls", "1 run is open: r", "2 blobs have no file", "1 blob is needed by nothing"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in\n%s", want, notes)
		}
	}
	for _, want := range []string{"1 blob is damaged", "others than you"} {
		if !strings.Contains(problems, want) {
			t.Errorf("%q is not in\n%s", want, problems)
		}
	}
}

func TestCheckOfNoDatabase(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "x.sqlite"), Home: dir}
	text := []byte(strings.Repeat("this is a letter\n", 500))
	if err := os.WriteFile(o.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(Check(t.Context(), o))(t)
	if r.Sound() || !strings.Contains(says(r, Problem), "is a text and no database") {
		t.Errorf("found %+v", r.Findings)
	}
	if !bytes.Equal(text, must(os.ReadFile(o.Path))(t)) {
		t.Error("the check changed the file")
	}
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	create1(t, d, "s", `{}`)
	to := filepath.Join(dir, "copy.backup")
	if err := d.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if info := must(os.Stat(to))(t); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v", info.Mode())
	}
	if err := d.Backup(t.Context(), to); err == nil {
		t.Error("a backup was overwritten")
	}
	c := must(Open(t.Context(), Options{Path: to, Home: dir}))(t)
	defer c.Close()
	must(c.Session(t.Context(), "s"))(t)
}
