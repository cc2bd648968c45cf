package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// ListQuery asks for a listing.
type ListQuery struct {
	// Path is a directory, or a file; empty is the workspace. What it names is
	// listed even when it is hidden or ignored.
	Path string
	// Glob filters by name: without a slash it matches the base name at any
	// depth, with one the path below Path. "**" spans directories.
	Glob string
	// Depth limits the levels below Path; zero is no limit.
	Depth int
	// Offset skips entries, Limit bounds them; a Limit of zero is no bound.
	Offset, Limit int
	// Hidden and Ignored include what is left out by default.
	Hidden, Ignored bool
}

// Listing is a page of a listing, sorted by path bytewise.
type Listing struct {
	// Entries are files and links; directories only where Depth, or a glob of
	// so many names, ends at them.
	Entries []ListEntry
	// Total counts the entries before paging; More tells that it is a lower
	// bound because the walk met its own limit, of entries or of a minute.
	Total int
	More  bool
	// IgnoredCount and HiddenCount are files and directories that were left out.
	IgnoredCount, HiddenCount int
}

// ListEntry is a file, a link or a directory.
type ListEntry struct {
	// Name as Target.Name; of a directory it ends in "/".
	Name string
	Size int64
	Dir  bool
	// Link is where a symbolic link points, as written in it but quoted where
	// Name would be; empty for others.
	Link string
}

// List lists files below a directory. Links are listed, not followed; what is
// neither file, link nor directory is not listed, and .git never is.
//
// It is the set of `git ls-files -co --exclude-standard` in a repository without
// tracked files, less hidden names. Unlike git, repositories inside are entered,
// and of many or long ignore rules only the first ones are obeyed.
func (w *Workspace) List(ctx context.Context, q ListQuery) (Listing, error) {
	var page []found
	total := 0
	inner, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	left, err := w.walk(inner, q, func(f found) bool {
		if total >= q.Offset && (q.Limit <= 0 || len(page) < q.Limit) {
			f.in = nil
			page = append(page, f)
		}
		total++
		return true
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		left.more, err = true, nil
	}
	if err != nil {
		return Listing{}, fmt.Errorf("list files: %w", err)
	}
	out := Listing{Total: total, More: left.more, IgnoredCount: left.ignored, HiddenCount: left.hidden}
	for _, f := range page {
		out.Entries = append(out.Entries, f.describe())
	}
	return out, nil
}

// describe looks at one entry of the page.
func (f *found) describe() ListEntry {
	if f.kind.IsDir() {
		return ListEntry{Name: show(f.root.path(f.rel) + "/"), Dir: true}
	}
	e := ListEntry{Name: f.root.name(f.rel)}
	if f.kind&fs.ModeSymlink != 0 {
		to, err := f.root.dir.Readlink(f.rel)
		if err == nil {
			e.Link = show(to)
		}
		return e
	}
	if info, err := f.root.dir.Lstat(f.rel); err == nil {
		e.Size = info.Size()
	}
	return e
}
