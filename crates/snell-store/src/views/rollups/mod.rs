//! Hourly counts, updated with each event, so that no query has to read every hook run and every verdict.
//!
//! Up to twenty different durations are kept exactly ([`DurationHistogram`]), so percentiles of few runs are exact.
//! More of them go into buckets, and a percentile is off by a quarter at most.

mod duration_histogram;

use snell::Timestamp;

use crate::db::model::words;
use crate::views::query_types::HookStats;

use duration_histogram::DurationHistogram;

/// An hour in microseconds.
pub(crate) const HOUR_US: i64 = 3_600_000_000;

/// Longer runs count as this long.
const MAX_RUN_US: i64 = 1_000_000_000_000;

/// Statuses of hooks that did not run, or have not ended.
const NOT_RUN_STATUSES: [&str; 2] = ["skipped", "started"];

words! {
    /// The outcome of a verdict of the guard.
    GuardOutcome {
        /// The call was denied.
        Denied = "deny",
        /// The user was asked.
        Asked = "ask",
        /// The call was allowed, although a rule matches it.
        Allowed = "allow",
        /// The call would have been denied, but the guard only audits.
        WouldDeny = "would_deny",
        /// The user would have been asked, but the guard only audits.
        WouldAsk = "would_ask",
    }
}

impl GuardOutcome {
    /// The outcome by the actual decision and the decision without audit.
    pub fn from_decision(decision: &str, would: Option<&str>) -> Self {
        match (Self::parse(decision), would) {
            (Some(Self::Denied), _) => Self::Denied,
            (Some(Self::Asked), _) => Self::Asked,
            (_, Some("deny")) => Self::WouldDeny,
            (_, Some("ask")) => Self::WouldAsk,
            _ => Self::Allowed,
        }
    }

    /// The stored form of an outcome: the actual decision and the decision without audit.
    pub(crate) fn to_stored(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::WouldDeny => (Self::Allowed.as_str(), Some(Self::Denied.as_str())),
            Self::WouldAsk => (Self::Allowed.as_str(), Some(Self::Asked.as_str())),
            other => (other.as_str(), None),
        }
    }
}

/// The runs of all hooks, or of one, in an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct HookHour {
    /// When the hour began.
    pub begins: Timestamp,
    /// The number of runs.
    pub runs: i64,
    /// The median duration.
    pub p50_ms: f64,
    /// The 95th percentile of the durations.
    pub p95_ms: f64,
    /// The longest duration.
    pub max_ms: f64,
}

/// The verdicts of one rule in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardHour {
    /// When the hour began.
    pub begins: Timestamp,
    /// The rule.
    pub rule: String,
    /// Its tier.
    pub tier: String,
    /// The outcome.
    pub outcome: GuardOutcome,
    /// The number of verdicts.
    pub verdicts: i64,
    /// The time of the last one.
    pub last_at: Timestamp,
}

/// Whether a hook of this status has run.
pub(crate) fn has_run_status(status: &str) -> bool {
    !NOT_RUN_STATUSES.contains(&status)
}

/// The hour of a time.
pub(crate) fn to_hour(at: Timestamp) -> i64 {
    at.as_microsecond().div_euclid(HOUR_US)
}

/// The start of an hour.
pub(crate) fn hour_to_timestamp(hour: i64) -> Timestamp {
    let us = hour.saturating_mul(HOUR_US);
    Timestamp::from_microsecond(us).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Counts of hook runs and their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookRunCounts {
    pub(crate) runs: i64,
    pub(crate) failures: i64,
    pub(crate) timeouts: i64,
    pub(crate) blocks: i64,
    pub(crate) total_us: i64,
    pub(crate) max_us: i64,
    /// In microseconds, as stored.
    pub(crate) last_at: i64,
}

impl HookRunCounts {
    fn add(&mut self, more: &Self) {
        let is_first = self.runs == 0;
        self.last_at = if is_first { more.last_at } else { self.last_at.max(more.last_at) };
        self.runs += more.runs;
        self.failures += more.failures;
        self.timeouts += more.timeouts;
        self.blocks += more.blocks;
        self.total_us = self.total_us.saturating_add(more.total_us);
        self.max_us = self.max_us.max(more.max_us);
    }
}

/// The totals of runs, and their durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookRunRollup {
    pub(crate) counts: HookRunCounts,
    durations: DurationHistogram,
}

impl HookRunRollup {
    /// One run.
    pub(crate) fn from_run(status: &str, duration_us: i64, at: i64) -> Self {
        let is = |wanted: &str| i64::from(status == wanted);
        let us = duration_us.clamp(0, MAX_RUN_US);
        Self {
            counts: HookRunCounts {
                runs: 1,
                failures: is("failed"),
                timeouts: is("timed_out"),
                blocks: is("blocked"),
                total_us: us,
                max_us: us,
                last_at: at,
            },
            durations: DurationHistogram::from_single(us),
        }
    }

    /// Adds the stored form: the counts, and the output of [`Self::durations`].
    pub(crate) fn add_stored(&mut self, counts: &HookRunCounts, durations: &str) {
        self.counts.add(counts);
        self.durations.add_encoded(durations);
    }

    /// The durations in their stored form.
    pub(crate) fn encode_durations(&self) -> String {
        self.durations.to_string()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.durations.add(&other.durations);
    }

    /// A percentile of the durations.
    fn percentile_ms(&self, percent: i64) -> f64 {
        let rank = (self.counts.runs * percent + 99) / 100;
        let us = self.durations.find_rank_value(rank);
        us.unwrap_or(self.counts.max_us as f64) / 1000.0
    }

    pub(crate) fn to_hook_hour(&self, hour: i64) -> HookHour {
        HookHour {
            begins: hour_to_timestamp(hour),
            runs: self.counts.runs,
            p50_ms: self.percentile_ms(50),
            p95_ms: self.percentile_ms(95),
            max_ms: us_to_ms(self.counts.max_us),
        }
    }

    /// Fills in the statistics of a hook.
    pub(crate) fn fill_stats(&self, stats: HookStats) -> HookStats {
        let all = &self.counts;
        HookStats {
            runs: all.runs,
            failures: all.failures,
            timeouts: all.timeouts,
            blocks: all.blocks,
            p50_ms: self.percentile_ms(50),
            p95_ms: self.percentile_ms(95),
            max_ms: us_to_ms(all.max_us),
            total_ms: us_to_ms(all.total_us),
            last_run_at: Timestamp::from_microsecond(all.last_at).unwrap_or(Timestamp::UNIX_EPOCH),
            ..stats
        }
    }
}

fn us_to_ms(us: i64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_rollup(durations_us: impl IntoIterator<Item = i64>) -> HookRunRollup {
        let mut sum = HookRunRollup::default();
        for us in durations_us {
            sum.add(&HookRunRollup::from_run("ok", us, 0));
        }
        sum
    }

    #[test]
    fn percentiles_are_exact_for_few_runs_and_close_for_many() {
        let cases: [(&[i64], f64, f64); 5] = [
            (&[1000, 2000, 10_000], 2.0, 10.0),
            // All of these are in one bucket.
            (&[4000, 4100, 4200, 4900], 4.1, 4.9),
            (&[4900, 4000, 4300, 4200, 4100, 4400, 4500], 4.3, 4.9),
            (&[5000, 5000, 5000, 4001], 5.0, 5.0),
            (&[0], 0.0, 0.0),
        ];
        for (durations, p50, p95) in cases {
            let few = build_rollup(durations.iter().copied()).to_hook_hour(0);
            assert_eq!((few.p50_ms, few.p95_ms), (p50, p95), "{durations:?}");
        }
        let twenty = build_rollup((0..20).map(|number| 4000 + number)).to_hook_hour(0);
        assert_eq!((twenty.p50_ms, twenty.p95_ms, twenty.max_ms), (4.009, 4.018, 4.019));
        let one = build_rollup([1234]).to_hook_hour(0);
        assert_eq!((one.p50_ms, one.p95_ms, one.max_ms), (1.234, 1.234, 1.234));
        let many = build_rollup((1..=10_000).map(|number| number * 10)).to_hook_hour(0);
        for (found, exact) in [(many.p50_ms, 50.0), (many.p95_ms, 95.0)] {
            assert!((found / exact - 1.0).abs() < 0.25, "{found} for {exact}");
        }
        assert_eq!((many.runs, many.max_ms), (10_000, 100.0));
    }

    #[test]
    fn audited_verdicts_differ_from_enforced_ones() {
        use GuardOutcome::{Allowed, Asked, Denied, WouldAsk, WouldDeny};
        let cases = [
            ("deny", None, Denied),
            ("ask", None, Asked),
            ("allow", None, Allowed),
            ("allow", Some("deny"), WouldDeny),
            ("allow", Some("ask"), WouldAsk),
            ("allow", Some("nonsense"), Allowed),
            ("deny", Some("ask"), Denied),
            ("nonsense", None, Allowed),
        ];
        for (decision, would, outcome) in cases {
            assert_eq!(GuardOutcome::from_decision(decision, would), outcome, "{decision} {would:?}");
        }
        for outcome in GuardOutcome::ALL {
            let (decision, would) = outcome.to_stored();
            assert_eq!(GuardOutcome::from_decision(decision, would), *outcome);
        }
    }
}
