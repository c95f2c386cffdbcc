//! Types a line into an agent's terminal, so that the agent wakes up and reads its workers' results.

mod wake_lock;

use anyhow::{Context, bail};
use snell_server::reconciler::tmux::{TmuxPaneDetails, TmuxServer};
use snell_store::{AgentLocation, AgentState, ReconcileScope};

use crate::commands::block_on;
use crate::env::caller::CallerEnv;
use crate::output::time::{format_elapsed, format_time};
use crate::output::{CommandError, shorten_to_one_line};
use crate::record::open_store::{self, StoreHandle};
use crate::session_arg::load_session_row;
use wake_lock::WakeLock;

/// The reason why an agent waits is shown up to this width.
const MAX_REASON_CELLS: usize = 100;

/// Whether to check that the agent would read the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeMode {
    /// Types nothing if the agent is not in the pane, or if Enter might answer a question for its user.
    Checked,
    /// The user passed --force.
    Forced,
}

/// The state of an agent's process.
#[derive(Clone, Copy, Debug)]
enum AgentLiveness {
    /// No process is known, or the known one was not certain and has ended.
    Unknown,
    /// It has ended.
    Gone,
    /// It runs.
    Alive {
        /// Whether it runs in the pane, if known.
        in_pane: Option<bool>,
        /// Whether it is in the foreground of the pane, if known.
        in_foreground: Option<bool>,
    },
}

/// Wakes up the agent of a session.
pub(crate) fn wake_session(
    store_handle: &mut StoreHandle,
    conversation_id: i64,
    care: WakeMode,
) -> anyhow::Result<String> {
    let session = load_session_row(conversation_id, store_handle)?;
    let agent = locate_agent(store_handle, session.agent_id)?;
    let id = &session.session_id;
    if agent.conversation_id != Some(conversation_id) {
        bail!("agent {} moved from session {id} to another session", agent.agent_id);
    }
    wake_agent(store_handle, session.agent_id, care)
}

/// Wakes up an agent. Other wake-ups of the agent wait, so that each line stays together with its Enter.
pub(crate) fn wake_agent(store_handle: &mut StoreHandle, number: i64, care: WakeMode) -> anyhow::Result<String> {
    let _turn = WakeLock::acquire(store_handle.data_dir(), number)?;
    let mut agent = locate_agent(store_handle, number)?;
    if care == WakeMode::Checked && agent.state == AgentState::AwaitingInput {
        let now = store_handle.now();
        store_handle.query(|store| open_store::reconcile_agents(store, ReconcileScope::Agent(number), now))?;
        agent = locate_agent(store_handle, number)?;
        if agent.state == AgentState::AwaitingInput {
            return Err(explain_awaiting_user(&agent, store_handle).into());
        }
    }
    type_wake_line(&agent, care)
}

fn locate_agent(store_handle: &mut StoreHandle, number: i64) -> anyhow::Result<AgentLocation> {
    let agent = store_handle.query(|store| store.find_agent_location(number))?;
    agent.with_context(|| format!("agent {number} was removed, because it is too old"))
}

/// Why not to wake up an agent that waits for its user.
fn explain_awaiting_user(agent: &AgentLocation, store_handle: &StoreHandle) -> CommandError {
    let (number, since) = (agent.agent_id, agent.state_since);
    CommandError::new(format!(
        "agent {number} waits for its user to decide, and pressing Enter could answer for the user ({} since {}, {} ago: {})",
        agent.state,
        format_time(since),
        format_elapsed(since, store_handle.now()),
        shorten_to_one_line(&agent.why, MAX_REASON_CELLS)
    ))
    .with_hint(format!("wake it up after the decision, or run: snell wake {number} --force"))
}

fn type_wake_line(agent: &AgentLocation, care: WakeMode) -> anyhow::Result<String> {
    let number = agent.agent_id;
    if agent.state == AgentState::Ended {
        bail!("agent {number} has ended");
    }
    if !agent.is_here {
        let host = agent.host.as_deref().unwrap_or("another host");
        return Err(CommandError::new(format!("agent {number} runs on {host}")).with_hint("wake it up there").into());
    }
    let Some(pane) = agent.tmux_pane.as_deref() else {
        bail!("agent {number} is not in a tmux pane");
    };
    let text = CallerEnv::load_user_settings()?.messages.wake_up_prompt();
    let server = TmuxServer::new(agent.tmux_server.clone());
    block_on(async {
        let panes = server.list_panes().await;
        let panes = panes.with_context(|| format!("cannot read the tmux pane {pane} of agent {number}"))?;
        // Only an id that tmux reported is passed to tmux.
        let Some(found) = panes.into_iter().find(|found| found.pane.id == pane) else {
            bail!("the tmux pane {pane} of agent {number} is closed");
        };
        if found.pane.is_dead {
            bail!("the program in the tmux pane {pane} of agent {number} has ended");
        }
        if care == WakeMode::Checked
            && let Some(objection) = find_objection(check_liveness(agent, &found), &found)
        {
            let problem = format!("agent {number} would not read a line in the tmux pane {pane}: {objection}");
            return Err(CommandError::new(problem).with_hint("pass --force to type it anyway").into());
        }
        let typed = server.type_line(&found, &text).await;
        typed.with_context(|| format!("cannot type into the tmux pane {pane} of agent {number}"))
    })??;
    Ok(format!("Typed into the tmux pane {pane}: {text}"))
}

fn check_liveness(agent: &AgentLocation, pane: &TmuxPaneDetails) -> AgentLiveness {
    // The shell of a user who tries a hook by hand looks like an agent's process.
    let Some(process) = agent.process.filter(|process| !process.is_interactive_shell()) else {
        return AgentLiveness::Unknown;
    };
    if process.is_gone() {
        // An uncertain process may have been a short-lived helper, so its end proves nothing.
        return if agent.process_is_certain { AgentLiveness::Gone } else { AgentLiveness::Unknown };
    }
    AgentLiveness::Alive {
        in_pane: pane.pid.and_then(|pid| process.is_descendant_of(pid)),
        in_foreground: process.is_in_foreground(),
    }
}

/// Why not to type into this pane; nothing if the agent reads it. Pure: it reads no system state.
fn find_objection(life: AgentLiveness, pane: &TmuxPaneDetails) -> Option<String> {
    if pane.is_synchronized {
        return Some("the other panes of its window would get the line too (synchronize-panes)".into());
    }
    if pane.takes_no_input {
        return Some("its input is turned off".into());
    }
    let shell = || {
        let shown = pane.pane.is_showing_shell();
        shown.then(|| format!("a shell ({}) is waiting there", pane.pane.command))
    };
    match life {
        AgentLiveness::Gone => Some("its process has ended".into()),
        AgentLiveness::Alive { in_pane: Some(false), .. } => Some("its process does not run there".into()),
        AgentLiveness::Alive { in_foreground: Some(false), .. } => {
            Some(format!("{} is in the foreground", pane.pane.command))
        }
        AgentLiveness::Alive { in_pane: Some(true), .. } => None,
        AgentLiveness::Unknown | AgentLiveness::Alive { in_pane: None, .. } => shell(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snell_store::TmuxPane;

    fn build_pane(command: &str) -> TmuxPaneDetails {
        TmuxPaneDetails {
            pane: TmuxPane { id: "%1".into(), is_dead: false, command: command.into() },
            pid: Some(7),
            is_in_mode: false,
            is_synchronized: false,
            takes_no_input: false,
        }
    }

    fn alive_agent(in_pane: Option<bool>, in_foreground: Option<bool>) -> AgentLiveness {
        AgentLiveness::Alive { in_pane, in_foreground }
    }

    #[test]
    fn nothing_is_typed_where_the_agent_is_not() {
        let rows = [
            (AgentLiveness::Unknown, "claude", None),
            (AgentLiveness::Unknown, "-zsh", Some("a shell (-zsh) is waiting there")),
            (AgentLiveness::Gone, "claude", Some("its process has ended")),
            (alive_agent(Some(true), Some(true)), "bash", None),
            (alive_agent(Some(true), None), "bash", None),
            (alive_agent(Some(true), Some(false)), "vim", Some("vim is in the foreground")),
            (alive_agent(Some(false), Some(true)), "claude", Some("its process does not run there")),
            (alive_agent(None, None), "claude", None),
            (alive_agent(None, None), "fish", Some("a shell (fish) is waiting there")),
        ];
        for (life, command, expected) in rows {
            assert_eq!(find_objection(life, &build_pane(command)).as_deref(), expected, "{life:?} {command}");
        }
    }

    #[test]
    fn a_pane_that_shares_or_drops_what_is_typed_is_left_alone() {
        let shares = TmuxPaneDetails { is_synchronized: true, ..build_pane("claude") };
        let drops = TmuxPaneDetails { takes_no_input: true, ..build_pane("claude") };
        for pane in [shares, drops] {
            assert!(find_objection(alive_agent(Some(true), Some(true)), &pane).is_some(), "{pane:?}");
        }
    }
}
