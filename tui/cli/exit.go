package cli

import (
	"errors"
	"fmt"
	"strings"

	"alisio/agent/config"
	"alisio/llm"
)

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

// unknown tells of a word that is none of the known ones.
func unknown(what, word string, known []string) error {
	choices := strings.Join(known, ", ")
	if near, ok := config.Nearest(word, known); ok {
		return fmt.Errorf("unknown %s %q, did you mean %q? known: %s", what, word, near, choices)
	}
	return fmt.Errorf("unknown %s %q; known: %s", what, word, choices)
}

// unknownVerb tells of a word that is no command. below is the command of whose
// own commands it is none; empty: it is the first word.
func unknownVerb(below, word string, known []verb) error {
	var names []string
	for _, v := range known {
		names = append(names, v.name)
	}
	if below != "" {
		return fmt.Errorf("alisio %s: %w", below, unknown("command", word, names))
	}
	err := unknown("command", word, names)
	if strings.ContainsAny(word, " \t\n") {
		err = errors.New("no command is given")
	}
	return &llm.Error{Message: err.Error(), Hint: fmt.Sprintf("a task is given as: alisio run %q", word)}
}
