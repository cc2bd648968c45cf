package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	gitTimeout = 30 * time.Second
	gitHead    = 512 << 10
	// maxGitConfig bounds the list of a repository's configuration keys in
	// bytes, maxGitOverrides the number of those that are overridden.
	maxGitConfig    = 1 << 20
	maxGitOverrides = 500
)

// gitReads are the commands that only read. All are git's own: a name that
// git does not know could be an alias, which runs anything.
var gitReads = []string{
	"status", "diff", "log", "show", "rev-parse", "rev-list", "ls-files",
	"ls-tree", "cat-file", "merge-base", "for-each-ref",
}

// gitFixed switches off what any repository could run, however it is
// configured.
var gitFixed = []string{
	"--no-pager", "--no-replace-objects",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.fsmonitor=false",
	"-c", "core.pager=cat",
	"-c", "core.askPass=",
	"-c", "core.sshCommand=false",
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "protocol.allow=never",
	"-c", "log.showSignature=false",
	"-c", "submodule.recurse=false",
	"-c", "diff.ignoreSubmodules=all",
	"-c", "diff.submodule=short",
	"-c", "status.submoduleSummary=false",
	"-c", "safe.bareRepository=explicit",
	"-c", "gc.auto=0",
}

// gitEnv does the same where only the environment can. GIT_ALLOW_PROTOCOL
// beats any protocol.*.allow, so that a missing object is fetched from nowhere.
var gitEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
	"GIT_EDITOR=false", "GIT_ASKPASS=", "LC_ALL=C",
}

// Git runs the host's git in dir for reading: one of the reading commands,
// with everything switched off that the repository could make it run. That is
// hooks, fsmonitor, pagers, aliases, transports, submodules, and each program
// that the configuration names for filters, diffs, merges, signatures and
// credentials, the person's own included: files of Git LFS are compared as they
// lie there. For a patch the caller gives --no-ext-diff and --no-textconv.
//
// The configuration is read first, by a git command that runs nothing, to find
// what to override; a configuration too odd to be overridden is an error. The
// working tree is where .git lies, whatever core.worktree says; a .git that is
// a file is followed to where it points. GIT_ variables of our environment are
// not passed on.
func Git(ctx context.Context, dir string, args ...string) (Exit, error) {
	if len(args) == 0 || !slices.Contains(gitReads, args[0]) {
		return Exit{}, fmt.Errorf("git %q: not one of the commands that only read", strings.Join(args, " "))
	}
	if _, err := exec.LookPath("git"); err != nil {
		return Exit{}, errors.New("git is not installed: there is none in PATH")
	}
	argv := append([]string{"git"}, gitFixed...)
	keys, err := gitKeys(ctx, dir, argv)
	if err != nil {
		return Exit{}, err
	}
	over, err := gitOverrides(keys)
	if err != nil {
		return Exit{}, err
	}
	argv = append(argv, over...)
	if slices.Contains(keys, "core.worktree") {
		argv = append(argv, "--work-tree="+gitTop(dir))
	}
	argv = append(argv, args[0])
	if args[0] == "status" || args[0] == "diff" {
		// A submodule's own setting beats the configuration, not this.
		argv = append(argv, "--ignore-submodules=all")
	}
	c := gitCommand(dir, append(argv, args[1:]...))
	return Run(ctx, c, nil)
}

func gitCommand(dir string, argv []string) Command {
	return Command{Argv: argv, Dir: dir, Timeout: gitTimeout, Head: gitHead, extra: gitEnv}
}

// gitKeys lists the keys of the configuration that git sees in dir, as bytes:
// cleaned names would no longer be those that git means.
func gitKeys(ctx context.Context, dir string, argv []string) ([]string, error) {
	c := gitCommand(dir, append(slices.Clone(argv), "config", "--list", "--name-only", "-z"))
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
		return nil, errors.New("read git configuration: it takes too long")
	case len(list) > maxGitConfig:
		return nil, errors.New("read git configuration: it is too large")
	case e.Code != 0:
		o := newOutput(0, 0, nil)
		o.write(list)
		msg, _ := o.finish()
		return nil, fmt.Errorf("read git configuration: %s", strings.TrimSpace(msg))
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
		if strings.ContainsAny(k, "=\n") {
			return nil, fmt.Errorf("git: the configuration key %q can not be switched off", k)
		}
		if out = append(out, "-c", k+"="+value); len(out) > 2*maxGitOverrides {
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
	switch name {
	case "textconv":
		return "cat", true
	case "external", "command", "cmd", "driver", "program", "helper", "editor",
		"difffilter", "gitproxy", "uploadpack", "receivepack", "vcs",
		"defaultkeycommand", "alternaterefscommand", "packobjectshook":
		return "false", true
	}
	return "", false
}

// gitTop is the nearest directory at or above dir that holds a .git, which is
// where git finds the repository; dir itself when there is none.
func gitTop(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}
