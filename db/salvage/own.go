package salvage

import (
	"errors"
	"slices"
	"strings"
)

var (
	// ErrForeign tells that the tables whose schema can be read are not this
	// program's.
	ErrForeign = errors.New("what can be read of its tables is not this program's")
	// ErrNothing tells that neither a table nor a row shows whose the database is.
	ErrNothing = errors.New("nothing of it can be told to be a session's")
)

// signs are columns that a table has had since it was first made, and that no other
// program's of that name is likely to have.
var signs = []struct{ table, columns string }{
	{"sessions", "id workspace provider model locked_pid"},
	{"messages", "seq session body"},
	{"tool_calls", "session call_id status result"},
	{"events", "seq session run_id type body"},
	{"plugin_state", "plugin key value"},
	{"runs", "id session status request_id correlation_id owner_pid model"},
	{"workspaces", "path label pinned last_opened_at"},
	{"blobs", "hash mime size width height created_at"},
	{"blob_refs", "session seq hash"},
	{"deletions", "session title workspace messages deleted_at"},
}

// own refuses a database that is not seen to be this program's: by one table, or,
// where the schema is lost, by rows such as it stores.
func (s *salvager) own() error {
	if len(s.there) == 0 {
		if s.speaks() {
			return nil
		}
		return ErrNothing
	}
	for _, sign := range signs {
		has := func(name string) bool { return slices.Contains(s.there, sign.table+"."+name) }
		if !slices.ContainsFunc(strings.Fields(sign.columns), func(name string) bool { return !has(name) }) {
			return nil
		}
	}
	return ErrForeign
}

// speaks reports whether there are rows such as this program stores.
func (s *salvager) speaks() bool {
	for _, t := range []string{"messages", "events"} {
		n, _ := s.number(`SELECT EXISTS (SELECT 1 FROM main.` + t + ` WHERE iif(json_valid(body), json_type(body), '') = 'object')`)
		if n > 0 {
			return true
		}
	}
	return false
}
