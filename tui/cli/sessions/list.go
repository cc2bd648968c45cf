package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/plug"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
	"alisio/tui/term"
)

const (
	// usualLimit is how many sessions are listed without --limit.
	usualLimit = 50
	// minTitle is what a narrow terminal leaves of a title, in cells.
	minTitle = 20
	// screen is how wide a list on a terminal is, in cells, where titles allow it.
	screen = 100
)

// List lists sessions, the newest first: a page, never all of them unasked.
func List(ctx context.Context, c *Call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	q := agent.Query{All: c.All, Limit: c.Limit}
	if q.Limit == 0 {
		q.Limit = usualLimit
	}
	dir, err := c.WorkingDir() // also where it only leads to --db: a wrong one is told
	if err != nil && (c.Here || c.Cwd != "") {
		return base.ExitUsage, err
	}
	if c.Here {
		q.Workspace = agent.Root(dir, c.Getenv("HOME"))
	}
	store, code, err := c.Look(ctx)
	if err != nil {
		return code, err
	}
	if store == nil {
		c.Notice("no session is stored yet")
		return base.ExitDone, nil
	}
	defer store.Close()
	limit := q.Limit
	q.Limit = min(limit+1, MaxLimit) // one more tells whether there are more
	list, err := store.List(ctx, q)
	if err != nil {
		return base.ExitFailed, err
	}
	more := len(list) > limit
	list = list[:min(limit, len(list))]
	places, err := workspaces(ctx, store)
	if err != nil {
		return base.ExitFailed, err
	}
	if err := c.printList(list, places, q.Workspace == ""); err != nil {
		return base.ExitFailed, err
	}
	switch {
	case more && !c.Quiet:
		n, err := store.Count(ctx, q)
		if err != nil {
			return base.ExitFailed, err
		}
		c.Notice("%s", shownOf(len(list), n))
	case len(list) == 0:
		c.Notice("%s", c.nothing(q))
	}
	return base.ExitDone, nil
}

// shownOf says that a list is not whole. No count goes beyond the longest list.
func shownOf(shown, all int) string {
	are := "are"
	if shown == 1 {
		are = "is"
	}
	if all >= MaxLimit {
		return fmt.Sprintf("%d of %d or more %s shown; --limit %d lists the most", shown, all, are, MaxLimit)
	}
	return fmt.Sprintf("%d of %d %s shown; --limit %d lists all", shown, all, are, all)
}

// nothing says what a list without sessions is a list of.
func (c *Call) nothing(q agent.Query) string {
	switch {
	case q.Workspace != "" && q.All:
		return "no session of " + q.Workspace + " is stored"
	case q.Workspace != "":
		return "no session of " + q.Workspace + " is listed; " + c.Command("sessions list") + " lists those of all workspaces, --all archived ones too"
	case q.All:
		return "no session is stored yet"
	}
	return "no session is listed; --all lists archived ones too, and those that agents started"
}

// printList prints sessions, a line or an object each:
//
//	1a2b3c4d     3 h  VAT rounding  ~/projects/ledger  [pinned, uncertain]
//
// A workspace that has a label is called by it. Titles, labels and paths come from
// models, imports and other people's disks.
func (c *Call) printList(list []agent.Summary, places map[string]place, withPlaces bool) error {
	if c.JSON {
		for _, s := range list {
			if err := c.PrintJSON(json.Marshal(entryOf(s, places))); err != nil {
				return err
			}
		}
		return nil
	}
	now, home := time.Now(), c.Getenv("HOME")
	names := shortNames(list)
	var t text.Table
	for i, s := range list {
		row := []string{names[i], fmt.Sprintf("%6s", plain.Age(now, s.Updated)), text.Clip(base.Title(s.Session), base.MaxTitle)}
		if withPlaces {
			row = append(row, placeName(s.Workspace, home, places))
		}
		if m := marks(s); len(m) > 0 {
			row = append(row, "["+strings.Join(m, ", ")+"]")
		}
		t = append(t, row)
	}
	if term.IsTerminal(c.Stdout) {
		t.Clip(2, screen, minTitle)
	}
	return c.Print(t.String())
}

// placeName is what a list calls a workspace.
func placeName(path, home string, places map[string]place) string {
	p := places[path]
	name := p.label
	if name == "" {
		name = text.Line(text.AtHome(path, home))
	}
	if p.pinned {
		name += " (pinned)"
	}
	return name
}

// shortID is how an id begins.
func shortID(id string) string { return text.Head(text.Line(id), base.ShortID) }

// shortNames cuts ids to the length at which those of the list differ. A session
// that is not in the list may begin alike: then the command that is given the short
// name lists both.
func shortNames(list []agent.Summary) []string {
	cut := func(id string, n int) string { return id[:min(n, len(id))] }
	n := base.ShortID
	for grown := true; grown; {
		grown = false
		seen := make(map[string]string, len(list))
		for _, s := range list {
			short := cut(s.ID, n)
			if other, ok := seen[short]; ok && other != s.ID {
				n, grown = n+4, true
				break
			}
			seen[short] = s.ID
		}
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = text.Line(cut(s.ID, n))
	}
	return names
}

// marks are what is special about a session, in words that the manual explains.
func marks(s agent.Summary) []string {
	var m []string
	if s.Pinned {
		m = append(m, "pinned")
	}
	if !s.Archived.IsZero() {
		m = append(m, "archived")
	}
	if s.Parent != "" {
		m = append(m, "of "+text.Line(s.Parent[:min(base.ShortID, len(s.Parent))]))
	}
	switch {
	case s.BusyPID != 0:
		m = append(m, fmt.Sprintf("running, process %d", s.BusyPID))
	case interrupted(s):
		m = append(m, "interrupted")
	case s.LastRun == agent.Failed, s.LastRun == agent.Cancelled:
		m = append(m, string(s.LastRun))
	case s.LastRun == agent.TurnsExceeded:
		m = append(m, "turn limit")
	}
	if s.Uncertain {
		m = append(m, "uncertain")
	}
	return m
}

// interrupted reports whether the last run of a session has no end: its process
// died. Until somebody opens the database for writing its row says "running".
func interrupted(s agent.Summary) bool {
	switch s.LastRun {
	case agent.RunQueued, agent.RunRunning, agent.RunInterrupted:
		return s.BusyPID == 0
	}
	return false
}

// entry is a session as --json prints it. Times are RFC 3339 in UTC with
// milliseconds, as in events; absent where old programs kept none.
type entry struct {
	Kind        string `json:"kind"`
	ID          string `json:"id"`
	Title       string `json:"title"`
	Workspace   string `json:"workspace"`
	Label       string `json:"workspaceLabel,omitempty"`
	PinnedPlace bool   `json:"workspacePinned,omitempty"`
	Provider    string `json:"provider,omitempty"`
	Model       string `json:"model,omitempty"`
	Parent      string `json:"parent,omitempty"`
	Depth       int    `json:"depth,omitempty"`
	Agent       string `json:"agent,omitempty"`
	Status      string `json:"status,omitempty"`
	Created     string `json:"createdAt,omitempty"`
	Updated     string `json:"updatedAt,omitempty"`
	Pinned      bool   `json:"pinned,omitempty"`
	Archived    string `json:"archivedAt,omitempty"`
	Messages    int    `json:"messages,omitempty"`
	LastRun     string `json:"lastRun,omitempty"`
	BusyPID     int    `json:"busyPid,omitempty"`
	Uncertain   bool   `json:"uncertain,omitempty"`
}

func entryOf(s agent.Summary, places map[string]place) entry {
	p := places[s.Workspace]
	return entry{
		Kind: "session", ID: s.ID, Title: s.Title, Workspace: s.Workspace, Label: p.label, PinnedPlace: p.pinned, Provider: s.Provider, Model: s.Model,
		Parent: s.Parent, Depth: s.Depth, Agent: s.Agent, Status: s.Status, Created: stamp(s.Created),
		Updated: stamp(s.Updated), Pinned: s.Pinned, Archived: stamp(s.Archived), Messages: s.Messages,
		LastRun: string(s.LastRun), BusyPID: s.BusyPID, Uncertain: s.Uncertain,
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(plug.TimeFormat)
}
