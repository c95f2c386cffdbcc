//! Telemetry that is not sent yet, in PostgreSQL.

use snell::Timestamp;

use super::session::{Session, SqlStatement};
use super::values::values;
use super::{PostgresDatabase, SENDERS_LOCK};
use crate::db::columns::select_also;
use crate::db::model::AgentState;
use crate::db::telemetry::{
    FinishedTelemetryRun, TelemetryBatch, TelemetryClaim, TelemetryEvent, TelemetryOutcome, TelemetryProgress,
    TelemetryReply, TelemetryRun, TelemetrySeries, TelemetrySighting, TelemetrySignalView, TelemetryTable,
    WaitingTelemetryItem,
};
use crate::error::Result;
use crate::views::query_types::HookRunView;

/// How many changes of state, and ended background hooks, are in a batch.
const MAX_SIGHTINGS: u32 = 1000;

/// How many series a metric has. Names of tools may come from a model.
const MAX_SERIES: i64 = 1000;

/// The attributes of the series for all others.
const OVERFLOW_ATTRIBUTES: &str = r#"[{"key":"otel.metric.overflow","value":{"boolValue":true}}]"#;

impl TelemetryTable for PostgresDatabase {
    fn start_telemetry(&mut self, since: Timestamp) -> Result<()> {
        let sql = "INSERT INTO telemetry_progress (telemetry_progress_id, event_row, sighting_id, started_at) \
            VALUES (1, coalesce((SELECT min(id) - 1 FROM events WHERE at >= $1), (SELECT max(id) FROM events), 0), \
            coalesce((SELECT min(sighting_id) - 1 FROM sightings WHERE at >= $1), \
            (SELECT max(sighting_id) FROM sightings), 0), $2) \
            ON CONFLICT DO NOTHING";
        self.session.run(sql, values![since, Timestamp::now()]).map(drop)
    }

    fn load_telemetry_batch(&mut self, at_most: u32) -> Result<Option<TelemetryBatch>> {
        let begin = SqlStatement::new("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", Vec::new());
        let (transaction, _) = self.session.begin(vec![begin])?;
        let Some(progress) = transaction.select_one::<TelemetryProgress>("", values![])? else {
            return Ok(None);
        };
        let which = "WHERE e.id > $1 ORDER BY e.id LIMIT $2";
        let mut events: Vec<TelemetryEvent> = transaction.select_all(which, values![progress.event_row, at_most])?;
        for event in &mut events {
            event.runs = select_runs(&transaction, "WHERE id = $1 ORDER BY hook_run_id", event.id)?;
            event.verdicts = transaction.select_all("WHERE id = $1 ORDER BY guard_verdict_id", values![event.id])?;
        }
        let is_last = events.len() < at_most as usize;
        let last = events.last().map_or(i64::MAX, |event| if is_last { i64::MAX } else { event.id });
        let which = "WHERE n.sighting_id > $1 ORDER BY n.sighting_id LIMIT $2";
        let mut sightings: Vec<TelemetrySighting> =
            transaction.select_all(which, values![progress.sighting_id, MAX_SIGHTINGS])?;
        let later = sightings.iter().position(|sighting| sighting.after_event > last);
        sightings.truncate(later.unwrap_or(sightings.len()));
        let sql = format!(
            "{} JOIN telemetry_runs t USING (hook_run_id) WHERE status <> 'started' LIMIT {MAX_SIGHTINGS}",
            select_also::<HookRunView>("span, hook_run_id")
        );
        let finished: Vec<(String, TelemetryRun)> = transaction.query_all(&sql, values![])?;
        let finished_runs = finished.into_iter().map(|(span, run)| FinishedTelemetryRun { run, span }).collect();
        transaction.commit(Vec::new())?;
        Ok(Some(TelemetryBatch { progress, events, sightings, finished_runs }))
    }

    fn load_open_spans(&mut self, agent_id: i64) -> Result<Option<String>> {
        self.session.query_optional("SELECT open_spans FROM telemetry_agents WHERE agent_id = $1", values![agent_id])
    }

    fn store_telemetry(&mut self, batch: &TelemetryBatch, outcome: &TelemetryOutcome, keep: u32) -> Result<bool> {
        let transaction = self.begin_alone(SENDERS_LOCK)?;
        let before = &batch.progress;
        let event_row = batch.events.last().map_or(before.event_row, |event| event.id);
        let sighting_id = batch.sightings.last().map_or(before.sighting_id, |sighting| sighting.sighting_id);
        let sql = "UPDATE telemetry_progress SET event_row = $1, sighting_id = $2, revision = revision + 1 \
                   WHERE revision = $3";
        let values = values![event_row, sighting_id, before.revision];
        if transaction.run(sql, values)? == 0 {
            return Ok(false);
        }
        store_open_spans(&transaction, batch, outcome)?;
        for item in &outcome.items {
            let sql = "INSERT INTO telemetry_items (signal, host, body) VALUES ($1, $2, $3)";
            transaction.run(sql, values![item.signal, item.host, item.body])?;
        }
        for added in &outcome.series {
            add_to_series(&transaction, added)?;
        }
        drop_oldest_items(&transaction, keep)?;
        transaction.commit(Vec::new())?;
        Ok(true)
    }

    fn find_telemetry_owner(&mut self, signal: &str) -> Result<Option<String>> {
        let sql = "SELECT claimed_by FROM telemetry_signals WHERE signal = $1";
        Ok(self.session.query_optional(sql, values![signal])?.flatten())
    }

    fn claim_telemetry(&mut self, signal: &str, claim: TelemetryClaim<'_>, now: Timestamp) -> Result<bool> {
        self.session
            .run("INSERT INTO telemetry_signals (signal) VALUES ($1) ON CONFLICT DO NOTHING", values![signal])?;
        let sql = "UPDATE telemetry_signals SET claimed_by = $2, claimed_until = $3 \
            WHERE signal = $1 AND due_at <= $4 AND (claimed_until IS NULL OR claimed_until <= $4 OR claimed_by = $5)";
        let (now, until) = (now.as_microsecond(), claim.until.as_microsecond());
        let values = values![signal, claim.owner, until, now, claim.replaces];
        Ok(self.session.run(sql, values)? > 0)
    }

    fn list_telemetry_items(&mut self, signal: &str, at_most: u32) -> Result<Vec<WaitingTelemetryItem>> {
        self.session.select_all("WHERE signal = $1 ORDER BY item_id LIMIT $2", values![signal, at_most])
    }

    fn list_telemetry_series(&mut self) -> Result<Vec<TelemetrySeries>> {
        self.session.select_all("ORDER BY metric, attributes", values![])
    }

    fn count_live_agents(&mut self) -> Result<Vec<(Option<String>, AgentState, i64)>> {
        let sql = "SELECT product, state, count(*) FROM agents WHERE ended_at IS NULL GROUP BY product, state";
        self.session.query_all(sql, values![])
    }

    fn finish_telemetry(&mut self, signal: &str, owner: &str, items: &[i64], reply: &TelemetryReply) -> Result<()> {
        let transaction = self.begin_alone(SENDERS_LOCK)?;
        if !matches!(reply, TelemetryReply::Later(..)) {
            for item in items {
                transaction.run("DELETE FROM telemetry_items WHERE item_id = $1", values![item])?;
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
        let sql = "UPDATE telemetry_signals SET sent = sent + $3, refused = refused + $4, problem = $5, due_at = $6, \
            failures = CASE WHEN $7::bigint <> 0 THEN 0 ELSE failures + 1 END, sent_at = CASE WHEN $8::bigint <> 0 THEN $9 ELSE sent_at END, \
            claimed_by = NULL, claimed_until = NULL WHERE signal = $1 AND claimed_by = $2";
        let (due_at, now) = (due_at.as_microsecond(), now.as_microsecond());
        transaction.run(sql, values![signal, owner, sent, refused, problem, due_at, is_success, is_accepted, now])?;
        transaction.commit(Vec::new())?;
        Ok(())
    }

    fn retry_telemetry(&mut self) -> Result<()> {
        self.session.run("UPDATE telemetry_signals SET due_at = 0", values![]).map(drop)
    }

    fn find_telemetry_progress(&mut self) -> Result<Option<(TelemetryProgress, i64)>> {
        let unread = "(SELECT count(*) FROM events WHERE id > event_row)";
        let sql = select_also::<TelemetryProgress>(unread);
        let found: Option<(i64, TelemetryProgress)> = self.session.query_optional(&sql, values![])?;
        Ok(found.map(|(unread, progress)| (progress, unread)))
    }

    fn list_telemetry_signals(&mut self) -> Result<Vec<TelemetrySignalView>> {
        self.session.select_all("ORDER BY s.signal DESC", values![])
    }
}

fn select_runs(transaction: &Session, which: &str, event_row: i64) -> Result<Vec<TelemetryRun>> {
    let sql = format!("{} {which}", select_also::<HookRunView>("hook_run_id"));
    transaction.query_all(&sql, values![event_row])
}

fn store_open_spans(transaction: &Session, batch: &TelemetryBatch, outcome: &TelemetryOutcome) -> Result<()> {
    for (agent_id, open_spans) in &outcome.open_spans {
        match open_spans {
            // Its agent may have been removed meanwhile, because it is old.
            Some(open_spans) => transaction.run(
                "INSERT INTO telemetry_agents (agent_id, open_spans) \
                 SELECT agent_id, $2::text FROM agents WHERE agent_id = $1 \
                 ON CONFLICT (agent_id) DO UPDATE SET open_spans = excluded.open_spans",
                values![agent_id, open_spans],
            )?,
            None => transaction.run("DELETE FROM telemetry_agents WHERE agent_id = $1", values![agent_id])?,
        };
    }
    for finished in &batch.finished_runs {
        transaction.run("DELETE FROM telemetry_runs WHERE hook_run_id = $1", values![finished.run.hook_run_id])?;
    }
    for (hook_run_id, span) in &outcome.open_runs {
        let sql = "INSERT INTO telemetry_runs (hook_run_id, span) \
                   SELECT hook_run_id, $2::text FROM hook_runs WHERE hook_run_id = $1 \
                   ON CONFLICT (hook_run_id) DO UPDATE SET span = excluded.span";
        transaction.run(sql, values![hook_run_id, span])?;
    }
    Ok(())
}

fn add_to_series(transaction: &Session, added: &TelemetrySeries) -> Result<()> {
    let sql = "SELECT count(*) >= $1 AND NOT coalesce(bool_or(attributes = $3), false) FROM telemetry_series \
        WHERE metric = $2";
    if transaction.query_value::<bool>(sql, values![MAX_SERIES, added.metric, added.attributes])?
        && added.attributes != OVERFLOW_ATTRIBUTES
    {
        return add_to_series(
            transaction,
            &TelemetrySeries { attributes: OVERFLOW_ATTRIBUTES.into(), ..added.clone() },
        );
    }
    let known: Option<TelemetrySeries> =
        transaction.select_one("WHERE metric = $1 AND attributes = $2", values![added.metric, added.attributes])?;
    let mut sum = added.clone();
    if let Some(known) = known {
        sum.count += known.count;
        sum.total += known.total;
        for (bucket, before) in sum.buckets.iter_mut().zip(known.buckets) {
            *bucket += before;
        }
    }
    let sql = "INSERT INTO telemetry_series (metric, attributes, count, total, buckets) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (metric, snell_digest(attributes)) DO UPDATE SET count = excluded.count, \
               total = excluded.total, buckets = excluded.buckets";
    let buckets = serde_json::to_string(&sum.buckets).unwrap_or_default();
    transaction.run(sql, values![sum.metric, sum.attributes, sum.count, sum.total, buckets]).map(drop)
}

/// Keeps so many items of each signal: the newest.
fn drop_oldest_items(transaction: &Session, keep: u32) -> Result<()> {
    let sql = "SELECT signal, count(*) FROM telemetry_items GROUP BY signal HAVING count(*) > $1";
    let crowded: Vec<(String, i64)> = transaction.query_all(sql, values![keep])?;
    for (signal, count) in crowded {
        let dropped = count - i64::from(keep);
        let sql = "DELETE FROM telemetry_items WHERE item_id IN \
                   (SELECT item_id FROM telemetry_items WHERE signal = $1 ORDER BY item_id LIMIT $2)";
        transaction.run(sql, values![signal, dropped])?;
        let sql = "INSERT INTO telemetry_signals (signal, dropped) VALUES ($1, $2) \
                   ON CONFLICT (signal) DO UPDATE SET dropped = telemetry_signals.dropped + excluded.dropped";
        transaction.run(sql, values![signal, dropped])?;
    }
    Ok(())
}
