package config

import "time"

// Limits bounds a run (spec runner.md, "Limits"). Times are in milliseconds; zero is
// no limit, and no second try.
type Limits struct {
	MaxTurns int
	// TimeoutMs is the active time of a run. The default is for one that nobody
	// watches: a conversation has no limit unless one is Given.
	TimeoutMs int
	// FirstTokenTimeoutMs is how long a server may be silent before an answer begins;
	// the default does not hold for servers on this machine (see Given).
	FirstTokenTimeoutMs int
	FirstTokenRetries   int
	// IdleTimeoutMs is how long an answer that has begun may make no progress.
	IdleTimeoutMs int
	// MaxOutputTokens caps one answer, zero when unset.
	MaxOutputTokens int
	// TruncationRecoveries is how often a turn is asked for again whose answer the
	// cap made unusable.
	TruncationRecoveries int
	// MaxTokens and MaxCost are the budget of a run with all below it; zero when unset.
	// The cost is in the currency of the models' prices.
	MaxTokens int
	MaxCost   float64
	// MaxContextChars bounds what instructions and conversation may have together, in
	// characters.
	MaxContextChars int
}

// mostTokens bounds a budget, in tokens.
const mostTokens = 2_000_000_000

// Compaction says when a conversation gives way to a checkpoint, and how (spec
// runner.md, "Compaction").
type Compaction struct {
	// Auto: before a request that is nearly too long.
	Auto bool
	// Threshold is the share of the window, or of Limits.MaxContextChars, at which.
	Threshold float64
	// KeepTurns is how many turns stay as they are.
	KeepTurns int
	// MaxOutputTokens is what the checkpoint may take.
	MaxOutputTokens int
}

// FirstToken is the limit for a server that is on this machine, or on another. One here
// may take as long as loading a model and reading a long prompt takes, unless somebody
// set a limit, in a layer or in the field.
func (c Config) FirstToken(local bool) time.Duration {
	const key = "limits.firstTokenTimeoutMs"
	if ms := c.Limits.FirstTokenTimeoutMs; !local || c.Given(key) || ms != Default().Limits.FirstTokenTimeoutMs {
		return time.Duration(ms) * time.Millisecond
	}
	return 0
}
