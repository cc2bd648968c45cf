package workspace

import (
	"path/filepath"
	"testing"
)

func TestProtected(t *testing.T) {
	dir := tree(t, "ws/.git/config", "ws/link -> .git/hooks", "ws/.git/hooks/", "other/.claude/x/")
	w := open(t, filepath.Join(dir, "ws"))
	yes := []string{
		".git", ".git/config", ".git/hooks/pre-commit", "sub/mod/.git", "sub/.git/info/exclude", ".GIT/config", ".Git./config",
		".git /config", "GIT~1/config", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "link", "link/post-checkout",
		".envrc", "a/b/.envrc", ".vscode/tasks.json", ".idea/x.xml", ".alisio/config.json", ".agents/skills/x", ".claude/settings.json",
		".mcp.json", ".MCP.json", ".github/workflows/ci.yml", "vendor/x/.github/workflows/ci.yml", ".github/actions/a/action.yml",
		".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", "azure-pipelines.yaml", "Jenkinsfile", "Jenkinsfile.prod", "ci/Jenkinsfile",
		".travis.yml", ".ci/run", "bitbucket-pipelines.yml", ".buildkite/p.yml", ".drone.yml",
		".bashrc", ".profile", ".zshrc", "dot/.zshenv", ".bash_profile", ".config/fish/config.fish", ".vimrc", ".exrc", ".emacs", ".netrc", ".npmrc",
		".gitconfig", ".config/git/config", ".husky/pre-commit", ".pre-commit-config.yaml", ".ssh/authorized_keys",
		".codex/config.toml", ".opencode/x", "opencode.json", "opencode.jsonc", ".gemini/settings.json", ".windsurf/hooks.json", ".crush.json", "crush.json",
		".aider.conf.yml", ".kiro/hooks/x", ".mise.toml", "mise.toml", ".mise.local.toml", "sub/mise.local.toml", "mise/config.toml", ".config/mise/config.toml",
		".nvim.lua", "sub/.lvimrc", ".vimrc.local", "_vimrc", ".helix/languages.toml",
	}
	no := []string{
		".", "main.go", ".editorconfig", ".gitignore", ".gitattributes", ".gitmodules", "git/config", ".github/CODEOWNERS", ".github/x/workflows",
		"a.git/x", ".gitx", "src/.vscodex", "claude/x", "profile", "bashrc", "Makefile", "package.json", ".env", "myJenkinsfile", "x.bashrc",
		".config/app.json", "docs/ci.yml", ".dockerignore", "workflows/ci.yml", ".tool-versions", "mise.go", "cmd/mise/main.go",
		"crush.go", "codex/x", "nvim.lua", "vimrc", "x.vimrc", ".codexignore", "gemini/main.go",
	}
	check := func(path string, want bool) {
		t.Helper()
		target, err := w.Resolve(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		if why, got := w.Protected(target); got != want || got == (why == "") {
			t.Errorf("%s: protected %v (%s), want %v", path, got, why, want)
		}
	}
	for _, p := range yes {
		check(p, true)
	}
	for _, p := range no {
		check(p, false)
	}
	check(filepath.Join(dir, "other/.claude/x/y"), true)
	if _, err := w.Approve(filepath.Join(dir, "other/.claude/x")); err != nil {
		t.Fatal(err)
	}
	check(filepath.Join(dir, "other/.claude/x/y"), true) // approved is not unprotected
}

func TestProtectedBelowAChosenRoot(t *testing.T) {
	dir := tree(t, ".claude/worktrees/x/main.go", ".git/worktrees/x/HEAD")
	for sub, want := range map[string]bool{".claude/worktrees/x": false, ".git/worktrees/x": true} {
		w := open(t, filepath.Join(dir, sub))
		target, err := w.Resolve("new.go")
		if err != nil {
			t.Fatal(err)
		}
		if _, got := w.Protected(target); got != want {
			t.Errorf("%s: protected %v, want %v", sub, got, want)
		}
	}
}
