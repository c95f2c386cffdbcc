//! The summary: the answers to agents, and the records.

use std::collections::HashMap;
use std::time::Duration;

use snell::Timestamp;
use snell_store::{
    AgentFilter, AgentView, ExportLine, GuardFilter, GuardVerdictView, HookRunView, HookStats, Result, Store,
};

use super::cast::DemoAgent;
use super::player::{DemoPlayer, DemoStep};
use super::stage::DemoStage;
use super::terminal;
use crate::output::{
    self, TableColumn, TextStyle, TextTable, apply_style, format_count, shorten_to_one_line, truncate_to_width,
    wrap_lines,
};

/// The parts of Snell that can block a call.
const BLOCKERS: [&str; 3] = [GUARD, HOOKS, MESSAGES];
const GUARD: &str = "the guard";
const HOOKS: &str = "hooks";
const MESSAGES: &str = "the messaging rules";

/// The part that blocked each call, by the id of the call.
type BlockersByCall = HashMap<String, &'static str>;

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
        detail: |step, _| step.answer.changed.as_ref().map(|input| terminal::principal_argument(input).to_owned()),
        lines: 1,
    },
    AnswerCategory {
        name: "context",
        style: TextStyle::Green,
        detail: |step, _| {
            let context = &step.answer.context;
            (!context.is_empty()).then(|| terminal::format_context(context))
        },
        lines: 1,
    },
];

/// The indent of a detail.
const INDENT: &str = "         ";

pub(super) fn print_summary(player: &DemoPlayer<'_>, stage: &DemoStage) -> anyhow::Result<()> {
    let all_agents = AgentFilter { ended_after: Some(Timestamp::MIN), ..AgentFilter::default() };
    let (blocks, hooks, verdicts, agents) = stage.query_store(|store| {
        let verdicts = store.query_guard_log(&GuardFilter { limit: 100, ..GuardFilter::default() })?.len();
        Ok((
            load_blockers(store)?,
            store.list_hook_stats(Timestamp::UNIX_EPOCH)?,
            verdicts,
            store.list_agents(&all_agents)?,
        ))
    })?;
    output::print_line("");
    output::print_heading("Results");
    print_answers(player, &blocks);
    output::print_line("");
    output::print_heading("Time of hooks");
    build_cost_table(&hooks).print();
    output::print_line("");
    terminal::print_wrapped(&summarize_totals(player, &hooks, verdicts), usize::MAX);
    terminal::print_wrapped(&summarize_blocks(&blocks), usize::MAX);
    terminal::print_wrapped(&summarize_wait_times(player), usize::MAX);
    for agent in agents.iter().rev() {
        terminal::print_wrapped(&describe_agent_state(agent), AGENT_STATE_LINES);
    }
    Ok(())
}

/// The state of an agent takes at most this many lines.
const AGENT_STATE_LINES: usize = 2;

/// The part that blocked a call, and the reason.
fn describe_block(step: &DemoStep, blocks: &BlockersByCall) -> Option<String> {
    let reason = step.answer.blocked.clone()?;
    let blocker_of_call = step.call.as_ref().and_then(|call| blocks.get(call));
    Some(match blocker_of_call {
        Some(blocker) => format!("by {blocker}: {reason}"),
        None => reason,
    })
}

fn print_answers(player: &DemoPlayer<'_>, blocks: &BlockersByCall) {
    let width = terminal::display_width().map(|width| width.saturating_sub(INDENT.len()).max(1));
    for kind in CATEGORIES {
        for step in &player.steps {
            let Some(detail) = (kind.detail)(step, blocks) else {
                continue;
            };
            let name = apply_style(&format!("{:8}", kind.name), kind.style);
            let happened = format!("{}: {}", step.agent, terminal::join_lines(&step.action));
            let happened = width.map_or(happened.clone(), |width| truncate_to_width(&happened, width));
            output::print_text(&format!("{name} {happened}\n"));
            for line in wrap_lines(&terminal::join_lines(&detail), width, kind.lines) {
                output::print_faint(&format!("{INDENT}{line}"));
            }
        }
    }
}

const COST_COLUMNS: [TableColumn; 6] = [
    TableColumn::new("CONTRACT").with_drop_rank(1),
    TableColumn::new("HOOK").flexible(),
    TableColumn::new("RUNS"),
    TableColumn::new("BLOCKED").with_drop_rank(2),
    TableColumn::new("MEDIAN"),
    TableColumn::new("SLOWEST"),
];

fn build_cost_table(hooks: &[HookStats]) -> TextTable<6> {
    let mut table = TextTable::new(COST_COLUMNS);
    for hook in hooks {
        table.add_row([
            hook.contract.clone(),
            shorten_to_one_line(&hook.command, usize::MAX),
            hook.runs.to_string(),
            hook.blocks.to_string(),
            format_milliseconds(hook.p50_ms),
            format_milliseconds(hook.max_ms),
        ]);
    }
    table
}

fn summarize_totals(player: &DemoPlayer<'_>, hooks: &[HookStats], verdicts: usize) -> String {
    format!(
        "{}, {} runs of {} ({} failed), {} of the guard.",
        format_count(player.answer_times.len(), "event"),
        hooks.iter().map(|hook| hook.runs).sum::<i64>(),
        format_count(hooks.len(), "hook"),
        hooks.iter().map(|hook| hook.failures + hook.timeouts).sum::<i64>(),
        format_count(verdicts, "verdict"),
    )
}

/// The number of blocked calls, by the part that blocked them.
fn summarize_blocks(blocks: &BlockersByCall) -> String {
    let count_by = |blocker: &&str| {
        let number = blocks.values().filter(|by| *by == blocker).count();
        (number > 0).then(|| format!("{number} by {blocker}"))
    };
    let by: Vec<_> = BLOCKERS.iter().filter_map(count_by).collect();
    format!("{} blocked: {}.", format_count(blocks.len(), "call"), by.join(", "))
}

/// The time that agents waited, from the start of a process to its end.
fn summarize_wait_times(player: &DemoPlayer<'_>) -> String {
    let mut times = player.answer_times.clone();
    times.sort_unstable();
    let took = |time: Option<&Duration>| format_milliseconds(time.map_or(0.0, |time| time.as_secs_f64() * 1000.0));
    let (half, all) = (took(times.get(times.len() / 2)), took(times.last()));
    format!("Answer times: median {half}, maximum {all}.")
}

fn describe_agent_state(agent: &AgentView) -> String {
    let state = agent.activity().to_string().replace('_', " ");
    let why = if agent.why.is_empty() { String::new() } else { format!(" ({})", agent.why) };
    format!("{}: {state}{why}", agent.session_id.as_deref().unwrap_or_default())
}

fn format_milliseconds(number: f64) -> String {
    format!("{number:.1} ms")
}

fn load_blockers(store: &mut Store) -> Result<BlockersByCall> {
    let mut blocks = BlockersByCall::new();
    for who in DemoAgent::ALL {
        for session in store.find_sessions(who.name())? {
            store.export_session(&session, &mut |line| {
                insert_blocker(line, &mut blocks);
                true
            })?;
        }
    }
    Ok(blocks)
}

fn insert_blocker(line: ExportLine, blocks: &mut BlockersByCall) {
    let ExportLine::Event { event, hook_runs, guard_verdicts } = line else {
        return;
    };
    let call = event.payload["tool_use_id"].as_str();
    if let (Some("block"), Some(call)) = (event.decision.as_deref(), call) {
        blocks.insert(call.to_owned(), find_blocker(&hook_runs, &guard_verdicts));
    }
}

/// The part that blocked an event: the guard, else the hooks, else the messaging rules.
fn find_blocker(runs: &[HookRunView], verdicts: &[GuardVerdictView]) -> &'static str {
    if verdicts.iter().any(|verdict| verdict.decision == "deny") {
        GUARD
    } else if runs.iter().any(|run| run.status == "blocked") {
        HOOKS
    } else {
        MESSAGES
    }
}
