//! The summary: what agents were answered, and what the receiver has recorded.

use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::blockers::{self, BLOCKERS, BlockersByCall};
use super::player::{DemoPlayer, DemoStep};
use super::receiver::DemoReceiver;
use super::stage::DemoStage;
use super::terminal;
use crate::output::{
    self, TextStyle, TextTable, apply_style, format_count, shorten_to_one_line, truncate_to_width, wrap_lines,
};

/// A kind of answer: its name, and the details that are printed.
struct AnswerCategory {
    name: &'static str,
    style: TextStyle,
    detail: fn(&DemoStep, &BlockersByCall) -> Option<String>,
    /// How many lines of a terminal the detail may have.
    lines: usize,
}

const CATEGORIES: &[AnswerCategory] = &[
    AnswerCategory { name: "blocked", style: TextStyle::Red, detail: describe_block, lines: 3 },
    AnswerCategory {
        name: "changed",
        style: TextStyle::Yellow,
        detail: |deed, _| deed.answer.changed.as_ref().map(|input| terminal::principal_argument(input).to_owned()),
        lines: 1,
    },
    AnswerCategory {
        name: "context",
        style: TextStyle::Green,
        detail: |deed, _| {
            let context = &deed.answer.context;
            (!context.is_empty()).then(|| terminal::format_context(context))
        },
        lines: 1,
    },
];

/// The indent of a detail.
const INDENT: &str = "         ";

pub(super) async fn print_summary(
    player: &DemoPlayer<'_>,
    stage: &DemoStage,
    house: &DemoReceiver,
) -> anyhow::Result<()> {
    let data = stage.data_dir();
    let blocks = spawn_blocking(move || blockers::load_blockers(&data)).await.context("nobody looked")??;
    let hooks = house.get_json("api/hooks?limit=100").await?;
    let guard = house.get_json("api/guard?limit=100").await?;
    let agents = house.get_json("api/agents?ended=true").await?;
    output::print_line("");
    output::print_heading("What came of it");
    print_answers(player, &blocks);
    output::print_line("");
    output::print_heading("What hooks cost");
    build_cost_table(page_items(&hooks)).print();
    output::print_line("");
    terminal::print_wrapped(&summarize_totals(player, page_items(&hooks), page_items(&guard)), usize::MAX);
    terminal::print_wrapped(&summarize_blocks(&blocks), usize::MAX);
    terminal::print_wrapped(&summarize_wait_times(player), usize::MAX);
    for agent in page_items(&agents).iter().rev() {
        terminal::print_wrapped(&describe_agent_state(agent), AGENT_STATE_LINES);
    }
    Ok(())
}

/// The state of an agent takes at most this many lines.
const AGENT_STATE_LINES: usize = 2;

fn page_items(page: &Value) -> &[Value] {
    page["items"].as_array().map_or(&[], Vec::as_slice)
}

fn text_field<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// Who blocked a call, and the reason.
fn describe_block(deed: &DemoStep, blocks: &BlockersByCall) -> Option<String> {
    let reason = deed.answer.blocked.clone()?;
    let by_whom = deed.call.as_ref().and_then(|call| blocks.get(call));
    Some(match by_whom {
        Some(blocker) => format!("by {blocker}: {reason}"),
        None => reason,
    })
}

fn print_answers(player: &DemoPlayer<'_>, blocks: &BlockersByCall) {
    let width = terminal::display_width().map(|width| width.saturating_sub(INDENT.len()).max(1));
    for kind in CATEGORIES {
        for deed in &player.steps {
            let Some(detail) = (kind.detail)(deed, blocks) else {
                continue;
            };
            let name = apply_style(&format!("{:8}", kind.name), kind.style);
            let happened = format!("{}: {}", deed.agent, terminal::join_lines(&deed.action));
            let happened = width.map_or(happened.clone(), |width| truncate_to_width(&happened, width));
            output::print_text(&format!("{name} {happened}\n"));
            for line in wrap_lines(&terminal::join_lines(&detail), width, kind.lines) {
                output::print_faint(&format!("{INDENT}{line}"));
            }
        }
    }
}

fn build_cost_table(hooks: &[Value]) -> TextTable<6> {
    let mut table = TextTable::new(["CONTRACT", "HOOK", "RUNS", "BLOCKED", "MEDIAN", "SLOWEST"], 1)
        .with_dispensable_columns(&[0, 3]);
    for hook in hooks {
        table.add_row([
            text_field(hook, "contract").to_owned(),
            shorten_to_one_line(text_field(hook, "command"), usize::MAX),
            hook["runs"].to_string(),
            hook["blocks"].to_string(),
            format_milliseconds(hook["p50_ms"].as_f64()),
            format_milliseconds(hook["max_ms"].as_f64()),
        ]);
    }
    table
}

fn summarize_totals(player: &DemoPlayer<'_>, hooks: &[Value], guard: &[Value]) -> String {
    let number = |field: &str| hooks.iter().filter_map(|hook| hook[field].as_u64()).sum::<u64>();
    format!(
        "{}, {} runs of {} ({} failed), {} of the guard.",
        format_count(player.answer_times.len(), "event"),
        number("runs"),
        format_count(hooks.len(), "hook"),
        number("failures") + number("timeouts"),
        format_count(guard.len(), "verdict"),
    )
}

/// How much was blocked, and how much of it by whom: the page about the guard shows only what the guard did.
fn summarize_blocks(blocks: &BlockersByCall) -> String {
    let count_by = |blocker: &&str| {
        let number = blocks.values().filter(|by| *by == blocker).count();
        (number > 0).then(|| format!("{number} by {blocker}"))
    };
    let by: Vec<_> = BLOCKERS.iter().filter_map(count_by).collect();
    format!("{} blocked: {}.", format_count(blocks.len(), "call"), by.join(", "))
}

/// How long agents were held up, from the start of a process to its end.
fn summarize_wait_times(player: &DemoPlayer<'_>) -> String {
    let mut times = player.answer_times.clone();
    times.sort_unstable();
    let took = |time: Option<&Duration>| format_milliseconds(time.map(|time| time.as_secs_f64() * 1000.0));
    let (half, all) = (took(times.get(times.len() / 2)), took(times.last()));
    format!("Half of the answers were there within {half}, all of them within {all}.")
}

fn describe_agent_state(agent: &Value) -> String {
    let state = text_field(agent, "state").replace('_', " ");
    let why = Some(text_field(agent, "why")).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{}: {state}{why}", text_field(agent, "session_id"))
}

fn format_milliseconds(number: Option<f64>) -> String {
    number.map_or_else(|| "-".into(), |number| format!("{number:.1} ms"))
}
