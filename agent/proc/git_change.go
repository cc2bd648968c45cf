package proc

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// changeTimeout bounds a git that changes a repository: a worktree of a large one
// takes its time.
const changeTimeout = 5 * time.Minute

// change is a form of a git command that changes a repository.
type change struct {
	// words begin it.
	words []string
	// flags are those that may follow, valued those with a value behind them.
	flags, valued []string
	// path: the first word that is no flag is a directory, absolute.
	path bool
}

// gitChanges are the commands that plugins may have git carry out. What is not here
// is refused, so that no flag runs a program or leaves the repository.
func gitChanges() []change {
	return []change{
		{words: []string{"worktree", "add"}, flags: []string{"--detach", "--force", "-f", "--no-checkout"}, valued: []string{"-b", "-B"}, path: true},
		{words: []string{"worktree", "remove"}, flags: []string{"--force", "-f"}, path: true},
		{words: []string{"worktree", "prune"}},
		{words: []string{"branch"}, flags: []string{"-d", "-D", "-m", "-f"}},
		{words: []string{"merge"}, flags: []string{"--no-ff", "--no-edit", "--abort", "--no-commit", "--ff-only", "--squash"}, valued: []string{"-m"}},
	}
}

// GitChanges says whether a git command changes a repository, and the directory that
// it makes or takes away, empty for none. The error tells of one that is neither
// among the three that only read and that plugins may use, nor among the others.
func GitChanges(args []string) (changes bool, path string, err error) {
	if len(args) > 0 && slices.Contains([]string{"status", "diff", "rev-parse"}, args[0]) {
		return false, "", nil
	}
	refused := fmt.Errorf("git %.200q: not a command that plugins may use", strings.Join(args, " "))
	for _, form := range gitChanges() {
		if len(args) < len(form.words) || !slices.Equal(args[:len(form.words)], form.words) {
			continue
		}
		rest, ok := form.plain(args[len(form.words):])
		switch {
		case !ok:
			return false, "", refused
		case !form.path:
			return true, "", nil
		case len(rest) == 0 || !filepath.IsAbs(rest[0]):
			return false, "", fmt.Errorf("git %s: the directory must be absolute", strings.Join(form.words, " "))
		}
		return true, filepath.Clean(rest[0]), nil
	}
	return false, "", refused
}

// plain are the words that are no flags, and whether all flags are known.
func (f change) plain(args []string) (words []string, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(f.valued, a):
			if i++; i >= len(args) || strings.HasPrefix(args[i], "-") {
				return nil, false
			}
		case slices.Contains(f.flags, a):
		case strings.HasPrefix(a, "-"):
			return nil, false
		default:
			words = append(words, a)
		}
	}
	return words, true
}

// GitChange is Git for the commands of GitChanges. Whoever calls it has asked whether
// the repository, and the directory, may be changed. Hooks, filters and drivers are
// off: what they would do to files is left out.
func GitChange(ctx context.Context, c Command, inside func(path string) bool, args ...string) (Exit, error) {
	if changes, _, err := GitChanges(args); err != nil || !changes {
		return Exit{}, fmt.Errorf("git %.200q: not one of the commands that change a repository", strings.Join(args, " "))
	}
	return c.inRepository(ctx, inside, changeTimeout, args)
}
