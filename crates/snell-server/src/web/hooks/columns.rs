//! The columns of the table of hooks. The table can be sorted by each of them. `.costs` in `assets/page.css` has a width for
//! each.

use std::cmp::Ordering;

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::HookStats;

use super::data::HookUsage;
use crate::web::format::{format_duration_ms, render_ago, truncate_text};
use HookColumnValue::{Count, Milliseconds, Source, Time, Trouble};

/// The maximum length of a command.
const MAX_COMMAND_CHARS: usize = 200;

/// A column.
pub(super) struct HookColumn {
    /// The query parameter.
    pub(super) name: &'static str,
    /// The label.
    pub(super) label: &'static str,
    /// The tooltip.
    pub(super) about: &'static str,
    /// The value of a hook.
    value: fn(&HookUsage) -> HookColumnValue<'_>,
}

/// The value of a hook in a column, which is shown and sorted by.
enum HookColumnValue<'a> {
    /// The command and its file.
    Source(&'a HookStats),
    Count(i64),
    /// A number that is highlighted with this CSS class unless it is zero.
    Trouble(i64, &'static str),
    Milliseconds(f64),
    Time(Timestamp),
}

impl HookColumn {
    /// Compares two hooks: sources in ascending order, everything else in descending order.
    pub(super) fn compare_hooks(&self, a: &HookUsage, b: &HookUsage) -> Ordering {
        match ((self.value)(a), (self.value)(b)) {
            (Source(a), Source(b)) => hook_sort_key(a).cmp(&hook_sort_key(b)),
            (Count(a), Count(b)) | (Trouble(a, _), Trouble(b, _)) => b.cmp(&a),
            (Milliseconds(a), Milliseconds(b)) => b.total_cmp(&a),
            (Time(a), Time(b)) => b.cmp(&a),
            // All values of a column have the same type.
            _ => Ordering::Equal,
        }
    }

    /// Renders the value of a hook.
    pub(super) fn render_cell(&self, hook: &HookUsage, now: Timestamp) -> Markup {
        match (self.value)(hook) {
            Source(stats) => render_hook_source(stats),
            Count(number) => html! { (number) },
            Trouble(number, class) => render_trouble_count(number, class),
            Milliseconds(ms) => html! { (format_duration_ms(ms)) },
            Time(at) => render_ago(at, now),
        }
    }
}

/// The column of the default order.
const DEFAULT_COLUMN: &str = "total";

/// Every column.
pub(super) static COLUMNS: &[HookColumn] = &[
    hook_column("hook", "Hook", "the command and its file", |hook| Source(&hook.stats)),
    hook_column("runs", "Runs", "number of runs", |hook| Count(hook.stats.runs)),
    hook_column("failures", "Failed", "number of failed runs", |hook| Trouble(hook.stats.failures, "bad")),
    hook_column("timeouts", "Timed out", "number of runs that timed out", |hook| Trouble(hook.stats.timeouts, "bad")),
    hook_column("blocks", "Blocked", "number of times that it blocked the agent", |hook| {
        Trouble(hook.stats.blocks, "warn")
    }),
    hook_column("p50", "p50", "50 % of the runs took at most this long", |hook| Milliseconds(hook.stats.p50_ms)),
    hook_column("p95", "p95", "95 % of the runs took at most this long", |hook| Milliseconds(hook.stats.p95_ms)),
    hook_column("max", "Longest", "the longest run", |hook| Milliseconds(hook.stats.max_ms)),
    hook_column("total", "Time", "total time of all runs", |hook| Milliseconds(hook.stats.total_ms)),
    hook_column("today", "Today", "total time since midnight UTC", |hook| Milliseconds(hook.today_ms)),
    hook_column("last", "Last run", "time of the last run", |hook| Time(hook.stats.last_run_at)),
];

const fn hook_column(
    name: &'static str,
    label: &'static str,
    about: &'static str,
    value: fn(&HookUsage) -> HookColumnValue<'_>,
) -> HookColumn {
    HookColumn { name, label, about, value }
}

/// The column of the default order.
pub(super) fn default_column() -> &'static HookColumn {
    let found = COLUMNS.iter().find(|column| column.name == DEFAULT_COLUMN);
    found.unwrap_or(&COLUMNS[0])
}

fn hook_sort_key(stats: &HookStats) -> (&str, i64, &str) {
    (&stats.source, stats.line, &stats.command)
}

fn render_hook_source(stats: &HookStats) -> Markup {
    html! {
        code { (truncate_text(&stats.command, MAX_COMMAND_CHARS)) }
        br;
        span.quiet { (truncate_text(&stats.source, MAX_COMMAND_CHARS)) ":" (stats.line) " (" (truncate_text(&stats.contract, 40)) ")" }
    }
}

/// A number that is highlighted unless it is zero.
fn render_trouble_count(number: i64, class: &str) -> Markup {
    html! {
        @if number > 0 { strong class=(class) { (number) } } @else { span.quiet { "0" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_sorted_by_any_column_the_greatest_first() {
        let hook = |number: i64| HookUsage {
            stats: HookStats {
                hook_id: number,
                // Sources are sorted in ascending order, everything else in descending order.
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
            hooks.sort_by(|a, b| column.compare_hooks(a, b));
            let order = hooks.map(|hook| hook.stats.hook_id);
            assert_eq!(order, [3, 2, 1], "{}", column.name);
        }
        assert_eq!(default_column().name, DEFAULT_COLUMN);
    }
}
