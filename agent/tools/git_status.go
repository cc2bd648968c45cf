package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/plug"
)

// gitStatus shows the branch and what is changed, in the repository that holds the
// workspace. The format is the one that git promises to keep.
type gitStatus struct{}

func (gitStatus) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "git_status",
		Description: "Branch and changed files, as git status --porcelain=v1 -b.",
		Schema:      json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Effect:      plug.EffectRead,
	}
}

func (gitStatus) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	t, p, err := place(ctx, c, "")
	p.Title, p.Dir = "status", t.Abs
	return p, err
}

func (gitStatus) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	out, e, err := runGit(ctx, c, p.Dir, "status", "--porcelain=v1", "-b", "--untracked-files=normal")
	if err != nil {
		return plug.Result{}, err
	}
	out = strings.TrimRight(out, "\n")
	changed := strings.Count(out, "\n")
	if !strings.HasPrefix(out, "## ") {
		changed++
	}
	summary := count(changed, "file")
	if changed == 0 {
		out += "\nclean: nothing is changed"
		summary = "clean"
	}
	out, left := headLines(out, maxPage)
	if left > 0 {
		out += fmt.Sprintf("\n(%s more are left out)", bytesText(int64(left)))
	}
	return plug.Text(out+droppedNote(e)).WithSummary("%s", summary), nil
}
