-- Runs, workspaces, the index of blobs, and what the journal says of a call
-- beside its state.
ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
ALTER TABLE tool_calls ADD COLUMN run_id TEXT;
ALTER TABLE tool_calls ADD COLUMN name TEXT;
ALTER TABLE tool_calls ADD COLUMN effect TEXT;
ALTER TABLE tool_calls ADD COLUMN started_at INTEGER;
ALTER TABLE tool_calls ADD COLUMN ended_at INTEGER;
ALTER TABLE events ADD COLUMN created_at INTEGER;
ALTER TABLE events ADD COLUMN correlation_id TEXT;
CREATE TABLE IF NOT EXISTS runs(id TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id), status TEXT NOT NULL, request_id TEXT, correlation_id TEXT, owner_pid INTEGER, model TEXT, created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, error TEXT, usage TEXT);
CREATE TABLE IF NOT EXISTS workspaces(path TEXT PRIMARY KEY, label TEXT, pinned INTEGER NOT NULL DEFAULT 0, last_opened_at INTEGER);
CREATE TABLE IF NOT EXISTS blobs(hash TEXT PRIMARY KEY, mime TEXT NOT NULL, size INTEGER NOT NULL, width INTEGER, height INTEGER, created_at INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS runs_request ON runs(session, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_session ON runs(session, created_at);
CREATE INDEX IF NOT EXISTS events_session ON events(session, seq);
CREATE INDEX IF NOT EXISTS messages_session ON messages(session, seq);
