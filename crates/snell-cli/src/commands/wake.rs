//! `snell wake`: wakes an agent, so that it reads its workers' results.

use anyhow::{Context, bail};

use super::DONE;
use crate::record::open_store::StoreHandle;
use crate::tmux_wake::{self, WakeMode};
use crate::{output, session_arg};

/// Wake an agent in its tmux pane, to read its workers' results
///
/// Types a line into the pane and presses Enter. It refuses if the pane is gone or the agent's process does not read from it.
/// It also refuses while the agent waits for a decision of its user, because Enter could make that decision.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell wake 3\n  snell wake 5f3a2b")]
pub(crate) struct Args {
    /// Number of the agent in `snell agents`, or its session id
    ///
    /// The beginning of a session id is enough.
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Skip these checks and type into the pane
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    if store_handle.has_no_records() {
        bail!("no agent has been recorded yet");
    }
    let care = if args.force { WakeMode::Forced } else { WakeMode::Checked };
    let typed = match find_agent_by_number(&args.agent, &mut store_handle)? {
        Some(number) => tmux_wake::wake_agent(&mut store_handle, number, care)?,
        None => {
            let session = session_arg::find_by_prefix(&args.agent, &mut store_handle);
            let session = if is_number(&args.agent) {
                session.with_context(|| format!("no agent has the number {}", args.agent))?
            } else {
                session?
            };
            tmux_wake::wake_session(&mut store_handle, session.conversation_id, care)?
        }
    };
    output::print_line(&typed);
    Ok(DONE)
}

/// The agent with this number.
fn find_agent_by_number(text: &str, store_handle: &mut StoreHandle) -> anyhow::Result<Option<i64>> {
    let Ok(number) = text.parse() else {
        return Ok(None);
    };
    let agent = store_handle.query(|store| store.find_agent_location(number))?;
    Ok(agent.map(|agent| agent.agent_id))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
