package workspace

import (
	"slices"
	"strings"

	"alisio/agent/text"
)

const (
	maxSimilar = 5     // look-alikes told
	maxScan    = 10000 // names read to find them
)

// Similar finds names in the directory of a path that look like its last one, as
// Target.Name shows them: a no-break space for a space, composed for decomposed
// letters, a curly for a straight quote. There are none where something stands,
// and none outside.
func (w *Workspace) Similar(path string) []string {
	t, err := w.resolve(path)
	if err != nil || !t.Inside || t.Exists {
		return nil
	}
	return t.similar()
}

func (t Target) similar() []string {
	d, base, err := t.parent(false)
	if err != nil {
		return nil
	}
	defer d.Close()
	f, err := d.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxScan)
	slices.Sort(names)
	want := text.Skeleton(base)
	var out []string
	for _, n := range names {
		if len(out) < maxSimilar && text.Skeleton(n) == want {
			dir := strings.TrimSuffix(t.rel, base)
			out = append(out, t.root.name(dir+n))
		}
	}
	return out
}
