// Package ports gives workspace, processes, resources and the store the form that tools
// and plugins know (plug.Call, plug.API). It decides nothing: what may be read, written
// and started is decided by what it gives a form to, and by who calls.
package ports

import (
	"context"
	"io"

	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// Files gives a session's view of the workspace, and what opens its blobs, which may be
// nil, the form that tools know. A file may hold a secret, and what tools show of one is
// cut: they get it without.
func Files(w *workspace.Workspace, blob func(ctx context.Context, hash string) (plug.File, error), secrets []string) *plug.Files {
	return &plug.Files{
		Blob:  blob,
		Shown: func(text io.ReaderAt) io.ReaderAt { return llm.Masked(text, secrets...) },
		Resolve: func(path string) (plug.Target, error) {
			t, err := w.Resolve(path)
			return plug.Target{
				Name: t.Name, Abs: t.Abs, Inside: t.Inside,
				Exists: t.Exists, Dir: t.Dir, Regular: t.Regular,
			}, err
		},
		Similar: w.Similar,
		Open: func(_ context.Context, path string) (plug.File, error) {
			f, err := w.OpenFile(path)
			if err != nil {
				return nil, err
			}
			return file{f}, nil
		},
		Write: func(ctx context.Context, q plug.Write) (plug.Written, error) {
			done, err := w.Write(ctx, workspace.Write{Path: q.Path, Data: q.Data, ExpectedSHA256: q.ExpectedSHA256})
			return plug.Written{Name: done.Name, SHA256: done.SHA256, Created: done.Created}, err
		},
		List: func(ctx context.Context, q plug.ListQuery) (plug.Listing, error) {
			l, err := w.List(ctx, workspace.ListQuery(q))
			entries := make([]plug.ListEntry, len(l.Entries))
			for i, e := range l.Entries {
				entries[i] = plug.ListEntry(e)
			}
			return plug.Listing{
				Entries: entries, Total: l.Total, More: l.More,
				IgnoredCount: l.IgnoredCount, HiddenCount: l.HiddenCount,
			}, err
		},
		Search: func(ctx context.Context, q plug.SearchQuery, onMatch func(plug.Match) bool) (plug.SearchStats, error) {
			s, err := w.Search(ctx, workspace.SearchQuery{
				Pattern: q.Pattern, Literal: q.Literal, IgnoreCase: q.IgnoreCase,
				Path: q.Path, Glob: q.Glob, Context: q.Context, MaxLine: q.MaxLine,
			}, func(m workspace.Match) bool { return onMatch(shownMatch(m, secrets)) })
			return plug.SearchStats(s), err
		},
	}
}

// shownMatch gives a match the form that tools know. Its lines are cut out of
// longer ones.
func shownMatch(m workspace.Match, secrets []string) plug.Match {
	m.Text = llm.RedactPart(m.Text, secrets...)
	for _, lines := range [][]string{m.Before, m.After} {
		for i, s := range lines {
			lines[i] = llm.RedactPart(s, secrets...)
		}
	}
	return plug.Match(m)
}

// file gives an open file the form that tools know.
type file struct{ *workspace.File }

func (f file) Info() plug.FileInfo { return plug.FileInfo(f.File.Info()) }
