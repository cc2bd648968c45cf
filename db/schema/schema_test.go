package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
	"testing"
)

// The text of a released migration is what databases were made with.
func TestReleasedMigrations(t *testing.T) {
	sums := map[string]string{
		"migrations/0001.sql": "e9fdbf6c0255deab4b6e7c29973635975181f18997f7fbbf4f69e9dc3cdbc3b2",
		"migrations/0002.sql": "7f676673c53246bdb8dc2863b3b63cc69c2508876ed8fc8d4f669ef095f8028c",
		"migrations/0003.sql": "4417d43914ab167668afa57cb703721e7cc97007cc8311236a6de5b50e47e478",
		"migrations/0004.sql": "f7f00b9ee962be9eb90b21255d823620113227d84ba0c7d12fc6ef559c406ce9",
		"migrations/1001.sql": "57daae50d3bc0d36aa1737a5bbbe23dbaa77b6f6fd547cc7b9c0a40f8fe6ac19",
		"migrations/1002.sql": "26793b84c253ccaf9cad050e3be37cf6236bb5ee5d14b876c22424f3c851e4f9",
	}
	entries, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(sums) || len(steps) != len(sums) {
		t.Errorf("%d files and %d steps, want %d", len(entries), len(steps), len(sums))
	}
	for _, s := range steps {
		text, err := migrations.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:]); got != sums[s.file] {
			t.Errorf("%s has SHA-256 %s, want %s: a released migration is never edited", s.file, got, sums[s.file])
		}
	}
	if !slices.IsSortedFunc(steps, func(a, b Step) int { return int(a.Version - b.Version) }) {
		t.Error("the steps are not in order")
	}
}

// A statement that runs over lines stays one, and comments are none.
func TestStatements(t *testing.T) {
	got := statements("-- first\nCREATE TABLE a(\n\tx\n);\n\n  -- second;\nDROP TABLE b;\nnever ended\n")
	if want := []string{"CREATE TABLE a(\nx\n);", "DROP TABLE b;"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAddsColumn(t *testing.T) {
	for text, want := range map[string]string{
		"ALTER TABLE events ADD COLUMN run_seq INTEGER;": "events.run_seq",
		"ALTER TABLE events RENAME COLUMN a TO b;":       "",
		"CREATE TABLE t(a);":                             "",
	} {
		table, name, ok := addsColumn(text)
		if got := table + "." + name; ok != (want != "") || ok && got != want {
			t.Errorf("%q adds %q, %v, want %q", text, got, ok, want)
		}
	}
}

// What a database lacks is told by the first name that is not there, and another
// program's tables are not taken for an old database of this one.
func TestColumnsThatAreMissing(t *testing.T) {
	all := append(Used(), "schema_migrations.version")
	if name := Missing(all); name != "" || Foreign("x", all) != nil || Foreign("x", nil) != nil {
		t.Errorf("of a database of today %q is missing, %v", name, Foreign("x", all))
	}
	without := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == "messages.copy_of" })
	if name := Missing(without); name != "messages.copy_of" || Foreign("x", without) != nil {
		t.Errorf("%q is missing, %v", name, Foreign("x", without))
	}
	for _, there := range [][]string{{"bookmarks.x"}, {"sessions.id"}, slices.DeleteFunc(all, func(c string) bool { return c == "messages.seq" })} {
		if Foreign("x", there) == nil {
			t.Errorf("%v are taken for those of this program", there)
		}
	}
	if !Has(without, "messages.seq sessions.id") || Has(without, "messages.seq messages.copy_of") {
		t.Error("Has does not look at each column of its list")
	}
}
