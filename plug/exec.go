package plug

import (
	"context"
	"time"
)

// Exec runs programs for a call, under the engine's process control.
type Exec struct {
	// Run runs one command to its end. The error tells that it could not be
	// started (or that ctx was cancelled, after everything was stopped); a
	// command that failed is an Exit. onOutput, if not nil, gets new output as
	// plain text without the provider's key while the command runs.
	Run func(ctx context.Context, c Command, onOutput func(text string)) (Exit, error)
	// Git runs the host's git in a directory with everything switched off that
	// a repository could make it run: hooks, fsmonitor, pager, external diff,
	// text conversion, filters. For reading only, and only in a repository that
	// lies in the directories that may be read, with all that git reads for it;
	// another is an error that says how to open it.
	Git func(ctx context.Context, dir string, args ...string) (Exit, error)
}

// Command is a program to run: Argv without a shell, or a Shell line.
type Command struct {
	Argv  []string
	Shell string
	// Dir is the absolute working directory.
	Dir string
	// Stdin is given to the program; empty is /dev/null.
	Stdin string
	// Timeout ends the program; zero is the engine's default.
	Timeout time.Duration
}

// Exit tells how a program ended.
type Exit struct {
	// Code is the exit code, -1 when a signal ended it.
	Code int
	// Signal names the signal that ended it ("killed"), or is empty.
	Signal   string
	TimedOut bool
	// LeftRunning: the program itself ended but processes that it had started
	// were still running. Those that were found were stopped.
	LeftRunning bool
	// Survived: at least one process that it had started could not be stopped.
	Survived bool
	Duration time.Duration
	// Output is what it printed to standard output and error in the order of
	// arrival: plain text without the provider's key, head and tail kept, with a
	// mark where Dropped bytes were left out.
	Output  string
	Dropped int64
}
