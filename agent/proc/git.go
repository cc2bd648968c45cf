package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"alisio/agent/text"
)

const (
	gitTimeout = 10 * time.Second
	gitGrace   = time.Second // A reading git loses nothing.
	gitHead    = 512 << 10
	// maxGitConfig bounds the list of a repository's configuration keys in
	// bytes, maxGitOverrides the number of those that are overridden.
	maxGitConfig    = 1 << 20
	maxGitOverrides = 500
)

// Git runs the host's git in dir for reading: one of the reading commands,
// with everything switched off that the repository could make it run. That is
// hooks, fsmonitor, pagers, aliases, transports, submodules, and each program
// that the configuration names for filters, diffs, merges, signatures and
// credentials, the person's own included: files of Git LFS are compared as they
// lie there. For a patch the caller gives --no-ext-diff and --no-textconv.
//
// The repository is the nearest .git at or above dir. It is refused if git would
// read through it where inside says no (see findRepository). The working tree is
// where .git lies, whatever core.worktree says. GIT_ variables of our
// environment are not passed on.
//
// The configuration is read first, by a git command that runs nothing, to find
// what to override.
//
// c gives the directory, Redact and Impersonal, and nothing else.
func Git(ctx context.Context, c Command, inside func(path string) bool, args ...string) (Exit, error) {
	if len(args) == 0 || !slices.Contains(gitReads, args[0]) {
		return Exit{}, fmt.Errorf("git %q: not one of the commands that only read", strings.Join(args, " "))
	}
	return c.inRepository(ctx, inside, gitTimeout, args)
}

// inRepository runs git in the repository around c.Dir.
func (c Command) inRepository(ctx context.Context, inside func(path string) bool, limit time.Duration, args []string) (Exit, error) {
	if flag := reaching(args); flag != "" {
		return Exit{}, fmt.Errorf("git %s: %.100q is refused: it can reach files outside the repository", args[0], flag)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return Exit{}, errors.New("git is not installed: there is none in PATH")
	}
	at, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return Exit{}, fmt.Errorf("run git in %s: %w", quote(c.Dir), cause(err))
	}
	r, err := findRepository(at, inside)
	if errors.Is(err, errNoRepository) {
		// As git says it. Git itself would compare any two files here (--no-index).
		return Exit{Code: 128, Output: "fatal: " + err.Error() + "\n"}, nil
	}
	if err != nil {
		return Exit{}, err
	}
	c = Command{Dir: at, Redact: c.Redact, Impersonal: c.Impersonal, Timeout: limit, Head: gitHead, grace: gitGrace, extra: append(r.env(), gitEnv...)}
	return c.git(ctx, args)
}

// git runs a command with what Git promises. c lacks its words.
func (c Command) git(ctx context.Context, args []string) (Exit, error) {
	c.Argv = append([]string{"git"}, gitFixed...)
	if c.Impersonal {
		c.Argv, c.extra = append(c.Argv, gitFixedAlone...), append(c.extra, gitAlone...)
	}
	keys, err := c.gitKeys(ctx)
	if err != nil {
		return Exit{}, err
	}
	over, err := gitOverrides(keys)
	if err != nil {
		return Exit{}, err
	}
	c.Argv = append(append(c.Argv, over...), args[0])
	switch args[0] {
	case "diff":
		// No option of --no-index: git fails before it compares what is no part
		// of a repository. It does so where it does not like the repository.
		c.Argv = append(c.Argv, "--no-abbrev-commit")
		fallthrough
	case "status":
		// A submodule's own setting beats the configuration, not this.
		c.Argv = append(c.Argv, "--ignore-submodules=all")
	}
	c.Argv = append(c.Argv, args[1:]...)
	e, err := Run(ctx, c, nil)
	if err == nil && e.TimedOut {
		err = fmt.Errorf("git %s: stopped after %v: the repository is very large, or a file that git reads there is none (a FIFO named .gitignore?)", args[0], c.Timeout)
	}
	return e, err
}

// reaching is the first flag with which git reads or writes a file that is named, or
// runs a program; empty: there is none. Git takes the beginning of a long flag for the
// whole of it.
func reaching(args []string) string {
	for _, a := range args {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(a, "=")
		for _, refused := range gitReaching {
			long := strings.HasPrefix(refused, "--")
			if long && len(name) > 2 && strings.HasPrefix(refused, name) || !long && strings.HasPrefix(a, refused) {
				return a
			}
		}
	}
	return ""
}

// gitKeys lists the keys of the configuration that git sees in dir, as bytes:
// cleaned names would no longer be those that git means.
func (c Command) gitKeys(ctx context.Context) ([]string, error) {
	c.Argv = append(slices.Clone(c.Argv), "config", "--list", "--name-only", "-z")
	cmd, err := c.build()
	if err != nil {
		return nil, err
	}
	var list []byte
	e, err := supervise(ctx, cmd, c, func(p []byte) {
		list = append(list, p[:min(len(p), maxGitConfig+1-len(list))]...)
	})
	switch {
	case err != nil:
		return nil, err
	case e.TimedOut:
		return nil, fmt.Errorf("read git configuration: stopped after %v: does an include name a FIFO?", c.Timeout)
	case len(list) > maxGitConfig:
		return nil, errors.New("read git configuration: it is too large")
	case e.Code != 0:
		if c.Redact != nil {
			list, _, _ = c.Redact(list, 0, true)
		}
		_, why, _ := strings.Cut(string(list), "fatal: ") // Keys can stand before and below.
		why, _, _ = strings.Cut(why, "\n")
		return nil, fmt.Errorf("read git configuration: %.400s", text.Line(why))
	}
	var keys []string
	for k := range bytes.SplitSeq(list, []byte{0}) {
		if len(k) > 0 {
			keys = append(keys, string(k))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// gitOverrides returns the options that take the danger out of keys.
func gitOverrides(keys []string) ([]string, error) {
	var out []string
	for _, k := range keys {
		value, dangerous := harmless(k)
		if !dangerous {
			continue
		}
		if strings.Contains(k, "=") { // An old git knows no --config-env, and stops.
			out = append(out, "--config-env="+k+"=ALISIO_"+value)
		} else {
			out = append(out, "-c", k+"="+value)
		}
		if len(out) > 2*maxGitOverrides {
			return nil, errors.New("git: the configuration names too many programs")
		}
	}
	return out, nil
}

// harmless returns the value that keeps a key (section.subsection.name; git
// lists sections and names in lower case) from running a program, and whether
// it could. "false" as a program fails, and git then stops.
func harmless(key string) (value string, dangerous bool) {
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch {
	case section == "filter":
		if name == "required" {
			return "false", true
		}
		return "", true
	case section == "credential", section == "core" && name == "askpass":
		return "", name == "helper" || name == "askpass"
	case section == "alias", section == "pager":
		return "false", true
	}
	switch {
	case name == "textconv":
		return "cat", true
	case name == "cachetextconv": // It would write notes.
		return "false", true
	}
	return "false", slices.Contains(gitPrograms, name)
}
