-- What people need to recognise a remembered answer, and the rules and hooks that had asked.
ALTER TABLE remembered_answers ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE remembered_answers ADD COLUMN asked_by TEXT NOT NULL DEFAULT '[]'; -- JSON

-- Requests that may have to be closed: open ones, and answers that nobody has taken. It has all that this takes.
CREATE INDEX requests_unsettled ON requests (status, channel, expires_at, closed_at, host, waiter_pid, waiter_started)
  WHERE delivered_at IS NULL AND closed_reason IS NULL;
