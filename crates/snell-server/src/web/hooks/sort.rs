//! The columns of the table of hooks, by each of which it can be sorted.

use std::cmp::Ordering;

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::HookStats;

use super::Hook;
use crate::web::words::{ago, cut, duration};

/// How much of a command is shown.
const COMMAND_SHOWN: usize = 200;

/// A column.
pub(super) struct Column {
    /// What it is called in an address.
    pub(super) name: &'static str,
    /// What it is called by people.
    pub(super) label: &'static str,
    /// More about it.
    pub(super) about: &'static str,
    /// What it says of a hook.
    value: fn(&Hook) -> Value<'_>,
}

/// What a column says of a hook: it is what is shown, and what hooks are sorted by.
enum Value<'a> {
    /// What runs, and where it is written.
    Place(&'a HookStats),
    Count(i64),
    /// A number that means trouble of this kind unless it is zero.
    Trouble(i64, &'static str),
    Milliseconds(f64),
    Moment(Timestamp),
}

impl Column {
    /// Which of two hooks comes first: places come in their order, everything else from the greatest on.
    pub(super) fn order(&self, a: &Hook, b: &Hook) -> Ordering {
        match ((self.value)(a), (self.value)(b)) {
            (Value::Place(a), Value::Place(b)) => place(a).cmp(&place(b)),
            (Value::Count(a), Value::Count(b)) | (Value::Trouble(a, _), Value::Trouble(b, _)) => b.cmp(&a),
            (Value::Milliseconds(a), Value::Milliseconds(b)) => b.total_cmp(&a),
            (Value::Moment(a), Value::Moment(b)) => b.cmp(&a),
            // A column says the same kind of thing of all hooks.
            _ => Ordering::Equal,
        }
    }

    /// What it shows of a hook.
    pub(super) fn cell(&self, hook: &Hook, now: Timestamp) -> Markup {
        match (self.value)(hook) {
            Value::Place(stats) => named(stats),
            Value::Count(number) => html! { (number) },
            Value::Trouble(number, class) => counted(number, class),
            Value::Milliseconds(ms) => html! { (duration(ms)) },
            Value::Moment(at) => ago(at, now),
        }
    }
}

/// What a table is sorted by unless it is said.
const DEFAULT: &str = "total";

/// Every column.
pub(super) static COLUMNS: &[Column] = &[
    Column {
        name: "hook",
        label: "Hook",
        about: "what runs, and where it is written",
        value: |hook| Value::Place(&hook.stats),
    },
    Column {
        name: "runs",
        label: "Runs",
        about: "how often it ran",
        value: |hook| Value::Count(hook.stats.runs),
    },
    Column {
        name: "failures",
        label: "Failed",
        about: "how often it failed",
        value: |hook| Value::Trouble(hook.stats.failures, "bad"),
    },
    Column {
        name: "timeouts",
        label: "Timed out",
        about: "how often it took too long",
        value: |hook| Value::Trouble(hook.stats.timeouts, "bad"),
    },
    Column {
        name: "blocks",
        label: "Blocked",
        about: "how often it blocked what its agent was about to do",
        value: |hook| Value::Trouble(hook.stats.blocks, "warn"),
    },
    Column {
        name: "p50",
        label: "p50",
        about: "half of its runs took no longer",
        value: |hook| Value::Milliseconds(hook.stats.p50_ms),
    },
    Column {
        name: "p95",
        label: "p95",
        about: "95 of 100 runs took no longer",
        value: |hook| Value::Milliseconds(hook.stats.p95_ms),
    },
    Column {
        name: "max",
        label: "Longest",
        about: "no run took longer",
        value: |hook| Value::Milliseconds(hook.stats.max_ms),
    },
    Column {
        name: "total",
        label: "Time",
        about: "all runs together",
        value: |hook| Value::Milliseconds(hook.stats.total_ms),
    },
    Column {
        name: "today",
        label: "Today",
        about: "all runs since midnight UTC together",
        value: |hook| Value::Milliseconds(hook.today_ms),
    },
    Column {
        name: "last",
        label: "Last run",
        about: "when it last ran",
        value: |hook| Value::Moment(hook.stats.last_run_at),
    },
];

/// The column that a table is sorted by unless it is said.
pub(super) fn default() -> &'static Column {
    let found = COLUMNS.iter().find(|column| column.name == DEFAULT);
    found.unwrap_or(&COLUMNS[0])
}

fn place(stats: &HookStats) -> (&str, i64, &str) {
    (&stats.source, stats.line, &stats.command)
}

fn named(stats: &HookStats) -> Markup {
    html! {
        code { (cut(&stats.command, COMMAND_SHOWN)) }
        br;
        span.quiet { (cut(&stats.source, COMMAND_SHOWN)) ":" (stats.line) " (" (cut(&stats.contract, 40)) ")" }
    }
}

/// A number that means trouble unless it is zero.
fn counted(number: i64, class: &str) -> Markup {
    html! {
        @if number > 0 { strong class=(class) { (number) } } @else { span.quiet { "0" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_sorted_by_any_column_the_greatest_first() {
        let hook = |number: i64| Hook {
            stats: HookStats {
                hook_id: number,
                // Places come in their order; everything else the other way round.
                line: -number,
                runs: number,
                failures: number,
                timeouts: number,
                blocks: number,
                p50_ms: number as f64,
                p95_ms: number as f64,
                max_ms: number as f64,
                total_ms: number as f64,
                last_run_at: Timestamp::from_second(number).unwrap(),
                ..HookStats::default()
            },
            today_ms: number as f64,
        };
        for column in COLUMNS {
            let mut hooks = [hook(2), hook(3), hook(1)];
            hooks.sort_by(|a, b| column.order(a, b));
            let order = hooks.map(|hook| hook.stats.hook_id);
            assert_eq!(order, [3, 2, 1], "{}", column.name);
        }
        assert_eq!(default().name, DEFAULT);
    }
}
