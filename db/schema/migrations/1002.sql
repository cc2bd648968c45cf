-- Texts that wait for the next turn of a session, in their order. They leave when
-- they become messages of it.
CREATE TABLE IF NOT EXISTS queue(seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL REFERENCES sessions(id), text TEXT NOT NULL, created_ms INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS queue_session ON queue(session, seq);
