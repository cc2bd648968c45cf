package cli

import "alisio/llm"

// The exit codes (spec config-cli.md, "Exit codes by cause").
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitTurns      = 3
	exitPermission = 4
	exitTimeout    = 5
	exitBudget     = 6
	exitProvider   = 7
	exitSandbox    = 8
	exitUncertain  = 9
	exitCancelled  = 130
)

// exitCode is what a cause exits with; no cause is success.
func exitCode(c llm.Cause) int {
	switch c {
	case "":
		return exitDone
	case llm.CauseTimeout:
		return exitTimeout
	case llm.CauseBudget:
		return exitBudget
	case llm.CauseTurns:
		return exitTurns
	case llm.CausePermission:
		return exitPermission
	case llm.CauseAuth, llm.CauseQuota, llm.CauseRateLimited, llm.CauseUnreachable,
		llm.CauseServer, llm.CauseBadRequest, llm.CauseStream:
		return exitProvider
	case llm.CauseSandbox:
		return exitSandbox
	case llm.CauseUncertain:
		return exitUncertain
	}
	return exitFailed
}
