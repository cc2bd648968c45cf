package run

import (
	"time"

	"alisio/llm"
	"alisio/plug"
)

// Limits bound a run (spec runner.md, "Limits"). Zero means the default; below zero,
// where that is said, there is no such limit.
type Limits struct {
	// MaxTurns is the number of answers after which a run ends with everything
	// kept; 100 by default.
	MaxTurns int
	// MaxOutputTokens caps each answer, whatever the model.
	MaxOutputTokens int
	// OutputCeiling bounds what that comes to, whoever asked for it; zero for none.
	OutputCeiling int
	// Timeout is the active time of the run; there is none by default.
	Timeout time.Duration
	// FirstToken is how long a server may be silent before it says anything to a
	// request; 2 minutes, none below zero. FirstTokenRetries is how often the request
	// is sent again then; once, never below zero.
	FirstToken        time.Duration
	FirstTokenRetries int
	// Idle is how long an answer may go without progress of the model once it has
	// begun; 2 minutes, none below zero.
	Idle time.Duration
	// TruncationRecoveries is how often a turn is asked for again whose answer the
	// output limit made unusable; twice, never below zero.
	TruncationRecoveries int
}

const (
	defaultSilence              = 2 * time.Minute
	defaultFirstTokenRetries    = 1
	defaultTruncationRecoveries = 2

	defaultMaxTurns  = 100
	defaultMaxOutput = 16_384
	// catalogMaxOutput bounds what a catalog may claim.
	catalogMaxOutput = 65_536
)

func (l Limits) maxTurns() int {
	if l.MaxTurns > 0 {
		return l.MaxTurns
	}
	return defaultMaxTurns
}

func (l Limits) firstToken() time.Duration { return orDefault(l.FirstToken, defaultSilence) }

func (l Limits) idle() time.Duration { return orDefault(l.Idle, defaultSilence) }

func (l Limits) firstTokenRetries() int {
	return orDefault(l.FirstTokenRetries, defaultFirstTokenRetries)
}

func (l Limits) truncationRecoveries() int {
	return orDefault(l.TruncationRecoveries, defaultTruncationRecoveries)
}

// orDefault is what a limit comes to: zero stands for none.
func orDefault[T int | time.Duration](limit, otherwise T) T {
	if limit == 0 {
		return otherwise
	}
	return max(0, limit)
}

// output resolves the cap of one answer for a model: the explicit value, else
// the catalog's, else the default; never more than a quarter of a known window.
func (l Limits) output(perRun int, m llm.Model) (tokens int, source plug.OutputSource) {
	switch {
	case perRun > 0:
		tokens, source = perRun, plug.SourceUser
	case l.MaxOutputTokens > 0:
		tokens, source = l.MaxOutputTokens, plug.SourceUser
	case m.MaxOutputTokens > 0:
		tokens, source = min(m.MaxOutputTokens, catalogMaxOutput), plug.SourceModel
	default:
		tokens, source = defaultMaxOutput, plug.SourceDefault
	}
	if l.OutputCeiling > 0 && l.OutputCeiling < tokens {
		tokens, source = l.OutputCeiling, plug.SourceUser
	}
	if m.ContextWindow > 0 {
		tokens = max(1, min(tokens, m.ContextWindow/4))
	}
	return tokens, source
}

const (
	// charsPerToken is the estimate that stands in for a tokenizer.
	charsPerToken = 4
	// maxResultChars and maxBatchChars hold where the window is not known.
	maxResultChars = 48_000
	maxBatchChars  = 200_000
	// maxTitle bounds what people are told that a call does, in characters.
	maxTitle = 500
	// previewChars bounds tool_completed.preview (spec events.md).
	previewChars = 2_000
)

// resultChars is how many characters one result may hold in a window of so many
// tokens: a tenth of it. batchChars is how many the results of one answer may
// hold together: a quarter (spec runner.md, "Results").
func resultChars(window int) int {
	if window <= 0 {
		return maxResultChars
	}
	return min(maxResultChars, window*charsPerToken/10)
}

func batchChars(window int) int {
	if window <= 0 {
		return maxBatchChars
	}
	return window * charsPerToken / 4
}
