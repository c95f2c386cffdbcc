//! Hourly counts in SQLite.

use std::collections::{BTreeMap, HashMap};

use rusqlite::params;
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ColumnParam, ConnectionExt, columns, insert_row, select_also};
use super::rows::SqliteTransaction;
use crate::error::Result;
use crate::record::event_record::{GuardVerdictRecord, HookRunRecord};
use crate::views::queries::RollupQueries;
use crate::views::query_types::HookStats;
use crate::views::rollups::{
    GuardHour, GuardOutcome, HOUR_US, HookHour, HookRunCounts, HookRunRollup, has_run_status, hour_to_timestamp,
    to_hour,
};

/// For a partial hour, at most so many of the latest runs are scanned.
const MAX_SCANNED_RUNS: i64 = 10_000;

columns! {
    HookRunCounts from "hook_hours" { runs, failures, timeouts, blocks, total_us, max_us, last_at }
}

columns! {
    HookStats from "hooks" { hook_id, contract, source, line, command; ..Self::default() }
}

columns! {
    GuardHour from "guard_hours" { begins: "hour" => hour_to_timestamp, rule, tier, outcome, verdicts, last_at }
}

impl SqliteTransaction<'_, '_> {
    /// Counts a run, unless the hook was skipped or has not ended.
    pub(super) fn count_hook_run(&self, run: &HookRunRecord, at: Timestamp) -> Result<()> {
        if !has_run_status(run.status_word()) {
            return Ok(());
        }
        let us = i64::try_from(run.duration_us).unwrap_or(i64::MAX);
        let (hour, hook_id) = (to_hour(at), self.find_or_create_hook(run)?);
        let mut all = HookRunRollup::default();
        let sql = format!("{} WHERE hour = ?1 AND hook_id = ?2", select_also::<HookRunCounts>("durations"));
        if let Some((durations, counts)) = self.transaction.query_optional::<(String, _)>(&sql, [hour, hook_id])? {
            all.add_stored(&counts, &durations);
        }
        all.add(&HookRunRollup::from_run(run.status_word(), us, at.as_microsecond()));
        let counts = all.counts;
        insert_row!(
            self.transaction,
            "INSERT OR REPLACE INTO hook_hours",
            counts {
                hour: hour,
                hook_id: hook_id,
                runs,
                failures,
                timeouts,
                blocks,
                total_us,
                max_us,
                last_at,
                durations: all.encode_durations(),
            }
        )
        .map(drop)
    }

    /// The id of a hook, which is created if it is new.
    fn find_or_create_hook(&self, run: &HookRunRecord) -> Result<i64> {
        let hook = params![run.source, run.line, run.command, run.contract];
        let sql = "SELECT hook_id FROM hooks WHERE source = ?1 AND line = ?2 AND command = ?3 AND contract = ?4";
        let known = self.transaction.query_optional(sql, hook)?;
        let sql = "INSERT INTO hooks (source, line, command, contract) VALUES (?1, ?2, ?3, ?4)";
        known.map_or_else(|| self.transaction.insert(sql, hook), Ok)
    }

    /// Counts a verdict of the guard.
    pub(super) fn count_verdict(&self, verdict: &GuardVerdictRecord, at: Timestamp) -> Result<()> {
        let outcome = GuardOutcome::from_decision(verdict.decision_word(), verdict.would_word());
        let sql = "INSERT INTO guard_hours (hour, rule, tier, outcome, verdicts, last_at) VALUES (?1, ?2, ?3, ?4, 1, ?5) \
            ON CONFLICT DO UPDATE SET verdicts = verdicts + 1, last_at = max(last_at, ?5)";
        let values = params![to_hour(at), verdict.rule, verdict.tier, outcome.as_str(), at.as_microsecond()];
        self.transaction.run(sql, values)
    }
}

impl RollupQueries for SqliteDatabase {
    fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>> {
        let mut sums: HashMap<i64, HookRunRollup> = HashMap::new();
        let mut first = to_hour(since);
        if hour_to_timestamp(first) < since {
            // Only a part of this hour is wanted, so its runs are scanned.
            first += 1;
            self.add_partial_hour(&mut sums, since.as_microsecond(), first.saturating_mul(HOUR_US))?;
        }
        let sql = format!("{} WHERE hour >= ?1", select_also::<HookRunCounts>("hook_id, durations"));
        for (hook_id, durations, counts) in self.connection.query_all::<(i64, String, _)>(&sql, [first])? {
            sums.entry(hook_id).or_default().add_stored(&counts, &durations);
        }
        let mut hooks = Vec::with_capacity(sums.len());
        for (hook_id, sum) in &sums {
            let stats: Option<HookStats> = self.connection.select_one("WHERE hook_id = ?1", [hook_id])?;
            hooks.extend(stats.map(|stats| sum.fill_stats(stats)));
        }
        hooks.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms).then(a.hook_id.cmp(&b.hook_id)));
        Ok(hooks)
    }

    fn list_hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>> {
        let select = select_also::<HookRunCounts>("hour, durations");
        let sql = format!("{select} WHERE hour >= ?1 AND (?2 IS NULL OR hook_id = ?2) ORDER BY hour");
        let mut hours: Vec<(i64, HookRunRollup)> = Vec::new();
        let rows: Vec<(i64, String, HookRunCounts)> =
            self.connection.query_all(&sql, params![to_hour(since), hook_id])?;
        for (hour, durations, counts) in rows {
            if hours.last().is_none_or(|(last, _)| *last != hour) {
                hours.push((hour, HookRunRollup::default()));
            }
            if let Some((_, all)) = hours.last_mut() {
                all.add_stored(&counts, &durations);
            }
        }
        Ok(hours.iter().map(|(hour, sum)| sum.to_hook_hour(*hour)).collect())
    }

    fn list_guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>> {
        self.connection.select_all("WHERE hour >= ?1", [to_hour(since)])
    }

    fn list_agent_guard_hours(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>> {
        let sql = "SELECT at, rule, tier, decision, would FROM guard_verdicts WHERE agent_id = ?1 AND at >= ?2 \
            ORDER BY guard_verdict_id DESC LIMIT ?3";
        let since = hour_to_timestamp(to_hour(since)).as_microsecond();
        let verdicts: Vec<(Timestamp, String, String, String, Option<String>)> =
            self.connection.query_all(sql, [agent_id, since, i64::from(at_most)])?;
        let mut hours: BTreeMap<(i64, String, String, &str), GuardHour> = BTreeMap::new();
        for (at, rule, tier, decision, would) in verdicts {
            let outcome = GuardOutcome::from_decision(&decision, would.as_deref());
            let key = (to_hour(at), rule.clone(), tier.clone(), outcome.as_str());
            let hour = hours.entry(key).or_insert_with(|| GuardHour {
                begins: hour_to_timestamp(to_hour(at)),
                rule,
                tier,
                outcome,
                verdicts: 0,
                last_at: at,
            });
            hour.verdicts += 1;
            hour.last_at = hour.last_at.max(at);
        }
        Ok(hours.into_values().collect())
    }
}

impl SqliteDatabase {
    /// Adds runs from one time to another.
    fn add_partial_hour(&self, sums: &mut HashMap<i64, HookRunRollup>, from_us: i64, to_us: i64) -> Result<()> {
        let sql = "SELECT hook_id, status, duration_us, at FROM \
            (SELECT * FROM hook_runs WHERE at >= ?1 AND at < ?2 AND status NOT IN ('skipped', 'started') \
            ORDER BY at DESC LIMIT ?3) JOIN hooks USING (source, line, command, contract)";
        let runs: Vec<(i64, String, i64, i64)> = self.connection.query_all(sql, [from_us, to_us, MAX_SCANNED_RUNS])?;
        for (hook_id, status, duration_us, at) in runs {
            sums.entry(hook_id).or_default().add(&HookRunRollup::from_run(&status, duration_us, at));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Row;
    use rusqlite::types::Value as Sql;

    use super::super::{MIGRATIONS, connect_read_write};
    use super::*;
    use crate::record::words::{parse_decision, parse_status};

    /// A database of the version before the counts.
    fn create_old_database(path: &std::path::Path) {
        let connection = connect_read_write(path).unwrap();
        for migration in &MIGRATIONS[..3] {
            connection.execute_batch(migration).unwrap();
        }
        connection.pragma_update(None, "user_version", 3).unwrap();
        let run = "INSERT INTO hook_runs (event, at, contract, source, line, command, status, duration_us, stdout, stderr) \
            VALUES ('Stop', ?1, 'snell', 'snell.toml', 1, ?2, ?3, ?4, '', '')";
        let statuses = ["ok", "failed", "timed_out", "blocked", "skipped", "started"];
        for (number, us) in [0, 1, 3, 7, 8, 9, 1000, 1023, 1024, 5_000_000, -3, i64::MAX].iter().enumerate() {
            for (place, status) in statuses.iter().enumerate() {
                let at = (number as i64 - 3) * HOUR_US + place as i64 - 2;
                connection.execute(run, params![at, format!("hook {}", number % 2), status, us]).unwrap();
            }
        }
        let verdict = "INSERT INTO guard_verdicts (at, decision, rule, tier, reason) VALUES (?1, ?2, 'r', 't', ?3)";
        for (at, decision, reason) in [
            (-1, "deny", "no"),
            (5, "allow", "would be denied, but the guard only watches: no"),
            (6, "allow", "would be asked, but the guard only watches: no"),
            (7, "allow", "fine"),
        ] {
            connection.execute(verdict, params![at, decision, reason]).unwrap();
        }
    }

    fn dump_rows(database: &SqliteDatabase, sql: &str) -> Vec<String> {
        let mut statement = database.connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let line = |row: &Row<'_>| {
            let values = (0..columns).map(|column| row.get::<_, Sql>(column));
            Ok(format!("{:?}", values.collect::<rusqlite::Result<Vec<_>>>()?))
        };
        let lines = statement.query_map([], line).unwrap();
        lines.map(|line| line.unwrap()).collect()
    }

    #[test]
    fn a_migration_counts_older_events_in_the_same_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("snell.db");
        create_old_database(&path);
        let mut database = SqliteDatabase::open(&path).unwrap();
        // Durations are more precise now.
        let hooks = "SELECT hour, hook_id, runs, failures, timeouts, blocks, total_us, max_us, last_at FROM hook_hours";
        let guard = "SELECT * FROM guard_hours";
        let (hooks_then, guard_then) = (dump_rows(&database, hooks), dump_rows(&database, guard));
        assert!(hooks_then.len() > 12 && guard_then.len() == 4, "{hooks_then:?} {guard_then:?}");
        database.connection.execute_batch("DELETE FROM hook_hours; DELETE FROM guard_hours").unwrap();
        recount_all(&mut database);
        assert_eq!(dump_rows(&database, hooks), hooks_then);
        assert_eq!(dump_rows(&database, guard), guard_then);
    }

    #[test]
    fn a_migration_reads_audited_decisions_from_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("snell.db");
        create_old_database(&path);
        let database = SqliteDatabase::open(&path).unwrap();
        let verdicts = "SELECT decision || ' ' || ifnull(would, '-') || ' ' || reason FROM guard_verdicts";
        assert_eq!(
            dump_rows(&database, verdicts),
            ["deny - no", "allow deny no", "allow ask no", "allow - fine"].map(|line| format!("[Text({line:?})]"))
        );
    }

    /// Counts every run and every verdict as if it happened now.
    fn recount_all(database: &mut SqliteDatabase) {
        let transaction = database.connection.transaction().unwrap();
        let within = SqliteTransaction { transaction: &transaction, data_version: &mut 0 };
        let runs: Vec<(Timestamp, String, String, i64)> =
            within.transaction.query_all("SELECT at, command, status, duration_us FROM hook_runs", []).unwrap();
        for (at, command, status, duration_us) in runs {
            let run = HookRunRecord {
                contract: "snell".into(),
                source: "snell.toml".into(),
                line: 1,
                command,
                status: parse_status(&status),
                duration_us: duration_us.max(0).unsigned_abs(),
                ..HookRunRecord::default()
            };
            within.count_hook_run(&run, at).unwrap();
        }
        let verdicts: Vec<(Timestamp, String, Option<String>)> =
            within.transaction.query_all("SELECT at, decision, would FROM guard_verdicts", []).unwrap();
        for (at, decision, would) in verdicts {
            let verdict = GuardVerdictRecord {
                decision: parse_decision(&decision),
                would: parse_decision(&would.unwrap_or_default()),
                rule: "r".into(),
                tier: "t".into(),
                reason: "no".into(),
                advice: None,
                of_changed_input: false,
            };
            within.count_verdict(&verdict, at).unwrap();
        }
        transaction.commit().unwrap();
    }
}
