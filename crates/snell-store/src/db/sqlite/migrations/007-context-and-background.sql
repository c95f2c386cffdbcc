-- The size of a session's context in tokens, as its agent reports it.
ALTER TABLE conversations ADD COLUMN reported_window INTEGER;
-- Whether an agent's turn has ended, and only its background tasks run.
ALTER TABLE agents ADD COLUMN in_background INTEGER NOT NULL DEFAULT 0;
