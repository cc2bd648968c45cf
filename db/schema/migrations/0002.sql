-- Messages that a checkpoint stands for stay, and are not sent any more.
ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
