//! The columns of the table of hooks, by each of which it can be sorted.

use std::cmp::Ordering;

use maud::{Markup, html};
use snell::Timestamp;

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
    /// Which of two hooks comes first.
    pub(super) order: fn(&Hook, &Hook) -> Ordering,
    /// What it says of a hook.
    pub(super) cell: fn(&Hook, Timestamp) -> Markup,
}

/// What a table is sorted by unless it is said.
const DEFAULT: &str = "total";

/// Every column.
pub(super) static COLUMNS: &[Column] = &[
    Column {
        name: "hook",
        label: "Hook",
        about: "what runs, and where it is written",
        order: |a, b| place(a).cmp(&place(b)),
        cell: named,
    },
    Column {
        name: "runs",
        label: "Runs",
        about: "how often it ran",
        order: |a, b| b.stats.runs.cmp(&a.stats.runs),
        cell: |hook, _| html! { (hook.stats.runs) },
    },
    Column {
        name: "failures",
        label: "Failed",
        about: "how often it failed",
        order: |a, b| b.stats.failures.cmp(&a.stats.failures),
        cell: |hook, _| counted(hook.stats.failures, "bad"),
    },
    Column {
        name: "timeouts",
        label: "Timed out",
        about: "how often it took too long",
        order: |a, b| b.stats.timeouts.cmp(&a.stats.timeouts),
        cell: |hook, _| counted(hook.stats.timeouts, "bad"),
    },
    Column {
        name: "blocks",
        label: "Blocked",
        about: "how often it blocked what its agent was about to do",
        order: |a, b| b.stats.blocks.cmp(&a.stats.blocks),
        cell: |hook, _| counted(hook.stats.blocks, "warn"),
    },
    Column {
        name: "p50",
        label: "p50",
        about: "half of its runs took no longer",
        order: |a, b| b.stats.p50_ms.total_cmp(&a.stats.p50_ms),
        cell: |hook, _| html! { (duration(hook.stats.p50_ms)) },
    },
    Column {
        name: "p95",
        label: "p95",
        about: "95 of 100 runs took no longer",
        order: |a, b| b.stats.p95_ms.total_cmp(&a.stats.p95_ms),
        cell: |hook, _| html! { (duration(hook.stats.p95_ms)) },
    },
    Column {
        name: "max",
        label: "Longest",
        about: "no run took longer",
        order: |a, b| b.stats.max_ms.total_cmp(&a.stats.max_ms),
        cell: |hook, _| html! { (duration(hook.stats.max_ms)) },
    },
    Column {
        name: "total",
        label: "Time",
        about: "all runs together",
        order: |a, b| b.stats.total_ms.total_cmp(&a.stats.total_ms),
        cell: |hook, _| html! { (duration(hook.stats.total_ms)) },
    },
    Column {
        name: "today",
        label: "Today",
        about: "all runs since midnight UTC together",
        order: |a, b| b.today_ms.total_cmp(&a.today_ms),
        cell: |hook, _| html! { (duration(hook.today_ms)) },
    },
    Column {
        name: "last",
        label: "Last run",
        about: "when it last ran",
        order: |a, b| b.stats.last_run_at.cmp(&a.stats.last_run_at),
        cell: |hook, now| ago(hook.stats.last_run_at, now),
    },
];

/// The column that a table is sorted by unless it is said.
pub(super) fn default() -> &'static Column {
    let found = COLUMNS.iter().find(|column| column.name == DEFAULT);
    found.unwrap_or(&COLUMNS[0])
}

fn place(hook: &Hook) -> (&str, i64, &str) {
    (&hook.stats.source, hook.stats.line, &hook.stats.command)
}

fn named(hook: &Hook, _: Timestamp) -> Markup {
    let stats = &hook.stats;
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
    use snell_store::HookStats;

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
            hooks.sort_by(column.order);
            let order = hooks.map(|hook| hook.stats.hook_id);
            assert_eq!(order, [3, 2, 1], "{}", column.name);
        }
        assert_eq!(default().name, DEFAULT);
    }
}
