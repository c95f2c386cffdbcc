//! Hourly counts in PostgreSQL.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use snell::Timestamp;

use super::PostgresDatabase;
use super::prefetch::KeyedQuery;
use super::transaction::{HookKey, PostgresTransaction};
use super::values::values;
use crate::db::columns::select_also;
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

/// The sum of one process, which knows it as a whole.
const SAVE_HOOK_HOUR: &str = "INSERT INTO hook_hours (hour, hook_id, writer, runs, failures, timeouts, blocks, total_us, \
    max_us, last_at, durations) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
    ON CONFLICT (hour, hook_id, writer) DO UPDATE SET runs = excluded.runs, failures = excluded.failures, \
    timeouts = excluded.timeouts, blocks = excluded.blocks, total_us = excluded.total_us, max_us = excluded.max_us, \
    last_at = excluded.last_at, durations = excluded.durations";

/// The id of a hook.
pub(super) static FIND_HOOK: KeyedQuery = KeyedQuery {
    sql: LazyLock::new(|| {
        "SELECT hook_id FROM hooks WHERE snell_digest(source) = snell_digest($1) AND line = $2 \
         AND snell_digest(command) = snell_digest($3) AND contract = $4"
            .to_owned()
    }),
    depends_on: &[("hooks", "source", 0)],
};

pub(super) fn to_hook_key(run: &HookRunRecord) -> HookKey {
    (run.source.clone(), run.line, run.command.clone(), run.contract.clone())
}

impl PostgresTransaction<'_> {
    /// Counts a run, unless the hook was skipped or has not ended.
    pub(super) fn count_hook_run(&mut self, run: &HookRunRecord, at: Timestamp) -> Result<()> {
        if !has_run_status(run.status_word()) {
            return Ok(());
        }
        let us = i64::try_from(run.duration_us).unwrap_or(i64::MAX);
        let sum = (to_hour(at), self.find_or_create_hook(run)?);
        if self.memory.hook_writer.is_none() {
            self.memory.hook_writer = Some(self.take_id("hook_writers")?);
        }
        let counted = HookRunRollup::from_run(run.status_word(), us, at.as_microsecond());
        self.memory.hook_sums.entry(sum).or_default().add(&counted);
        self.changed_sums.insert(sum);
        Ok(())
    }

    /// The id of a hook, which is created if it is new.
    fn find_or_create_hook(&mut self, run: &HookRunRecord) -> Result<i64> {
        let key = to_hook_key(run);
        if let Some(known) = self.memory.hook_ids.get(&key) {
            return Ok(*known);
        }
        let hook = values![run.source, run.line, run.command, run.contract];
        let found = match self.find_row(&FIND_HOOK, hook.clone())? {
            Some(found) => found,
            None => {
                // Another process may create it at the same time.
                let sql = "INSERT INTO hooks (source, line, command, contract) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
                self.run(&["hooks"], sql, hook.clone())?;
                self.query_value(&FIND_HOOK.sql, hook)?
            }
        };
        self.memory.hook_ids.insert(key, found);
        Ok(found)
    }

    /// Counts a verdict of the guard.
    pub(super) fn count_verdict(&mut self, verdict: &GuardVerdictRecord, at: Timestamp) {
        let outcome = GuardOutcome::from_decision(verdict.decision_word(), verdict.would_word());
        let key = (to_hour(at), verdict.rule.clone(), verdict.tier.clone(), outcome.as_str());
        let (verdicts, last_at) = self.verdicts.entry(key).or_insert((0, i64::MIN));
        *verdicts += 1;
        *last_at = (*last_at).max(at.as_microsecond());
    }

    /// Writes all counts, in one order for all processes, so that no two wait for each other.
    pub(super) fn write_sums(&mut self) -> Result<()> {
        let writer = self.memory.hook_writer.unwrap_or(0);
        for (hour, hook_id) in std::mem::take(&mut self.changed_sums) {
            let Some(sum) = self.memory.hook_sums.get(&(hour, hook_id)) else { continue };
            let HookRunCounts { runs, failures, timeouts, blocks, total_us, max_us, last_at } = sum.counts;
            let values = values![
                hour,
                hook_id,
                writer,
                runs,
                failures,
                timeouts,
                blocks,
                total_us,
                max_us,
                last_at,
                sum.encode_durations()
            ];
            self.run(&["hook_hours"], SAVE_HOOK_HOUR, values)?;
        }
        for ((hour, rule, tier, outcome), (verdicts, last_at)) in std::mem::take(&mut self.verdicts) {
            let sql = "INSERT INTO guard_hours (hour, rule, tier, outcome, verdicts, last_at) VALUES ($1, $2, $3, $4, $5, $6) \
                ON CONFLICT (hour, rule, tier, outcome) DO UPDATE SET verdicts = guard_hours.verdicts + excluded.verdicts, \
                last_at = greatest(guard_hours.last_at, excluded.last_at)";
            self.run(&["guard_hours"], sql, values![hour, rule, tier, outcome, verdicts, last_at])?;
        }
        Ok(())
    }
}

impl RollupQueries for PostgresDatabase {
    fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>> {
        let mut sums: HashMap<i64, HookRunRollup> = HashMap::new();
        let mut first = to_hour(since);
        if hour_to_timestamp(first) < since {
            // Only a part of this hour is wanted, so its runs are scanned.
            first += 1;
            self.add_partial_hour(&mut sums, since.as_microsecond(), first.saturating_mul(HOUR_US))?;
        }
        let sql = format!("{} WHERE hour >= $1", select_also::<HookRunCounts>("hook_id, durations"));
        for (hook_id, durations, counts) in self.session.query_all::<(i64, String, _)>(&sql, values![first])? {
            sums.entry(hook_id).or_default().add_stored(&counts, &durations);
        }
        let mut hooks = Vec::with_capacity(sums.len());
        for (hook_id, sum) in &sums {
            let stats: Option<HookStats> = self.session.select_one("WHERE hook_id = $1", values![hook_id])?;
            hooks.extend(stats.map(|stats| sum.fill_stats(stats)));
        }
        hooks.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms).then(a.hook_id.cmp(&b.hook_id)));
        Ok(hooks)
    }

    fn list_hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>> {
        let select = select_also::<HookRunCounts>("hour, durations");
        let sql = format!("{select} WHERE hour >= $1 AND ($2::bigint IS NULL OR hook_id = $2) ORDER BY hour");
        let mut hours: Vec<(i64, HookRunRollup)> = Vec::new();
        let rows: Vec<(i64, String, HookRunCounts)> = self.session.query_all(&sql, values![to_hour(since), hook_id])?;
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
        self.session.select_all("WHERE hour >= $1 ORDER BY hour, rule, tier, outcome", values![to_hour(since)])
    }

    fn list_agent_guard_hours(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>> {
        let sql = "SELECT at, rule, tier, decision, would FROM guard_verdicts WHERE agent_id = $1 AND at >= $2 \
            ORDER BY guard_verdict_id DESC LIMIT $3";
        let since = hour_to_timestamp(to_hour(since)).as_microsecond();
        let verdicts: Vec<(Timestamp, String, String, String, Option<String>)> =
            self.session.query_all(sql, values![agent_id, since, i64::from(at_most)])?;
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

impl PostgresDatabase {
    /// Adds runs from one time to another.
    fn add_partial_hour(&self, sums: &mut HashMap<i64, HookRunRollup>, from_us: i64, to_us: i64) -> Result<()> {
        let sql = "SELECT hook_id, status, duration_us, at FROM \
            (SELECT * FROM hook_runs WHERE at >= $1 AND at < $2 AND status NOT IN ('skipped', 'started') \
            ORDER BY at DESC LIMIT $3) r JOIN hooks USING (source, line, command, contract)";
        let runs: Vec<(i64, String, i64, i64)> =
            self.session.query_all(sql, values![from_us, to_us, MAX_SCANNED_RUNS])?;
        for (hook_id, status, duration_us, at) in runs {
            sums.entry(hook_id).or_default().add(&HookRunRollup::from_run(&status, duration_us, at));
        }
        Ok(())
    }
}
