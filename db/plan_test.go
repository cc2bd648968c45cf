package db

import (
	"context"
	"database/sql"
	"strings"
	"testing"
)

// planner is a source that asks how a query would be carried out.
type planner struct {
	d *DB
	// plan is what SQLite said.
	plan []string
}

func (p *planner) query(_ context.Context, _ heat, query string, _ func(*sql.Rows) error, args ...any) error {
	rows, err := p.d.readers.Query(`EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		return err
	}
	return drain(rows, func(rows *sql.Rows) error {
		for rows.Next() {
			var id, parent, unused number
			var detail text
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			p.plan = append(p.plan, string(detail))
		}
		return nil
	})
}

// No read of a run, a list or a page looks at rows that it does not return
// (spec store.md, "no full scans").
func TestNoFullScans(t *testing.T) {
	d := open(t, t.TempDir())
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		// index must be used, where it matters which.
		index string
		read  func(reads)
		// sorts: a sort of few rows is in order.
		sorts bool
	}{
		{"session", "", func(r reads) { r.Session(ctx, "s") }, false},
		{"tree", "sessions_parent", func(r reads) { r.Tree(ctx, "s") }, false},
		{"prefix", "sqlite_autoindex_sessions_1", func(r reads) { r.SessionsWithPrefix(ctx, "a", 2) }, false},
		{"alike", "sqlite_autoindex_sessions_1", func(r reads) { r.SessionAlike(ctx, "ab") }, false},
		{"list", "sessions_recent", func(r reads) { r.Sessions(ctx, SessionQuery{Limit: 5}) }, false},
		{"list, all", "sessions_recent", func(r reads) { r.Sessions(ctx, SessionQuery{Limit: 5, Children: true, Archived: true}) }, false},
		{"list, next page", "sessions_recent", func(r reads) { r.Sessions(ctx, SessionQuery{Limit: 5, BeforeMs: 5, BeforeID: "x"}) }, false},
		{"list of a workspace", "sessions_workspace", func(r reads) { r.Sessions(ctx, SessionQuery{Limit: 5, Workspace: "/w"}) }, false},
		{"running children", "sessions_open", func(r reads) { r.RunningChildren(ctx) }, false},
		{"children", "sessions_parent", func(r reads) { r.Children(ctx, "s") }, true},
		{"queue", "queue_session", func(r reads) { r.Queue(ctx, "s", 5) }, false},
		{"active messages", "messages_active", func(r reads) { r.ActiveMessages(ctx, "s") }, false},
		{"messages", "messages_session", func(r reads) { r.MessagesPage(ctx, "s", 5, 10) }, false},
		{"count of messages", "messages_session", func(r reads) { r.CountMessages(ctx, "s") }, false},
		{"events", "events_session", func(r reads) { r.EventsPage(ctx, "s", 5, 10) }, false},
		{"events of a type", "events_session", func(r reads) { r.EventsOf(ctx, "s", "t", 10) }, false},
		{"events of a run", "events_run", func(r reads) { r.RunEvents(ctx, "s", "r") }, false},
		{"events before one", "COVERING INDEX events_run", func(r reads) { r.EventsBefore(ctx, "s", "r", 5) }, false},
		{"calls", "", func(r reads) { r.Calls(ctx, "s", []string{"c"}) }, false},
		{"pending calls", "calls_pending", func(r reads) { r.PendingCalls(ctx, "s") }, true},
		{"calls, next page", "", func(r reads) { r.CallsPage(ctx, "s", 5, 10) }, true},
		{"run", "", func(r reads) { r.Run(ctx, "r") }, false},
		{"request in a session", "runs_request", func(r reads) { r.RunByRequest(ctx, "s", "", "q") }, false},
		{"request in a workspace", "runs_request_id", func(r reads) { r.RunByRequest(ctx, "", "/w", "q") }, true},
		{"runs", "runs_session", func(r reads) { r.Runs(ctx, "s", 5) }, true},
		{"run before another", "runs_session", func(r reads) { r.RunBefore(ctx, "s", "r") }, false},
		{"last runs", "COVERING INDEX runs_session", func(r reads) { r.LastRuns(ctx, []string{"s", "t"}) }, false},
		{"open runs", "runs_open", func(r reads) { r.OpenRuns(ctx) }, false},
		{"state", "", func(r reads) { r.State(ctx, "p", "k") }, false},
		{"states", "", func(r reads) { r.States(ctx, "p") }, false},
		{"blob", "", func(r reads) { r.Blob(ctx, "h") }, false},
		{"blob's reference", "", func(r reads) { r.HasBlobRef(ctx, "s", "h") }, false},
		{"session's blobs", "", func(r reads) { r.BlobRefs(ctx, "s") }, true},
	} {
		p := &planner{d: d}
		tt.read(reads{p})
		all := strings.Join(p.plan, "\n")
		if all == "" {
			t.Errorf("%s: no plan", tt.name)
		}
		if tt.index != "" && !strings.Contains(all, tt.index+" ") && !strings.HasSuffix(all, tt.index) {
			t.Errorf("%s does not use %s:\n%s", tt.name, tt.index, all)
		}
		for _, line := range p.plan {
			full := strings.HasPrefix(line, "SCAN") && line != "SCAN tree" && line != "SCAN CONSTANT ROW" && !strings.HasPrefix(line, "SCAN page VIRTUAL")
			if full && !strings.Contains(line, "sessions_recent") && !strings.Contains(line, "sessions_open") && !strings.Contains(line, "runs_open") {
				t.Errorf("%s reads everything: %s", tt.name, line)
			}
			if strings.Contains(line, "TEMP B-TREE") && !tt.sorts {
				t.Errorf("%s sorts: %s", tt.name, line)
			}
		}
	}
}
