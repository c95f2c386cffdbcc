//! What happened in all: what agents were answered, and what the receiver has of it.

use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::blocks::{self, Blocker, Blocks};
use super::house::House;
use super::player::{Deed, Player};
use super::stage::Stage;
use super::teller;
use crate::output::{self, Style, Table, count, in_brief, shortened, styled, wrapped};

/// A kind of answer: what it is called, and what is told of it.
struct Kind {
    name: &'static str,
    style: Style,
    detail: fn(&Deed, &Blocks) -> Option<String>,
    /// How many lines of a terminal the detail may have.
    lines: usize,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "blocked",
        style: Style::Red,
        detail: by_whom_and_why,
        lines: 3,
    },
    Kind {
        name: "changed",
        style: Style::Yellow,
        detail: |deed, _| {
            deed.answer
                .changed
                .as_ref()
                .map(|input| teller::about(input).to_owned())
        },
        lines: 1,
    },
    Kind {
        name: "context",
        style: Style::Green,
        detail: |deed, _| {
            let context = &deed.answer.context;
            (!context.is_empty()).then(|| teller::for_people(context))
        },
        lines: 1,
    },
];

/// What a detail is set in by.
const INDENT: &str = "         ";

pub(super) async fn tell(player: &Player<'_>, stage: &Stage, house: &House) -> anyhow::Result<()> {
    let data = stage.data();
    let blocks = spawn_blocking(move || blocks::look(&data))
        .await
        .context("nobody looked")??;
    let hooks = house.ask("api/hooks?limit=100").await?;
    let guard = house.ask("api/guard?limit=100").await?;
    let agents = house.ask("api/agents?ended=true").await?;
    output::line("");
    output::heading("What came of it");
    answers(player, &blocks);
    output::line("");
    output::heading("What hooks cost");
    costs(items(&hooks)).print();
    output::line("");
    teller::say(&in_all(player, items(&hooks), items(&guard)), usize::MAX);
    teller::say(&blocked(&blocks), usize::MAX);
    teller::say(&waiting(player), usize::MAX);
    for agent in items(&agents).iter().rev() {
        teller::say(&standing(agent), STANDING_LINES);
    }
    Ok(())
}

/// In how many lines it is said at most how an agent stands.
const STANDING_LINES: usize = 2;

fn items(page: &Value) -> &[Value] {
    page["items"].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// Why something was blocked, in the words of those who did.
fn by_whom_and_why(deed: &Deed, blocks: &Blocks) -> Option<String> {
    let reason = deed.answer.blocked.clone()?;
    let by_whom = deed.call.as_ref().and_then(|call| blocks.get(call));
    Some(match by_whom {
        Some(blocker) => format!("by {}: {reason}", blocker.name()),
        None => reason,
    })
}

fn answers(player: &Player<'_>, blocks: &Blocks) {
    let width = teller::width().map(|width| width.saturating_sub(INDENT.len()).max(1));
    for kind in KINDS {
        for deed in &player.deeds {
            let Some(detail) = (kind.detail)(deed, blocks) else {
                continue;
            };
            let name = styled(&format!("{:8}", kind.name), kind.style);
            let happened = format!("{}: {}", deed.who, teller::on_one_line(&deed.happened));
            let happened = width.map_or(happened.clone(), |width| shortened(&happened, width));
            output::text(&format!("{name} {happened}\n"));
            for line in wrapped(&teller::on_one_line(&detail), width, kind.lines) {
                output::faint(&format!("{INDENT}{line}"));
            }
        }
    }
}

fn costs(hooks: &[Value]) -> Table<6> {
    let mut table = Table::new(["CONTRACT", "HOOK", "RUNS", "BLOCKED", "MEDIAN", "SLOWEST"], 1).dispensable(&[0, 3]);
    for hook in hooks {
        table.row([
            text(hook, "contract").to_owned(),
            in_brief(text(hook, "command"), usize::MAX),
            hook["runs"].to_string(),
            hook["blocks"].to_string(),
            milliseconds(hook["p50_ms"].as_f64()),
            milliseconds(hook["max_ms"].as_f64()),
        ]);
    }
    table
}

fn in_all(player: &Player<'_>, hooks: &[Value], guard: &[Value]) -> String {
    let number = |field: &str| hooks.iter().filter_map(|hook| hook[field].as_u64()).sum::<u64>();
    format!(
        "{}, {} runs of {} ({} failed), {} of the guard.",
        count(player.answered_in.len(), "event"),
        number("runs"),
        count(hooks.len(), "hook"),
        number("failures") + number("timeouts"),
        count(guard.len(), "verdict"),
    )
}

/// How much was blocked, and how much of it by whom: the page about the guard shows only what the guard did.
fn blocked(blocks: &Blocks) -> String {
    let by = |blocker: &Blocker| {
        let number = blocks.values().filter(|by| *by == blocker).count();
        (number > 0).then(|| format!("{number} by {}", blocker.name()))
    };
    let by: Vec<_> = Blocker::ALL.iter().filter_map(by).collect();
    format!("{} blocked: {}.", count(blocks.len(), "call"), by.join(", "))
}

/// How long agents were held up, from the start of a process to its end.
fn waiting(player: &Player<'_>) -> String {
    let mut times = player.answered_in.clone();
    times.sort_unstable();
    let took = |time: Option<&Duration>| milliseconds(time.map(|time| time.as_secs_f64() * 1000.0));
    let (half, all) = (took(times.get(times.len() / 2)), took(times.last()));
    format!("Half of the answers were there within {half}, all of them within {all}.")
}

fn standing(agent: &Value) -> String {
    let state = text(agent, "state").replace('_', " ");
    let why = Some(text(agent, "why")).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{}: {state}{why}", text(agent, "session_id"))
}

fn milliseconds(number: Option<f64>) -> String {
    number.map_or_else(|| "-".into(), |number| format!("{number:.1} ms"))
}
