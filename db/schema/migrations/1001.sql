-- Who owns a session or a run: a pid is given to another process after the
-- first has ended, its start and the boot tell them apart.
ALTER TABLE sessions ADD COLUMN locked_boot TEXT;
ALTER TABLE sessions ADD COLUMN locked_start INTEGER;
ALTER TABLE runs ADD COLUMN owner_boot TEXT;
ALTER TABLE runs ADD COLUMN owner_start INTEGER;

-- The place of an event in its run; NULL in rows of older programs.
ALTER TABLE events ADD COLUMN run_seq INTEGER;

-- The message that this one is a copy of, and the run that wrote it.
ALTER TABLE messages ADD COLUMN copy_of INTEGER;
ALTER TABLE messages ADD COLUMN run_id TEXT;

-- Which messages need which blob; seq 0: the session as a whole.
CREATE TABLE IF NOT EXISTS blob_refs(session TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(session, seq, hash)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS blob_refs_hash ON blob_refs(hash);

-- What was deleted, when (ms since the epoch), and how many messages it held.
CREATE TABLE IF NOT EXISTS deletions(session TEXT NOT NULL, title TEXT, workspace TEXT, messages INTEGER NOT NULL, deleted_at INTEGER NOT NULL);

-- The history that is sent, however long the one that is kept.
CREATE INDEX IF NOT EXISTS messages_active ON messages(session, seq) WHERE compacted = 0;

-- What a dead process may have left open: almost always nothing.
CREATE INDEX IF NOT EXISTS calls_pending ON tool_calls(session) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS runs_open ON runs(status) WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS sessions_open ON sessions(parent_id) WHERE status IN ('queued', 'running');

-- Sessions by their last change, old ones without a time last. The parent comes
-- along, so that children are passed over without a look at their rows.
CREATE INDEX IF NOT EXISTS sessions_recent ON sessions(ifnull(updated_at, 0), id, parent_id);
CREATE INDEX IF NOT EXISTS sessions_workspace ON sessions(workspace, ifnull(updated_at, 0), id, parent_id);

-- The events of one run, and the run of a request wherever it ran.
CREATE INDEX IF NOT EXISTS events_run ON events(session, run_id, seq);
CREATE INDEX IF NOT EXISTS runs_request_id ON runs(request_id) WHERE request_id IS NOT NULL;
