package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// errNoRepository tells of a directory without history.
var errNoRepository = errors.New("this is not a git repository")

// runGit runs the host's git in a directory and returns what it printed as plain
// text. It is the only way to git here: the guarded one of the call, with all off
// that a repository could run. Options that are for one command alone are the
// caller's.
func runGit(ctx context.Context, c *plug.Call, dir string, args ...string) (string, plug.Exit, error) {
	e, err := c.Exec.Git(ctx, dir, args...)
	switch {
	case err != nil:
		return "", e, fmt.Errorf("run git: %w", err)
	case e.TimedOut:
		return "", e, errors.New("run git: it took too long and was stopped")
	case e.Code == 0:
		return text.Plain(e.Output), e, nil
	// git diff says it with its whole usage, that of another command.
	case strings.Contains(e.Output, "ot a git repository"), strings.Contains(e.Output, "usage: git diff --no-index"):
		return "", e, errNoRepository
	}
	why, _ := headLines(text.Plain(strings.TrimSpace(e.Output)), 2000)
	return "", e, fmt.Errorf("git %s: exit %d: %s", args[0], e.Code, why)
}

// droppedNote tells of output that the engine left out.
func droppedNote(e plug.Exit) string {
	if e.Dropped <= 0 {
		return ""
	}
	return fmt.Sprintf("\n(%s of it are left out in the middle)", bytesText(e.Dropped))
}
