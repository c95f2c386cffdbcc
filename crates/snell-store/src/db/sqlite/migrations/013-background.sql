-- The work that runs after the end of an agent's turn, while in_background is set.
ALTER TABLE agents ADD COLUMN background_subagents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN background_commands INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN background_wakeups INTEGER NOT NULL DEFAULT 0;
-- The last sign of life of an agent that works and has shown none for a while.
ALTER TABLE agents ADD COLUMN silent_since INTEGER;
