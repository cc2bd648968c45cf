package db

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// reads are the methods that only look, of a DB and of a Tx alike.
type reads struct{ src source }

// maxPage bounds the rows of one page.
const maxPage = 10_000

func page(limit int) int { return min(max(limit, 1), maxPage) }

// list returns the rows of a query, each made by scan.
func list[T any](ctx context.Context, s source, t heat, query string, scan func(*sql.Rows) (T, error), args ...any) ([]T, error) {
	var out []T
	err := s.query(ctx, t, query, func(rows *sql.Rows) error {
		out = out[:0]
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("read db: %w", err)
	}
	return out, nil
}

// one returns the first row of a query, or ErrNotFound.
func one[T any](ctx context.Context, s source, t heat, query string, scan func(*sql.Rows) (T, error), args ...any) (T, error) {
	all, err := list(ctx, s, t, query, scan, args...)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("read db: %w", ErrNotFound)
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// text and number take whatever a column holds: SQLite keeps any type in any
// column, and older or foreign programs stored what they liked. NULL is "" and 0.
type (
	text   string
	number int64
)

// Scan implements sql.Scanner.
func (t *text) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*t = text(v)
	case []byte:
		*t = text(v)
	case int64:
		*t = text(strconv.FormatInt(v, 10))
	case float64:
		*t = text(strconv.FormatFloat(v, 'g', -1, 64))
	default:
		*t = ""
	}
	return nil
}

// Scan implements sql.Scanner.
func (n *number) Scan(v any) error {
	*n = 0
	switch v := v.(type) {
	case int64:
		*n = number(v)
	case float64:
		*n = number(v)
	case string:
		*n = parse(v)
	case []byte:
		*n = parse(string(v))
	}
	return nil
}

func parse(s string) number {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return number(n)
}

func scanText(rows *sql.Rows) (string, error) {
	var s text
	err := rows.Scan(&s)
	return string(s), err
}

func scanNumber(rows *sql.Rows) (int64, error) {
	var n number
	err := rows.Scan(&n)
	return int64(n), err
}

// nullText, nullNumber and bit are what a value is stored as.
func nullText(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

func nullNumber(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: n != 0} }

func bit(on bool) int64 {
	if on {
		return 1
	}
	return 0
}
