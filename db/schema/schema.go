// Package schema is the shape of the database: the released migrations, what they
// come to, and the look that tells a database of this program from another's.
//
// It opens nothing, and changes the schema of the connection that it is given alone,
// in one transaction. It never takes a column or a row away.
package schema

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The released migrations. Their files are never edited: a change is a new
// file. Numbers from 1001 are this program's own; those in between belong to
// the program whose databases it shares (spec store.md, "Schema").
//
//go:embed migrations/*.sql
var migrations embed.FS

// Step is one released migration.
type Step struct {
	Version int64
	file    string
}

var steps = []Step{
	{1, "migrations/0001.sql"},
	{2, "migrations/0002.sql"},
	{3, "migrations/0003.sql"},
	{4, "migrations/0004.sql"},
	{1001, "migrations/1001.sql"},
	{1002, "migrations/1002.sql"},
}

// whole is what the steps come to, in few statements: a new database need not
// live through its history, which takes three times as long. A test holds the
// two together.
//
//go:embed schema.sql
var whole string

// Shared is the version of the shared schema that a database is brought to; one
// below it is copied first.
const Shared = 4

// Steps are the migrations, in their order.
func Steps() []Step { return slices.Clone(steps) }

// Statements are what a step carries out, one after the other.
func (s Step) Statements() ([]string, error) {
	text, err := migrations.ReadFile(s.file)
	return statements(string(text)), err
}

// Latest is the version of the last step.
func Latest() int64 { return steps[len(steps)-1].Version }

// New is what makes a new database of today, versions included.
func New() []string {
	out := statements(whole)
	for _, s := range steps {
		out = append(out, fmt.Sprintf(`INSERT OR IGNORE INTO main.schema_migrations (version) VALUES (%d)`, s.Version))
	}
	return out
}

// Complete reports whether a database with these versions lacks no step.
func Complete(have []int64) bool {
	for _, s := range steps {
		if !slices.Contains(have, s.Version) {
			return false
		}
	}
	return true
}

// Newest is the last of some versions, zero for none.
func Newest(have []int64) int64 {
	if len(have) == 0 {
		return 0
	}
	return slices.Max(have)
}

// Querier is a connection, or a pool of some.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Versions reads the table of versions; a database without it has none.
func Versions(from Querier) ([]int64, error) {
	have, err := column[version](from, `SELECT version FROM schema_migrations`)
	var coded interface{ Code() int }
	if errors.As(err, &coded) && coded.Code() == sqliteError {
		return nil, nil
	}
	out := make([]int64, len(have))
	for i, v := range have {
		out[i] = int64(v)
	}
	return out, err
}

// sqliteError is SQLITE_ERROR (sqlite3.h): there is no such table.
const sqliteError = 1

// version takes whatever a foreign table holds; what is no number is zero.
type version int64

// Scan implements sql.Scanner.
func (n *version) Scan(v any) error {
	*n = 0
	switch v := v.(type) {
	case int64:
		*n = version(v)
	case float64:
		*n = version(v)
	case string:
		*n = parse(v)
	case []byte:
		*n = parse(string(v))
	}
	return nil
}

func parse(s string) version {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return version(n)
}

// column reads the only column of a query, without keeping the statement: these
// run at most once an opening.
func column[T any, P interface {
	*T
	sql.Scanner
}](from Querier, query string) (out []T, err error) {
	rows, err := from.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(P(&v)); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, cmp.Or(rows.Err(), rows.Close())
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
