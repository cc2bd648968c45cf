package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"alisio/agent/diff"
	"alisio/agent/text"
	"alisio/plug"
)

// gitDiff shows changes as a patch. What git is given is checked first: a base
// that can be no option, and a path behind "--" in which no character is magic.
// External diff programs and text conversion, which the repository could choose,
// are off.
type gitDiff struct{}

type diffArgs struct {
	Path   string `json:"path"`
	Staged bool   `json:"staged"`
	Base   string `json:"base"`
}

func (gitDiff) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "git_diff",
		Description: "Changes of tracked files as a patch: not yet staged ones, staged ones, or all since base.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"file or directory"},` +
			`"staged":{"type":"boolean"},` +
			`"base":{"type":"string","description":"commit, branch or A..B"}},"additionalProperties":false}`),
		Effect: plug.EffectRead,
	}
}

// Prepare picks the directory to run git in: that of the path, so that a path in
// another approved directory is looked up in its own repository.
func (gitDiff) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a diffArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	if err := checkRevision(a.Base); err != nil {
		return plug.Plan{}, err
	}
	root, p, err := place(ctx, c, "")
	if err != nil {
		return plug.Plan{}, err
	}
	p.Title, p.Dir = strings.Join(strings.Fields("diff "+a.Base), " "), root.Abs
	if a.Path == "" {
		return p, nil
	}
	// A deleted file has a history too, so that the path may be missing.
	t, err := resolve(c, a.Path)
	if err != nil {
		return plug.Plan{}, err
	}
	p.Title += " " + t.Name
	p.Paths[0].Path = t.Abs
	switch {
	case t.Dir:
		p.Dir = t.Abs
	case filepath.IsAbs(t.Name) || t.Exists:
		p.Dir = filepath.Dir(t.Abs)
	}
	return p, nil
}

// checkRevision refuses what git could take for an option or what names no
// revision (gitrevisions(7), without paths and dates).
func checkRevision(s string) error {
	if len(s) > 200 {
		return errors.New("base is too long for a revision")
	}
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case r == '-' && i > 0, r > 0x9F && !hidden(r), strings.ContainsRune("._/@{}^~+#=", r):
		default:
			return fmt.Errorf("base %q is no revision: give a commit, a branch, a tag or A..B", text.Short(s, 80))
		}
	}
	return nil
}

func (gitDiff) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a diffArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color"}
	if a.Staged {
		args = append(args, "--cached")
	}
	if a.Base != "" {
		args = append(args, a.Base)
	}
	args = append(args, "--")
	if a.Path != "" && len(p.Paths) == 1 {
		// Literal: brackets and stars in a file's name are part of it.
		args = append(args, ":(literal)"+p.Paths[0].Path)
	}
	out, e, err := runGit(ctx, c, p.Dir, args...)
	if err != nil {
		return plug.Result{}, err
	}
	if strings.TrimSpace(out) == "" {
		return plug.Text("no changes").WithSummary("no changes"), nil
	}
	added, removed := diff.Stat(out)
	shown, left := headLines(out, maxPage)
	if left > 0 {
		shown += fmt.Sprintf("(%s more are left out: give a path)", bytesText(int64(left)))
	}
	return plug.Text(shown+droppedNote(e)).WithSummary("%s", stat(added, removed)), nil
}
