package agent

import (
	"os"
	"path/filepath"
)

// Root returns the workspace of a working directory, by which the store finds
// its sessions. home is the person's home directory, which may be empty.
func Root(dir, home string) string { return findRoot(dir, home) }

// findRoot returns the workspace of a working directory: the repository around
// it, that is the nearest directory at or above it with a .git in it, else the
// directory itself. A home directory under version control, or one that holds
// it, is nobody's workspace by accident, and neither is a directory whose .git
// somebody else put there.
func findRoot(dir, home string) string {
	if home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	start := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		start = real
	}
	for d := start; ; {
		if git, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			if d != start && (home != "" && contains(d, home) || !trustedOwner(git, start)) {
				return start
			}
			return d
		}
		up := filepath.Dir(d)
		if up == d {
			return start
		}
		d = up
	}
}

// HoldsHome reports whether a workspace holds the whole home directory of the
// person, which may be empty.
func HoldsHome(root, home string) bool { return home != "" && contains(root, realPath(home)) }

// contains reports whether path is dir or below it.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
