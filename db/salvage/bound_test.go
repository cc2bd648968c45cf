package salvage_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/db/salvage"
)

// unbounded are options of a copy of a database with the statements.
func unbounded(t *testing.T, statements ...string) salvage.Options {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	run(t, connect(t, from, ""), statements...)
	return salvage.Options{
		Conn: connect(t, filepath.Join(dir, "to"), "_pragma=writable_schema(1)&_pragma=foreign_keys(0)"), From: from, Size: 8192, Schema: ours, Stray: "stray",
		Tell: func(bool, string) {},
	}
}

// What SQLite is made to work on without end ends with its context.
func TestEndlessView(t *testing.T) {
	o := unbounded(t, append(ours, `CREATE TABLE trap (i)`, `PRAGMA writable_schema = 1`,
		`INSERT INTO sqlite_master VALUES ('view', 'bait', 'bait', 0, 'CREATE VIEW bait AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n')`,
		`INSERT INTO sqlite_master VALUES ('table', 'bait', 'bait', 0, 'CREATE TABLE bait (i)')`)...)
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	begun := time.Now()
	_, err := salvage.Copy(ctx, o)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if err != nil && ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
	if err == nil {
		t.Error("nothing was endless")
	}
}

// A default fills no disk.
func TestGrowth(t *testing.T) {
	o := unbounded(t, append(ours, `CREATE TABLE big (a, b DEFAULT (zeroblob(60000000)))`, `CREATE INDEX big_a ON big (a, zeroblob(30000000))`,
		`INSERT INTO big (a, b) VALUES (1, NULL), (2, NULL), (3, NULL)`)...)
	_, err := salvage.Copy(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "8 times its size") {
		t.Errorf("got %v", err)
	}
}

// What is not seen to be this program's is not copied to its end.
func TestOwn(t *testing.T) {
	deletions := `CREATE TABLE deletions (session, title, workspace, messages, deleted_at)`
	for _, tt := range []struct {
		statements []string
		want       error
	}{
		{[]string{`CREATE TABLE songs (title)`}, salvage.ErrForeign},
		{[]string{`CREATE TABLE messages (seq, body)`, `CREATE TABLE schema_migrations (version)`}, salvage.ErrForeign},
		{[]string{`CREATE TABLE songs (title)`, deletions}, nil},
		{ours, nil},
		{[]string{`CREATE VIEW v AS SELECT 1`}, salvage.ErrNothing},
	} {
		if _, err := salvage.Copy(t.Context(), unbounded(t, tt.statements...)); !errors.Is(err, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.statements, err, tt.want)
		}
	}
}
