package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Session is a conversation's head. Times are ms since the epoch, zero for none.
type Session struct {
	ID        string
	Workspace string
	Provider  string
	Model     string
	// LockedPID is the process that works in it, for messages and for older
	// programs; LockedBoot and LockedStart are empty where one of those set it.
	LockedPID   int
	LockedBoot  string
	LockedStart int64
	// Parent is empty in a root session.
	Parent string
	Depth  int
	Agent  string
	Status string
	Title  string
	// Usage and Options are JSON objects, or empty.
	Usage      string
	Options    string
	CreatedMs  int64
	UpdatedMs  int64
	Pinned     bool
	ArchivedMs int64
}

// SessionQuery selects sessions, the newest first.
type SessionQuery struct {
	// Workspace, if set, is the only one.
	Workspace string
	// Children and Archived: these too.
	Children bool
	Archived bool
	// BeforeMs and BeforeID are the UpdatedMs and ID of the last session of the
	// page before this one; no BeforeID is the first page.
	BeforeMs int64
	BeforeID string
	// Limit is at least 1 and at most 10,000.
	Limit int
}

const sessionColumns = `id, workspace, provider, model, locked_pid, locked_boot, locked_start, parent_id, depth, agent, status,
	title, usage, options, created_at, updated_at, pinned, archived_at`

func scanSession(rows *sql.Rows) (Session, error) {
	var id, workspace, provider, model, boot, parent, agent, status, title, usage, options text
	var pid, start, depth, created, updated, pinned, archived number
	err := rows.Scan(&id, &workspace, &provider, &model, &pid, &boot, &start, &parent, &depth, &agent, &status,
		&title, &usage, &options, &created, &updated, &pinned, &archived)
	return Session{
		ID: string(id), Workspace: string(workspace), Provider: string(provider), Model: string(model),
		LockedPID: int(pid), LockedBoot: string(boot), LockedStart: int64(start),
		Parent: string(parent), Depth: int(depth), Agent: string(agent), Status: string(status), Title: string(title),
		Usage: string(usage), Options: string(options), CreatedMs: int64(created), UpdatedMs: int64(updated),
		Pinned: pinned != 0, ArchivedMs: int64(archived),
	}, err
}

// CreateSession adds a session; ErrExists if its id is taken.
func (t *Tx) CreateSession(s Session) error {
	_, err := t.record(Fact{Kind: FactSession, Session: s.ID}, `INSERT INTO sessions
		(id, workspace, provider, model, locked_pid, locked_boot, locked_start, parent_id, depth, agent, status, title, usage, options,
		created_at, updated_at, pinned, archived_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.ID, nullText(s.Workspace), nullText(s.Provider), nullText(s.Model), nullNumber(int64(s.LockedPID)), nullText(s.LockedBoot),
		nullNumber(s.LockedStart), nullText(s.Parent), s.Depth, nullText(s.Agent), nullText(s.Status), nullText(s.Title), nullText(s.Usage),
		nullText(s.Options), nullNumber(s.CreatedMs), nullNumber(s.UpdatedMs), bit(s.Pinned), nullNumber(s.ArchivedMs))
	if err == nil {
		t.changed(s.ID, s.UpdatedMs)
	}
	return err
}

// RenameSession sets a session's title; an empty one is none.
func (t *Tx) RenameSession(id, title string) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "title"}, `UPDATE sessions SET title = ? WHERE id = ?`, nullText(title), id)
}

// PinSession keeps a session at the top of lists, or no longer.
func (t *Tx) PinSession(id string, on bool) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "pinned"}, `UPDATE sessions SET pinned = ? WHERE id = ?`, bit(on), id)
}

// ArchiveSession takes a session out of lists since atMs, zero puts it back.
func (t *Tx) ArchiveSession(id string, atMs int64) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "archived"}, `UPDATE sessions SET archived_at = ? WHERE id = ?`, nullNumber(atMs), id)
}

// SetStatus sets where a child session stands.
func (t *Tx) SetStatus(id, status string) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "status"}, `UPDATE sessions SET status = ? WHERE id = ?`, nullText(status), id)
}

// SetModel sets the model that a session is continued with.
func (t *Tx) SetModel(id, provider, model string) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "model"}, `UPDATE sessions SET provider = ?, model = ? WHERE id = ?`,
		nullText(provider), nullText(model), id)
}

// SetOwner notes which process works in a session, nil for none. It holds
// nobody off: the lock file does.
func (t *Tx) SetOwner(session string, o *Owner) error {
	var by Owner
	if o != nil {
		by = *o
	}
	return t.recordOne(Fact{Kind: FactSession, Session: session, Key: "owner"},
		`UPDATE sessions SET locked_pid = ?, locked_boot = ?, locked_start = ? WHERE id = ?`,
		nullNumber(int64(by.PID)), nullText(by.Boot), nullNumber(by.Start), session)
}

// TouchSession sets a session's last change.
func (t *Tx) TouchSession(id string, updatedMs int64) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "updated"}, `UPDATE sessions SET updated_at = ? WHERE id = ?`, nullNumber(updatedMs), id)
}

// LeaveSession sets a session's last change, adds to its usage and notes that no
// process works in it any more. addUsage is a JSON object of whole numbers, each
// added to the one of that name; what else the stored object holds stays.
func (t *Tx) LeaveSession(id string, updatedMs int64, addUsage string) error {
	sum, err := t.usage(id, addUsage)
	if err != nil {
		return err
	}
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "usage"}, `UPDATE sessions
		SET updated_at = ?, usage = ?, locked_pid = NULL, locked_boot = NULL, locked_start = NULL WHERE id = ?`, nullNumber(updatedMs), sum, id)
}

// AddUsage adds to a session's usage as LeaveSession does, and changes nothing else.
func (t *Tx) AddUsage(id, addUsage string) error {
	sum, err := t.usage(id, addUsage)
	if err != nil {
		return err
	}
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "usage"}, `UPDATE sessions SET usage = ? WHERE id = ?`, sum, id)
}

// usage is a session's, with so much more.
func (t *Tx) usage(id, more string) (sum string, err error) {
	old, err := one(context.Background(), t, hot, `SELECT usage FROM sessions WHERE id = ?`, scanText, id)
	if err != nil {
		return "", err
	}
	if sum, err = addNumbers(old, more); err != nil {
		return "", fmt.Errorf("store session: add usage: %w", err)
	}
	return sum, nil
}

// addNumbers adds the numbers of one JSON object to those of another. An old one
// that can not be read begins anew; a sum that is too large stays at the largest.
func addNumbers(old, add string) (string, error) {
	var more map[string]int64
	if err := json.Unmarshal([]byte(add), &more); err != nil {
		return "", err
	}
	sum := map[string]json.RawMessage{}
	if old == "" || json.Unmarshal([]byte(old), &sum) != nil || sum == nil {
		sum = map[string]json.RawMessage{}
	}
	for name, n := range more {
		was := int64(parse(string(sum[name])))
		if n > 0 && was > math.MaxInt64-n {
			was, n = math.MaxInt64, 0
		}
		sum[name] = fmt.Appendf(nil, "%d", was+n)
	}
	out, err := json.Marshal(sum)
	return string(out), err
}

// DeleteSession removes a session and its children with all their rows, and
// notes that it did. Blobs that nothing names any more are collected later.
func (t *Tx) DeleteSession(id string) error {
	s, err := t.Session(context.Background(), id)
	if err != nil {
		return err
	}
	ids, err := t.Tree(context.Background(), id)
	if err != nil {
		return err
	}
	var messages int64
	for _, each := range ids {
		n, err := t.clear(each)
		if err != nil {
			return err
		}
		messages += n
	}
	_, err = t.record(Fact{Kind: FactDeletion, Session: id}, `INSERT INTO deletions (session, title, workspace, messages, deleted_at) VALUES (?, ?, ?, ?, ?)`,
		id, nullText(s.Title), nullText(s.Workspace), messages, time.Now().UnixMilli())
	return err
}

// clear removes the rows of one session and returns how many messages it had.
// Behind an error the transaction takes no further statement.
func (t *Tx) clear(id string) (messages int64, err error) {
	f := Fact{Kind: FactDeletion, Session: id}
	_, refs := t.record(f, `DELETE FROM blob_refs WHERE session = ?`, id)
	_, events := t.record(f, `DELETE FROM events WHERE session = ?`, id)
	_, calls := t.record(f, `DELETE FROM tool_calls WHERE session = ?`, id)
	_, runs := t.record(f, `DELETE FROM runs WHERE session = ?`, id)
	_, queue := t.record(f, `DELETE FROM queue WHERE session = ?`, id)
	if err := cmp.Or(refs, events, calls, runs, queue); err != nil {
		return 0, err
	}
	res, err := t.record(f, `DELETE FROM messages WHERE session = ?`, id)
	if err != nil {
		return 0, err
	}
	if err := t.recordOne(f, `DELETE FROM sessions WHERE id = ?`, id); err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Session returns a session's head, or ErrNotFound.
func (r reads) Session(ctx context.Context, id string) (Session, error) {
	return one(ctx, r.src, hot, `SELECT `+sessionColumns+` FROM sessions WHERE id = ?`, scanSession, id)
}

// Tree returns the ids of a session and all below it, itself first. A session
// that is its own ancestor comes once.
func (r reads) Tree(ctx context.Context, id string) ([]string, error) {
	return list(ctx, r.src, hot, `WITH RECURSIVE tree(id) AS (
			SELECT ? UNION SELECT s.id FROM tree JOIN sessions s ON s.parent_id = tree.id
		) SELECT id FROM tree`, scanText, id)
}

// SessionsWithPrefix returns the sessions whose ids begin with prefix, by id.
func (r reads) SessionsWithPrefix(ctx context.Context, prefix string, limit int) ([]Session, error) {
	return list(ctx, r.src, cold, `SELECT `+sessionColumns+` FROM sessions WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
		scanSession, prefix, prefixEnd(prefix), page(limit))
}

// prefixEnd is the least string behind all that begin with prefix, as SQLite
// compares them, byte by byte. Behind the last text there is an empty blob.
func prefixEnd(prefix string) any {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return []byte{}
}

// Sessions returns a page of sessions, the last changed first.
func (r reads) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	before := q.BeforeMs
	if q.BeforeID == "" {
		before = math.MaxInt64
	}
	if q.Workspace == "" {
		return list(ctx, r.src, cold, `SELECT `+sessionColumns+` FROM sessions
			WHERE ifnull(updated_at, 0) <= ?1 AND (ifnull(updated_at, 0) < ?1 OR id < ?2)
			AND (?3 OR parent_id IS NULL) AND (?4 OR archived_at IS NULL)
			ORDER BY ifnull(updated_at, 0) DESC, id DESC LIMIT ?5`,
			scanSession, before, q.BeforeID, bit(q.Children), bit(q.Archived), page(q.Limit))
	}
	return list(ctx, r.src, cold, `SELECT `+sessionColumns+` FROM sessions
		WHERE workspace = ?6 AND ifnull(updated_at, 0) <= ?1 AND (ifnull(updated_at, 0) < ?1 OR id < ?2)
		AND (?3 OR parent_id IS NULL) AND (?4 OR archived_at IS NULL)
		ORDER BY ifnull(updated_at, 0) DESC, id DESC LIMIT ?5`,
		scanSession, before, q.BeforeID, bit(q.Children), bit(q.Archived), page(q.Limit), q.Workspace)
}

// SessionIDs returns the ids of all sessions, or of those of a workspace.
func (r reads) SessionIDs(ctx context.Context, workspace string) ([]string, error) {
	if workspace != "" {
		return list(ctx, r.src, cold, `SELECT id FROM sessions WHERE workspace = ?`, scanText, workspace)
	}
	return list(ctx, r.src, cold, `SELECT id FROM sessions`, scanText)
}
