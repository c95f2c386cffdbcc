//! Telemetry that is not sent yet, in SQLite.

use rusqlite::{Transaction, TransactionBehavior, params};
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, columns, select_also};
use crate::db::columns::{ColumnReader, DatabaseRow, FromColumns};
use crate::db::model::AgentState;
use crate::db::telemetry::{
    FinishedTelemetryRun, TelemetryAgent, TelemetryBatch, TelemetryClaim, TelemetryEvent, TelemetryOutcome,
    TelemetryProgress, TelemetryReply, TelemetryRun, TelemetrySeries, TelemetrySighting, TelemetrySignalView,
    TelemetryTable, WaitingTelemetryItem,
};
use crate::error::Result;
use crate::views::query_types::HookRunView;

/// How many changes of state, and ended background hooks, are in a batch.
const MAX_SIGHTINGS: u32 = 1000;

/// How many series a metric has. Names of tools may come from a model.
const MAX_SERIES: i64 = 1000;

/// The attributes of the series for all others.
const OVERFLOW_ATTRIBUTES: &str = r#"[{"key":"otel.metric.overflow","value":{"boolValue":true}}]"#;

columns! { TelemetryProgress from "telemetry_progress" { event_row, sighting_id, revision, started_at, instance } }

columns! {
    TelemetryAgent from "agents a" {
        agent_id: "a.agent_id", product: "a.product", session_id: "coalesce(c.session_id, a.session_id)",
        project: "p.name", host: "a.host", pid: "a.pid", model: "c.model",
    }
}

columns! {
    TelemetryEvent from "events e JOIN agents a ON a.agent_id = e.agent_id JOIN projects p USING (project_id) \
        JOIN payloads d ON d.id = e.id LEFT JOIN conversations c ON c.conversation_id = e.conversation_id" {
        id: "e.id", event_id: "e.event_id",
        agent: "a.agent_id, a.product, coalesce(c.session_id, a.session_id), p.name, a.host, a.pid, c.model",
        name: "e.name", tool: "e.tool", tool_use_id: "e.tool_use_id", tool_us: "e.tool_us", ends: "e.ends",
        has_start: "e.name IN ('PostToolUse', 'PostToolUseFailure') AND (e.ends IS NOT NULL OR EXISTS \
            (SELECT 1 FROM events b WHERE b.tool_use_id = e.tool_use_id AND b.conversation_id = e.conversation_id \
              AND b.name = 'PreToolUse'))",
        error: "e.error", decision: "e.decision", state: "e.state", at: "e.at", took_us: "e.took_us",
        payload: "d.payload";
        runs: Vec::new(), verdicts: Vec::new(),
    }
}

columns! {
    TelemetrySighting from "sightings n JOIN agents a ON a.agent_id = n.agent_id JOIN projects p USING (project_id) \
        LEFT JOIN conversations c ON c.conversation_id = a.conversation_id" {
        sighting_id: "n.sighting_id", after_event: "n.after_event",
        agent: "a.agent_id, a.product, coalesce(c.session_id, a.session_id), p.name, a.host, a.pid, c.model",
        at: "n.at", state: "n.state",
    }
}

columns! {
    TelemetrySignalView from "telemetry_signals s" {
        signal: "s.signal", waiting: "(SELECT count(*) FROM telemetry_items i WHERE i.signal = s.signal)",
        failures: "s.failures", sent: "s.sent", refused: "s.refused", dropped: "s.dropped", sent_at: "s.sent_at",
        problem: "s.problem",
    }
}

columns! { WaitingTelemetryItem from "telemetry_items" { item_id, host, body } }

columns! {
    TelemetrySeries from "telemetry_series" { metric, attributes, count, total, buckets: "buckets" => parse_buckets }
}

impl FromColumns for TelemetryRun {
    fn from_columns<R: DatabaseRow>(columns: &mut ColumnReader<'_, R>) -> std::result::Result<Self, R::Error> {
        Ok(Self { hook_run_id: columns.read()?, run: columns.read()? })
    }
}

fn parse_buckets(text: String) -> Vec<i64> {
    serde_json::from_str(&text).unwrap_or_default()
}

impl TelemetryTable for SqliteDatabase {
    fn start_telemetry(&mut self, since: Timestamp) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO telemetry_progress (telemetry_progress_id, event_row, sighting_id, started_at) \
            VALUES (1, coalesce((SELECT min(id) - 1 FROM events WHERE at >= ?1), (SELECT max(id) FROM events), 0), \
            coalesce((SELECT min(sighting_id) - 1 FROM sightings WHERE at >= ?1), \
            (SELECT max(sighting_id) FROM sightings), 0), ?2)";
        self.connection.run(sql, [since.as_microsecond(), Timestamp::now().as_microsecond()])
    }

    fn load_telemetry_batch(&mut self, at_most: u32) -> Result<Option<TelemetryBatch>> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        let Some(progress) = transaction.select_one::<TelemetryProgress>("", [])? else {
            return Ok(None);
        };
        let which = "WHERE e.id > ?1 ORDER BY e.id LIMIT ?2";
        let mut events: Vec<TelemetryEvent> = transaction.select_all(which, params![progress.event_row, at_most])?;
        for event in &mut events {
            event.runs = select_runs(&transaction, "WHERE id = ?1 ORDER BY hook_run_id", event.id)?;
            event.verdicts = transaction.select_all("WHERE id = ?1 ORDER BY guard_verdict_id", [event.id])?;
        }
        let is_last = events.len() < at_most as usize;
        let last = events.last().map_or(i64::MAX, |event| if is_last { i64::MAX } else { event.id });
        let which = "WHERE n.sighting_id > ?1 ORDER BY n.sighting_id LIMIT ?2";
        let mut sightings: Vec<TelemetrySighting> =
            transaction.select_all(which, params![progress.sighting_id, MAX_SIGHTINGS])?;
        let later = sightings.iter().position(|sighting| sighting.after_event > last);
        sightings.truncate(later.unwrap_or(sightings.len()));
        let sql = format!(
            "{} JOIN telemetry_runs t USING (hook_run_id) WHERE status <> 'started' LIMIT {MAX_SIGHTINGS}",
            select_also::<HookRunView>("span, hook_run_id")
        );
        let finished: Vec<(String, TelemetryRun)> = transaction.query_all(&sql, [])?;
        let finished_runs = finished.into_iter().map(|(span, run)| FinishedTelemetryRun { run, span }).collect();
        transaction.commit()?;
        Ok(Some(TelemetryBatch { progress, events, sightings, finished_runs }))
    }

    fn load_open_spans(&mut self, agent_id: i64) -> Result<Option<String>> {
        self.connection.query_optional("SELECT open_spans FROM telemetry_agents WHERE agent_id = ?1", [agent_id])
    }

    fn store_telemetry(&mut self, batch: &TelemetryBatch, outcome: &TelemetryOutcome, keep: u32) -> Result<bool> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = &batch.progress;
        let event_row = batch.events.last().map_or(before.event_row, |event| event.id);
        let sighting_id = batch.sightings.last().map_or(before.sighting_id, |sighting| sighting.sighting_id);
        let sql = "UPDATE telemetry_progress SET event_row = ?1, sighting_id = ?2, revision = revision + 1 \
                   WHERE revision = ?3";
        let values = [event_row, sighting_id, before.revision];
        if transaction.prepare_cached(sql)?.execute(values)? == 0 {
            return Ok(false);
        }
        store_open_spans(&transaction, batch, outcome)?;
        for item in &outcome.items {
            let sql = "INSERT INTO telemetry_items (signal, host, body) VALUES (?1, ?2, ?3)";
            transaction.run(sql, params![item.signal, item.host, item.body])?;
        }
        for added in &outcome.series {
            add_to_series(&transaction, added)?;
        }
        drop_oldest_items(&transaction, keep)?;
        transaction.commit()?;
        Ok(true)
    }

    fn find_telemetry_owner(&mut self, signal: &str) -> Result<Option<String>> {
        let sql = "SELECT claimed_by FROM telemetry_signals WHERE signal = ?1";
        Ok(self.connection.query_optional(sql, [signal])?.flatten())
    }

    fn claim_telemetry(&mut self, signal: &str, claim: TelemetryClaim<'_>, now: Timestamp) -> Result<bool> {
        self.connection.run("INSERT OR IGNORE INTO telemetry_signals (signal) VALUES (?1)", [signal])?;
        let sql = "UPDATE telemetry_signals SET claimed_by = ?2, claimed_until = ?3 \
            WHERE signal = ?1 AND due_at <= ?4 AND (claimed_until IS NULL OR claimed_until <= ?4 OR claimed_by = ?5)";
        let (now, until) = (now.as_microsecond(), claim.until.as_microsecond());
        let values = params![signal, claim.owner, until, now, claim.replaces];
        Ok(self.connection.prepare_cached(sql)?.execute(values)? > 0)
    }

    fn list_telemetry_items(&mut self, signal: &str, at_most: u32) -> Result<Vec<WaitingTelemetryItem>> {
        self.connection.select_all("WHERE signal = ?1 ORDER BY item_id LIMIT ?2", params![signal, at_most])
    }

    fn list_telemetry_series(&mut self) -> Result<Vec<TelemetrySeries>> {
        self.connection.select_all("ORDER BY metric, attributes", [])
    }

    fn count_live_agents(&mut self) -> Result<Vec<(Option<String>, AgentState, i64)>> {
        let sql = "SELECT product, state, count(*) FROM agents WHERE ended_at IS NULL GROUP BY product, state";
        self.connection.query_all(sql, [])
    }

    fn finish_telemetry(&mut self, signal: &str, owner: &str, items: &[i64], reply: &TelemetryReply) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if !matches!(reply, TelemetryReply::Later(..)) {
            for item in items {
                transaction.run("DELETE FROM telemetry_items WHERE item_id = ?1", [item])?;
            }
        }
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let now = Timestamp::now();
        // An accepted request without any problem clears the last one.
        let (sent, refused, problem, due_at, is_success) = match reply {
            TelemetryReply::Accepted { refused, problem, due_at } => {
                let refused = (*refused).clamp(0, count);
                (count - refused, refused, problem.as_deref(), *due_at, true)
            }
            TelemetryReply::Refused(why, due_at) => (0, count, Some(why.as_str()), *due_at, true),
            TelemetryReply::Later(why, due_at) => (0, 0, Some(why.as_str()), *due_at, false),
        };
        let is_accepted = matches!(reply, TelemetryReply::Accepted { .. });
        let sql = "UPDATE telemetry_signals SET sent = sent + ?3, refused = refused + ?4, problem = ?5, due_at = ?6, \
            failures = CASE WHEN ?7 THEN 0 ELSE failures + 1 END, sent_at = CASE WHEN ?8 THEN ?9 ELSE sent_at END, \
            claimed_by = NULL, claimed_until = NULL WHERE signal = ?1 AND claimed_by = ?2";
        let (due_at, now) = (due_at.as_microsecond(), now.as_microsecond());
        transaction.run(sql, params![signal, owner, sent, refused, problem, due_at, is_success, is_accepted, now])?;
        transaction.commit()?;
        Ok(())
    }

    fn retry_telemetry(&mut self) -> Result<()> {
        self.connection.run("UPDATE telemetry_signals SET due_at = 0", [])
    }

    fn find_telemetry_progress(&mut self) -> Result<Option<(TelemetryProgress, i64)>> {
        let unread = "(SELECT count(*) FROM events WHERE id > event_row)";
        let sql = select_also::<TelemetryProgress>(unread);
        let found: Option<(i64, TelemetryProgress)> = self.connection.query_optional(&sql, [])?;
        Ok(found.map(|(unread, progress)| (progress, unread)))
    }

    fn list_telemetry_signals(&mut self) -> Result<Vec<TelemetrySignalView>> {
        self.connection.select_all("ORDER BY s.signal DESC", [])
    }
}

fn select_runs(transaction: &Transaction<'_>, which: &str, event_row: i64) -> Result<Vec<TelemetryRun>> {
    let sql = format!("{} {which}", select_also::<HookRunView>("hook_run_id"));
    transaction.query_all(&sql, [event_row])
}

fn store_open_spans(transaction: &Transaction<'_>, batch: &TelemetryBatch, outcome: &TelemetryOutcome) -> Result<()> {
    for (agent_id, open_spans) in &outcome.open_spans {
        match open_spans {
            // Its agent may have been removed meanwhile, because it is old.
            Some(open_spans) => transaction.run(
                "INSERT OR REPLACE INTO telemetry_agents (agent_id, open_spans) \
                 SELECT agent_id, ?2 FROM agents WHERE agent_id = ?1",
                params![agent_id, open_spans],
            )?,
            None => transaction.run("DELETE FROM telemetry_agents WHERE agent_id = ?1", [agent_id])?,
        }
    }
    for finished in &batch.finished_runs {
        transaction.run("DELETE FROM telemetry_runs WHERE hook_run_id = ?1", [finished.run.hook_run_id])?;
    }
    for (hook_run_id, span) in &outcome.open_runs {
        let sql = "INSERT OR REPLACE INTO telemetry_runs (hook_run_id, span) \
                   SELECT hook_run_id, ?2 FROM hook_runs WHERE hook_run_id = ?1";
        transaction.run(sql, params![hook_run_id, span])?;
    }
    Ok(())
}

fn add_to_series(transaction: &Transaction<'_>, added: &TelemetrySeries) -> Result<()> {
    let sql = "SELECT count(*) >= ?1 AND max(attributes = ?3) = 0 FROM telemetry_series WHERE metric = ?2";
    if transaction.query_value::<bool>(sql, params![MAX_SERIES, added.metric, added.attributes])?
        && added.attributes != OVERFLOW_ATTRIBUTES
    {
        return add_to_series(
            transaction,
            &TelemetrySeries { attributes: OVERFLOW_ATTRIBUTES.into(), ..added.clone() },
        );
    }
    let known: Option<TelemetrySeries> =
        transaction.select_one("WHERE metric = ?1 AND attributes = ?2", params![added.metric, added.attributes])?;
    let mut sum = added.clone();
    if let Some(known) = known {
        sum.count += known.count;
        sum.total += known.total;
        for (bucket, before) in sum.buckets.iter_mut().zip(known.buckets) {
            *bucket += before;
        }
    }
    let sql = "INSERT OR REPLACE INTO telemetry_series (metric, attributes, count, total, buckets) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let buckets = serde_json::to_string(&sum.buckets).unwrap_or_default();
    transaction.run(sql, params![sum.metric, sum.attributes, sum.count, sum.total, buckets])
}

/// Keeps so many items of each signal: the newest.
fn drop_oldest_items(transaction: &Transaction<'_>, keep: u32) -> Result<()> {
    let sql = "SELECT signal, count(*) FROM telemetry_items GROUP BY signal HAVING count(*) > ?1";
    let crowded: Vec<(String, i64)> = transaction.query_all(sql, [keep])?;
    for (signal, count) in crowded {
        let dropped = count - i64::from(keep);
        let sql = "DELETE FROM telemetry_items WHERE item_id IN \
                   (SELECT item_id FROM telemetry_items WHERE signal = ?1 ORDER BY item_id LIMIT ?2)";
        transaction.run(sql, params![signal, dropped])?;
        let sql = "INSERT INTO telemetry_signals (signal, dropped) VALUES (?1, ?2) \
                   ON CONFLICT (signal) DO UPDATE SET dropped = dropped + excluded.dropped";
        transaction.run(sql, params![signal, dropped])?;
    }
    Ok(())
}

/// After old events were removed: the ids of the newest ones may be used again, and those events were not read.
pub(super) fn follow_removed_events(transaction: &Transaction<'_>) -> Result<()> {
    transaction.run(
        "UPDATE telemetry_progress SET revision = revision + 1, \
         event_row = min(event_row, (SELECT coalesce(max(id), 0) FROM events)), \
         sighting_id = min(sighting_id, (SELECT coalesce(max(sighting_id), 0) FROM sightings)) \
         WHERE event_row > (SELECT coalesce(max(id), 0) FROM events) \
         OR sighting_id > (SELECT coalesce(max(sighting_id), 0) FROM sightings)",
        [],
    )
}
