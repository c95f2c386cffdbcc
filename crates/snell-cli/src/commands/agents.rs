//! `snell agents`: what every agent is doing.

use std::time::Duration;

use snell::Timestamp;
use snell_store::{AgentFilter, AgentView, Source, State};

use super::{DONE, again_and_again};
use crate::memory::{self, Memory};
use crate::output::{self, Style, Table};
use crate::times::how_long;

/// How often a watcher looks.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// How much of an agent's last words is shown.
const WORDS_SHOWN: usize = 60;

/// How much of what an agent waits for is shown.
const WHY_SHOWN: usize = 120;

const NOBODY_YET: &str =
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
struct Look {
    agents: Vec<AgentView>,
    /// How many have ended and are not among them.
    ended: i64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    if args.watch {
        watch(args, &mut memory)?;
        return Ok(DONE);
    }
    let look = look(args, &mut memory)?;
    if args.json {
        output::json(&look.agents)?;
    } else {
        output::text(&shown(&look, memory.now()));
    }
    Ok(DONE)
}

fn watch(args: &Args, memory: &mut Memory) -> anyhow::Result<()> {
    let mut last = None;
    again_and_again(WATCH_EVERY, || {
        let look = look(args, memory)?;
        let changed = last.as_ref() != Some(&look);
        if args.json {
            if changed {
                output::json_line(&look.agents)?;
            }
        } else if output::is_terminal() {
            // Times pass also when nothing happens.
            output::redraw(&shown(&look, memory.now()));
        } else if changed {
            let gap = if last.is_some() { "\n" } else { "" };
            output::text(&format!("{gap}{}", shown(&look, memory.now())));
        }
        last = Some(look);
        Ok(())
    })
}

fn look(args: &Args, memory: &mut Memory) -> anyhow::Result<Look> {
    if memory.is_blank() {
        return Ok(Look {
            agents: Vec::new(),
            ended: 0,
        });
    }
    let now = memory.now();
    let filter = AgentFilter {
        ended_after: args.all.then_some(Timestamp::MIN),
        ..AgentFilter::default()
    };
    memory.ask(|store| {
        memory::look_after(store, now)?;
        let mut agents = store.agents(&filter)?;
        memory::by_urgency(&mut agents);
        let ended = if args.all { 0 } else { store.count_agents(State::Ended)? };
        Ok(Look { agents, ended })
    })
}

fn shown(look: &Look, now: Timestamp) -> String {
    if look.agents.is_empty() {
        let ended = usize::try_from(look.ended).unwrap_or(0);
        return match ended {
            0 => format!("{NOBODY_YET}\n"),
            _ => format!(
                "No agent is at work. {} ended; `snell agents --all` shows them.\n",
                output::count(ended, "agent")
            ),
        };
    }
    let titles = ["AGENT", "STATE", "SINCE", "PROJECT", "LAST WORDS", "LAST ACTIVE", "WHY"];
    let mut table = Table::new(titles, 4).optional(6);
    for agent in &look.agents {
        let plain = |text: String| (text, Style::Plain);
        table.styled_row([
            plain(agent.agent_id.to_string()),
            (state(agent), style(agent.state)),
            plain(how_long(agent.state_since, now)),
            plain(agent.project.clone()),
            plain(output::in_brief(
                agent.last_words.as_deref().unwrap_or_default(),
                WORDS_SHOWN,
            )),
            plain(format!("{} ago", how_long(agent.last_seen_at, now))),
            (why(agent), Style::Faint),
        ]);
    }
    table.text()
}

/// The state, and the tool that it is about.
fn state(agent: &AgentView) -> String {
    match &agent.current_tool {
        Some(tool) => format!("{} {tool}", agent.state),
        None => agent.state.to_string(),
    }
}

fn style(state: State) -> Style {
    match state {
        State::AwaitingInput => Style::Urgent,
        State::Processing => Style::Bold,
        State::Idle => Style::Plain,
        State::Ended => Style::Faint,
    }
}

/// How the state is known, if the agent did not say so itself; and what it waits for, unless its last words are that.
fn why(agent: &AgentView) -> String {
    let words = output::in_brief(agent.last_words.as_deref().unwrap_or_default(), WORDS_SHOWN);
    match agent.state_source {
        Source::Hook if agent.state != State::AwaitingInput => String::new(),
        Source::Hook if !words.is_empty() && agent.why.ends_with(&words) => String::new(),
        Source::Hook => output::in_brief(&agent.why, WHY_SHOWN),
        source => format!("{} ({source}, {} confidence)", agent.why, agent.confidence),
    }
}
