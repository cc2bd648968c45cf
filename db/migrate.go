package db

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// The released migrations. Their files are never edited: a change is a new
// file. Numbers from 1001 are this program's own; those in between belong to
// the program whose databases it shares (spec store.md, "Schema").
//
//go:embed migrations/*.sql
var migrations embed.FS

var steps = []struct {
	version int64
	file    string
}{
	{1, "migrations/0001.sql"},
	{2, "migrations/0002.sql"},
	{3, "migrations/0003.sql"},
	{4, "migrations/0004.sql"},
	{1001, "migrations/1001.sql"},
}

// schema is what the steps come to, in few statements: a new database need not
// live through its history, which takes three times as long. A test holds the
// two together.
//
//go:embed schema.sql
var schema string

// sharedVersion is the version of the shared schema that a database is brought
// to; one below it is copied first.
const sharedVersion = 4

// bringUp makes the database one that this program can work with. Nothing but
// one SELECT, and a look at the journal mode, happens to one that is.
func (d *DB) bringUp(ctx context.Context) error {
	have, err := d.look(ctx)
	if err != nil {
		return err
	}
	newer := newest(have) > steps[len(steps)-1].version
	if newer {
		if err := d.checkColumns(newest(have)); err != nil {
			return err
		}
	}
	if err := restrict(d.path); err != nil {
		return err
	}
	if err := d.setJournal(ctx, d.journal()); err != nil {
		return err
	}
	if newer || complete(have) {
		return nil
	}
	d.raised = true
	return Retry(ctx, func() error { return d.migrate(ctx) })
}

func complete(have []int64) bool {
	for _, s := range steps {
		if !slices.Contains(have, s.version) {
			return false
		}
	}
	return true
}

// look returns the recorded versions, none for a new file. It refuses the
// database of another program before anything is done to it.
func (d *DB) look(ctx context.Context) (have []int64, err error) {
	err = Retry(ctx, func() (err error) {
		if have, err = versions(d.writer.conn); err != nil || complete(have) {
			return err
		}
		there, err := d.shape()
		return cmp.Or(err, checkFirst(d.path, there))
	})
	return have, err
}

func (d *DB) shape() ([]string, error) { return column[text](d.writer.conn, shape) }

// versions reads the table of versions; a database without it has none.
func versions(from querier) ([]int64, error) {
	have, err := column[number](from, `SELECT version FROM schema_migrations`)
	if resultCode(err) == sqlite3.SQLITE_ERROR {
		return nil, nil
	}
	out := make([]int64, len(have))
	for i, s := range have {
		out[i] = int64(parse(s))
	}
	return out, err
}

// querier is a connection, or a pool of some.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// column reads the only column of a query, without keeping the statement: these
// run at most once an opening.
func column[T text | number, P interface {
	*T
	sql.Scanner
}](from querier, query string) ([]string, error) {
	rows, err := from.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	var out []string
	err = drain(rows, func(rows *sql.Rows) error {
		for rows.Next() {
			var v T
			if err := rows.Scan(P(&v)); err != nil {
				return err
			}
			out = append(out, fmt.Sprint(v))
		}
		return nil
	})
	return out, err
}

// migrate makes the steps that are missing, schemas and version rows in one
// transaction: no other program ever meets a version in between, and of
// processes that come at once one makes the steps and the others find them made.
func (d *DB) migrate(ctx context.Context) (err error) {
	if err := d.writer.pragma(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// It fails when SQLite has undone the transaction by itself.
			_ = d.writer.pragma(`ROLLBACK`)
		}
	}()
	have, err := versions(d.writer.conn)
	if err != nil {
		return err
	}
	there, err := d.shape()
	if err != nil {
		return err
	}
	if len(there) == 0 {
		err = d.make()
	} else {
		err = d.climb(ctx, have)
	}
	if err != nil {
		return err
	}
	return d.writer.pragma(`COMMIT`)
}

// make makes a new database.
func (d *DB) make() error {
	for _, s := range statements(schema) {
		if err := d.writer.pragma(s); err != nil {
			return err
		}
	}
	for _, s := range steps {
		if err := d.reached(s.version); err != nil {
			return err
		}
	}
	return nil
}

// climb makes the steps that an existing database lacks. An old one is copied
// first.
func (d *DB) climb(ctx context.Context, have []int64) error {
	if newest(have) < sharedVersion {
		if err := d.keepOld(ctx, newest(have)); err != nil {
			return err
		}
	}
	for _, s := range steps {
		if slices.Contains(have, s.version) {
			continue
		}
		if err := d.step(s.file); err != nil {
			return fmt.Errorf("migrate to version %d: %w", s.version, err)
		}
		if err := d.reached(s.version); err != nil {
			return err
		}
	}
	return nil
}

func newest(have []int64) int64 {
	if len(have) == 0 {
		return 0
	}
	return slices.Max(have)
}

func (d *DB) step(name string) error {
	file, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	for _, s := range statements(string(file)) {
		if err := d.alter(s); err != nil {
			return err
		}
	}
	return nil
}

func (d *DB) reached(version int64) error {
	_, err := d.writer.conn.ExecContext(context.Background(), `INSERT OR IGNORE INTO schema_migrations(version) VALUES (?)`, version)
	return err
}

// alter runs one statement of a migration. A column that is there already is
// left: a program that died, or an older one, made it.
func (d *DB) alter(statement string) error {
	if table, name, ok := addsColumn(statement); ok {
		there, err := d.shape()
		if err != nil || slices.Contains(there, strings.ToLower(table+"."+name)) {
			return err
		}
	}
	return d.writer.pragma(statement)
}

// statements takes a migration apart: each statement ends with a line that ends
// with ";", and lines that begin with "--" are comments.
func statements(file string) []string {
	var out []string
	var b strings.Builder
	for line := range strings.Lines(file) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		b.WriteString(line)
		if strings.HasSuffix(line, ";") {
			out = append(out, b.String())
			b.Reset()
			continue
		}
		b.WriteByte('\n')
	}
	return out
}

func addsColumn(statement string) (table, name string, ok bool) {
	f := strings.Fields(statement)
	if len(f) < 6 || strings.Join(f[:2], " ") != "ALTER TABLE" || strings.Join(f[3:5], " ") != "ADD COLUMN" {
		return "", "", false
	}
	return f[2], f[5], true
}

// Versions returns the versions that the database's schema has reached.
func (r reads) Versions(ctx context.Context) ([]int, error) {
	return list(ctx, r.src, cold, `SELECT version FROM schema_migrations ORDER BY version`, func(rows *sql.Rows) (int, error) {
		n, err := scanNumber(rows)
		return int(n), err
	})
}
