//! Types a line into an agent's terminal, so that the agent wakes up and reads its workers' results.

use anyhow::{Context, bail};
use snell::Timestamp;
use snell_server::pane_input::{PaneLock, PaneLockError, find_pane_objection};
use snell_server::reconciler::tmux::TmuxServer;
use snell_store::requests::{RequestFilter, RequestView};
use snell_store::{AgentLocation, AgentState, ReconcileScope};

use crate::commands::block_on;
use crate::env::caller::CallerEnv;
use crate::output::time::{format_elapsed, format_time};
use crate::output::{CommandError, shorten_to_one_line};
use crate::record::open_store::{self, StoreHandle};
use crate::session_arg::load_session_row;

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
    let _turn = PaneLock::acquire(store_handle.data_dir(), number).map_err(explain_lock)?;
    let mut agent = locate_agent(store_handle, number)?;
    if care == WakeMode::Checked && agent.state == AgentState::AwaitingInput {
        let now = store_handle.now();
        store_handle.query(|store| open_store::reconcile_agents(store, ReconcileScope::Agent(number), now))?;
        agent = locate_agent(store_handle, number)?;
        if agent.state == AgentState::AwaitingInput {
            return Err(explain_awaiting_user(&agent, store_handle).into());
        }
    }
    if care == WakeMode::Checked
        && let Some(request) = find_open_request(store_handle, number)?
    {
        return Err(explain_open_request(&request, number).into());
    }
    type_wake_line(&agent, care)
}

fn explain_lock(error: PaneLockError) -> anyhow::Error {
    match error {
        PaneLockError::Busy(_) => CommandError::new(error.to_string()).with_hint("try again").into(),
        _ => error.into(),
    }
}

/// A request of the agent to its user. While one is open, the agent may show a dialog although its state says nothing of it: a
/// sub-agent may ask.
fn find_open_request(store_handle: &mut StoreHandle, number: i64) -> anyhow::Result<Option<RequestView>> {
    let filter = RequestFilter { agent_id: Some(number), limit: 1, ..RequestFilter::open() };
    store_handle.query(|store| {
        store.sweep_requests(Timestamp::now())?;
        Ok(store.list_requests(&filter)?.pop())
    })
}

fn explain_open_request(request: &RequestView, number: i64) -> CommandError {
    let (uid, title) = (&request.uid, shorten_to_one_line(&request.title, MAX_REASON_CELLS));
    CommandError::new(format!(
        "agent {number} waits for an answer of its user, and pressing Enter could answer for the user (request {uid}: {title})"
    ))
    .with_hint(format!("wake it up after the answer, or run: snell wake {number} --force"))
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
            && let Some(objection) = find_pane_objection(agent, &found)
        {
            let problem = format!("agent {number} would not read a line in the tmux pane {pane}: {objection}");
            return Err(CommandError::new(problem).with_hint("pass --force to type it anyway").into());
        }
        let typed = server.type_line(&found, &text).await;
        typed.with_context(|| format!("cannot type into the tmux pane {pane} of agent {number}"))
    })??;
    Ok(format!("Typed into the tmux pane {pane}: {text}"))
}
