package db

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Another program's database is told of as one, whoever looks, and stays as it is.
// Symptom: a look told what SQLite does not understand, the check named a repair
// that refuses the file, and the repair rewrote it before it did. Trigger: tables
// of no or of our names; one that this SQLite can not read.
func TestTheDatabaseOfAnotherProgram(t *testing.T) {
	for _, c := range []struct {
		name, schema, why string
	}{
		{"other tables", `CREATE TABLE foo(a)`, "it has a table \"foo\" and no sessions"},
		{"a table of our name", `CREATE TABLE sessions(a)`, "its table sessions has no column id"},
		{"some of its columns", `CREATE TABLE Sessions(id TEXT PRIMARY KEY, user TEXT)`, "its table sessions has no column workspace"},
		{"another table of our name", `CREATE TABLE messages(x); CREATE TABLE sessions(id, workspace, provider, model, locked_pid)`, "its table messages has no column seq"},
		{"a virtual table alone", `PRAGMA writable_schema = 1;
			INSERT INTO sqlite_master VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING nobodys(x)')`, "it has a table \"v\" and no sessions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			o := Options{Path: filepath.Join(t.TempDir(), "x.sqlite"), Home: home}
			pool := raw(t, o.Path)
			pool.SetMaxOpenConns(1) // for the pragma
			run(t, pool, c.schema)
			pool.Close()
			if err := errors.Join(os.Chmod(o.Path, 0o600), os.Chmod(home, 0o700)); err != nil {
				t.Fatal(err)
			}
			before := must(os.ReadFile(o.Path))(t)
			foreign := func(what string, err error) {
				var other *ForeignError
				if !errors.As(err, &other) || other.Path != o.Path || !strings.Contains(other.Error(), c.why) {
					t.Errorf("%s: got %v, want %q", what, err, c.why)
				}
			}

			_, err := Open(t.Context(), o)
			foreign("open", err)
			look := must(Open(t.Context(), Options{Path: o.Path, Home: home, ReadOnly: true}))(t)
			_, err = look.Sessions(t.Context(), SessionQuery{Limit: 1})
			foreign("look", err)
			shut(t, look)
			_, err = Repair(t.Context(), o, repairTime)
			foreign("repair", err)
			r := must(Check(t.Context(), o))(t)
			if got := says(r, Problem); got != "these are not the tables of an Alisio database\n" {
				t.Errorf("the check found %q", got)
			}
			for _, f := range r.Findings {
				if f.Remedy != "" && f.Remedy != "name another with ALISIO_STATE_HOME or --db" {
					t.Errorf("a remedy is %q", f.Remedy)
				}
			}
			if !bytes.Equal(must(os.ReadFile(o.Path))(t), before) {
				t.Error("the file was changed")
			}
			if files := must(os.ReadDir(filepath.Dir(o.Path)))(t); len(files) != 1 {
				t.Errorf("beside it lies %v", files)
			}
		})
	}
}
