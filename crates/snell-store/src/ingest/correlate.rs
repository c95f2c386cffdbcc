//! Which agent an event belongs to. Six strategies are tried in order, and the answer names the one that found it.

use std::collections::HashMap;
use std::path::PathBuf;

use snell::{Event, EventName, Timestamp};

use super::is_known_tool_event;
use crate::error::Result;
use crate::model::{Agent, Conversation, Correlation, Process, Source, State};
use crate::observation::Sender;
use crate::project;
use crate::rows::{Known, Rows};

/// Why a conversation ended that never said so: its agent was found in another one.
const REPLACED: &str = "replaced";

/// Sessions that this process has seen already, and the agents they led to.
pub(crate) type Seen = HashMap<String, Known>;

/// The agent of an event, and what the event may do to it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) agent: Agent,
    pub(crate) conversation: Option<Conversation>,
    pub(crate) correlation: Correlation,
    pub(crate) is_new_agent: bool,
    /// Whether the event may change the agent: not if its session was replaced and shows no life, or if the agent has
    /// ended and the event does not begin anything.
    pub(crate) touches: bool,
}

/// What an event says about where it comes from.
#[derive(Debug)]
pub(crate) struct Signs<'a> {
    pub(crate) event: &'a Event,
    pub(crate) sender: &'a Sender,
    pub(crate) at: Timestamp,
    /// The host this program runs on: only its processes can be looked for.
    pub(crate) host: Option<&'a str>,
}

impl Signs<'_> {
    /// The agent's own id of its session.
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.event.session_id.as_deref().filter(|id| !id.is_empty())
    }

    /// The ids of the session, the launcher's first: that is the one a conversation is known by.
    fn ids(&self) -> Vec<&str> {
        let launcher = self.sender.launcher_session_id.as_deref();
        let mut ids: Vec<_> = launcher.into_iter().chain(self.session_id()).collect();
        ids.dedup();
        ids
    }

    /// A session start or a prompt begins something; everything else may as well be late.
    fn begins(&self) -> bool {
        matches!(self.event.name, EventName::SessionStart | EventName::UserPromptSubmit)
    }

    /// The directory that the agent works in. One that is not whole says nothing.
    fn directory(&self) -> Option<PathBuf> {
        let told = [self.event.cwd.as_deref(), self.event.project_dir.as_deref()];
        let told = told.into_iter().flatten().chain(self.sender.cwd.as_deref());
        told.filter(|path| path.is_absolute()).map(project::normalised).next()
    }

    /// Whether both are known to run on hosts, and not on the same one.
    fn is_other_host(&self, agent: &Agent) -> bool {
        differ(&agent.host, &self.sender.host)
    }

    /// Whether the agent is where this event comes from, as far as something shows it.
    fn is_same_place(&self, agent: &Agent) -> bool {
        let same_process = agent.process.is_some() && agent.process == self.sender.process;
        let same_pane = agent.tmux_pane.is_some() && self.is_same_pane(agent);
        same_process || (same_pane && !self.is_another_process(agent))
    }

    /// Whether the event shows that a conversation which its agent has left for another one goes on all the same. What
    /// happened before it was left, or where the agent now is, only comes late.
    fn shows_life(&self, agent: &Agent, conversation: &Conversation) -> bool {
        let is_left = agent.conversation_id != Some(conversation.conversation_id);
        let is_later = conversation.ended_at.is_none_or(|left| left <= self.at);
        // Whoever has said that it ends, or has lost its pane, begins anew before it goes on.
        let never_ended = matches!(conversation.end_reason.as_deref(), None | Some(REPLACED));
        let launcher = &self.sender.headspace_session_id;
        let same_launcher = launcher.is_some() && agent.headspace_session_id == *launcher;
        let goes_on = match self.event.name {
            EventName::SessionEnd => false,
            _ => self.begins() || (never_ended && !same_launcher),
        };
        is_left && is_later && goes_on && !self.is_same_place(agent)
    }

    fn is_own_host(&self, host: Option<&str>) -> bool {
        host.is_none() || host == self.sender.host.as_deref() || host == self.host
    }

    /// Whether the agent is known to live in another process than the one this event comes from. An agent may start
    /// another one, which then sits in the same pane and has inherited whatever its launcher gave it.
    fn is_another_process(&self, agent: &Agent) -> bool {
        self.sender.process.is_some() && self.lives_apart(agent)
    }

    /// Whether a process is known for the agent that is not this event's own, and not known to be gone.
    fn lives_apart(&self, agent: &Agent) -> bool {
        let is_gone = |process: Process| self.is_own_host(agent.host.as_deref()) && process.is_gone();
        agent
            .process
            .is_some_and(|process| self.sender.process != Some(process) && !is_gone(process))
    }

    /// Whether the agent is at work in another process. What an agent starts while it works is not the agent.
    fn is_at_work_elsewhere(&self, agent: &Agent) -> bool {
        matches!(agent.state, State::Processing | State::AwaitingInput) && self.is_another_process(agent)
    }

    /// Whether something shows that the agent is busy where this event does not come from.
    fn is_elsewhere(&self, agent: &Agent) -> bool {
        let other_pane = agent.tmux_pane.is_some() && !self.is_same_pane(agent);
        self.lives_apart(agent) || other_pane || self.is_other_host(agent)
    }

    fn is_same_pane(&self, agent: &Agent) -> bool {
        agent.tmux_pane == self.sender.tmux_pane
            && !differ(&agent.tmux_server, &self.sender.tmux_server)
            && !self.is_other_host(agent)
    }
}

/// Whether both are known, and not the same.
fn differ(a: &Option<String>, b: &Option<String>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

/// Finds the agent of an event, or makes one.
pub(crate) fn correlate(rows: &mut dyn Rows, seen: &mut Seen, signs: &Signs<'_>) -> Result<Found> {
    // The agent's own id first: the launcher's may have been inherited.
    for id in signs.ids().into_iter().rev() {
        let Some((known, correlation)) = known(rows, seen, id)? else {
            continue;
        };
        let agent = rows.agent(known.agent_id)?;
        let conversation = rows.conversation(known.conversation_id)?;
        let (Some(agent), Some(conversation)) = (agent, conversation) else {
            // It was removed, because it was old.
            seen.remove(id);
            continue;
        };
        // An id that was inherited is not its own.
        if Some(id) == signs.session_id() || !signs.is_at_work_elsewhere(&agent) {
            return of_known_session(rows, seen, signs, agent, conversation, correlation);
        }
    }
    let (agent, correlation) = match continued(rows, signs)? {
        Some(found) => found,
        None => {
            let project_id = project_of(rows, signs)?;
            (new_agent(rows, signs, project_id)?, Correlation::Created)
        }
    };
    of_new_session(rows, seen, signs, agent, correlation)
}

/// Strategies 1 and 2: an id of the session is known.
fn known(rows: &mut dyn Rows, seen: &mut Seen, id: &str) -> Result<Option<(Known, Correlation)>> {
    if let Some(known) = seen.get(id) {
        return Ok(Some((known.clone(), Correlation::SessionId)));
    }
    let found = rows.known_session(id)?;
    if let Some(known) = &found {
        seen.insert(id.to_owned(), known.clone());
    }
    Ok(found.map(|known| (known, Correlation::DbSessionId)))
}

/// Strategies 3 to 5: the session is new, and its agent is not.
fn continued(rows: &mut dyn Rows, signs: &Signs<'_>) -> Result<Option<(Agent, Correlation)>> {
    if let Some(id) = signs.sender.headspace_session_id.as_deref()
        && let Some(agent) = rows.agent_of_headspace(id)?
        && !signs.is_at_work_elsewhere(&agent)
        && !signs.is_other_host(&agent)
    {
        return Ok(Some((agent, Correlation::HeadspaceSessionId)));
    }
    let project_id = project_of(rows, signs)?;
    if let Some(pane) = signs.sender.tmux_pane.as_deref() {
        // Whoever left the pane for another project with another process is somebody else, and so is whoever was started
        // by an agent at work.
        let moved_in = |agent: &Agent| {
            let gone = |process: Process| signs.sender.process != Some(process) && process.is_gone();
            signs.is_at_work_elsewhere(agent) || (agent.project_id != project_id && agent.process.is_some_and(gone))
        };
        let on_pane = rows.agents_on_pane(pane)?;
        let found = on_pane
            .into_iter()
            .find(|agent| signs.is_same_pane(agent) && !moved_in(agent));
        if let Some(agent) = found {
            return Ok(Some((agent, Correlation::TmuxPaneId)));
        }
    }
    // Who does not say where it is shares no directory with anybody.
    if signs.directory().is_none() {
        return Ok(None);
    }
    let in_project = rows.agents_in_project(project_id)?;
    let free = |agent: &Agent| agent.session_id.is_none() || (may_be_left(agent, signs) && !signs.is_elsewhere(agent));
    let found = in_project.into_iter().find(free);
    Ok(found.map(|agent| (agent, Correlation::WorkingDirectory)))
}

/// Whether an agent may have left its conversation for a new one. It must be idle, unless its own process says that the
/// conversation was cleared or compacted.
fn may_be_left(agent: &Agent, signs: &Signs<'_>) -> bool {
    let same_process = agent.process.is_some() && agent.process == signs.sender.process;
    let starts_over = matches!(signs.event.source.as_deref(), Some("clear" | "compact"));
    agent.state == State::Idle || (same_process && starts_over && signs.event.name == EventName::SessionStart)
}

fn project_of(rows: &mut dyn Rows, signs: &Signs<'_>) -> Result<i64> {
    let Some(directory) = signs.directory() else {
        return rows.project(project::NOWHERE, project::UNKNOWN, signs.at);
    };
    // What is on another host's disk cannot be looked for here.
    let elsewhere = signs.sender.host.is_some() && signs.sender.host.as_deref() != signs.host;
    let root = if elsewhere {
        directory
    } else {
        project::root_of(&directory)
    };
    rows.project(&root.to_string_lossy(), &project::name_of(&root), signs.at)
}

fn new_agent(rows: &mut dyn Rows, signs: &Signs<'_>, project_id: i64) -> Result<Agent> {
    let mut agent = Agent {
        product: signs.sender.product.clone(),
        ..Agent::first_seen(project_id, signs.at)
    };
    rows.save_agent(&mut agent)?;
    Ok(agent)
}

fn of_known_session(
    rows: &mut dyn Rows,
    seen: &mut Seen,
    signs: &Signs<'_>,
    agent: Agent,
    conversation: Conversation,
    correlation: Correlation,
) -> Result<Found> {
    let mut replaced = false;
    for id in signs.ids() {
        let is_known = seen.contains_key(id) || rows.known_session(id)?.is_some();
        if !is_known {
            bind(rows, seen, id, &conversation)?;
        } else if Some(id) == signs.session_id() {
            // An id that is not new, of an agent that has gone on to another one.
            replaced = agent.session_id.as_deref().is_some_and(|current| current != id);
        }
    }
    // A session that was left, and goes on while its agent is at work on another one, was never left: there are two.
    // While nobody is at work it has its agent back.
    let lives = replaced
        && signs.shows_life(&agent, &conversation)
        && !is_known_tool_event(rows, signs.event, conversation.conversation_id)?;
    let at_work = matches!(agent.state, State::Processing | State::AwaitingInput);
    if lives && (at_work || signs.is_another_process(&agent)) {
        return taken_up_elsewhere(rows, seen, signs, &agent, conversation);
    }
    let ended_by_itself = agent.state == State::Ended && agent.state_source == Source::Hook;
    let touches = signs.begins() || lives || !(replaced || ended_by_itself);
    Ok(Found {
        agent,
        conversation: Some(conversation),
        correlation,
        is_new_agent: false,
        touches,
    })
}

/// A conversation that its agent has left, and that goes on elsewhere while the agent lives on.
fn taken_up_elsewhere(
    rows: &mut dyn Rows,
    seen: &mut Seen,
    signs: &Signs<'_>,
    former: &Agent,
    mut conversation: Conversation,
) -> Result<Found> {
    // Only a start says where a session is now. Whatever else comes may come from any directory it has gone to.
    let starts_there = signs.event.name == EventName::SessionStart && signs.directory().is_some();
    let project_id = if starts_there {
        project_of(rows, signs)?
    } else {
        former.project_id
    };
    let agent = new_agent(rows, signs, project_id)?;
    conversation.agent_id = agent.agent_id;
    rows.save_conversation(&mut conversation)?;
    for id in rows.session_ids(conversation.conversation_id)? {
        seen.remove(&id);
    }
    Ok(Found {
        agent,
        conversation: Some(conversation),
        correlation: Correlation::Created,
        is_new_agent: true,
        touches: true,
    })
}

fn of_new_session(
    rows: &mut dyn Rows,
    seen: &mut Seen,
    signs: &Signs<'_>,
    agent: Agent,
    correlation: Correlation,
) -> Result<Found> {
    let mut conversation = None;
    let ended_by_itself = agent.state == State::Ended && agent.state_source == Source::Hook;
    let touches = signs.begins() || !ended_by_itself;
    // An id that leads to somebody else's conversation was inherited.
    let mut ids = Vec::new();
    for id in signs.ids() {
        if known(rows, seen, id)?.is_none() {
            ids.push(id);
        }
    }
    if let Some(id) = ids.first() {
        let mut new = Conversation::begun(id, agent.agent_id, signs.at);
        rows.save_conversation(&mut new)?;
        for id in &ids {
            bind(rows, seen, id, &new)?;
        }
        conversation = Some(new);
    }
    Ok(Found {
        agent,
        conversation,
        correlation,
        is_new_agent: correlation == Correlation::Created,
        touches,
    })
}

fn bind(rows: &mut dyn Rows, seen: &mut Seen, id: &str, conversation: &Conversation) -> Result<()> {
    rows.bind_session_id(id, conversation.conversation_id)?;
    let known = Known {
        conversation_id: conversation.conversation_id,
        agent_id: conversation.agent_id,
    };
    seen.insert(id.to_owned(), known);
    Ok(())
}

/// Makes this the agent's current conversation, and notes what the event says about both.
pub(crate) fn enter(rows: &mut dyn Rows, signs: &Signs<'_>, found: &mut Found) -> Result<()> {
    settle(rows, signs, &mut found.agent)?;
    let (agent, sender) = (&mut found.agent, signs.sender);
    let Some(conversation) = &mut found.conversation else {
        note_sender(agent, signs);
        return Ok(());
    };
    if agent.conversation_id != Some(conversation.conversation_id) {
        if let Some(former) = agent.conversation_id.take() {
            leave(rows, signs, former, agent.last_seen_at)?;
            // A conversation that is compacted goes on, and so does what it has others do. One that is cleared does not.
            if signs.event.source.as_deref() == Some("compact") {
                rows.hand_on_workers(former, conversation.conversation_id)?;
            }
        }
        agent.conversation_id = Some(conversation.conversation_id);
        agent.forget_context();
    }
    // Whoever is heard of has not ended.
    conversation.ended_at = None;
    conversation.end_reason = None;
    if signs.event.name == EventName::SessionStart
        && let Some(pane) = sender.tmux_pane.as_deref()
    {
        take_pane(rows, signs, pane, conversation.conversation_id)?;
    }
    set(&mut conversation.role, &sender.role);
    set(&mut conversation.mode, &sender.mode);
    set(&mut conversation.tmux_pane, &sender.tmux_pane);
    set(&mut conversation.model, &signs.event.model);
    set(&mut conversation.permission_mode, &signs.event.permission_mode);
    if let Some(mission) = &sender.mission_execution_id
        && conversation.mission_execution_id.as_ref() != Some(mission)
    {
        conversation.mission_execution_id = Some(mission.clone());
        rows.link_mission(mission, &conversation.session_id, signs.at)?;
    }
    note_sender(agent, signs);
    Ok(())
}

/// Puts an agent into its project, if nobody knew until now where it works.
fn settle(rows: &mut dyn Rows, signs: &Signs<'_>, agent: &mut Agent) -> Result<()> {
    if signs.directory().is_some() && rows.project_path(agent.project_id)?.as_deref() == Some(project::NOWHERE) {
        agent.project_id = project_of(rows, signs)?;
    }
    Ok(())
}

/// Notes what an event says about its agent. The tmux session is the one the agent was first seen in; the pane and the
/// process are the latest.
fn note_sender(agent: &mut Agent, signs: &Signs<'_>) {
    let sender = signs.sender;
    agent.last_seen_at = agent.last_seen_at.max(signs.at);
    if let Some(id) = signs.session_id() {
        agent.session_id = Some(id.to_owned());
    }
    set_once(&mut agent.product, &sender.product);
    set_once(&mut agent.tmux_session, &sender.tmux_session);
    set_once(&mut agent.headspace_session_id, &sender.headspace_session_id);
    set(&mut agent.tmux_pane, &sender.tmux_pane);
    set(&mut agent.tmux_server, &sender.tmux_server);
    set(&mut agent.host, &sender.host);
    agent.context_window = sender.context_window.or(agent.context_window);
    if let Some(process) = sender.process {
        agent.process_is_certain = sender.process_is_told || agent.process == Some(process);
        agent.process = Some(process);
    }
}

fn set(slot: &mut Option<String>, value: &Option<String>) {
    if value.is_some() {
        slot.clone_from(value);
    }
}

fn set_once(slot: &mut Option<String>, value: &Option<String>) {
    if slot.is_none() {
        slot.clone_from(value);
    }
}

/// Ends the conversation that the agent has left for another one.
fn leave(rows: &mut dyn Rows, signs: &Signs<'_>, conversation_id: i64, last_seen_at: Timestamp) -> Result<()> {
    let Some(mut former) = rows.conversation(conversation_id)? else {
        return Ok(());
    };
    former.last_seen_at = last_seen_at;
    if former.ended_at.is_none() {
        let same_pane = former.tmux_pane.is_some() && former.tmux_pane == signs.sender.tmux_pane;
        former.end(if same_pane { "pane_reused" } else { REPLACED }, signs.at);
    }
    rows.save_conversation(&mut former)
}

/// A pane holds one session at a time: whoever was there before is gone, and with a session its agent.
fn take_pane(rows: &mut dyn Rows, signs: &Signs<'_>, pane: &str, conversation_id: i64) -> Result<()> {
    for mut other in rows.conversations_on_pane(pane)? {
        if other.conversation_id == conversation_id {
            continue;
        }
        let Some(mut agent) = rows.agent(other.agent_id)? else {
            continue;
        };
        if !signs.is_same_pane(&agent) || signs.is_at_work_elsewhere(&agent) {
            continue;
        }
        other.end("pane_reused", signs.at);
        rows.save_conversation(&mut other)?;
        let current = agent.conversation_id == Some(other.conversation_id);
        if current && agent.state != State::Ended {
            agent.end(
                Source::Hook,
                "another session began in its pane",
                "pane_reused",
                signs.at,
            );
            rows.save_agent(&mut agent)?;
        }
    }
    Ok(())
}

/// The process and host that an event tells of itself, as receivers get them.
pub(crate) fn told_process(event: &Event) -> Option<Process> {
    let pid = event.raw.get("pid")?.as_u64()?;
    Some(Process {
        pid: u32::try_from(pid).ok()?,
        started: event.raw.get("pid_started").and_then(serde_json::Value::as_u64),
    })
}
