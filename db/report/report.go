// Package report is what a check or a repair of the database says: findings, a line
// each, in the words that are printed.
package report

import (
	"fmt"
	"slices"
	"strings"
)

// Level says how much a finding matters, in the word that is printed.
type Level string

const (
	// Good is a fact that is as it should be.
	Good Level = "ok"
	// Note is one that a person may want to know.
	Note Level = "note"
	// Problem is one that wants a remedy.
	Problem Level = "problem"
)

// Finding is one fact about the store, in a line.
type Finding struct {
	Level Level
	What  string
	// Remedy is what to do about it, empty where nothing is to be done.
	Remedy string
}

// Report is what a check or a repair found and did, in order.
type Report struct{ Findings []Finding }

// Sound reports whether nothing wants a remedy.
func (r *Report) Sound() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Problem })
}

// Add adds a finding.
func (r *Report) Add(l Level, remedy, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{Level: l, What: oneLine(fmt.Sprintf(format, args...)), Remedy: remedy})
}

// lineLimit bounds a finding, in bytes: texts of SQLite name foreign tables.
const lineLimit = 400

// oneLine keeps control characters of foreign names from the terminal.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > lineLimit {
		s = strings.ToValidUTF8(s[:lineLimit], "") + "…"
	}
	return s
}

// Decimal writes a number of bytes for people; that of no file is none.
func Decimal(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", max(n, 0))
	case n < 999_500:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Counted writes a number with the words for one or for many.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
