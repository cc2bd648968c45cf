package tui

import (
	"strings"
	"time"

	"alisio/agent/text"
)

// Bar is a horizontal bar of so many cells, filled by part of whole; it is full only
// where part is whole, and empty only where it is nothing. From limit on, a share of
// whole, it is bad, near it it warns; a limit of 0 is none.
func Bar(cells int, part, whole int64, limit float64) text.Styled {
	if cells < 1 {
		return nil
	}
	share := 0.0
	if whole > 0 {
		share = min(max(float64(part)/float64(whole), 0), 1)
	}
	full := int(share * float64(cells))
	if share > 0 && full == 0 {
		full = 1
	}
	role := text.Accent
	const near = 0.85 // of the limit
	switch {
	case limit > 0 && share >= limit:
		role = text.Bad
	case limit > 0 && share >= near*limit:
		role = text.Warn
	}
	return text.Of(strings.Repeat("▓", full), role).With(strings.Repeat("░", cells-full), text.Dim)
}

// SpinnerStep is how long a Spinner shows one state: slower than a frame, fast enough
// to be seen moving.
const SpinnerStep = 100 * time.Millisecond

// Spinner is the sign of running work after it has run for so long: one cell.
func Spinner(elapsed time.Duration) string {
	states := [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return states[max(elapsed, 0)/SpinnerStep%time.Duration(len(states))]
}
