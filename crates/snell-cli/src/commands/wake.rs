//! `snell wake`: makes an agent look at what its workers have done.

use anyhow::{Context, bail};

use super::DONE;
use crate::record::open_store::StoreHandle;
use crate::tmux_wake::{self, WakeMode};
use crate::{output, session_arg};

/// Wake an agent up in its tmux pane, so that it is told which workers have finished
///
/// Types a line into the pane and presses Enter. Nothing is typed where the agent is not: the pane must be there, and the
/// agent's process must read what is typed in it. Nothing is typed either while the agent waits for a decision of its
/// user, because Enter might make it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell wake 3\n  snell wake 5f3a2b")]
pub(crate) struct Args {
    /// The agent's number, as `snell agents` shows it, or its session's id, or the beginning of that
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Type into the pane whoever seems to be in it, and whatever the agent waits for
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    if store_handle.has_no_records() {
        bail!("nothing has been recorded yet, so there is no agent");
    }
    let care = if args.force { WakeMode::Forced } else { WakeMode::Checked };
    let typed = match find_agent_by_number(&args.agent, &mut store_handle)? {
        Some(number) => tmux_wake::wake_agent(&mut store_handle, number, care)?,
        None => {
            let session = session_arg::find_by_prefix(&args.agent, &mut store_handle);
            let session = if is_number(&args.agent) { session.context("no agent has that number")? } else { session? };
            tmux_wake::wake_session(&mut store_handle, session.conversation_id, care)?
        }
    };
    output::print_line(&typed);
    Ok(DONE)
}

/// The number, if an agent has it.
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
