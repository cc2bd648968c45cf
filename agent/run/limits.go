package run

import (
	"time"

	"alisio/agent/compact"
	"alisio/llm"
	"alisio/plug"
)

// Limits bound a run (spec runner.md, "Limits"); the defaults are package config's.
// Zero is no such limit, and no further try, but where something else is said.
type Limits struct {
	// MaxTurns is the number of answers after which a run ends with everything
	// kept; zero is 100.
	MaxTurns int
	// MaxOutputTokens caps each answer, whatever the model; zero leaves that to it.
	MaxOutputTokens int
	// OutputCeiling bounds what that comes to, whoever asked for it; zero for none.
	OutputCeiling int
	// Timeout is the active time of the run. TimeoutGiven: it is of who started the
	// run, and no key changes it.
	Timeout      time.Duration
	TimeoutGiven bool
	// FirstToken is how long a server may be silent before it says anything to a
	// request. FirstTokenRetries is how often the request is sent again then.
	FirstToken        time.Duration
	FirstTokenRetries int
	// Idle is how long an answer may go without progress of the model once it has
	// begun.
	Idle time.Duration
	// TruncationRecoveries is how often a turn is asked for again whose answer the
	// output limit made unusable.
	TruncationRecoveries int
	// MaxContextChars bounds instructions and transcript, in characters; zero for no
	// such limit.
	MaxContextChars int
}

const (
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
	return min(maxResultChars, window*compact.CharsPerToken/10)
}

func batchChars(window int) int {
	if window <= 0 {
		return maxBatchChars
	}
	return window * compact.CharsPerToken / 4
}
