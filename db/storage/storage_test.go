package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func testStorage(t *testing.T) (*Storage, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugins", "x.sqlite")
	s, err := OpenStorage(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, path
}

func mustExec(t *testing.T, s *Storage, text string, args ...Value) {
	t.Helper()
	if err := s.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func mustAll(t *testing.T, s *Storage, text string, args ...Value) string {
	t.Helper()
	rows, err := s.Prepare(text).All(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(rows.Values)
}

func TestStorageValues(t *testing.T) {
	s, _ := testStorage(t)
	mustExec(t, s, "CREATE TABLE v(a, b, c, d, e); CREATE TABLE w(x INTEGER PRIMARY KEY)")
	ch, err := s.Prepare("INSERT INTO v VALUES(?, ?, ?, ?, ?)").Run(t.Context(), nil, int64(1)<<60, 1.5, "ü\x00", []byte{0, 1})
	if err != nil || ch.Rows != 1 || ch.LastID != 1 {
		t.Fatalf("%+v, %v", ch, err)
	}
	got, err := s.Prepare("SELECT * FROM v").Get(t.Context())
	if err != nil || len(got.Values) != 1 || strings.Join(got.Columns, "") != "abcde" {
		t.Fatalf("%+v, %v", got, err)
	}
	if g, w := fmt.Sprintf("%T%#v", got.Values[0][3], got.Values[0]), fmt.Sprintf("%T%#v", "", []Value{nil, int64(1) << 60, 1.5, "ü\x00", []byte{0, 1}}); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
	if none, err := s.Prepare("SELECT 1 WHERE 0").Get(t.Context()); err != nil || len(none.Values) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	if err := s.Exec(t.Context(), "INSERT INTO v(a) VALUES(?)", struct{}{}); err == nil {
		t.Error("a struct was stored")
	}
	if err := s.Prepare("SELECT nonsense").s.Exec(t.Context(), "SELECT nonsense"); err == nil {
		t.Error("nonsense runs")
	}
}

func TestStorageFileIsPrivate(t *testing.T) {
	s, path := testStorage(t)
	mustExec(t, s, "CREATE TABLE a(b)")
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("directory: %v, %v", info, err)
	}
}

func TestTransaction(t *testing.T) {
	fault := errors.New("fault")
	tests := []struct {
		name string
		do   func(s *Storage, ctx context.Context) error
		err  error
		want string
	}{
		{"kept", func(s *Storage, ctx context.Context) error { return s.Exec(ctx, "INSERT INTO a VALUES(1)") }, nil, "[[1]]"},
		{"failed", func(s *Storage, ctx context.Context) error {
			return errors.Join(s.Exec(ctx, "INSERT INTO a VALUES(1)"), fault)
		}, fault, "[]"},
		{"nested joins", func(s *Storage, ctx context.Context) error {
			return s.Transaction(ctx, func(ctx context.Context) error { return s.Exec(ctx, "INSERT INTO a VALUES(2)") })
		}, nil, "[[2]]"},
		{"nested failure fails the outer", func(s *Storage, ctx context.Context) error {
			err := s.Exec(ctx, "INSERT INTO a VALUES(1)")
			_ = s.Transaction(ctx, func(context.Context) error { return fault })
			return err
		}, fault, "[]"},
	}
	for _, tt := range tests {
		s, _ := testStorage(t)
		mustExec(t, s, "CREATE TABLE a(b)")
		err := s.Transaction(t.Context(), func(ctx context.Context) error { return tt.do(s, ctx) })
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.err)
		}
		if got := mustAll(t, s, "SELECT b FROM a"); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestPanicRollsBack(t *testing.T) {
	s, _ := testStorage(t)
	mustExec(t, s, "CREATE TABLE a(b)")
	var leaked context.Context
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic did not go on")
			}
		}()
		_ = s.Transaction(t.Context(), func(ctx context.Context) error {
			leaked = ctx
			if err := s.Exec(ctx, "INSERT INTO a VALUES(1)"); err != nil {
				t.Error(err)
			}
			panic("boom")
		})
	}()
	if got := mustAll(t, s, "SELECT b FROM a"); got != "[]" {
		t.Errorf("got %s", got)
	}
	if err := s.Exec(leaked, "INSERT INTO a VALUES(1)"); err == nil {
		t.Error("the context of a transaction outlives it")
	}
}

func TestCancelledTransactionRollsBack(t *testing.T) {
	s, _ := testStorage(t)
	mustExec(t, s, "CREATE TABLE a(b)")
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Transaction(ctx, func(ctx context.Context) error {
		err := s.Exec(ctx, "INSERT INTO a VALUES(1)")
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	mustExec(t, s, "INSERT INTO a VALUES(2)")
	if got := mustAll(t, s, "SELECT b FROM a"); got != "[[2]]" {
		t.Errorf("got %s", got)
	}
}

// Two storages of one file, many callers each: no lock error comes through, and
// nothing that was read in a transaction changes before its write.
func TestStoragesShareAFile(t *testing.T) {
	one, path := testStorage(t)
	mustExec(t, one, "CREATE TABLE n(i INTEGER); INSERT INTO n VALUES(0)")
	two, err := OpenStorage(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	const callers, rounds = 8, 10
	var wg sync.WaitGroup
	for i := range callers {
		s := []*Storage{one, two}[i%2]
		wg.Go(func() {
			for range rounds {
				err := s.Transaction(context.Background(), func(ctx context.Context) error {
					row, err := s.Prepare("SELECT i FROM n").Get(ctx)
					if err != nil {
						return err
					}
					_, err = s.Prepare("UPDATE n SET i = ?").Run(ctx, row.Values[0][0].(int64)+1)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, want := mustAll(t, one, "SELECT i FROM n"), fmt.Sprintf("[[%d]]", callers*rounds); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A text whose later statement found the file held by another program was run
// again from its start, so that what the earlier ones had stored was there twice.
func TestTextIsStoredWholeOrNotAtAll(t *testing.T) {
	s, path := testStorage(t)
	mustExec(t, s, "CREATE TABLE a(b)")
	if err := s.Exec(t.Context(), "INSERT INTO a VALUES(1); INSERT INTO missing VALUES(2)"); err == nil {
		t.Error("nonsense runs")
	}
	if got := mustAll(t, s, "SELECT b FROM a"); got != "[]" {
		t.Errorf("of a text that failed %s is kept", got)
	}
	other, err := OpenStorage(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	done := make(chan error, 1)
	go func() {
		done <- s.Exec(t.Context(), `INSERT INTO a VALUES(1);
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 50000) SELECT max(i) FROM n;
			INSERT INTO a VALUES(2)`)
	}()
	// Who comes in between sees nothing, and can not take the lock from under it.
	for got := "[]"; got == "[]"; {
		if got = mustAll(t, other, "SELECT b FROM a"); got != "[]" && got != "[[1] [2]]" {
			t.Errorf("half a text is stored: %s", got)
		}
		mustExec(t, other, "UPDATE a SET b = b")
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := mustAll(t, s, "SELECT b FROM a"); got != "[[1] [2]]" {
		t.Errorf("got %s", got)
	}
}

func TestTextInATransaction(t *testing.T) {
	s, _ := testStorage(t)
	fault := errors.New("fault")
	err := s.Transaction(t.Context(), func(ctx context.Context) error {
		return errors.Join(s.Exec(ctx, "CREATE TABLE a(b); INSERT INTO a VALUES(1)"), fault)
	})
	if !errors.Is(err, fault) {
		t.Error(err)
	}
	if err := s.Exec(t.Context(), "INSERT INTO a VALUES(1)"); err == nil {
		t.Error("the table outlives the transaction that made it")
	}
	if err := s.Exec(t.Context(), "SELECT 1; SELECT ?", int64(1)); err == nil {
		t.Error("arguments for two statements were taken")
	}
	if _, err := s.Prepare("SELECT 1; SELECT 2").Get(t.Context()); err == nil {
		t.Error("two statements were prepared as one")
	}
}

func TestStorageStaysInItsFile(t *testing.T) {
	s, _ := testStorage(t)
	outside := filepath.Join(t.TempDir(), "outside.sqlite")
	for _, text := range []string{
		"ATTACH '" + outside + "' AS o", "VACUUM INTO '" + outside + "'", "SELECT load_extension('" + outside + "')",
	} {
		if err := s.Exec(t.Context(), text); err == nil {
			t.Errorf("ran: %s", text)
		}
		// Past the check of the text, SQLite itself refuses.
		if _, err := s.conn.ExecContext(t.Context(), text); err == nil {
			t.Errorf("ran unchecked: %s", text)
		}
	}
	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

func TestFullTextSearch(t *testing.T) {
	s, _ := testStorage(t)
	mustExec(t, s, `CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT);
		CREATE VIRTUAL TABLE f USING fts5(body, content='d', content_rowid='id');
		CREATE VIRTUAL TABLE g USING fts5(body, tokenize='trigram');
		CREATE TRIGGER d_ai AFTER INSERT ON d BEGIN
			INSERT INTO f(rowid, body) VALUES(new.id, new.body); INSERT INTO g(rowid, body) VALUES(new.id, new.body);
		END;`)
	mustExec(t, s, "INSERT INTO d(body) VALUES('the quick fox'), ('a lazy dog and a fox fox')")
	if got := mustAll(t, s, "SELECT rowid, highlight(f, 0, '<', '>') FROM f WHERE f MATCH ? ORDER BY bm25(f)", "lazy"); got != "[[2 a <lazy> dog and a fox fox]]" {
		t.Errorf("unicode61: %s", got)
	}
	if got := mustAll(t, s, "SELECT rowid FROM f WHERE f MATCH 'fox' ORDER BY bm25(f)"); got != "[[2] [1]]" {
		t.Errorf("rank: %s", got)
	}
	if got := mustAll(t, s, "SELECT rowid FROM g WHERE g MATCH 'uic'"); got != "[[1]]" {
		t.Errorf("trigram: %s", got)
	}
	if err := s.Exec(t.Context(), "DELETE FROM f_data"); err == nil {
		t.Error("a shadow table was written by hand")
	}
}

func TestOlderMemoryDatabase(t *testing.T) {
	data, err := os.ReadFile("testdata/memory-v100.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "memory.sqlite")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStorage(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := mustAll(t, s, "SELECT count(*) FROM observations"); got != "[[3]]" {
		t.Errorf("rows: %s", got)
	}
	mustExec(t, s, `INSERT INTO observations(type, title, content, project, normalized_hash, created_at, updated_at)
		VALUES('note', 'Zeppelin', 'flies', 'p', 'h', 1, 1)`)
	if got := mustAll(t, s, "SELECT title FROM observations_fts WHERE observations_fts MATCH 'eppel'"); got != "[[Zeppelin]]" {
		t.Errorf("trigger: %s", got)
	}
}

func TestClosedStorage(t *testing.T) {
	s, path := testStorage(t)
	st := s.Prepare("SELECT 1")
	if _, err := st.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: %v", err)
	}
	if _, err := st.All(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("use after close: %v", err)
	}
	if _, err := OpenStorage(t.Context(), filepath.Base(path)); err == nil {
		t.Error("a relative path was opened")
	}
}

func BenchmarkStatement(b *testing.B) {
	b.ReportAllocs()
	s, err := OpenStorage(b.Context(), filepath.Join(b.TempDir(), "x.sqlite"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	st := s.Prepare("SELECT ?1 + 1")
	for b.Loop() {
		if _, err := st.Get(b.Context(), int64(1)); err != nil {
			b.Fatal(err)
		}
	}
}
