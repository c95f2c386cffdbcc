-- A million events of 200 agents within 30 days; every one with a run of one of 40 hooks, every tenth with a verdict.
-- The table `numbers` has as many rows as there shall be events; what begins with a colon is put in before.

INSERT INTO projects SELECT value, '/p/' || value, 'project ' || value, 0 FROM numbers WHERE value <= 50;
INSERT INTO agents (agent_id, project_id, conversation_id, state, state_since, state_source, confidence, why, started_at,
    last_seen_at)
  SELECT value, 1 + value % 50, value, 'processing', 0, 'hook', 'high', 'why', 0, 0 FROM numbers WHERE value <= 200;
INSERT INTO conversations (conversation_id, session_id, agent_id, started_at, last_seen_at)
  SELECT value, 'session-' || value, value, 0, 0 FROM numbers WHERE value <= 200;
INSERT INTO session_ids (session_id, conversation_id) SELECT 'session-' || value, value FROM numbers WHERE value <= 200;
INSERT INTO holders SELECT value, value FROM numbers WHERE value <= 200;
INSERT INTO events (id, event_id, agent_id, conversation_id, name, tool, decision, reason, state, correlation, at, took_us,
    tool_summary)
  SELECT value, 'e' || value, 1 + value % 200, 1 + value % 200,
    CASE value % 5 WHEN 0 THEN 'UserPromptSubmit' WHEN 1 THEN 'Stop' WHEN 2 THEN 'PostToolUse' ELSE 'PreToolUse' END,
    CASE WHEN value % 5 > 1 THEN CASE value % 3 WHEN 0 THEN 'Edit' ELSE 'Bash' END END,
    CASE WHEN value % 50 = 3 THEN 'block' END, CASE WHEN value % 50 = 3 THEN 'because' END, 'processing', 'session_id',
    :now - (:many - value) * :every, 900, 'cargo test --all ' || value
  FROM numbers;
INSERT INTO payloads (id, payload) SELECT value, json_object('session_id', 'session-' || (1 + value % 200), 'prompt', 'Do number ' || value,
    'tool_input', json_object('command', 'cargo test --all ' || value, 'text', hex(zeroblob(250)))) FROM numbers;
INSERT INTO hook_runs (id, agent_id, event, at, contract, source, line, command, status, duration_us, stdout, stderr)
  SELECT value, 1 + value % 200, 'PreToolUse', :now - (:many - value) * :every, 'claude', '/home/me/.claude/settings.json',
    value % 40, 'hook-' || (value % 40) || '.sh --check', CASE WHEN value % 97 = 0 THEN 'failed' ELSE 'ok' END,
    500 + (value * 7919) % 40000, '', '' FROM numbers;
INSERT INTO guard_verdicts (id, agent_id, at, decision, rule, tier, reason, advice)
  SELECT value, 1 + value % 200, :now - (:many - value) * :every, CASE WHEN value % 20 = 0 THEN 'ask' ELSE 'deny' END,
    'rule-' || (value % 70), 'tier ' || (value % 4), 'it is not good', 'do something else' FROM numbers
  WHERE value % 10 = 0;
INSERT INTO hooks (contract, source, line, command) SELECT DISTINCT contract, source, line, command FROM hook_runs;
INSERT INTO hook_hours
  SELECT hour, hook_id, sum(runs), sum(failed), 0, 0, sum(total), max(longest), max(last),
    group_concat(from_us || ':' || runs || ':' || total, ' ')
  FROM (SELECT at / 3600000000 AS hour, hook_id, duration_us / 2000 * 2000 AS from_us, count(*) AS runs,
      sum(status = 'failed') AS failed, sum(duration_us) AS total, max(duration_us) AS longest, max(at) AS last
    FROM hook_runs JOIN hooks USING (source, line, command, contract) GROUP BY 1, 2, 3) GROUP BY 1, 2;
INSERT INTO guard_hours SELECT at / 3600000000, rule, tier, decision, count(*), max(at) FROM guard_verdicts GROUP BY 1, 2, 3, 4;
