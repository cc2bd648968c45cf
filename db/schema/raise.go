package schema

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Raise makes the steps that are missing, schemas and version rows in one
// transaction: no other program ever meets a version in between, and of
// processes that come at once one makes the steps and the others find them made.
// Before the first step of a database below version Shared keep is called, which
// saves what there is; the write lock is held then. The statements do not hear the
// context: a schema is not left at half of a step.
func Raise(ctx context.Context, conn *sql.Conn, keep func(ctx context.Context, version int64) error) (err error) {
	r := raise{conn}
	if err := r.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// It fails when SQLite has undone the transaction by itself.
			_ = r.exec(`ROLLBACK`)
		}
	}()
	have, err := Versions(conn)
	if err != nil {
		return err
	}
	there, err := Columns(conn)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		err = r.begin()
	} else {
		err = r.climb(ctx, have, keep)
	}
	if err != nil {
		return err
	}
	return r.exec(`COMMIT`)
}

// raise is one database that is brought up to date.
type raise struct{ conn *sql.Conn }

func (r raise) exec(query string) error {
	_, err := r.conn.ExecContext(context.Background(), query)
	return err
}

// begin makes a new database.
func (r raise) begin() error {
	for _, s := range New() {
		if err := r.exec(s); err != nil {
			return err
		}
	}
	return nil
}

// climb makes the steps that an existing database lacks. An old one is copied
// first.
func (r raise) climb(ctx context.Context, have []int64, keep func(ctx context.Context, version int64) error) error {
	if newest := Newest(have); newest < Shared {
		if err := keep(ctx, newest); err != nil {
			return err
		}
	}
	for _, s := range steps {
		if slices.Contains(have, s.Version) {
			continue
		}
		if err := r.step(s); err != nil {
			return fmt.Errorf("migrate to version %d: %w", s.Version, err)
		}
		if _, err := r.conn.ExecContext(context.Background(), `INSERT OR IGNORE INTO schema_migrations(version) VALUES (?)`, s.Version); err != nil {
			return err
		}
	}
	return nil
}

func (r raise) step(s Step) error {
	all, err := s.Statements()
	if err != nil {
		return err
	}
	for _, text := range all {
		if err := r.alter(text); err != nil {
			return err
		}
	}
	return nil
}

// alter runs one statement of a migration. A column that is there already is
// left: a program that died, or an older one, made it.
func (r raise) alter(statement string) error {
	if table, name, ok := addsColumn(statement); ok {
		there, err := Columns(r.conn)
		if err != nil || slices.Contains(there, strings.ToLower(table+"."+name)) {
			return err
		}
	}
	return r.exec(statement)
}

func addsColumn(statement string) (table, name string, ok bool) {
	f := strings.Fields(statement)
	if len(f) < 6 || strings.Join(f[:2], " ") != "ALTER TABLE" || strings.Join(f[3:5], " ") != "ADD COLUMN" {
		return "", "", false
	}
	return f[2], f[5], true
}
