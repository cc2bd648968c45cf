package proc

import (
	"context"
	"strings"
	"testing"
)

func TestGitChanges(t *testing.T) {
	const refused, relative = "not a command that plugins may use", "the directory must be absolute"
	for _, c := range []struct {
		line    string
		changes bool
		path    string
		fails   string
	}{
		{"status --porcelain=v1", false, "", ""},
		{"diff --no-ext-diff HEAD", false, "", ""},
		{"rev-parse HEAD", false, "", ""},
		{"worktree add /w/x", true, "/w/x", ""},
		{"worktree add --detach -f --no-checkout /w/../w/x HEAD", true, "/w/x", ""},
		{"worktree add -b alisio/x /w/x HEAD", true, "/w/x", ""},
		{"worktree add -B /evil /w/x", true, "/w/x", ""},
		{"worktree remove --force /w/x", true, "/w/x", ""},
		{"worktree prune", true, "", ""},
		{"branch -D alisio/x", true, "", ""},
		{"merge --no-ff --no-edit -m text alisio/x", true, "", ""},
		{"merge --abort", true, "", ""},
		{"worktree add x", false, "", relative},
		{"worktree add -b /w/x", false, "", relative},
		{"worktree remove", false, "", relative},
		{"", false, "", refused},
		{"worktree", false, "", refused},
		{"worktree list", false, "", refused},
		{"worktree move /a /b", false, "", refused},
		{"worktree add --lock /w/x", false, "", refused},
		{"worktree add --track /w/x", false, "", refused},
		{"worktree add -bx /w/x", false, "", refused},
		{"worktree add -b --force /w/x", false, "", refused},
		{"worktree add /w/x -b", false, "", refused},
		{"worktree add -- /w/x", false, "", refused},
		{"worktree prune --expire=now", false, "", refused},
		{"branch --edit-description", false, "", refused},
		{"branch --set-upstream-to=x", false, "", refused},
		{"merge --strategy=x alisio/x", false, "", refused},
		{"merge -s ours x", false, "", refused},
		{"merge -Xtheirs x", false, "", refused},
		{"merge --edit x", false, "", refused},
		{"merge -F file x", false, "", refused},
		{"merge --gpg-sign x", false, "", refused},
		{"-c core.pager=x status", false, "", refused},
		{"--exec-path=/tmp status", false, "", refused},
		{"push origin", false, "", refused},
		{"commit -m x", false, "", refused},
		{"config x y", false, "", refused},
		{"Worktree add /w/x", false, "", refused},
		{"my-alias", false, "", refused},
	} {
		args := strings.Fields(c.line)
		changes, path, err := GitChanges(args)
		if changes != c.changes || path != c.path || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: got %v, %q, %v", c.line, changes, path, err)
		}
		if !changes {
			all := func(string) bool { return true }
			if _, err := GitChange(context.Background(), Command{Dir: t.TempDir()}, all, args...); err == nil || !strings.Contains(err.Error(), "not one of the commands that change") {
				t.Errorf("%s: GitChange: %v", c.line, err)
			}
		}
	}
	if _, _, err := GitChanges([]string{"push", strings.Repeat("x", 1<<20)}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// A flag of a reading command that names a file would write or read outside the
// repository, whatever the gate said of reading.
func TestGitNeverReachesOut(t *testing.T) {
	for line, refused := range map[string]bool{
		"diff --output=/tmp/x": true, "diff --outp /tmp/x": true, "log --output=x HEAD": true, "diff --no-index a b": true,
		"diff -O/etc/passwd": true, "ls-files -X /etc/passwd": true, "ls-files --exclude-from=x": true, "log --ext-diff -p": true,
		"diff --textconv": true, "status --pathspec-from-file=x": true, "rev-parse --parseopt": true,
		"diff --no-ext-diff --no-textconv --no-color --cached --": false, "diff -- --output=x": false,
		"status --porcelain=v1 -b --untracked-files=normal": false, "rev-parse --show-toplevel": false, "log --oneline -n 5": false,
	} {
		args := strings.Fields(line)
		if got := reaching(args) != ""; got != refused {
			t.Errorf("%s: refused %v", line, got)
		}
		if _, err := Git(context.Background(), Command{Dir: t.TempDir()}, func(string) bool { return true }, args...); refused && (err == nil || !strings.Contains(err.Error(), "is refused")) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, _, err := GitChanges([]string{"log"}); err == nil {
		t.Error("plugins have more reading commands than the contract names")
	}
}
