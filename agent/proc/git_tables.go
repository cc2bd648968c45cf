package proc

import "os"

// gitReads are the commands that only read. All are git's own: a name that
// git does not know could be an alias, which runs anything.
var gitReads = []string{
	"status", "diff", "log", "show", "rev-parse", "rev-list", "ls-files",
	"ls-tree", "cat-file", "merge-base", "for-each-ref",
}

// gitReaching are flags that name a file, or have a program run.
var gitReaching = []string{
	"--output", "--output-directory", "--no-index", "--exclude-from", "--exclude-per-directory", "--pathspec-from-file",
	"--ext-diff", "--textconv", "--parseopt", "--stdin", "-O", "-X",
}

// gitFixed switches off what any repository could run, however it is
// configured, what it could make git read elsewhere, and what git writes on the
// way.
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
	"-c", "diff.autoRefreshIndex=false",
	"-c", "diff.orderFile=" + os.DevNull,
	"-c", "mailmap.file=" + os.DevNull,
	"-c", "gc.auto=0",
}

// gitEnv does the same where only the environment can. GIT_ALLOW_PROTOCOL
// beats any protocol.*.allow, so that a missing object is fetched from nowhere.
var gitEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
	"GIT_EDITOR=false", "GIT_ASKPASS=", "LC_ALL=C",
	"ALISIO_=", "ALISIO_false=false", "ALISIO_cat=cat", // for --config-env
}

// gitAlone keeps git from the person's and the machine's configuration, and
// gitFixedAlone from the list of what the person ignores, which is read without any.
var (
	gitAlone      = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
	gitFixedAlone = []string{"-c", "core.excludesFile=" + os.DevNull}
)

// gitUnread are parts of a git directory that no reading command opens with
// hooks, filters and submodules off.
var gitUnread = []string{"hooks", "lfs", "modules"}

// gitTreeFiles are what git obeys at the top of the working tree.
var gitTreeFiles = []string{".gitattributes", ".gitignore", ".gitmodules", ".mailmap"}

// gitPrograms are the last names of keys that hold a program.
var gitPrograms = []string{
	"external", "command", "cmd", "driver", "program", "helper", "editor",
	"difffilter", "gitproxy", "uploadpack", "receivepack", "vcs",
	"defaultkeycommand", "alternaterefscommand", "packobjectshook",
}
