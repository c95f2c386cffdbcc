//! `snell agents`: what every agent is doing.

use std::time::Duration;

use snell::Timestamp;
use snell_store::{AgentFilter, AgentState, AgentView, ReconcileScope, StateSource};

use super::{DONE, repeat_until_signal};
use crate::output::time::format_elapsed;
use crate::output::{self, TextStyle, TextTable};
use crate::record::open_store::{self, StoreHandle};

/// How often a watcher looks.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// How much of an agent's last words is shown.
const WORDS_SHOWN: usize = 60;

/// How much of what an agent waits for is shown.
const WHY_SHOWN: usize = 120;

const NO_AGENTS_MESSAGE: &str =
    "No agent has been seen yet. Agents are seen once they call `snell hook`; `snell docs guest` shows how.";

/// Show what every agent is doing; those that wait for you come first
///
/// A state is what the agent's hooks said last. Where a transcript or a process shows something newer, that counts, and
/// the column WHY says how it is known.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell agents\n  snell agents --watch\n  \
    snell agents --json | jq '.[] | select(.state == \"awaiting_input\")'")]
pub(crate) struct Args {
    /// Show those that have ended, too
    #[arg(long)]
    all: bool,
    /// Look again every second, until interrupted
    #[arg(long)]
    watch: bool,
    /// Print JSON; with --watch, a line of it each time that something has changed
    #[arg(long)]
    json: bool,
}

/// What a look at all agents shows.
#[derive(Debug, PartialEq)]
struct AgentsSnapshot {
    agents: Vec<AgentView>,
    /// How many have ended and are not among them.
    ended: i64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    if args.watch {
        watch_agents(args, &mut store_handle)?;
        return Ok(DONE);
    }
    let look = load_agents(args, &mut store_handle)?;
    if args.json {
        output::print_json(&look.agents)?;
    } else {
        output::print_text(&render_agents(&look, store_handle.now()));
    }
    Ok(DONE)
}

fn watch_agents(args: &Args, store_handle: &mut StoreHandle) -> anyhow::Result<()> {
    let mut last = None;
    repeat_until_signal(WATCH_INTERVAL, || {
        let look = load_agents(args, store_handle)?;
        let changed = last.as_ref() != Some(&look);
        if args.json {
            if changed {
                output::print_json_line(&look.agents)?;
            }
        } else if output::is_terminal() {
            // Times pass also when nothing happens.
            output::redraw_screen(&render_agents(&look, store_handle.now()));
        } else if changed {
            let gap = if last.is_some() { "\n" } else { "" };
            output::print_text(&format!("{gap}{}", render_agents(&look, store_handle.now())));
        }
        last = Some(look);
        Ok(())
    })
}

fn load_agents(args: &Args, store_handle: &mut StoreHandle) -> anyhow::Result<AgentsSnapshot> {
    if store_handle.has_no_records() {
        return Ok(AgentsSnapshot { agents: Vec::new(), ended: 0 });
    }
    let now = store_handle.now();
    let filter = AgentFilter { ended_after: args.all.then_some(Timestamp::MIN), ..AgentFilter::default() };
    store_handle.query(|store| {
        open_store::reconcile_agents(store, ReconcileScope::All, now)?;
        let mut agents = store.list_agents(&filter)?;
        open_store::sort_by_urgency(&mut agents);
        let ended = if args.all { 0 } else { store.count_agents(AgentState::Ended)? };
        Ok(AgentsSnapshot { agents, ended })
    })
}

fn render_agents(look: &AgentsSnapshot, now: Timestamp) -> String {
    if look.agents.is_empty() {
        let ended = usize::try_from(look.ended).unwrap_or(0);
        return match ended {
            0 => format!("{NO_AGENTS_MESSAGE}\n"),
            _ => format!(
                "No agent is at work. {} ended; `snell agents --all` shows them.\n",
                output::format_count(ended, "agent")
            ),
        };
    }
    let titles = ["AGENT", "STATE", "SINCE", "PROJECT", "LAST WORDS", "LAST ACTIVE", "WHY"];
    let mut table = TextTable::new(titles, 4).with_optional_column(6);
    for agent in &look.agents {
        let plain = |text: String| (text, TextStyle::Plain);
        table.add_styled_row([
            plain(agent.agent_id.to_string()),
            (format_agent_state(agent), state_style(agent.state)),
            plain(format_elapsed(agent.state_since, now)),
            plain(agent.project.clone()),
            plain(output::shorten_to_one_line(agent.last_words.as_deref().unwrap_or_default(), WORDS_SHOWN)),
            plain(format!("{} ago", format_elapsed(agent.last_seen_at, now))),
            (explain_agent_state(agent), TextStyle::Faint),
        ]);
    }
    table.render()
}

/// The state, and the tool that it is about.
fn format_agent_state(agent: &AgentView) -> String {
    match &agent.current_tool {
        Some(tool) => format!("{} {tool}", agent.state),
        None => agent.state.to_string(),
    }
}

fn state_style(state: AgentState) -> TextStyle {
    match state {
        AgentState::AwaitingInput => TextStyle::Urgent,
        AgentState::Processing => TextStyle::Bold,
        AgentState::Idle => TextStyle::Plain,
        AgentState::Ended => TextStyle::Faint,
    }
}

/// How the state is known, if the agent did not say so itself; and what it waits for, unless its last words are that.
fn explain_agent_state(agent: &AgentView) -> String {
    let words = output::shorten_to_one_line(agent.last_words.as_deref().unwrap_or_default(), WORDS_SHOWN);
    match agent.state_source {
        StateSource::Hook if agent.state != AgentState::AwaitingInput => String::new(),
        StateSource::Hook if !words.is_empty() && agent.why.ends_with(&words) => String::new(),
        StateSource::Hook => output::shorten_to_one_line(&agent.why, WHY_SHOWN),
        source => format!("{} ({source}, {} confidence)", agent.why, agent.confidence),
    }
}
