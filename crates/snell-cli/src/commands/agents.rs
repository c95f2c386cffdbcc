//! `snell agents`: the agents and their states.

use std::collections::BTreeMap;
use std::time::Duration;

use snell::Timestamp;
use snell_store::usage::{PriceList, UsagePart};
use snell_store::{AgentActivity, AgentFilter, AgentState, AgentView, ReconcileScope, StateSource};

use super::{DONE, repeat_until_signal};
use crate::env::ConfigArgs;
use crate::output::time::format_elapsed;
use crate::output::{self, TableColumn, TextStyle, TextTable};
use crate::record::open_store::{self, DatabaseArgs, StoreHandle};

/// The refresh interval of `--watch`.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// The longest last words in the table.
const WORDS_SHOWN: usize = 60;

/// The longest reason in the table.
const WHY_SHOWN: usize = 120;

const NO_AGENTS_MESSAGE: &str =
    "No agents yet. An agent appears when it calls `snell hook`. To set it up: snell docs use-agents";

/// Show all agents and their states, those that wait for you first
///
/// A state comes from the agent's last hook event. If its transcript or process shows a newer state, that is used, and the
/// column WHY has the source.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell agents\n  snell agents --watch\n  \
    snell agents --json | jq '.[] | select(.state == \"awaiting_input\")'")]
pub(crate) struct Args {
    /// Include ended agents
    #[arg(long)]
    all: bool,
    /// Refresh every second, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Print JSON, with --watch a line per change
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArgs,
}

/// All agents at one time.
#[derive(Debug, PartialEq)]
struct AgentsSnapshot {
    agents: Vec<AgentView>,
    /// The number of ended agents that are not in the list.
    ended: i64,
    /// The cost of each agent that has not ended, as far as it was counted.
    costs: BTreeMap<i64, String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open_named(&args.database)?;
    if args.watch {
        watch_agents(args, &mut store_handle)?;
        return Ok(DONE);
    }
    let look = load_agents(args, &mut store_handle)?;
    if args.json {
        output::print_json(&look.agents)?;
    } else {
        output::start_paging();
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
            // The times change even if nothing happens.
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
        return Ok(AgentsSnapshot { agents: Vec::new(), ended: 0, costs: BTreeMap::new() });
    }
    let now = store_handle.now();
    let filter = AgentFilter { ended_after: args.all.then_some(Timestamp::MIN), ..AgentFilter::default() };
    let mut sums = Vec::new();
    let mut look = store_handle.query(|store| {
        open_store::reconcile_agents(store, ReconcileScope::All, now)?;
        sums = store.list_agent_usage(None)?;
        let mut agents = store.list_agents(&filter)?;
        open_store::sort_by_urgency(&mut agents);
        let ended = if args.all { 0 } else { store.count_agents(AgentActivity::Ended)? };
        Ok(AgentsSnapshot { agents, ended, costs: BTreeMap::new() })
    })?;
    // Most users do not look at costs here, so the settings are read only if there are any.
    if !sums.is_empty() && !args.json {
        let (engine, _) = ConfigArgs::new(None, None).engine_builder()?.load();
        let costs = UsagePart::by_agent(&sums, &PriceList::new(&engine.settings().usage.prices));
        look.costs = costs.into_iter().map(|(agent_id, part)| (agent_id, part.cost.to_string())).collect();
    }
    Ok(look)
}

const COLUMNS: [TableColumn; 9] = [
    TableColumn::new("AGENT"),
    TableColumn::new("PRODUCT").with_drop_rank(2).optional(),
    TableColumn::new("STATE"),
    TableColumn::new("SINCE").with_drop_rank(3),
    TableColumn::new("PROJECT").with_drop_rank(5),
    TableColumn::new("LAST WORDS").flexible(),
    TableColumn::new("LAST ACTIVE").with_drop_rank(1),
    TableColumn::new("COST").with_drop_rank(2).optional(),
    TableColumn::new("WHY").with_drop_rank(4).optional(),
];

fn render_agents(look: &AgentsSnapshot, now: Timestamp) -> String {
    if look.agents.is_empty() {
        let ended = usize::try_from(look.ended).unwrap_or(0);
        return match ended {
            0 => format!("{NO_AGENTS_MESSAGE}\n"),
            _ => format!(
                "No agents at work. {} ended: `snell agents --all` includes them.\n",
                output::format_count(ended, "agent")
            ),
        };
    }
    let mut table = TextTable::new(COLUMNS);
    for agent in &look.agents {
        let plain = |text: String| (text, TextStyle::Plain);
        table.add_styled_row([
            plain(agent.agent_id.to_string()),
            plain(agent.product.clone().unwrap_or_default()),
            (format_agent_state(agent), state_style(agent.activity())),
            plain(format_elapsed(agent.state_since, now)),
            plain(agent.project.clone()),
            plain(output::shorten_to_one_line(agent.last_words.as_deref().unwrap_or_default(), WORDS_SHOWN)),
            plain(format!("{} ago", format_elapsed(agent.last_seen_at, now))),
            plain(look.costs.get(&agent.agent_id).cloned().unwrap_or_default()),
            (explain_agent_state(agent, now), TextStyle::Faint),
        ]);
    }
    table.render()
}

/// The state, with the current tool or the work in the background.
fn format_agent_state(agent: &AgentView) -> String {
    let detail = match agent.background {
        Some(work) => work.describe(),
        None => agent.current_tool.clone().unwrap_or_default(),
    };
    format!("{} {detail}", agent.activity()).trim_end().to_owned()
}

fn state_style(activity: AgentActivity) -> TextStyle {
    match activity {
        AgentActivity::AwaitingInput => TextStyle::Urgent,
        AgentActivity::Processing | AgentActivity::Background => TextStyle::Bold,
        AgentActivity::Idle => TextStyle::Plain,
        AgentActivity::Ended => TextStyle::Faint,
    }
}

/// For how long an agent that works has shown no sign of life; the source of a state that no hook reported; or what the agent waits for, unless its last words show it.
fn explain_agent_state(agent: &AgentView, now: Timestamp) -> String {
    if let Some(since) = agent.silent_since {
        return format!("no sign of life for {}", format_elapsed(since, now));
    }
    let words = output::shorten_to_one_line(agent.last_words.as_deref().unwrap_or_default(), WORDS_SHOWN);
    match agent.state_source {
        StateSource::Hook if agent.state != AgentState::AwaitingInput => String::new(),
        StateSource::Hook if !words.is_empty() && agent.why.ends_with(&words) => String::new(),
        StateSource::Hook => output::shorten_to_one_line(&agent.why, WHY_SHOWN),
        source => format!("{} ({source}, {} confidence)", agent.why, agent.confidence),
    }
}
