package salvage_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "alisio/db" // has SQLite
	"alisio/db/pages"
	"alisio/db/salvage"
)

// connect opens a database file.
func connect(t *testing.T, path, pragmas string) *sql.Conn {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path+"?"+pragmas)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); pool.Close() })
	return conn
}

func run(t *testing.T, c *sql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.80s: %v", s, err)
		}
	}
}

func ask(t *testing.T, c *sql.Conn, query string) (out []string) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

var ours = []string{
	`CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY)`,
	`CREATE TABLE sessions (id TEXT PRIMARY KEY, workspace TEXT)`,
	`CREATE TABLE messages (seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, body TEXT NOT NULL, compacted INTEGER NOT NULL DEFAULT 0, copy_of INTEGER, run_id TEXT)`,
	`CREATE TABLE runs (id TEXT PRIMARY KEY, session TEXT NOT NULL)`,
	`CREATE TABLE plugin_state (plugin TEXT, key TEXT, value TEXT, PRIMARY KEY (plugin, key))`,
	`INSERT INTO schema_migrations VALUES (4)`,
}

// copied makes a database with the statements, harms its file, and salvages it.
func copied(t *testing.T, harm func(data []byte) []byte, statements ...string) (c *sql.Conn, told string) {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	run(t, connect(t, from, ""), statements...)
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	data = harm(data)
	work := filepath.Join(dir, "work")
	if err := os.WriteFile(work, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := pages.Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Log(err)
		file = nil
	}
	c = connect(t, to, "_pragma=writable_schema(1)&_pragma=foreign_keys(0)")
	_, err = salvage.Copy(t.Context(), salvage.Options{Conn: c, From: work, Size: int64(len(data)), Pages: file, Schema: ours, Stray: "stray",
		Tell: func(problem bool, text string) { told += fmt.Sprintf("%v %s\n", problem, text) }})
	if err != nil {
		t.Fatalf("%v; told %s", err, told)
	}
	return c, told
}

func none(data []byte) []byte { return data }

// A body that reads is worth a row, though a column behind it does not; without
// its body a message is worth nothing.
func TestRowWithoutAColumn(t *testing.T) {
	const page = 4096
	harmed := 0
	c, told := copied(t, func(data []byte) []byte {
		// The overflow pages of the long run and of the long body lead nowhere.
		for n := 2; n*page <= len(data); n++ {
			p := data[(n-1)*page : n*page]
			if p[0] == 0 && p[3] != 0 && (bytes.Count(p, []byte("r")) > 3000 || bytes.Count(p, []byte("b")) > 3000) {
				copy(p, []byte{0xff, 0xff, 0xff, 0xff})
				harmed++
			}
		}
		return data
	}, append(slices.Clone(ours[:4]),
		`INSERT INTO messages (session, body, compacted, run_id) VALUES ('s', '"one"', 1, printf('%.20000c', 'r')), ('s', '"two"', 0, 'short'),
		('s', printf('"%.20000c"', 'b'), 0, 'short')`)...)
	if harmed < 4 {
		t.Fatalf("%d pages harmed", harmed)
	}
	got := ask(t, c, `SELECT seq || session || body || compacted || ifnull(run_id, '-') FROM messages ORDER BY seq`)
	if strings.Join(got, " ") != `1s"one"1- 2s"two"0short` || !strings.Contains(told, "messages: 2 rows recovered, 1 lost") {
		t.Errorf("got %v; told %s", got, told)
	}
}

// Rows that have lost their session get that of their run, or one of their own.
func TestStrays(t *testing.T) {
	c, _ := copied(t, none, append(slices.Clone(ours[:4]), `INSERT INTO runs VALUES ('r', 's')`,
		`INSERT INTO messages (session, body, run_id) VALUES (NULL, '1', 'r'), ('', '2', NULL), (x'73', '3', NULL), ('s', '4', NULL)`)...)
	if got := ask(t, c, `SELECT session || body FROM messages ORDER BY seq`); strings.Join(got, " ") != "s1 stray2 s3 s4" {
		t.Errorf("got %v", got)
	}
}

// A schema of an older program, some of which is lost, is made up to one that all
// steps are made of again.
func TestPartOfTheSchemaIsLost(t *testing.T) {
	c, told := copied(t, func(data []byte) []byte {
		return bytes.Replace(data, []byte("CREATE TABLE messages"), []byte("CREATE TABLE mess ges"), 1)
	}, append(slices.Clone(ours), `INSERT INTO sessions VALUES ('s', '/w')`, `INSERT INTO messages (session, body) VALUES ('s', '{}')`)...)
	if got := ask(t, c, `SELECT body FROM messages`); len(got) != 1 {
		t.Errorf("messages %v; told %s", got, told)
	}
	if got := ask(t, c, `SELECT version FROM schema_migrations`); len(got) != 0 {
		t.Errorf("versions %v", got)
	}
	if !strings.Contains(told, "true table messages can not be made again") {
		t.Errorf("told %s", told)
	}
}

// A table of which the schema says nothing any more is made anew, so that the
// database works: only its rows are lost.
func TestATableIsLost(t *testing.T) {
	c, told := copied(t, func(data []byte) []byte {
		return bytes.Replace(data, []byte("tablerunsruns"), []byte("t\x00blerunsruns"), 1)
	}, append(slices.Clone(ours), `INSERT INTO sessions VALUES ('s', '/w')`, `INSERT INTO messages (session, body) VALUES ('s', '{}')`)...)
	if got := ask(t, c, `SELECT name FROM sqlite_master WHERE name = 'runs'`); len(got) != 1 {
		t.Errorf("told %s", told)
	}
	if got := ask(t, c, `SELECT id FROM sessions`); len(got) != 1 {
		t.Errorf("sessions %v; told %s", got, told)
	}
}

// Nothing is left of the schema, which was on the first page alone.
func TestShapesAlone(t *testing.T) {
	c, told := copied(t, func(data []byte) []byte { clear(data[:4096]); return data }, append(slices.Clone(ours),
		`CREATE TABLE other (a TEXT, b TEXT, c TEXT, d TEXT)`, `INSERT INTO other VALUES ('1', '2', '3', '4')`,
		`INSERT INTO sessions VALUES ('s', '/w')`, `INSERT INTO runs VALUES ('r', 's')`, `INSERT INTO messages (session, body) VALUES ('s', '{}')`)...)
	if got := ask(t, c, `SELECT seq || session || body FROM messages`); strings.Join(got, " ") != "1s{}" {
		t.Errorf("messages %v", got)
	}
	// Sessions and runs look the same here, so that nobody knows which is which.
	if got := ask(t, c, `SELECT id FROM runs UNION ALL SELECT id FROM sessions`); len(got) != 0 {
		t.Errorf("rows %v of tables that look the same", got)
	}
	if !strings.Contains(told, "3 pages hold rows of which nobody knows the table") {
		t.Errorf("told %s", told)
	}
}
