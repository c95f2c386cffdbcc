//! What those who watch ask for, in SQLite: changes, and what pages show.

use rusqlite::types::Value as Sql;
use rusqlite::{OptionalExtension, Row, params_from_iter};
use serde_json::Value;
use snell::Timestamp;

use super::Sqlite;
use super::query::turn_view;
use super::rows::{time, word};
use crate::changes::{Change, ChangeKind, ChangeRange};
use crate::error::Result;
use crate::json;
use crate::query::{GuardEntry, GuardFilter, GuardVerdictView, Heard, HookStats, TurnFilter, TurnView};

/// Among so many of the newest events the latest is looked for: those that come late are stored after later ones.
const NEWEST: i64 = 100;

/// No more than so many runs are counted, the latest: a page must not wait for all that ever ran.
const RUNS_COUNTED: i64 = 10_000;

impl Sqlite {
    pub(super) fn read_changes(&self, after: i64, at_most: u32) -> Result<Vec<Change>> {
        let sql = "SELECT change_id, kind, agent_id, project_id, at, data FROM changes WHERE change_id > ?1 \
            ORDER BY change_id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map([after, i64::from(at_most)], |row| {
            Ok(Change {
                id: row.get(0)?,
                kind: word(row, 1, ChangeKind::parse)?,
                agent_id: row.get(2)?,
                project_id: row.get(3)?,
                at: time(row, 4)?,
                data: row.get(5)?,
            })
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_change_range(&self) -> Result<ChangeRange> {
        // Each of the two is found at once; asked for together, every row would be looked at.
        let sql = "SELECT coalesce((SELECT min(change_id) FROM changes), 0), \
            coalesce((SELECT max(change_id) FROM changes), 0)";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([], |row| {
            Ok(ChangeRange {
                oldest: row.get(0)?,
                newest: row.get(1)?,
            })
        })?)
    }

    pub(super) fn remove_changes_but(&self, keep: u32) -> Result<()> {
        let range = self.read_change_range()?;
        let last = range.newest - i64::from(keep);
        if last >= range.oldest && range.oldest > 0 {
            let sql = "DELETE FROM changes WHERE change_id <= ?1";
            self.connection.prepare_cached(sql)?.execute([last])?;
        }
        Ok(())
    }

    pub(super) fn read_heard(&self, event_row: Option<i64>) -> Result<Heard> {
        let sql = "SELECT id, name, (SELECT max(at) FROM (SELECT at FROM events ORDER BY id DESC LIMIT ?1)) \
            FROM events ORDER BY id DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let newest = statement
            .query_row([NEWEST], |row| {
                Ok(Heard {
                    events: 0,
                    last_row: row.get(0)?,
                    last_at: Some(time(row, 2)?),
                    last_event: row.get(1)?,
                })
            })
            .optional()?;
        let mut heard = newest.unwrap_or_default();
        if let Some(row) = event_row.filter(|row| *row != heard.last_row) {
            let sql = "SELECT count(*) FROM events WHERE id > ?1";
            let count: i64 = self
                .connection
                .prepare_cached(sql)?
                .query_row([row], |row| row.get(0))?;
            heard.events = u64::try_from(count).unwrap_or(0);
        }
        Ok(heard)
    }

    pub(super) fn read_turns(&self, filter: &TurnFilter) -> Result<Vec<TurnView>> {
        let sql = "SELECT turn_id, agent_id, command_id, actor, intent, text, timestamp, timestamp_source FROM turns \
            WHERE agent_id = ?1 AND turn_id < ?2 ORDER BY turn_id DESC LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let before = filter.before_id.unwrap_or(i64::MAX);
        let found = statement.query_map([filter.agent_id, before, i64::from(filter.limit)], turn_view)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_hook_stats(&self, since: Timestamp) -> Result<Vec<HookStats>> {
        let sql = "SELECT contract, source, line, command, status, duration_us, at FROM \
            (SELECT * FROM hook_runs WHERE at >= ?1 AND status NOT IN ('skipped', 'started') \
            ORDER BY at DESC LIMIT ?2) ORDER BY source, line, command, contract, duration_us";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut runs = statement.query([since.as_microsecond(), RUNS_COUNTED])?;
        let mut hooks: Vec<Durations> = Vec::new();
        while let Some(row) = runs.next()? {
            let run = Durations::of_run(row)?;
            match hooks.last_mut().filter(|hook| hook.is_same(&run)) {
                Some(hook) => hook.add(run),
                None => hooks.push(run),
            }
        }
        let mut hooks: Vec<_> = hooks.into_iter().map(Durations::finish).collect();
        hooks.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
        Ok(hooks)
    }

    pub(super) fn read_guard_log(&self, filter: &GuardFilter) -> Result<Vec<GuardEntry>> {
        let mut conditions = vec!["g.guard_verdict_id < ?1".to_owned()];
        let mut values = vec![Sql::Integer(filter.before_id.unwrap_or(i64::MAX))];
        let mut only = |column: &str, value: Option<Sql>| {
            if let Some(value) = value {
                values.push(value);
                conditions.push(format!("{column} = ?{}", values.len()));
            }
        };
        only("g.agent_id", filter.agent_id.map(Sql::Integer));
        only("g.rule", filter.rule.clone().map(Sql::Text));
        only("g.decision", filter.decision.clone().map(Sql::Text));
        let conditions = conditions.join(" AND ");
        let limit = filter.limit;
        let sql = format!(
            "SELECT g.guard_verdict_id, g.at, g.agent_id, g.id, e.tool, d.payload, g.decision, g.rule, g.tier, g.reason, \
             g.advice FROM guard_verdicts g LEFT JOIN events e ON e.id = g.id LEFT JOIN payloads d ON d.id = g.id \
             WHERE {conditions} ORDER BY g.guard_verdict_id DESC LIMIT {limit}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map(params_from_iter(values), guard_entry)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn guard_entry(row: &Row<'_>) -> rusqlite::Result<GuardEntry> {
    let payload: Option<String> = row.get(5)?;
    let payload = payload.and_then(|text| json::from_slice(text.as_bytes()).ok());
    Ok(GuardEntry {
        guard_verdict_id: row.get(0)?,
        at: time(row, 1)?,
        agent_id: row.get(2)?,
        event_row: row.get(3)?,
        tool: row.get(4)?,
        payload: payload.unwrap_or(Value::Null),
        verdict: GuardVerdictView {
            decision: row.get(6)?,
            rule: row.get(7)?,
            tier: row.get(8)?,
            reason: row.get(9)?,
            advice: row.get(10)?,
        },
    })
}

/// The runs of one hook, the shortest first.
struct Durations {
    stats: HookStats,
    durations_us: Vec<i64>,
}

impl Durations {
    fn of_run(row: &Row<'_>) -> rusqlite::Result<Self> {
        let status: String = row.get(4)?;
        let duration_us: i64 = row.get(5)?;
        let is = |wanted: &str| i64::from(status == wanted);
        Ok(Self {
            stats: HookStats {
                contract: row.get(0)?,
                source: row.get(1)?,
                line: row.get(2)?,
                command: row.get(3)?,
                runs: 1,
                failures: is("failed"),
                timeouts: is("timed_out"),
                blocks: is("blocked"),
                p50_ms: 0.0,
                p95_ms: 0.0,
                max_ms: 0.0,
                total_ms: 0.0,
                last_run_at: time(row, 6)?,
            },
            durations_us: vec![duration_us],
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.stats, &other.stats);
        a.line == b.line && a.source == b.source && a.command == b.command && a.contract == b.contract
    }

    fn add(&mut self, run: Self) {
        self.stats.runs += 1;
        self.stats.failures += run.stats.failures;
        self.stats.timeouts += run.stats.timeouts;
        self.stats.blocks += run.stats.blocks;
        self.stats.last_run_at = self.stats.last_run_at.max(run.stats.last_run_at);
        self.durations_us.extend(run.durations_us);
    }

    fn finish(self) -> HookStats {
        let ms = |us: i64| us as f64 / 1000.0;
        // The shortest that so many of a hundred did not exceed.
        let percentile = |percent: usize| {
            let rank = (self.durations_us.len() * percent).div_ceil(100).max(1);
            ms(self.durations_us[rank - 1])
        };
        HookStats {
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            max_ms: percentile(100),
            total_ms: ms(self.durations_us.iter().sum()),
            ..self.stats
        }
    }
}
