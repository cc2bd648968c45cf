package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"alisio/agent/diff"
	"alisio/plug"
)

const (
	// diffContext is how many unchanged lines a diff shows around a change.
	diffContext = 3
	// maxDiff bounds the text that is compared to be shown, maxPatch the patch.
	maxDiff  = 4 << 20
	maxPatch = 64_000
)

// change is what a call makes of one file. Prepare and Execute both make it, from
// the same arguments and the same bytes, so it must depend on nothing else.
type change struct {
	// data is the new file as it will be stored.
	data []byte
	// before and after are the texts, for people to compare; before is nil for
	// a new file.
	before, after []byte
	// what tells in a few words what was done, notes what else there is to say.
	what  string
	notes []string
}

// changeData is what Prepare hands to Execute. The bytes are not in it: Execute
// makes them again from the same arguments and the same file, and writes
// nothing unless the same hash comes out.
type changeData struct {
	// Old is the hash of the file to be replaced, empty for a new file.
	Old string `json:"old,omitempty"`
	New string `json:"new"`
}

// hashOf is the hash that stands for a content everywhere: in results, arguments
// and plans, and in the precondition of a write. Lower-case hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// expected reads an expectedHash as models write it; nil and "" mean that no
// file is expected.
func expected(s *string) (string, error) {
	if s == nil {
		return "", nil
	}
	h := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(*s), "sha256:"))
	if h = strings.TrimSpace(h); h == "" || h == "null" {
		return "", nil
	}
	if b, err := hex.DecodeString(h); err != nil || len(b) != sha256.Size {
		return "", errors.New("expectedHash is no SHA-256: give the 64 hex digits that read_file shows as sha256")
	}
	return h, nil
}

// current reads a file that has to be the one that the model read. What counts
// is its content, not its time (C069). The error does not tell the present
// hash, which would invite to go on without reading.
func current(ctx context.Context, c *plug.Call, path, hash string) ([]byte, error) {
	data, info, err := readWhole(ctx, c, path)
	if err != nil {
		return nil, err
	}
	if hashOf(data) != hash {
		return nil, fmt.Errorf("%s has changed since it was read, or expectedHash is not its sha256: read it again with read_file", info.Name)
	}
	return data, nil
}

// outsidePlan is the plan for a file outside the workspace: it names the path,
// so that the gate can ask for its directory, after which Prepare runs again.
// It can not be executed.
func outsidePlan(t plug.Target) plug.Plan {
	return plug.Plan{
		Effect: plug.EffectWrite, Title: t.Name, Key: "write " + t.Abs,
		Paths: []plug.PlanPath{{Path: t.Abs, Access: plug.AccessWrite}},
	}
}

// plan is the plan for a change: what outsidePlan names, a diff for the person
// who is asked, and the hashes for Execute.
func (x change) plan(t plug.Target, old string) (plug.Plan, error) {
	p := outsidePlan(t)
	data, err := json.Marshal(changeData{Old: old, New: hashOf(x.data)})
	p.Data = data
	if block, _, _ := x.diff(t.Name); block.Patch != "" || block.Code != "" {
		p.Preview = &block
	}
	return p, err
}

// diff is the change as a block and in numbers, which are -1 when the texts are
// too large to be compared. What hides in the file is spelled out in the block:
// a person decides by it.
func (x change) diff(name string) (b plug.Block, added, removed int) {
	if len(x.before)+len(x.after) > maxDiff {
		note := fmt.Sprintf("%s, too large to compare", bytesText(int64(len(x.after))))
		return plug.Block{Kind: plug.BlockCode, Caption: name, Code: note}, -1, -1
	}
	patch := diff.Unified(name, x.before, x.after, diffContext)
	added, removed = diff.Stat(patch)
	cut := len(patch) > maxPatch
	if cut {
		patch = diff.UnifiedMax(name, x.before, x.after, diffContext, maxPatch)
	}
	return plug.Block{Kind: plug.BlockDiff, Path: name, Patch: visible([]byte(patch)), Truncated: cut}, added, removed
}

// planned takes the data of a plan apart. A plan without a hash of what is to be
// written is one for a file outside, and is refused.
func planned(p plug.Plan) (path string, d changeData, err error) {
	if len(p.Paths) != 1 || json.Unmarshal(p.Data, &d) != nil || d.New == "" {
		return "", d, errPlan
	}
	return p.Paths[0].Path, d, nil
}

// write puts the change in place, if it is the one that was planned. That the old
// file is still the same is checked here by the caller, and once more by
// Files.Write at the last moment.
func (x change) write(ctx context.Context, c *plug.Call, path string, d changeData) (plug.Result, error) {
	if hashOf(x.data) != d.New {
		return plug.Result{}, errors.New("the change is not the one that was planned; nothing is written")
	}
	if d.New == d.Old {
		return plug.Text("nothing to write: the file has this content already · sha256: " + d.New).WithSummary("unchanged"), nil
	}
	w, err := c.Files.Write(ctx, plug.Write{Path: path, Data: x.data, ExpectedSHA256: d.Old})
	if err != nil {
		return plug.Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s · sha256: %s", w.Name, x.what, w.SHA256)
	for _, n := range x.notes {
		b.WriteString("\n(" + n + ")")
	}
	block, added, removed := x.diff(w.Name)
	summary := "written"
	if added >= 0 {
		summary = stat(added, removed)
	}
	return plug.Text(b.String()).WithSummary("%s", summary).WithBlock(block), nil
}

// stat is a change in numbers: "+2 −3".
func stat(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }
