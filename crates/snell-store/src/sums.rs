//! What is counted by the hour as it happens, so that nobody has to look at every run of a hook and every verdict again.
//!
//! Runs whose durations have the same three leading bits are alike: of these it is kept how many there were, and how long
//! they took together. So a percentile is exact for few runs, and off by a quarter at most for many.

use std::collections::BTreeMap;

use snell::Timestamp;

use crate::error::Result;
use crate::model::words;
use crate::query::HookStats;
use crate::store::Store;

/// An hour, in the unit in which times are kept.
pub(crate) const HOUR_US: i64 = 3_600_000_000;

/// A run that took longer counts as if it had taken so long.
const LONGEST_US: i64 = 1_000_000_000_000;

/// Statuses of hooks that have not run, or not yet.
const NOT_RUN: [&str; 2] = ["skipped", "started"];

words! {
    /// What came of a verdict of the guard.
    GuardOutcome {
        /// The call was denied.
        Denied = "deny",
        /// The user was asked.
        Asked = "ask",
        /// The call was let through, although a rule is about it.
        Allowed = "allow",
        /// It would have been denied, but the guard only watches.
        WouldDeny = "would_deny",
        /// The user would have been asked, but the guard only watches.
        WouldAsk = "would_ask",
    }
}

/// How the reason of a verdict begins that the guard has only noted.
const WATCHED: &[(&str, GuardOutcome)] = &[
    ("would be denied, but the guard only watches: ", GuardOutcome::WouldDeny),
    ("would be asked, but the guard only watches: ", GuardOutcome::WouldAsk),
];

impl GuardOutcome {
    /// What came of a verdict, by its decision and its reason; and the reason without what only says so.
    pub fn of<'a>(decision: &str, reason: &'a str) -> (Self, &'a str) {
        let decided = Self::parse(decision).unwrap_or(Self::Allowed);
        if decided != Self::Allowed {
            return (decided, reason);
        }
        let watched = |(beginning, outcome): &(&str, Self)| Some((*outcome, reason.strip_prefix(beginning)?));
        WATCHED.iter().find_map(watched).unwrap_or((decided, reason))
    }

    /// How the reason of such a verdict begins, if it does so in a way of its own.
    pub(crate) fn beginning(self) -> Option<&'static str> {
        let found = WATCHED.iter().find(|(_, outcome)| *outcome == self);
        found.map(|(beginning, _)| *beginning)
    }

    /// The decision that is kept of such a verdict.
    pub(crate) fn decision(self) -> &'static str {
        match self {
            Self::WouldDeny | Self::WouldAsk => Self::Allowed.as_str(),
            other => other.as_str(),
        }
    }
}

/// What all hooks together, or one of them, did in an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct HookHour {
    /// When the hour began.
    pub begins: Timestamp,
    /// How often a hook ran.
    pub runs: i64,
    /// Half of the runs took no longer than this.
    pub p50_ms: f64,
    /// 95 of 100 runs took no longer than this.
    pub p95_ms: f64,
    /// None took longer than this.
    pub max_ms: f64,
}

/// What the guard said in an hour by one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardHour {
    /// When the hour began.
    pub begins: Timestamp,
    /// The rule.
    pub rule: String,
    /// How grave it is.
    pub tier: String,
    /// What came of it.
    pub outcome: GuardOutcome,
    /// How often.
    pub verdicts: i64,
    /// When it was last said.
    pub last_at: Timestamp,
}

impl Store {
    /// What hooks did in each hour since then, the earliest first: all of them together, or this one. Hours in which none
    /// ran are left out, and the one in which it begins counts as a whole.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>> {
        self.backend.queries().hook_hours(since, hook_id)
    }

    /// How often the guard said what in each hour since then, the earliest first. The hour in which it begins counts as a
    /// whole.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>> {
        self.backend.queries().guard_hours(since)
    }
}

/// Whether a hook of this status has run.
pub(crate) fn has_run(status: &str) -> bool {
    !NOT_RUN.contains(&status)
}

/// The hour in which a moment lies.
pub(crate) fn hour_of(at: Timestamp) -> i64 {
    at.as_microsecond().div_euclid(HOUR_US)
}

/// When an hour begins.
pub(crate) fn begin_of(hour: i64) -> Timestamp {
    let us = hour.saturating_mul(HOUR_US);
    Timestamp::from_microsecond(us).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// How often hooks ran, and how they fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) runs: i64,
    pub(crate) failures: i64,
    pub(crate) timeouts: i64,
    pub(crate) blocks: i64,
    pub(crate) total_us: i64,
    pub(crate) max_us: i64,
    /// In microseconds, as it is kept.
    pub(crate) last_at: i64,
}

impl Counts {
    fn add(&mut self, more: &Self) {
        let is_first = self.runs == 0;
        self.last_at = if is_first {
            more.last_at
        } else {
            self.last_at.max(more.last_at)
        };
        self.runs += more.runs;
        self.failures += more.failures;
        self.timeouts += more.timeouts;
        self.blocks += more.blocks;
        self.total_us = self.total_us.saturating_add(more.total_us);
        self.max_us = self.max_us.max(more.max_us);
    }
}

/// Runs that took about the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Alike {
    runs: i64,
    total_us: i64,
}

/// Runs in sum, and by how long they took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) counts: Counts,
    /// By the shortest duration that they may have.
    alike: BTreeMap<i64, Alike>,
}

impl Sum {
    /// One run.
    pub(crate) fn one(status: &str, duration_us: i64, at: i64) -> Self {
        let is = |wanted: &str| i64::from(status == wanted);
        let us = duration_us.clamp(0, LONGEST_US);
        let alike = Alike { runs: 1, total_us: us };
        Self {
            counts: Counts {
                runs: 1,
                failures: is("failed"),
                timeouts: is("timed_out"),
                blocks: is("blocked"),
                total_us: us,
                max_us: us,
                last_at: at,
            },
            alike: BTreeMap::from([(shortest_alike(us), alike)]),
        }
    }

    /// Adds what was kept: the counts, and what [`Self::durations`] has written.
    pub(crate) fn add_kept(&mut self, counts: &Counts, durations: &str) {
        self.counts.add(counts);
        for text in durations.split(' ') {
            let mut numbers = text.splitn(3, ':').map(|number| number.parse().ok());
            let mut next = || numbers.next().flatten();
            if let (Some(from_us), Some(runs), Some(total_us)) = (next(), next(), next()) {
                self.add_alike(from_us, Alike { runs, total_us });
            }
        }
    }

    /// How long runs took, as it is kept: `from:runs:total`, with a blank between.
    pub(crate) fn durations(&self) -> String {
        let parts = self.alike.iter();
        let parts: Vec<_> = parts
            .map(|(from_us, alike)| format!("{from_us}:{}:{}", alike.runs, alike.total_us))
            .collect();
        parts.join(" ")
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        for (from_us, alike) in &other.alike {
            self.add_alike(*from_us, *alike);
        }
    }

    fn add_alike(&mut self, from_us: i64, more: Alike) {
        let alike = self.alike.entry(from_us).or_default();
        alike.runs += more.runs;
        alike.total_us = alike.total_us.saturating_add(more.total_us);
    }

    /// What so many of a hundred runs did not exceed.
    fn percentile_ms(&self, percent: i64) -> f64 {
        let mut left = (self.counts.runs * percent + 99) / 100;
        for alike in self.alike.values() {
            left -= alike.runs;
            if left <= 0 {
                return ms(alike.total_us) / alike.runs as f64;
            }
        }
        ms(self.counts.max_us)
    }

    pub(crate) fn hour(&self, hour: i64) -> HookHour {
        HookHour {
            begins: begin_of(hour),
            runs: self.counts.runs,
            p50_ms: self.percentile_ms(50),
            p95_ms: self.percentile_ms(95),
            max_ms: ms(self.counts.max_us),
        }
    }

    /// Fills in what a hook has cost.
    pub(crate) fn fill(&self, stats: &mut HookStats) {
        let all = &self.counts;
        stats.runs = all.runs;
        stats.failures = all.failures;
        stats.timeouts = all.timeouts;
        stats.blocks = all.blocks;
        stats.p50_ms = self.percentile_ms(50);
        stats.p95_ms = self.percentile_ms(95);
        stats.max_ms = ms(all.max_us);
        stats.total_ms = ms(all.total_us);
        stats.last_run_at = Timestamp::from_microsecond(all.last_at).unwrap_or(Timestamp::UNIX_EPOCH);
    }
}

/// The shortest duration that counts as alike.
fn shortest_alike(us: i64) -> i64 {
    let bits = i64::BITS - us.leading_zeros();
    let dropped = bits.saturating_sub(3);
    us >> dropped << dropped
}

fn ms(us: i64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(durations_us: impl IntoIterator<Item = i64>) -> Sum {
        let mut sum = Sum::default();
        for us in durations_us {
            sum.add(&Sum::one("ok", us, 0));
        }
        sum
    }

    #[test]
    fn what_is_kept_is_read_as_it_was() {
        for durations in [vec![], vec![0], vec![5], vec![900, 1000, 1_000_000, i64::MAX]] {
            let sum = sum(durations);
            let mut read = Sum::default();
            read.add_kept(&sum.counts, &sum.durations());
            assert_eq!(read, sum);
        }
        assert_eq!(sum([900, 1000, 5]).durations(), "5:1:5 896:2:1900");
        let mut read = Sum::default();
        read.add_kept(&Counts::default(), "nonsense 1:x:2 ::");
        assert_eq!(read, Sum::default());
    }

    #[test]
    fn runs_of_about_the_same_length_are_counted_together() {
        let cases = [
            (-5, 0),
            (0, 0),
            (1, 1),
            (7, 7),
            (8, 8),
            (9, 8),
            (10, 10),
            (15, 14),
            (16, 16),
            (19, 16),
            (20, 20),
            (1000, 896),
            (1024, 1024),
            (1_000_000, 917_504),
            (i64::MAX, LONGEST_US >> 37 << 37),
        ];
        for (us, from_us) in cases {
            assert_eq!(
                *Sum::one("ok", us, 0).alike.first_key_value().unwrap().0,
                from_us,
                "{us}"
            );
        }
    }

    #[test]
    fn percentiles_are_exact_for_few_runs_and_close_for_many() {
        let few = sum([1000, 2000, 10_000]).hour(0);
        assert_eq!((few.p50_ms, few.p95_ms, few.max_ms), (2.0, 10.0, 10.0));
        let one = sum([1234]).hour(0);
        assert_eq!((one.p50_ms, one.p95_ms, one.max_ms), (1.234, 1.234, 1.234));
        let many = sum((1..=10_000).map(|number| number * 10)).hour(0);
        for (found, exact) in [(many.p50_ms, 50.0), (many.p95_ms, 95.0)] {
            assert!((found / exact - 1.0).abs() < 0.25, "{found} for {exact}");
        }
        assert_eq!((many.runs, many.max_ms), (10_000, 100.0));
    }

    #[test]
    fn a_verdict_that_was_only_noted_is_told_from_one_that_counted() {
        use GuardOutcome::{Allowed, Asked, Denied, WouldAsk, WouldDeny};
        let would = "would be denied, but the guard only watches: it is gone";
        let cases = [
            ("deny", "it is gone", Denied, "it is gone"),
            ("ask", "sure?", Asked, "sure?"),
            ("allow", "you said so", Allowed, "you said so"),
            ("allow", would, WouldDeny, "it is gone"),
            (
                "allow",
                "would be asked, but the guard only watches: sure?",
                WouldAsk,
                "sure?",
            ),
            ("deny", would, Denied, would),
            ("nonsense", "?", Allowed, "?"),
        ];
        for (decision, reason, outcome, said) in cases {
            assert_eq!(
                GuardOutcome::of(decision, reason),
                (outcome, said),
                "{decision} {reason}"
            );
        }
        for outcome in GuardOutcome::ALL {
            let reason = format!("{}x", outcome.beginning().unwrap_or_default());
            assert_eq!(GuardOutcome::of(outcome.decision(), &reason), (*outcome, "x"));
        }
    }
}
