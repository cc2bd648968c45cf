package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"alisio/db/hold"
	"alisio/db/netfs"
	"alisio/db/pages"
	"alisio/db/place"
	"alisio/db/report"
	"alisio/db/schema"
	"alisio/db/swap"

	"modernc.org/sqlite"
)

// The words of package report, which callers of this one speak.
type (
	Report  = report.Report
	Finding = report.Finding
	Level   = report.Level
)

// What a Finding can be.
const (
	Good    = report.Good
	Note    = report.Note
	Problem = report.Problem
)

const (
	// fixRemedy is what mends the database itself.
	fixRemedy = "alisio doctor --store --fix"
	// shown bounds how many rows a finding names.
	shown = 5
)

// Check looks at a database and what lies beside it and changes nothing. An
// error means that the check itself was not possible; what it found wrong is in
// the report.
func Check(ctx context.Context, o Options) (Report, error) {
	var r Report
	if !filepath.IsAbs(o.Path) || !filepath.IsAbs(o.Home) {
		return r, fmt.Errorf("check db: path %q and home %q must be absolute", o.Path, o.Home)
	}
	for _, name := range swap.Left(place.Resolved(o.Path)) {
		r.Add(Note, fixRemedy, "a repair that was cut short left %s", name)
	}
	if err := place.Lost(o.Path); err != nil {
		return r, broken(&r, err)
	}
	if _, err := os.Lstat(o.Path); errors.Is(err, fs.ErrNotExist) {
		r.Add(Note, "", "there is no database %s yet", o.Path)
		return r, nil
	}
	o.ReadOnly, o.Notice = true, func(text string) { r.Add(Note, "", "%s", text) }
	checkFiles(&r, o)
	if checkLog(&r, place.Resolved(o.Path)) {
		return r, nil // opening it, and closing it, would empty the log
	}
	d, err := Open(ctx, o)
	if err != nil {
		return r, broken(&r, err)
	}
	defer d.Close()
	c := checker{d: d, ctx: ctx, r: &r}
	return r, c.all()
}

// broken turns the error of a damaged file into a finding.
func broken(r *Report, err error) error {
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		for inner := damaged; errors.As(inner.Err, &inner); {
			damaged = inner // says the same of the same file
		}
		remedy := fixRemedy
		if damaged.Text {
			remedy = "it never was a database: move it away"
		}
		r.Add(Problem, remedy, "%v", damaged)
		return nil
	}
	return err
}

// checkLog looks whether the log is damaged, if nobody has the database open: while
// others write in it no log is as it is read.
func checkLog(r *Report, path string) (damaged bool) {
	if place.Size(path+"-wal") <= 0 || place.Regular(path) != nil {
		return false
	}
	f, err := hold.File(path)
	if err != nil {
		return false // in use, or not to be written, which keeps the log as it is
	}
	defer f.Close()
	n, damaged := pages.LostCommits(path)
	if damaged {
		r.Add(Problem, fixRemedy, "the log %s is damaged, and %s in it can not be read", path+"-wal", report.Counted(n, "commit", "commits"))
	}
	return damaged
}

// checkFiles looks at sizes and permissions.
func checkFiles(r *Report, o Options) {
	r.Add(Good, "", "%s: %s, and %s in its log; it uses %s", o.Path, report.Decimal(place.Size(o.Path)), report.Decimal(place.Size(o.Path+"-wal")), journalOf(o.Path))
	if name, yes := netfs.Of(filepath.Dir(o.Path)); yes {
		r.Add(Note, "keep it on a local disk, with ALISIO_STATE_HOME or --db", "%s", netfs.Line(filepath.Dir(o.Path), name))
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, p := range append(files(o.Path, o.Home), o.Home, filepath.Join(o.Home, "blobs", "sha256")) {
		info, err := os.Lstat(p)
		if err == nil && info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			r.Add(Problem, fmt.Sprintf("chmod go= %q", p), "others than you may use %s (mode %04o)", p, info.Mode().Perm())
		}
	}
}

// journalOf tells how the database is written to. It comes before the database is
// opened, see create.
func journalOf(path string) string {
	if place.Regular(path) != nil {
		return "nothing that can be read"
	}
	return pages.Journal(path)
}

// checker asks an open database. A damaged page ends the one question that came
// upon it, not the check.
type checker struct {
	d   *DB
	ctx context.Context
	r   *Report
	// columns are the tables' own, as "table.column" in lower case: an older
	// database, and a newer one, lacks some that this program's queries name.
	columns []string
}

func (c *checker) all() error {
	for _, ask := range []func() error{
		c.integrity, c.shape, c.schema, c.references, c.rows, func() error { return c.blobs(time.Now()) },
	} {
		if err := ask(); err != nil {
			if err := broken(c.r, explain(c.d.path, err)); err != nil {
				return fmt.Errorf("check db: %w", err)
			}
		}
	}
	return nil
}

// shape looks which tables and columns there are.
func (c *checker) shape() (err error) {
	c.columns, err = c.texts(schema.ColumnsQuery)
	return err
}

// has reports whether all columns of a list are there.
func (c *checker) has(columns string) bool { return schema.Has(c.columns, columns) }

// texts runs a query of one column.
func (c *checker) texts(query string) ([]string, error) {
	return list(c.ctx, c.d, cold, query, scanText)
}

func (c *checker) integrity() error {
	lines, err := c.texts(`PRAGMA integrity_check(20)`)
	if err != nil {
		return err
	}
	if len(lines) == 1 && lines[0] == "ok" {
		c.r.Add(Good, "", "the database is whole")
		return nil
	}
	for _, line := range lines[:min(len(lines), shown)] {
		c.r.Add(Problem, fixRemedy, "the database is damaged: %s", line)
	}
	return nil
}

func (c *checker) references() error {
	tables, err := c.texts(`SELECT "table" FROM pragma_foreign_key_check LIMIT 10000`)
	if err == nil && len(tables) > 0 {
		c.r.Add(Note, "", "%d rows of %s name a session that does not exist", len(tables), tables[0])
	}
	return err
}

// schema tells how old the database is. An old one is as sound as one that a
// process made and did not live to fill: opening either brings it up to date.
func (c *checker) schema() error {
	if len(c.columns) == 0 {
		c.r.Add(Note, "", "nothing is stored yet: the database gets its tables when it is next opened")
		return nil
	}
	if schema.Foreign(c.d.path, c.columns) != nil {
		c.r.Add(Problem, "name another with ALISIO_STATE_HOME or --db", "these are not the tables of an Alisio database")
		return nil
	}
	var have []int64
	if c.has("schema_migrations.version") {
		versions, err := c.d.Versions(c.ctx)
		if err != nil {
			return err
		}
		for _, v := range versions {
			have = append(have, int64(v))
		}
	}
	c.r.Add(Good, "", "its schema has the versions %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(have), " ", ", "), "[]"))
	if latest := schema.Latest(); schema.Newest(have) <= latest && !schema.Complete(have) {
		c.r.Add(Note, "", "it is of version %d, and is brought up to version %d when it is next opened", schema.Newest(have), latest)
	}
	return nil
}

// Backup writes what the database holds now to a new file, for its owner alone.
// A file that is there already is not touched.
func (d *DB) Backup(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("back up: the path %q must be absolute", path)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up to %q: %w", path, errors.Join(err, fs.ErrExist))
	}
	if d.readOnly {
		return fmt.Errorf("back up: %w", ErrReadOnly)
	}
	if err := d.copyTo(ctx, path); err != nil {
		return fmt.Errorf("back up: %w", explain(d.path, err))
	}
	return nil
}

// openRaw opens a database as it is, over one connection, without a look at its
// schema.
func openRaw(ctx context.Context, name string) (*sql.DB, *sql.Conn, error) {
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, pool.Close())
	}
	return pool, conn, nil
}
