// Package proc runs programs for a tool call and always gets them back: a call
// ends when its program ends or its time is up, whatever the program left
// behind, printed or ignored.
//
//	Run -> start in a new session -> read one pipe -> wait: exit, time, cancel
//	    -> stop what is left -> output: cleaned, head and tail kept
//
// A program gets /dev/null or the given bytes as input, no controlling
// terminal, the descriptors 0 to 2 and a small environment without keys.
//
// It decides nothing: whether a command may run is the gate's question. It does
// not confine what runs.
//
// What is stopped is the program's process group and, on Linux, every process of
// its session and of a session in which somebody holds its output. A process
// that made a session of its own (setsid, a daemon) and let go of the output is
// missed; on other systems so is one with a process group of its own.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The limits of a command.
const (
	DefaultTimeout = 2 * time.Minute
	MaxTimeout     = time.Hour

	defaultHead = 16 << 10
	defaultTail = 32 << 10
	maxKept     = 8 << 20
)

// Command is a program to run: Argv without a shell, or a Shell line.
type Command struct {
	Argv []string
	// Shell is run by /bin/sh -c, on Windows by cmd.exe /d /s /c.
	Shell string
	// Dir is the absolute working directory.
	Dir string
	// Stdin is given to the program; empty is /dev/null.
	Stdin string
	// Timeout ends the program; zero is DefaultTimeout, more than MaxTimeout is
	// MaxTimeout.
	Timeout time.Duration
	// Env names variables of our environment that the program gets beside the
	// usual ones. Names that look like a key's are left out all the same.
	Env []string
	// Head and Tail are the bytes of cleaned output that are kept of its start
	// and its end; zero is 16 KiB and 32 KiB.
	Head, Tail int
	// Redact, if not nil, takes a secret out of the output before any of it is
	// left out or shown, in the manner of llm.Redaction.
	Redact func(text []byte, gone int, last bool) (out []byte, held, still int)
	// Impersonal: no file of the person or the machine tells git anything, as of
	// git 2.32; Git alone looks at it.
	Impersonal bool

	grace time.Duration // between TERM and KILL; zero is the usual
	extra []string      // further variables, for git
}

// Exit tells how a program ended.
type Exit struct {
	// Code is the exit code, -1 when a signal ended it.
	Code int
	// Signal names the signal that ended it ("killed"), or is empty.
	Signal   string
	TimedOut bool
	// LeftRunning: the program itself ended, but processes that it had started
	// were still there. Those that were found were stopped.
	LeftRunning bool
	// Survived: at least one of them could not be stopped, or not be found
	// though it still holds the output.
	Survived bool
	Duration time.Duration
	// Output is what it printed to standard output and error in the order of
	// arrival: plain text without escapes, head and tail kept, with a mark
	// where Dropped bytes were left out.
	Output  string
	Dropped int64
}

// Run runs one command to its end. The error tells that it could not be
// started, could not be stopped, or that ctx was cancelled (then everything was
// stopped, and Exit tells what had happened so far); a command that failed is
// an Exit.
//
// onOutput, if not nil, gets new output while the command runs, as plain text
// of at most 8 KiB at most 20 times a second; what does not fit is left out,
// the newest stays. It is called from one goroutine, never after Run returned.
// A slow onOutput slows neither the program nor its time limit.
func Run(ctx context.Context, c Command, onOutput func(text string)) (Exit, error) {
	cmd, err := c.build()
	if err != nil {
		return Exit{}, err
	}
	out := newOutput(c.Head, c.Tail, onOutput)
	out.redact = c.Redact
	e, err := supervise(ctx, cmd, c, out.write)
	e.Output, e.Dropped = out.finish()
	return e, err
}

// build checks a command and makes it ready to start.
func (c *Command) build() (*exec.Cmd, error) {
	switch {
	case (len(c.Argv) == 0) == (c.Shell == ""):
		return nil, errors.New("run: give either a program or a shell line")
	case strings.ContainsRune(c.Shell+strings.Join(c.Argv, "")+c.Dir, 0):
		return nil, errors.New("run: the command holds a NUL byte")
	case c.Head < 0 || c.Tail < 0 || c.Head > maxKept || c.Tail > maxKept:
		return nil, fmt.Errorf("run: keep between 0 and %d bytes of output", maxKept)
	case !filepath.IsAbs(c.Dir):
		return nil, fmt.Errorf("run: the directory %q is not absolute", c.Dir)
	}
	if info, err := os.Stat(c.Dir); err != nil {
		return nil, fmt.Errorf("run in %q: %w", c.Dir, cause(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("run in %q: not a directory", c.Dir)
	}
	cmd := newCmd(c)
	cmd.Dir = c.Dir
	cmd.Env = append(environ(os.Environ(), c.Env), "PWD="+c.Dir)
	cmd.Env = append(cmd.Env, c.extra...)
	if cmd.Err != nil {
		return nil, startError(c, cmd.Err)
	}
	return cmd, nil
}

func (c *Command) timeout() time.Duration {
	if c.Timeout <= 0 {
		return DefaultTimeout
	}
	return min(c.Timeout, MaxTimeout)
}
