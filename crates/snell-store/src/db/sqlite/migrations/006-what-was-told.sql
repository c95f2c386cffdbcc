-- What an agent was given to read with the answer to an event, and what a hook made of a tool's output.
ALTER TABLE events ADD COLUMN told TEXT;
ALTER TABLE events ADD COLUMN changed_output TEXT;
-- Whether the guard judged what a hook made of a call, rather than what the agent wanted.
ALTER TABLE guard_verdicts ADD COLUMN of_changed_input INTEGER NOT NULL DEFAULT 0;
