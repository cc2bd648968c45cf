package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

const (
	// An entry costs about ten tokens; the default fits a small window.
	defaultEntries = 500
	maxEntries     = 2000
)

// listFiles lists files below a directory, page by page. What rules hide is
// counted in the answer, so that a model does not take a file that it can not see
// for one that does not exist (C173).
type listFiles struct{}

// listArgs is as plug.ListQuery has it; zero values are the defaults.
type listArgs struct {
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Depth   int    `json:"depth"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
	Hidden  bool   `json:"hidden"`
	Ignored bool   `json:"ignored"`
}

func (listFiles) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name: "list_files",
		Description: "List files below a directory, sorted. Hidden and git-ignored entries are left out " +
			"unless named exactly or asked for.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"default: workspace"},` +
			`"glob":{"type":"string","description":"*.go at any depth; with a slash from path: src/**/*.ts"},` +
			`"depth":{"type":"integer","minimum":0,"description":"levels, 0 = all"},` +
			`"offset":{"type":"integer","minimum":0},` +
			`"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"default 500"},` +
			`"hidden":{"type":"boolean"},"ignored":{"type":"boolean"}},"additionalProperties":false}`),
		Effect: plug.EffectRead,
	}
}

func (listFiles) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a listArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	_, p, err := place(ctx, c, a.Path)
	if a.Glob != "" {
		p.Title = within(text.OneLine(a.Glob, maxTitle), a.Path, p.Title)
	}
	return p, err
}

// within adds where to what, unless that is the workspace itself.
func within(what, path, name string) string {
	if path == "" || name == "." {
		return what
	}
	return what + " in " + name
}

func (listFiles) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a listArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	if len(p.Paths) != 1 {
		return plug.Result{}, errPlan
	}
	if a.Limit <= 0 {
		a.Limit = defaultEntries
	}
	a.Offset, a.Limit = max(a.Offset, 0), min(a.Limit, maxEntries)
	l, err := c.Files.List(ctx, plug.ListQuery{
		Path: p.Paths[0].Path, Glob: a.Glob, Depth: a.Depth, Offset: a.Offset, Limit: a.Limit,
		Hidden: a.Hidden, Ignored: a.Ignored,
	})
	if err != nil {
		return plug.Result{}, err
	}
	return plug.Text(a.show(l, pageRoom(c))).WithSummary("%s", entries(l)), nil
}

// entries tells how many there are, on all pages.
func entries(l plug.Listing) string {
	n := "no entries"
	switch {
	case l.More:
		n = "at least " + count(l.Total, "entry")
	case l.Total > 0:
		n = count(l.Total, "entry")
	}
	return n
}

// show is the page, of so many bytes of entries: a line of counts, one entry a line, and
// how to go on.
func (a listArgs) show(l plug.Listing, room int) string {
	var body strings.Builder
	shown := 0
	for _, e := range l.Entries {
		line := entryLine(e)
		if shown > 0 && body.Len()+len(line) > room {
			break
		}
		body.WriteString(line)
		shown++
	}
	var b strings.Builder
	b.WriteString(entries(l))
	if shown > 0 && (shown < l.Total || l.More) {
		fmt.Fprintf(&b, ", %d-%d shown", a.Offset+1, a.Offset+shown)
	}
	if a.Offset > 0 && shown == 0 && l.Total > 0 {
		fmt.Fprintf(&b, "; offset %d is past the last one", a.Offset)
	}
	b.WriteString(leftOut(l.IgnoredCount, l.HiddenCount))
	b.WriteByte('\n')
	b.WriteString(body.String())
	if shown > 0 && (a.Offset+shown < l.Total || l.More) {
		fmt.Fprintf(&b, "(more: offset: %d reads on)\n", a.Offset+shown)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// entryLine is one entry: "name", "name/" or "name -> target". Sizes are left out;
// they cost a model more than they tell.
func entryLine(e plug.ListEntry) string {
	name := shownName(e.Name)
	switch {
	case e.Link != "":
		name += " -> " + shownName(e.Link)
	case e.Dir && !strings.HasSuffix(name, "/"):
		name += "/"
	}
	return name + "\n"
}

// shownName is a name as files are shown; it may be in that form already.
func shownName(name string) string {
	if text.IsPlain(name) {
		return name
	}
	return text.QuoteName(name)
}

// leftOut tells what rules hid from a walk: "; 3 ignored, 1 hidden left out".
func leftOut(ignored, hidden int) string {
	switch {
	case ignored > 0 && hidden > 0:
		return fmt.Sprintf("; %d ignored and %d hidden entries left out", ignored, hidden)
	case ignored > 0:
		return fmt.Sprintf("; %s left out", count(ignored, "ignored entry"))
	case hidden > 0:
		return fmt.Sprintf("; %s left out", count(hidden, "hidden entry"))
	}
	return ""
}
