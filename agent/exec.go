package agent

import (
	"context"

	"alisio/agent/proc"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// toolExec gives process control the form that tools know. What programs print
// comes without the secrets: whatever is cut later then cuts none in two.
func (a *App) toolExec(files *workspace.Workspace, secrets []string) *plug.Exec {
	redact := llm.NewRedaction(secrets...)
	return &plug.Exec{
		Run: func(ctx context.Context, c plug.Command, onOutput func(string)) (plug.Exit, error) {
			e, err := proc.Run(ctx, proc.Command{
				Argv: c.Argv, Shell: c.Shell, Dir: c.Dir, Stdin: c.Stdin, Timeout: c.Timeout, Redact: redact,
			}, onOutput)
			return plug.Exit(e), err
		},
		Git: func(ctx context.Context, dir string, args ...string) (plug.Exit, error) {
			e, err := proc.Git(ctx, proc.Command{Dir: dir, Redact: redact, Impersonal: a.o.Hermetic}, inside(files), args...)
			return plug.Exit(e), err
		},
	}
}

// inside reports whether a path, links followed, lies in a directory that a session
// may read: the workspace, an added or an approved one.
func inside(files *workspace.Workspace) func(path string) bool {
	return func(path string) bool {
		t, err := files.Resolve(path)
		return err == nil && t.Inside
	}
}
