//! Requests to models in PostgreSQL.

use std::collections::HashMap;

use snell::Timestamp;

use super::session::Session;
use super::values::values;
use super::{PostgresDatabase, SENDERS_LOCK};
use crate::db::columns::SelectedRow;
use crate::db::usage::{StoredUsageFile, UsageBatch, UsageFilter, UsageGrouping, UsageQueries, UsageSum, UsageTable};
use crate::error::Result;
use crate::usage::otlp::EXPORTED_PREFIX;
use crate::usage::request::{UsageRequest, UsageTurn};

/// Longer contexts may cost more.
macro_rules! is_long {
    () => {
        "(input + cache_read + cache_write > 200000)::int::bigint"
    };
}

/// Rows that count: no other row of the session is better known.
macro_rules! counts {
    () => {
        "(r.source_rank = 0 OR r.session_id = '' OR NOT EXISTS (SELECT 1 FROM usage_requests b \
         WHERE b.session_id = r.session_id AND b.source_rank < r.source_rank))"
    };
}

/// The rows to sum up. `$1` is the grouping; the columns of other groupings are null.
const SUMMED_ROWS: &str = concat!(
    "WITH all_rows AS (SELECT product, session_id, at, model, project, ",
    is_long!(),
    " AS is_long, requests, input, output, cache_read, cache_write, cache_write_1h, coalesce(cost_usd, 0.0) AS cost_usd, \
     CASE WHEN cost_usd IS NULL THEN 0 ELSE requests END AS costed FROM usage_requests r WHERE ",
    counts!(),
    " UNION ALL SELECT product, '', slot * 900000000, model, project, is_long, requests, input, output, cache_read, \
     cache_write, cache_write_1h, cost_usd, costed FROM usage_sums), \
     owned AS (SELECT a.*, CASE WHEN a.session_id <> '' AND ($1 = 'agent' OR $6::bigint IS NOT NULL) THEN \
       (SELECT c.agent_id FROM session_ids s JOIN conversations c USING (conversation_id) \
        WHERE s.session_id = a.session_id) END AS owner, \
     CASE WHEN a.project = '' AND a.session_id <> '' THEN coalesce((SELECT p.path FROM session_ids s \
       JOIN conversations c USING (conversation_id) JOIN agents g USING (agent_id) JOIN projects p USING (project_id) \
       WHERE s.session_id = a.session_id), '') ELSE a.project END AS root FROM all_rows a), \
     u AS (SELECT product, model, is_long, at, requests, input, output, cache_read, cache_write, cache_write_1h, \
     cost_usd, costed, \
     CASE WHEN $1 = 'time' THEN at / 900000000 END AS slot, \
     CASE WHEN $1 IN ('project', 'session', 'turn') THEN root END AS project, \
     CASE WHEN $1 = 'agent' THEN owner END AS agent_id, \
     CASE WHEN $1 IN ('session', 'turn') THEN session_id END AS session_id, \
     CASE WHEN $1 = 'turn' THEN (SELECT max(t.started_at) FROM usage_turns t \
       WHERE t.session_id = owned.session_id AND t.started_at <= at) END AS turn_at \
     FROM owned WHERE at >= $2 AND at < $3 AND ($4::text IS NULL OR product = $4) AND ($5::text IS NULL OR root = $5) \
     AND ($6::bigint IS NULL OR owner = $6) AND ($7::text IS NULL OR session_id = $7)) "
);

/// The rows of agents to sum up.
const ROWS_OF_AGENTS: &str = concat!(
    "WITH u AS (SELECT product, model, ",
    is_long!(),
    " AS is_long, at, requests, input, output, cache_read, cache_write, cache_write_1h, \
     coalesce(r.cost_usd, 0.0) AS cost_usd, CASE WHEN r.cost_usd IS NULL THEN 0 ELSE requests END AS costed, \
     NULL::bigint AS slot, NULL::text AS project, owner AS agent_id, NULL::text AS session_id, NULL::bigint AS turn_at \
     FROM (SELECT c.agent_id AS owner, s.session_id AS owned FROM agents a JOIN conversations c USING (agent_id) \
       JOIN session_ids s ON s.conversation_id = c.conversation_id \
       WHERE CASE WHEN $1::bigint IS NULL THEN a.ended_at IS NULL ELSE a.agent_id = $1 END) \
     o JOIN usage_requests r ON r.session_id = owned WHERE ",
    counts!(),
    ") "
);

/// Adds a request, unless it is already in the sums. Of a request that comes again, the larger counts are kept: they grow while
/// the answer is written.
const SAVE_REQUEST: &str = "INSERT INTO usage_requests (request_key, product, request_id, session_id, at, model, \
    project, source_rank, requests, input, output, cache_read, cache_write, cache_write_1h, cost_usd) \
    SELECT $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::bigint, $9::bigint, $10::bigint, \
    $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::double precision WHERE $5 >= (SELECT summed_to FROM usage_horizon) \
    ON CONFLICT (request_key) DO UPDATE SET at = least(usage_requests.at, excluded.at), requests = greatest(usage_requests.requests, excluded.requests), \
    input = greatest(usage_requests.input, excluded.input), output = greatest(usage_requests.output, excluded.output), \
    cache_read = greatest(usage_requests.cache_read, excluded.cache_read), cache_write = greatest(usage_requests.cache_write, excluded.cache_write), \
    cache_write_1h = greatest(usage_requests.cache_write_1h, excluded.cache_write_1h), cost_usd = coalesce(excluded.cost_usd, usage_requests.cost_usd)";

/// Requests before `$1` become sums, at most `$2` of them.
pub(super) const SUM_REQUESTS: &[&str] = &[
    // Files that are read later than this may be old. Their requests count, unless some of that time are sums already.
    "UPDATE usage_horizon SET summed_to = $1 WHERE summed_to < $1 AND $2 > 0 AND EXISTS (SELECT 1 FROM usage_requests)",
    concat!("DELETE FROM usage_requests AS r WHERE at < $1 AND $2 > 0 AND NOT ", counts!()),
    concat!(
        "INSERT INTO usage_sums SELECT at / 900000000, product, project, model, ",
        is_long!(),
        " AS is_long, sum(requests), sum(input), sum(output), sum(cache_read), sum(cache_write), sum(cache_write_1h), \
         sum(coalesce(cost_usd, 0.0)), sum(CASE WHEN cost_usd IS NULL THEN 0 ELSE requests END) \
         FROM (SELECT * FROM usage_requests WHERE at < $1 ORDER BY at, request_key LIMIT $2) old \
         GROUP BY 1, 2, 3, 4, 5 ON CONFLICT (slot, product, project, model, is_long) DO UPDATE SET \
         requests = usage_sums.requests + excluded.requests, \
         input = usage_sums.input + excluded.input, output = usage_sums.output + excluded.output, \
         cache_read = usage_sums.cache_read + excluded.cache_read, cache_write = usage_sums.cache_write + excluded.cache_write, \
         cache_write_1h = usage_sums.cache_write_1h + excluded.cache_write_1h, cost_usd = usage_sums.cost_usd + excluded.cost_usd, \
         costed = usage_sums.costed + excluded.costed"
    ),
    "DELETE FROM usage_requests WHERE request_key IN \
     (SELECT request_key FROM usage_requests WHERE at < $1 ORDER BY at, request_key LIMIT $2)",
    "DELETE FROM usage_turns WHERE (session_id, turn_key) IN (SELECT session_id, turn_key FROM usage_turns t \
     WHERE started_at < $1 AND NOT EXISTS (SELECT 1 FROM usage_requests r WHERE r.session_id = t.session_id) LIMIT $2)",
];

/// The columns that are not summed up.
const GROUPS: &str = "product, model, is_long, slot, project, agent_id, session_id, turn_at";

impl UsageTable for PostgresDatabase {
    fn list_usage_positions(&mut self) -> Result<HashMap<String, String>> {
        Ok(self.session.query_all("SELECT path, position FROM usage_files", values![])?.into_iter().collect())
    }

    fn find_usage_file(&mut self, path: &str) -> Result<Option<StoredUsageFile>> {
        self.session.query_optional("SELECT position, state FROM usage_files WHERE path = $1", values![path])
    }

    fn list_named_transcripts(&mut self, host: Option<&str>) -> Result<Vec<(String, String)>> {
        let sql = "SELECT DISTINCT a.product, s.transcript_path FROM session_ids s \
                   JOIN conversations c USING (conversation_id) JOIN agents a USING (agent_id) \
                   WHERE s.transcript_path IS NOT NULL AND a.product IS NOT NULL AND (a.host IS NULL OR a.host = $1)";
        self.session.query_all(sql, values![host])
    }

    fn save_usage(&mut self, batch: &UsageBatch) -> Result<bool> {
        let transaction = self.begin_alone(SENDERS_LOCK)?;
        if let Some(file) = &batch.file {
            let sql = "SELECT position FROM usage_files WHERE path = $1";
            let stored: Option<String> = transaction.query_optional(sql, values![file.path])?;
            if stored != file.before {
                return Ok(false);
            }
            let sql = "INSERT INTO usage_files (path, position, state) VALUES ($1, $2, $3) \
                ON CONFLICT (path) DO UPDATE SET position = excluded.position, state = excluded.state";
            transaction.run(sql, values![file.path, file.position, file.state])?;
        }
        for request in &batch.requests {
            save_request(&transaction, request)?;
        }
        for UsageTurn { session_id, key, at } in &batch.turns {
            let sql = "INSERT INTO usage_turns VALUES ($1, $2, $3) \
                       ON CONFLICT (session_id, turn_key) DO UPDATE SET \
                       started_at = least(usage_turns.started_at, excluded.started_at)";
            transaction.run(sql, values![session_id, key, at])?;
        }
        transaction.commit(Vec::new())?;
        Ok(true)
    }
}

fn save_request(transaction: &Session, request: &UsageRequest) -> Result<()> {
    let UsageRequest { key, request_id, .. } = request;
    let is_exported = key.starts_with(EXPORTED_PREFIX);
    let Some(id) = request_id else {
        return insert_request(transaction, request);
    };
    // The same request, exported and in a file, is one row: with the file's counts, and with the cost that was exported.
    let sql = "SELECT request_key, cost_usd FROM usage_requests WHERE request_id = $1 AND request_key <> $2";
    for (other, cost_usd) in transaction.query_all::<(String, Option<f64>)>(sql, values![id, key])? {
        let sql = "UPDATE usage_requests SET cost_usd = coalesce($2, cost_usd) WHERE request_key = $1";
        match (is_exported, other.starts_with(EXPORTED_PREFIX)) {
            (true, false) => return transaction.run(sql, values![other, request.cost_usd]).map(drop),
            (false, true) => {
                transaction.run("DELETE FROM usage_requests WHERE request_key = $1", values![other])?;
                insert_request(transaction, request)?;
                return transaction.run(sql, values![key, cost_usd]).map(drop);
            }
            _ => {}
        }
    }
    insert_request(transaction, request)
}

fn insert_request(transaction: &Session, request: &UsageRequest) -> Result<()> {
    let UsageRequest { key, request_id, product, session_id, at, model, project, rank, tokens, .. } = request;
    let values = values![
        key,
        product,
        request_id,
        session_id,
        at.unwrap_or(Timestamp::UNIX_EPOCH).as_microsecond(),
        model,
        project,
        rank.as_number(),
        request.requests,
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        request.cost_usd,
    ];
    transaction.run(SAVE_REQUEST, values).map(drop)
}

impl UsageQueries for PostgresDatabase {
    fn summarize_usage(&mut self, grouping: UsageGrouping, filter: &UsageFilter) -> Result<Vec<UsageSum>> {
        let select = UsageSum::SELECT;
        let sql = format!("{SUMMED_ROWS} {select} GROUP BY {GROUPS}");
        let since = filter.since.map_or(i64::MIN, Timestamp::as_microsecond);
        let until = filter.until.map_or(i64::MAX, Timestamp::as_microsecond);
        let values = values![
            grouping.as_str(),
            since,
            until,
            filter.product,
            filter.project,
            filter.agent_id,
            filter.session_id
        ];
        self.session.query_all(&sql, values)
    }

    fn list_agent_usage(&mut self, agent_id: Option<i64>) -> Result<Vec<UsageSum>> {
        let sql = format!("{ROWS_OF_AGENTS} {} GROUP BY {GROUPS}", UsageSum::SELECT);
        self.session.query_all(&sql, values![agent_id])
    }

    fn read_usage_version(&mut self) -> Result<(i64, Option<Timestamp>)> {
        self.session.query_value("SELECT count(*), max(at) FROM usage_requests", values![])
    }
}
