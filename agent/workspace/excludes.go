package workspace

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	ignoreFile = ".gitignore"

	// maxIgnoreFile bounds what is read of an ignore or configuration file, in
	// bytes; what follows is not seen.
	maxIgnoreFile = 1 << 20
	maxDepth      = 256 // levels of directories below the one that is walked
)

// excludes are the ignore rules that hold at a root from outside it: those of
// the user, of the repository and of the directories between the repository's
// top and the root. prefix is the path from the top to the root, "" or "a/b/".
//
// As git does it: .gitignore over .git/info/exclude over core.excludesFile,
// which is read from the user's configuration only. Without a repository the
// root is the top, and the same rules hold. A root that its own repository
// ignores was chosen by the user: nothing from above it holds then.
func (r *root) excludes() (lv *level, prefix string) {
	if !r.lone {
		lv = lv.below("", userExcludes())
	}
	top, git := repository(r.abs)
	if git == "" {
		return lv, ""
	}
	lv = lv.below("", readSmall(resolved(filepath.Join(git, "info", "exclude"))))
	user := lv
	dir, rel := top, strings.TrimPrefix(filepath.ToSlash(r.abs[len(top):]), "/")
	for name := range strings.FieldsFuncSeq(rel, isSlash) {
		lv = lv.below(prefix, readSmall(filepath.Join(dir, ignoreFile)))
		prefix += name + "/"
		dir = filepath.Join(dir, name)
		if lv.ignores(strings.TrimSuffix(prefix, "/"), true) {
			return user, rel + "/"
		}
	}
	return lv, prefix
}

// SkipUserExcludes lets listings and searches depend on the repository alone, not
// on the ignore rules in the user's home. Call it before anything else.
func (w *Workspace) SkipUserExcludes() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lone = true
	for _, r := range w.roots {
		r.lone = true
	}
}

// repository finds the top of the repository that dir is in, and the directory
// that holds its info/exclude. A linked worktree shares that of its repository.
func repository(dir string) (top, git string) {
	for last := ""; dir != last; last, dir = dir, filepath.Dir(dir) {
		git = filepath.Join(dir, ".git")
		if info, err := os.Lstat(git); err == nil && info.Mode().IsRegular() {
			git = linkedGit(dir, git)
		}
		if _, err := os.Lstat(filepath.Join(git, "HEAD")); err == nil && git != "" {
			return dir, git
		}
	}
	return "", ""
}

// linkedGit reads a ".git" file, and the "commondir" of what it points to.
func linkedGit(dir, file string) string {
	to, ok := strings.CutPrefix(readSmall(file), "gitdir: ")
	if !ok {
		return ""
	}
	git := absolute(dir, strings.TrimRight(to, "\r\n"))
	if common := strings.TrimSpace(readSmall(filepath.Join(git, "commondir"))); common != "" {
		return absolute(git, common)
	}
	return git
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// userExcludes reads the file that core.excludesFile of the user's git
// configuration names, by default "ignore" beside it. Includes and the system's
// configuration are not read, and never the repository's: that would let a
// repository name a file of the user.
func userExcludes() string {
	home, _ := os.UserHomeDir()
	conf := os.Getenv("XDG_CONFIG_HOME")
	if conf == "" && home != "" {
		conf = filepath.Join(home, ".config")
	}
	if conf == "" {
		return ""
	}
	file := filepath.Join(conf, "git", "ignore")
	for _, c := range []string{filepath.Join(conf, "git", "config"), filepath.Join(home, ".gitconfig")} {
		if v, ok := excludesFile(readSmall(resolved(c))); ok {
			file = v
		}
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(file) {
		return ""
	}
	return readSmall(resolved(file))
}

// readSmall reads a regular file that is no link, without waiting on anything
// else; "" when it can not.
func readSmall(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return ""
	}
	return string(data)
}

// excludesFile finds the last value of core.excludesFile in a git configuration
// (git-config(1), "Syntax"). Lines that it does not understand say nothing.
func excludesFile(config string) (value string, ok bool) {
	// A backslash that is not escaped joins its line with the next one.
	join := strings.NewReplacer(`\\`, `\\`, "\\\r\n", "", "\\\n", "", "\r\n", "\n")
	core := false
	for line := range strings.SplitSeq(join.Replace(config+"\n"), "\n") {
		line = strings.TrimSpace(line)
		if rest, head := strings.CutPrefix(line, "["); head {
			var section string
			section, line, _ = strings.Cut(rest, "]")
			core = strings.EqualFold(section, "core")
		}
		key, v, has := strings.Cut(line, "=")
		if core && has && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value, ok = configValue(strings.TrimSpace(v)), true
		}
	}
	return value, ok
}

// configValue reads quotes, escapes and a comment at the end.
func configValue(s string) string {
	var out strings.Builder
	quoted, keep := false, 0 // keep: length without the blanks before a comment
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
			keep = out.Len()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			c = s[i]
			if j := strings.IndexByte("ntb", c); j >= 0 {
				c = "\n\t\b"[j]
			}
		case !quoted && (c == '#' || c == ';'):
			return out.String()[:keep]
		case !quoted && (c == ' ' || c == '\t'):
			out.WriteByte(c)
			continue
		}
		out.WriteByte(c)
		keep = out.Len()
	}
	return out.String()[:keep]
}
