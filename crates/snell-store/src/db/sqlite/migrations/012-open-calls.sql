-- The tool calls in a session's transcript that have no result yet, as JSON.
ALTER TABLE session_ids ADD COLUMN open_calls TEXT;
