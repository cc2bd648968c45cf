package base

import (
	"alisio/llm"
)

// The exit codes (spec config-cli.md, "Exit codes by cause").
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitTurns      = 3
	ExitPermission = 4
	ExitTimeout    = 5
	ExitBudget     = 6
	ExitProvider   = 7
	ExitSandbox    = 8
	ExitUncertain  = 9
	ExitCancelled  = 130
)

// ExitCode is what a cause exits with; no cause is success.
func ExitCode(c llm.Cause) int {
	switch c {
	case "":
		return ExitDone
	case llm.CauseTimeout:
		return ExitTimeout
	case llm.CauseBudget:
		return ExitBudget
	case llm.CauseTurns:
		return ExitTurns
	case llm.CausePermission:
		return ExitPermission
	case llm.CauseAuth, llm.CauseQuota, llm.CauseRateLimited, llm.CauseUnreachable,
		llm.CauseServer, llm.CauseBadRequest, llm.CauseStream:
		return ExitProvider
	case llm.CauseSandbox:
		return ExitSandbox
	case llm.CauseUncertain:
		return ExitUncertain
	}
	return ExitFailed
}
