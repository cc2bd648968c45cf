package db

import (
	"context"
	"os"
)

// InterruptSession marks what a dead process left open: the queued and running
// runs of a session and of its children, and these children. It returns how many
// runs there were. A run of another process that runs is never marked, nor are
// the sessions while there is one.
func (t *Tx) InterruptSession(session string, nowMs int64) (runs int, err error) {
	ids, err := t.Tree(context.Background(), session)
	if err != nil {
		return 0, err
	}
	runs, working, err := t.interruptRuns(ids, nowMs)
	if err != nil || working {
		return runs, err
	}
	for _, id := range ids {
		if _, err := t.record(Fact{Kind: FactSession, Session: id, Key: "status"}, `UPDATE sessions SET status = 'interrupted'
			WHERE id = ? AND status IN ('queued', 'running')`, id); err != nil {
			return 0, err
		}
	}
	return runs, nil
}

// InterruptRunsOf marks the runs that a dead process left open in one session. It is
// for who has the lock of a child: others may work below it, which only the root's
// lock tells.
func (t *Tx) InterruptRunsOf(session string, nowMs int64) error {
	_, _, err := t.interruptRuns([]string{session}, nowMs)
	return err
}

// interruptRuns marks the open runs of some sessions; working: there is one of
// another process that runs.
func (t *Tx) interruptRuns(ids []string, nowMs int64) (runs int, working bool, err error) {
	open, err := t.OpenRuns(context.Background())
	if err != nil {
		return 0, false, err
	}
	within := make(map[string]bool, len(ids))
	for _, id := range ids {
		within[id] = true
	}
	for _, r := range open {
		switch {
		case !within[r.Session]:
		case r.OwnerPID != os.Getpid() && r.alive():
			working = true
		default:
			if err := t.recordOne(Fact{Kind: FactRun, Session: r.Session, Key: r.ID}, `UPDATE runs SET status = 'interrupted', ended_at = ?
				WHERE id = ?`, nowMs, r.ID); err != nil {
				return 0, false, err
			}
			runs++
		}
	}
	return runs, working, nil
}

// RunningChildren returns the child sessions that stand as queued or running.
func (r reads) RunningChildren(ctx context.Context) ([]Session, error) {
	return list(ctx, r.src, hot, `SELECT `+sessionColumns+` FROM sessions
		WHERE parent_id IS NOT NULL AND status IN ('queued', 'running')`, scanSession)
}

// Children returns the sessions directly below another, the first made first.
func (r reads) Children(ctx context.Context, parent string) ([]Session, error) {
	return list(ctx, r.src, cold, `SELECT `+sessionColumns+` FROM sessions WHERE parent_id = ?
		ORDER BY ifnull(created_at, 0), rowid LIMIT ?`, scanSession, parent, maxPage)
}
