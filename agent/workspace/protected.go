package workspace

import (
	"path/filepath"
	"strings"
)

// guard is one row of the table of protected paths.
type guard struct {
	// name is a name, or names joined by slashes, in lower case. It protects
	// what is called so at any depth and everything below it. A last "*"
	// stands for the rest of a name.
	name string
	why  string
}

// guards are the paths that ask in every mode, because what stands in them is
// run, or is obeyed, by a program that the user starts later without looking
// (spec: tools, "Protected paths"). Not in it: files that only format or build
// (.editorconfig, Makefile, package.json): they are ordinary work, and whoever
// builds runs the whole workspace anyway.
func guards() []guard {
	const (
		git    = "repository internals that git obeys"
		editor = "editor settings that can run programs"
		agent  = "settings of coding agents"
		ci     = "runs on the build server"
		shell  = "start-up file of a shell"
		start  = "start-up file of an editor or a debugger"
		tool   = "settings of a program in the home directory that hold keys or name programs"
		hooks  = "programs that git hooks run"
	)
	return []guard{
		{".git", git}, {"git~1", git}, {".gitconfig", tool}, {".config/git", tool},
		{".husky", hooks}, {".githooks", hooks}, {".pre-commit-config.y*", hooks}, {"lefthook.y*", hooks},

		{".envrc", "run by direnv on entering the directory"},
		{".vscode", editor}, {".idea", editor}, {".fleet", editor}, {".zed", editor}, {".devcontainer", editor}, {".devcontainer.json", editor},
		{".alisio", agent}, {".agents", agent}, {".claude", agent}, {".cursor", agent}, {".mcp.json", agent},

		{".github/workflows", ci}, {".github/actions", ci}, {".gitlab-ci.y*", ci}, {".gitlab/ci", ci}, {".circleci", ci},
		{"azure-pipelines.y*", ci}, {".azure-pipelines", ci}, {"jenkinsfile*", ci}, {".travis.y*", ci}, {".ci", ci},
		{"bitbucket-pipelines.y*", ci}, {".buildkite", ci}, {".drone.y*", ci}, {".woodpecker", ci}, {".woodpecker.y*", ci},
		{".gitea/workflows", ci}, {".forgejo/workflows", ci}, {"appveyor.y*", ci}, {".appveyor.y*", ci}, {".cirrus.y*", ci},
		{".builds", ci}, {".build.y*", ci}, {".teamcity", ci}, {".semaphore", ci}, {"cloudbuild.y*", ci}, {"buildspec.y*", ci},

		{".profile", shell}, {".login", shell}, {".logout", shell},
		{".bashrc", shell}, {".bash_profile", shell}, {".bash_login", shell}, {".bash_logout", shell}, {".bash_aliases", shell},
		{".zshrc", shell}, {".zshenv", shell}, {".zprofile", shell}, {".zlogin", shell}, {".zlogout", shell},
		{".kshrc", shell}, {".cshrc", shell}, {".tcshrc", shell}, {".inputrc", shell}, {".xinitrc", shell}, {".xprofile", shell}, {".xsession", shell},
		{".config/fish", shell}, {".config/autostart", shell}, {".config/systemd", shell}, {".config/environment.d", shell},
		{"library/launchagents", shell}, {"microsoft.powershell_profile.ps1", shell}, {"profile.ps1", shell},

		{".vimrc", start}, {".gvimrc", start}, {".exrc", start}, {".nvimrc", start}, {".vim", start}, {".config/nvim", start},
		{".emacs", start}, {".emacs.d", start}, {".config/emacs", start}, {".dir-locals*", start}, {".nanorc", start}, {".gdbinit", start}, {".lldbinit", start},

		{".netrc", tool}, {"_netrc", tool}, {".npmrc", tool}, {".yarnrc*", tool}, {".pypirc", tool}, {".ssh", tool}, {".gnupg", tool},
		{".tmux.conf", tool}, {".screenrc", tool}, {".cargo/config*", tool}, {".hgrc", tool}, {".hg/hgrc", tool},
	}
}

// Protected tells whether a change of t must be asked about in every mode, and
// why. For file tools the whole of a .git is protected.
//
// Names count below the root; above it, where the user chose the place, only
// a .git does. Of a directory that was approved later all names count.
func (w *Workspace) Protected(t Target) (why string, protected bool) {
	names := filepath.ToSlash(t.Abs)
	if t.Inside && !t.root.approved {
		if inGit(names) {
			return guards()[0].why, true
		}
		names = t.rel
	}
	names = "/" + foldNames(names) + "/"
	for _, g := range guards() {
		if g.matches(names) {
			return g.why, true
		}
	}
	return "", false
}

// matches looks for the row's names in names, which are folded and have a
// slash before, between and after them.
func (g guard) matches(names string) bool {
	if stem, ok := strings.CutSuffix(g.name, "*"); ok {
		return strings.Contains(names, "/"+stem)
	}
	return strings.Contains(names, "/"+g.name+"/")
}

func inGit(names string) bool {
	return strings.Contains("/"+foldNames(names)+"/", "/.git/")
}

// foldNames writes names as the most forgiving file system would read them:
// without case (macOS, Windows), without dots and spaces at the end and without
// a stream (Windows), without characters that nobody sees (HFS+).
func foldNames(path string) string {
	names := strings.Split(strings.ToLower(strings.Map(seen, path)), "/")
	for i, n := range names {
		if j := strings.IndexByte(n, ':'); j > 0 {
			n = n[:j]
		}
		names[i] = strings.TrimRight(n, ". ")
	}
	return strings.Trim(strings.Join(names, "/"), "/")
}

// seen drops the characters that HFS+ ignores in names (git: utf8.c,
// next_hfs_char).
func seen(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
