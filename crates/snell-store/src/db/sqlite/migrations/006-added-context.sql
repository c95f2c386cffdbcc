-- The texts that an agent got with the answer to an event, and a tool's output after a hook changed it.
ALTER TABLE events ADD COLUMN told TEXT;
ALTER TABLE events ADD COLUMN changed_output TEXT;
-- Whether the verdict is about the input after a hook changed it.
ALTER TABLE guard_verdicts ADD COLUMN of_changed_input INTEGER NOT NULL DEFAULT 0;
