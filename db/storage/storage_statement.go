package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"alisio/db"
)

// maxRows bounds what one query returns.
const maxRows = 100_000

// Value is what SQLite stores: nil, int64, float64, string or []byte. A column
// that is declared as a date or a boolean comes as text or as 0 and 1: declare
// TEXT or INTEGER for what must come back as it was.
type Value any

// Rows is a query's result, the values in the order of the columns.
type Rows struct {
	Columns []string
	Values  [][]Value
}

// Changed is what a statement did.
type Changed struct {
	Rows   int64
	LastID int64
}

// Statement is one statement of a storage, compiled once and kept.
type Statement struct {
	s    *Storage
	text string
}

// Prepare returns the statement of a text. Errors in it come when it is used.
func (s *Storage) Prepare(text string) *Statement { return &Statement{s, text} }

// Exec runs all statements of a text, or none: several are one transaction. With
// arguments, it must hold only one.
func (s *Storage) Exec(ctx context.Context, text string, args ...Value) error {
	list, several, err := arguments(text, args)
	if err != nil {
		return err
	}
	run := func() error {
		_, err := s.conn.ExecContext(ctx, text, list...)
		return err
	}
	if !several {
		return s.use(ctx, run)
	}
	// What other programs are in the way of is begun again, and a text would
	// repeat the statements that it has carried out.
	return s.Transaction(ctx, func(context.Context) error {
		s.work.Lock()
		defer s.work.Unlock()
		return run()
	})
}

// Run runs the statement and tells what it changed.
func (p *Statement) Run(ctx context.Context, args ...Value) (Changed, error) {
	list, err := only(p.text, args)
	if err != nil {
		return Changed{}, err
	}
	var c Changed
	err = p.s.use(ctx, func() error {
		compiled, err := p.s.compile(ctx, p.text)
		if err != nil {
			return err
		}
		result, err := compiled.ExecContext(ctx, list...)
		if err != nil {
			return err
		}
		if c.Rows, err = result.RowsAffected(); err != nil {
			return err
		}
		c.LastID, err = result.LastInsertId()
		return err
	})
	return c, err
}

// All runs the statement and returns its rows.
func (p *Statement) All(ctx context.Context, args ...Value) (Rows, error) {
	return p.query(ctx, maxRows+1, args)
}

// Get runs the statement and returns its first row, or none.
func (p *Statement) Get(ctx context.Context, args ...Value) (Rows, error) {
	return p.query(ctx, 1, args)
}

func (p *Statement) query(ctx context.Context, limit int, args []Value) (Rows, error) {
	list, err := only(p.text, args)
	if err != nil {
		return Rows{}, err
	}
	var out Rows
	err = p.s.use(ctx, func() error {
		compiled, err := p.s.compile(ctx, p.text)
		if err != nil {
			return err
		}
		rows, err := compiled.QueryContext(ctx, list...)
		if err != nil {
			return err
		}
		defer rows.Close()
		out, err = readRows(rows, limit)
		return err
	})
	if err == nil && len(out.Values) > maxRows {
		return Rows{}, fmt.Errorf("query: more than %d rows", maxRows)
	}
	return out, err
}

func readRows(rows *sql.Rows, limit int) (Rows, error) {
	columns, err := rows.Columns()
	if err != nil {
		return Rows{}, err
	}
	out := Rows{Columns: columns}
	for len(out.Values) < limit && rows.Next() {
		values := make([]any, len(columns))
		places := make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return Rows{}, err
		}
		row := make([]Value, len(columns))
		for i, v := range values {
			row[i] = plainValue(v)
		}
		out.Values = append(out.Values, row)
	}
	return out, rows.Err()
}

// plainValue undoes what the driver makes of declared types.
func plainValue(v Value) Value {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999999Z07:00")
	}
	return v
}

// arguments checks the text and the values before anything runs, and tells
// whether the text holds several statements.
func arguments(text string, args []Value) (list []any, several bool, err error) {
	n, err := refuse(text)
	if err != nil {
		return nil, false, err
	}
	if n > 1 && len(args) > 0 {
		return nil, false, fmt.Errorf("arguments for %d statements: only one can have any", n)
	}
	list = make([]any, len(args))
	for i, v := range args {
		switch v.(type) {
		case nil, int64, float64, string, []byte:
			list[i] = v
		default:
			return nil, false, fmt.Errorf("argument %d: a %T can not be stored", i+1, v)
		}
	}
	return list, n > 1, nil
}

// only is arguments for a text that must hold one statement.
func only(text string, args []Value) ([]any, error) {
	list, several, err := arguments(text, args)
	if several {
		return nil, errors.New("several statements in one that is prepared")
	}
	return list, err
}

// use runs do with the connection, again while another process has the file.
func (s *Storage) use(ctx context.Context, do func() error) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	s.work.Lock()
	defer s.work.Unlock()
	return db.Retry(ctx, do)
}

// compile returns the compiled statement of a text. When too many are kept, all
// are given up: a plugin that makes texts as it goes gains nothing from keeping.
func (s *Storage) compile(ctx context.Context, text string) (*sql.Stmt, error) {
	if st := s.statements[text]; st != nil {
		return st, nil
	}
	if len(s.statements) >= maxStatements {
		for _, st := range s.statements {
			_ = st.Close()
		}
		clear(s.statements)
	}
	st, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.statements[text] = st
	return st, nil
}
