package plug

import "context"

// SQL is a database file of a plugin's own: SQLite with FTS5 (spec store.md,
// "Storage port"). It has one connection; nested transactions join the outer
// one; statements are kept compiled by their text.
type SQL interface {
	// Exec runs all statements of a text. With arguments, it must hold only one.
	Exec(ctx context.Context, text string, args ...any) error
	// Prepare returns the statement of a text; errors in it come when it is used.
	Prepare(text string) Statement
	// Transaction runs do in a transaction, which is begun at once for writing, and
	// rolled back if do fails.
	Transaction(ctx context.Context, do func(ctx context.Context) error) error
	Close() error
}

// Statement is one statement. Arguments and values are nil, int64, float64,
// string or []byte.
type Statement interface {
	// Run runs it and tells what it changed.
	Run(ctx context.Context, args ...any) (Changed, error)
	// All returns all rows, at most 100,000; Get at most one.
	All(ctx context.Context, args ...any) (Rows, error)
	Get(ctx context.Context, args ...any) (Rows, error)
}

// Changed is what a statement did.
type Changed struct {
	Rows   int64
	LastID int64
}

// Rows is a query's result, the values in the order of the columns.
type Rows struct {
	Columns []string
	Values  [][]any
}
