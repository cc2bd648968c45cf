package db

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/db/schema"

	"modernc.org/sqlite"
)

// raw opens a file as another program would: no pragma of ours.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	_, _ = sqlite.OFDLocking(true)
	pool := must(sql.Open("sqlite", path))(t)
	t.Cleanup(func() { pool.Close() })
	return pool
}

func run(t testing.TB, pool *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func strs(t testing.TB, from schema.Querier, query string, args ...any) []string {
	t.Helper()
	rows := must(from.QueryContext(context.Background(), query, args...))(t)
	var out []string
	if err := drain(rows, func(rows *sql.Rows) error {
		for rows.Next() {
			var s text
			if err := rows.Scan(&s); err != nil {
				return err
			}
			out = append(out, string(s))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// fixture copies a database of an older or newer program.
func fixture(t testing.TB, name string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "sessions.sqlite")
	data := must(os.ReadFile(filepath.Join("testdata", name)))(t)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

// dump returns every row of every table, each value quoted with its type, by the
// columns that are there now.
func dump(t testing.TB, pool *sql.DB, columns map[string][]string) []string {
	t.Helper()
	var out []string
	for table, names := range columns {
		expr := "'" + table + "'"
		for _, n := range names {
			expr += `||'|'||quote("` + n + `")`
		}
		out = append(out, strs(t, pool, "SELECT "+expr+` FROM "`+table+`"`)...)
	}
	slices.Sort(out)
	return out
}

func tableColumns(t testing.TB, pool *sql.DB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range strs(t, pool, `SELECT name FROM sqlite_master WHERE type = 'table'`) {
		out[table] = strs(t, pool, `SELECT name FROM pragma_table_info(?)`, table)
	}
	return out
}

func objects(t testing.TB, pool *sql.DB) []string {
	t.Helper()
	return strs(t, pool, `SELECT type||' '||name||' '||ifnull(sql, '') FROM sqlite_master ORDER BY 1`)
}

var update = flag.Bool("update", false, "rewrite schema.sql from the migrations")

// A new database is the same as one that went through all steps.
func TestSchemaIsWhatTheStepsMake(t *testing.T) {
	pool := raw(t, filepath.Join(t.TempDir(), "x"))
	for _, s := range schema.Steps() {
		for _, text := range must(s.Statements())(t) {
			run(t, pool, text)
		}
	}
	want := strs(t, pool, `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`)
	if *update {
		text := "-- Made from the migrations by go test -run SchemaIs -update.\n" + strings.Join(want, ";\n") + ";\n"
		if err := os.WriteFile("schema/schema.sql", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := schema.New(), len(want)+len(schema.Steps()); len(got) != want {
		t.Fatalf("%d statements, want %d", len(got), want)
	}
	fresh := raw(t, open(t, t.TempDir()).path)
	if got, want := objects(t, fresh), objects(t, pool); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The steps to version 4 give the very schema of the other program, statement by
// statement.
func TestSharedSchema(t *testing.T) {
	pool := raw(t, filepath.Join(t.TempDir(), "x"))
	for _, s := range schema.Steps()[:schema.Shared] {
		for _, text := range must(s.Statements())(t) {
			run(t, pool, text)
		}
	}
	_, path := fixture(t, "sessions-v4.sqlite")
	if got, want := objects(t, pool), objects(t, raw(t, path)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNewDatabase(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	if got, want := must(d.Versions(t.Context()))(t), []int{1, 2, 3, 4, 1001, 1002}; !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
	want := append(schema.Used(), "schema_migrations.version")
	if got := must(schema.Columns(d.writer.conn))(t); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("it has the columns\n%v, the list says\n%v", got, want)
	}
	if backups := must(filepath.Glob(filepath.Join(dir, "*backup*")))(t); len(backups) != 0 {
		t.Errorf("a new database was backed up: %v", backups)
	}
}

func TestFixturesLoseNoRow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		backup string
		want   []int
	}{
		{"sessions-v1.sqlite", "sessions.sqlite.v1.backup", []int{1, 2, 3, 4, 1001, 1002}},
		{"sessions-v2.sqlite", "sessions.sqlite.v2.backup", []int{1, 2, 3, 4, 1001, 1002}},
		{"sessions-v3.sqlite", "sessions.sqlite.v3.backup", []int{1, 2, 3, 4, 1001, 1002}},
		{"sessions-v4.sqlite", "", []int{1, 2, 3, 4, 1001, 1002}},
		{"sessions-v6.sqlite", "", []int{1, 2, 3, 4, 5, 6, 1001, 1002}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, path := fixture(t, tt.name)
			pool := raw(t, path)
			columns, had := tableColumns(t, pool), objects(t, pool)
			delete(columns, "schema_migrations")
			before := dump(t, pool, columns)
			pool.Close()

			var said []string
			d, err := Open(t.Context(), Options{Path: path, Home: dir, Notice: func(s string) { said = append(said, s) }})
			if err != nil {
				t.Fatal(err)
			}
			if got := must(d.Versions(t.Context()))(t); !slices.Equal(got, tt.want) {
				t.Errorf("versions %v, want %v", got, tt.want)
			}
			ids := must(d.Sessions(t.Context(), SessionQuery{Children: true, Archived: true, Limit: 10}))(t)
			msgs := must(d.ActiveMessages(t.Context(), "11111111-1111-4111-8111-111111111111"))(t)
			pending := must(d.PendingCalls(t.Context(), "22222222-2222-4222-8222-222222222222"))(t)
			if len(ids) < 2 || len(msgs) != 4 || len(pending) != 1 || pending[0].ID != "call_b1" {
				t.Errorf("%d sessions, %d messages, pending %v", len(ids), len(msgs), pending)
			}
			shut(t, d)

			pool = raw(t, path)
			if after := dump(t, pool, columns); !slices.Equal(before, after) {
				t.Errorf("rows before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
			oldPrograms(t, pool)
			if tt.backup == "" {
				for _, o := range had {
					name := strings.Fields(o)[1]
					now := strs(t, pool, `SELECT sql FROM sqlite_master WHERE name = ? AND sql IS NOT NULL`, name)
					if strings.HasPrefix(o, "index") && len(now) == 1 && !strings.HasSuffix(o, now[0]) {
						t.Errorf("%q became %q", o, now[0])
					}
				}
				if len(said) != 0 {
					t.Errorf("notices %q, want none", said)
				}
				return
			}
			keptOld(t, filepath.Join(dir, tt.backup), columns, before)
			if len(said) != 1 || !strings.Contains(said[0], tt.backup) {
				t.Errorf("notices %q, want one of the backup", said)
			}
		})
	}
}

func keptOld(t *testing.T, path string, columns map[string][]string, rows []string) {
	t.Helper()
	info := must(os.Stat(path))(t)
	if got := info.Mode().Perm(); got != 0o600 && filepath.Separator == '/' {
		t.Errorf("the backup has mode %o", got)
	}
	if got := dump(t, raw(t, path), columns); !slices.Equal(got, rows) {
		t.Errorf("the backup holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(rows, "\n"))
	}
}

// What a newer program of the shared line added stays as it is.
func TestVersion6IsLeftAlone(t *testing.T) {
	dir, path := fixture(t, "sessions-v6.sqlite")
	write(t, open(t, dir), func(x *Tx) error { return x.OpenWorkspace("/srv/projects/ledger", 5) })
	pool := raw(t, path)
	got := strs(t, pool, `SELECT a.title||w.label||w.last_opened_at||ifnull(w.archived_at, '-') FROM artifacts a, workspaces w`)
	if !slices.Equal(got, []string{"ReportLedger5-"}) {
		t.Errorf("got %q", got)
	}
}

// oldPrograms runs the statements of programs of the versions 1 to 3.
func oldPrograms(t *testing.T, pool *sql.DB) {
	t.Helper()
	for v, list := range []struct{ session, message string }{
		{"id,workspace,provider,model,locked_pid", "session,body"},
		{"id,workspace,provider,model,locked_pid", "session,body,compacted"},
		{"id,workspace,provider,model,locked_pid,parent_id,depth,agent,status,title,usage,options,created_at,updated_at", "session,body,compacted"},
	} {
		id := fmt.Sprintf("old-%d", v+1)
		fill := func(columns, first string) string {
			return "'" + first + "'" + strings.Repeat(",1", strings.Count(columns, ","))
		}
		run(t, pool, "INSERT INTO sessions("+list.session+") VALUES("+fill(list.session, id)+")")
		run(t, pool, "INSERT INTO messages("+list.message+") VALUES("+fill(list.message, id)+")")
		run(t, pool, "INSERT INTO tool_calls(session,call_id,status,result) VALUES(?,'c','pending',NULL)", id)
		run(t, pool, "UPDATE tool_calls SET status='completed',result='{}' WHERE session=? AND call_id='c'", id)
		run(t, pool, "INSERT INTO events(session,run_id,type,body) VALUES(?,'r','t','{}')", id)
		run(t, pool, "INSERT OR REPLACE INTO plugin_state(plugin,key,value) VALUES('p','k',?)", id)
		run(t, pool, "UPDATE sessions SET locked_pid=NULL WHERE id=?", id)
		if got := strs(t, pool, "SELECT count(*) FROM (SELECT "+list.session+" FROM sessions WHERE id=?)", id); got[0] != "1" {
			t.Errorf("version %d reads %s sessions of its own", v+1, got[0])
		}
		if got := strs(t, pool, "SELECT count(*) FROM (SELECT seq,"+list.message+" FROM messages WHERE session=?)", id); got[0] != "1" {
			t.Errorf("version %d reads %s messages of its own", v+1, got[0])
		}
	}
}

func TestOldProgramsOnANewDatabase(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	oldPrograms(t, raw(t, d.path))
	all := must(d.Sessions(t.Context(), SessionQuery{Children: true, Archived: true, Limit: 10}))(t)
	if len(all) != 3 {
		t.Errorf("%d sessions of old programs, want 3", len(all))
	}
}

// A migration adds a column that is already there and the program cannot start.
// Trigger: a database where the column exists but the version row is missing.
func TestC110ColumnWithoutItsVersion(t *testing.T) {
	t.Parallel()
	for _, last := range []int{0, 1, 2, 3} {
		dir, path := fixture(t, "sessions-v4.sqlite")
		pool := raw(t, path)
		run(t, pool, `DELETE FROM schema_migrations WHERE version > ?`, last)
		run(t, pool, `ALTER TABLE events ADD COLUMN run_seq INTEGER`)
		pool.Close()
		d := open(t, dir)
		if got, want := must(d.Versions(t.Context()))(t), []int{1, 2, 3, 4, 1001, 1002}; !slices.Equal(got, want) {
			t.Errorf("versions %v, want %v", got, want)
		}
		if n := must(d.CountMessages(t.Context(), "11111111-1111-4111-8111-111111111111"))(t); n != 5 {
			t.Errorf("%d messages, want 5", n)
		}
		if _, err := os.Stat(fmt.Sprintf("%s.v%d.backup", path, last)); err != nil {
			t.Errorf("no backup of version %d: %v", last, err)
		}
	}
}

func TestBackupIsNotOverwritten(t *testing.T) {
	dir, path := fixture(t, "sessions-v3.sqlite")
	kept := path + ".v3.backup"
	if err := os.WriteFile(kept, []byte("the first"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if got := string(must(os.ReadFile(kept))(t)); got != "the first" {
		t.Errorf("the backup now holds %.20q", got)
	}
}

// A step is made whole or not at all.
func TestStepThatFails(t *testing.T) {
	dir, path := fixture(t, "sessions-v3.sqlite")
	pool := raw(t, path)
	// The last statement of version 4 can not be carried out.
	run(t, pool, `CREATE TABLE events_session(x)`)
	before := objects(t, pool)
	pool.Close()
	_, err := Open(t.Context(), Options{Path: path, Home: dir})
	if err == nil || !strings.Contains(err.Error(), "migrate to version 4") {
		t.Errorf("got %v", err)
	}
	if after := objects(t, raw(t, path)); !slices.Equal(before, after) {
		t.Errorf("the schema was\n%s\nand is\n%s", before, after)
	}
}

// A store of a newer program than this one. Symptom elsewhere: a start that
// fails without a word, or alters what it does not know.
func TestC111NewerVersions(t *testing.T) {
	t.Run("works", func(t *testing.T) {
		dir := t.TempDir()
		d := open(t, dir)
		create1(t, d, "s")
		pool := raw(t, d.path)
		run(t, pool, `INSERT INTO schema_migrations VALUES (1999)`)
		run(t, pool, `DROP INDEX messages_active`)
		before := objects(t, pool)
		shut(t, d)
		d = open(t, dir)
		write(t, d, func(x *Tx) error { return x.RenameSession("s", "t") })
		if after := objects(t, pool); !slices.Equal(before, after) {
			t.Error("the newer schema was altered")
		}
	})
	t.Run("refused", func(t *testing.T) {
		dir := t.TempDir()
		d := open(t, dir)
		pool := raw(t, d.path)
		run(t, pool, `INSERT INTO schema_migrations VALUES (1999)`)
		run(t, pool, `ALTER TABLE messages DROP COLUMN copy_of`)
		shut(t, d)
		_, err := Open(t.Context(), Options{Path: d.path, Home: dir})
		if err == nil || !strings.Contains(err.Error(), "version 1999") || !strings.Contains(err.Error(), "messages.copy_of") {
			t.Errorf("got %v", err)
		}
	})
}

func TestForeignFilesStayAsTheyAre(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.sqlite")
	pool := raw(t, other)
	run(t, pool, `CREATE TABLE bookmarks(x)`)
	pool.Close()
	for name, data := range map[string][]byte{
		"text":           []byte(strings.Repeat("dear diary\n", 500)),
		"short text":     []byte("x"),
		"other program":  must(os.ReadFile(other))(t),
		"a plugin's own": must(os.ReadFile("storage/testdata/memory-v100.sqlite"))(t),
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Options{Path: path, Home: filepath.Dir(path)})
		var damaged *DamagedError
		switch {
		case err == nil || !strings.Contains(err.Error(), path):
			t.Errorf("%s: %v", name, err)
		case strings.HasSuffix(name, "text") != errors.As(err, &damaged):
			t.Errorf("%s: %v", name, err)
		case damaged != nil && (damaged.Path != path || !damaged.Text || !strings.Contains(err.Error(), "a text and no database")):
			t.Errorf("%s: %v", name, err)
		}
		if now := must(os.ReadFile(path))(t); string(now) != string(data) {
			t.Errorf("%s: the file was changed", name)
		}
		if files := must(os.ReadDir(filepath.Dir(path)))(t); len(files) != 1 {
			t.Errorf("%s: the directory holds %v", name, files)
		}
	}
}

func TestMigratedByManyAtOnce(t *testing.T) {
	dir, path := fixture(t, "sessions-v1.sqlite")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d, err := Open(context.Background(), Options{Path: path, Home: dir})
			if err != nil {
				t.Error(err)
				return
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := strs(t, raw(t, path), `SELECT group_concat(version) FROM schema_migrations`); got[0] != "1,2,3,4,1001,1002" {
		t.Errorf("versions %s", got)
	}
	if files := must(filepath.Glob(path + ".*"))(t); len(files) != 1 {
		t.Errorf("beside it lie %v, want one backup", files)
	}
}
