package ports

import (
	"context"

	"alisio/agent/proc"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// Exec gives process control the form that tools know; git is kept inside the workspace,
// and, impersonal, reads nothing of the person's. What programs print comes without the
// secrets: whatever is cut later then cuts none in two.
func Exec(w *workspace.Workspace, secrets []string, impersonal bool) *plug.Exec {
	redact := llm.NewRedaction(secrets...)
	return &plug.Exec{
		Run: func(ctx context.Context, c plug.Command, onOutput func(string)) (plug.Exit, error) {
			e, err := proc.Run(ctx, proc.Command{
				Argv: c.Argv, Shell: c.Shell, Dir: c.Dir, Stdin: c.Stdin, Timeout: c.Timeout, Redact: redact,
			}, onOutput)
			return plug.Exit(e), err
		},
		Git: func(ctx context.Context, dir string, args ...string) (plug.Exit, error) {
			e, err := proc.Git(ctx, proc.Command{Dir: dir, Redact: redact, Impersonal: impersonal}, Inside(w), args...)
			return plug.Exit(e), err
		},
	}
}

// Inside returns what reports whether a path, links followed, lies in a directory that a session
// may read: the workspace, an added or an approved one.
func Inside(w *workspace.Workspace) func(path string) bool {
	return func(path string) bool {
		t, err := w.Resolve(path)
		return err == nil && t.Inside
	}
}
