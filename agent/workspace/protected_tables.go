package workspace

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
		enter  = "run by direnv or mise on entering the directory"
		hooks  = "programs that git hooks run"
	)
	return []guard{
		{".git", git}, {"git~1", git}, {".gitconfig", tool}, {".config/git", tool},
		{".husky", hooks}, {".githooks", hooks}, {".pre-commit-config.y*", hooks}, {"lefthook.y*", hooks},

		{".envrc", enter}, {".mise.*", enter}, {"mise.toml", enter}, {"mise/config.toml", enter}, {"mise.local.toml", enter}, {".mise", enter}, {".config/mise", enter},
		{".vscode", editor}, {".idea", editor}, {".fleet", editor}, {".zed", editor}, {".helix", editor}, {".devcontainer", editor}, {".devcontainer.json", editor},
		{".alisio", agent}, {".config/alisio", agent}, {".agents", agent}, {".claude", agent}, {".cursor", agent}, {".mcp.json", agent},
		{".codex", agent}, {".opencode", agent}, {"opencode.json*", agent}, {".config/opencode", agent}, {".gemini", agent}, {".qwen", agent}, {".windsurf", agent}, {".kiro", agent}, {".roo", agent}, {".continue", agent},
		{".crush.json", agent}, {"crush.json", agent}, {".aider.conf.y*", agent},

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

		{".vimrc*", start}, {".gvimrc", start}, {".lvimrc", start}, {".local.vimrc", start}, {".exrc", start}, {".nvimrc", start}, {".nvim.lua", start},
		{"_vimrc", start}, {"_gvimrc", start}, {"_exrc", start}, {".vim", start}, {"vimfiles", start}, {".config/nvim", start},
		{".emacs", start}, {".emacs.d", start}, {".config/emacs", start}, {".dir-locals*", start}, {".nanorc", start}, {".gdbinit", start}, {".lldbinit", start},

		{".netrc", tool}, {"_netrc", tool}, {".npmrc", tool}, {".yarnrc*", tool}, {".pypirc", tool}, {".ssh", tool}, {".gnupg", tool},
		{".tmux.conf", tool}, {".screenrc", tool}, {".cargo/config*", tool}, {".hgrc", tool}, {".hg/hgrc", tool},
	}
}
