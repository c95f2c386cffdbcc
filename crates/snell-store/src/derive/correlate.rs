//! Finds the agent of an event. Six strategies are tried in order, and the result names the one that succeeded.

use std::collections::HashMap;
use std::path::PathBuf;

use snell::{AgentProduct, Event, EventName, SubagentSessions, Timestamp};

use super::is_duplicate_tool_event;
use crate::db::model::{AgentRow, AgentState, ConversationRow, CorrelationMethod, ProcessIdentity, StateSource};
use crate::db::rows::{Rows, SessionBinding};
use crate::derive::project;
use crate::error::Result;
use crate::record::event_record::EventSender;

/// The end reason of a conversation without a `SessionEnd`: its agent continued in another one.
const REPLACED: &str = "replaced";

/// Sessions that this process has seen already, and their agents.
pub(crate) type SessionCache = HashMap<String, SessionBinding>;

/// The agent of an event, and the effect that the event may have on it.
#[derive(Debug)]
pub(crate) struct CorrelatedAgent {
    pub(crate) agent: AgentRow,
    pub(crate) conversation: Option<ConversationRow>,
    pub(crate) correlation: CorrelationMethod,
    pub(crate) is_new_agent: bool,
    /// Whether the event may change the agent. It may not if its session was replaced and shows no activity, or if the
    /// agent has ended and the event starts nothing.
    pub(crate) may_change_agent: bool,
}

/// An event's data about its origin.
#[derive(Debug)]
pub(crate) struct EventOrigin<'a> {
    pub(crate) event: &'a Event,
    pub(crate) sender: &'a EventSender,
    pub(crate) at: Timestamp,
    /// The host of this program: it can look up processes only there.
    pub(crate) host: Option<&'a str>,
}

impl EventOrigin<'_> {
    /// The agent's own id of its session.
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.event.session_id.as_deref().filter(|id| !id.is_empty())
    }

    /// The ids of the session, the launcher's first: it is the one that identifies a conversation.
    fn session_ids(&self) -> Vec<&str> {
        let launcher = self.sender.launcher_session_id.as_deref();
        let mut ids: Vec<_> = launcher.into_iter().chain(self.session_id()).collect();
        ids.dedup();
        ids
    }

    /// A session start or a prompt starts something; all other events may be late.
    fn is_session_or_prompt_start(&self) -> bool {
        matches!(self.event.name, EventName::SessionStart | EventName::UserPromptSubmit) && !self.event.is_in_subagent()
    }

    /// Whether the agent's program has just been started, as its `source` reports (Copilot CLI writes `new`).
    fn is_program_start(&self) -> bool {
        self.event.name == EventName::SessionStart && matches!(self.event.source.as_deref(), Some("startup" | "new"))
    }

    fn is_same_process(&self, agent: &AgentRow) -> bool {
        agent.process.is_some() && agent.process == self.sender.process
    }

    /// The agent's directory. Relative paths are ignored.
    fn working_directory(&self) -> Option<PathBuf> {
        let paths = [self.event.cwd.as_deref(), self.event.project_dir.as_deref()];
        let paths = paths.into_iter().flatten().chain(self.sender.cwd.as_deref());
        paths.filter(|path| path.is_absolute()).map(project::normalize_path).next()
    }

    /// Whether both hosts are known and differ.
    fn is_on_other_host(&self, agent: &AgentRow) -> bool {
        is_known_difference(&agent.host, &self.sender.host)
    }

    /// Whether the agent is where this event comes from, as far as known.
    fn is_same_location(&self, agent: &AgentRow) -> bool {
        let same_pane = agent.tmux_pane.is_some() && self.is_same_pane(agent);
        self.is_same_process(agent) || (same_pane && !self.is_in_other_process(agent))
    }

    /// Whether the event shows that a replaced conversation continues. An event from before the replacement, or from
    /// the agent's current place, is only late.
    fn shows_live_session(&self, agent: &AgentRow, conversation: &ConversationRow) -> bool {
        let is_left = agent.conversation_id != Some(conversation.conversation_id);
        let is_later = conversation.ended_at.is_none_or(|left| left <= self.at);
        // A session that ended, or lost its pane, has to start again first.
        let never_ended = matches!(conversation.end_reason.as_deref(), None | Some(REPLACED));
        let launcher = &self.sender.headspace_session_id;
        let same_launcher = launcher.is_some() && agent.headspace_session_id == *launcher;
        let goes_on = match self.event.name {
            EventName::SessionEnd => false,
            _ => self.is_session_or_prompt_start() || (never_ended && !same_launcher),
        };
        is_left && is_later && goes_on && !self.is_same_location(agent)
    }

    fn is_own_host(&self, host: Option<&str>) -> bool {
        host.is_none() || host == self.sender.host.as_deref() || host == self.host
    }

    /// Whether the agent is known to run in another process than this event's. An agent may start another one, which
    /// shares its pane and inherits its launcher's variables.
    fn is_in_other_process(&self, agent: &AgentRow) -> bool {
        self.sender.process.is_some() && self.has_other_live_process(agent)
    }

    /// Whether the agent has a known process that is not this event's and not known to be gone.
    fn has_other_live_process(&self, agent: &AgentRow) -> bool {
        let is_gone = |process: ProcessIdentity| self.is_own_host(agent.host.as_deref()) && process.is_gone();
        agent.process.is_some_and(|process| self.sender.process != Some(process) && !is_gone(process))
    }

    /// Whether the agent works in another process. A process that an agent starts while it works is not the agent.
    fn is_busy_in_other_process(&self, agent: &AgentRow) -> bool {
        matches!(agent.state, AgentState::Processing | AgentState::AwaitingInput) && self.is_in_other_process(agent)
    }

    /// Whether the agent is known to be busy in another place than this event's.
    fn is_located_elsewhere(&self, agent: &AgentRow) -> bool {
        let other_pane = agent.tmux_pane.is_some() && !self.is_same_pane(agent);
        self.has_other_live_process(agent) || other_pane || self.is_on_other_host(agent)
    }

    fn is_same_pane(&self, agent: &AgentRow) -> bool {
        agent.tmux_pane == self.sender.tmux_pane
            && !is_known_difference(&agent.tmux_server, &self.sender.tmux_server)
            && !self.is_on_other_host(agent)
    }
}

/// Whether both are known and differ.
fn is_known_difference(a: &Option<String>, b: &Option<String>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

/// Finds the agent of an event, or creates one.
pub(crate) fn correlate_event(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    origin: &EventOrigin<'_>,
) -> Result<CorrelatedAgent> {
    // The agent's own id first: the launcher's may be inherited.
    for id in origin.session_ids().into_iter().rev() {
        let Some((known, correlation)) = find_known_session(rows, seen, id)? else {
            continue;
        };
        let conversation = rows.find_conversation(known.conversation_id)?;
        // Another process may have given it to another agent.
        let agent_id = conversation.as_ref().map_or(known.agent_id, |conversation| conversation.agent_id);
        let agent = rows.find_agent(agent_id)?;
        let (Some(agent), Some(conversation)) = (agent, conversation) else {
            // Pruning removed it.
            seen.remove(id);
            continue;
        };
        // An inherited id does not identify the session.
        if Some(id) == origin.session_id() || !origin.is_busy_in_other_process(&agent) {
            let known =
                CorrelatedAgent { agent, conversation: None, correlation, is_new_agent: false, may_change_agent: true };
            return attach_known_session(rows, seen, origin, known, conversation);
        }
    }
    let (agent, correlation) = match find_continuing_agent(rows, origin)? {
        Some(found) => found,
        None => {
            let project_id = resolve_project(rows, origin)?;
            (create_agent(rows, origin, project_id)?, CorrelationMethod::Created)
        }
    };
    attach_new_session(rows, seen, origin, agent, correlation)
}

/// Strategies 1 and 2: a known session id.
fn find_known_session(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    id: &str,
) -> Result<Option<(SessionBinding, CorrelationMethod)>> {
    if let Some(known) = seen.get(id) {
        return Ok(Some((known.clone(), CorrelationMethod::SessionId)));
    }
    let found = rows.find_session_binding(id)?;
    if let Some(known) = &found {
        seen.insert(id.to_owned(), known.clone());
    }
    Ok(found.map(|known| (known, CorrelationMethod::DbSessionId)))
}

/// Strategies 3 to 5: a new session of a known agent.
fn find_continuing_agent(
    rows: &mut dyn Rows,
    origin: &EventOrigin<'_>,
) -> Result<Option<(AgentRow, CorrelationMethod)>> {
    if let Some(id) = origin.sender.headspace_session_id.as_deref()
        && let Some(agent) = rows.find_agent_by_headspace(id)?
        && !origin.is_busy_in_other_process(&agent)
        && !origin.is_on_other_host(&agent)
    {
        return Ok(Some((agent, CorrelationMethod::HeadspaceSessionId)));
    }
    let project_id = resolve_project(rows, origin)?;
    if let Some(pane) = origin.sender.tmux_pane.as_deref() {
        // Another project with another process means another agent, and so does a start by an agent at work.
        let moved_in = |agent: &AgentRow| {
            let gone = |process: ProcessIdentity| origin.sender.process != Some(process) && process.is_gone();
            origin.is_busy_in_other_process(agent)
                || (agent.project_id != project_id && agent.process.is_some_and(gone))
        };
        let on_pane = rows.list_agents_on_pane(pane)?;
        let found = on_pane.into_iter().find(|agent| origin.is_same_pane(agent) && !moved_in(agent));
        if let Some(agent) = found {
            return Ok(Some((agent, CorrelationMethod::TmuxPaneId)));
        }
    }
    // Without a directory there is nothing to compare.
    if origin.working_directory().is_none() {
        return Ok(None);
    }
    let in_project = rows.list_agents_in_project(project_id)?;
    // A started program is another agent: the directory alone does not prove that an agent left its session for this one.
    let may_share_directory = |agent: &AgentRow| !origin.is_program_start() || origin.is_same_process(agent);
    let free = |agent: &AgentRow| {
        agent.session_id.is_none()
            || (can_leave_conversation(agent, origin)
                && !origin.is_located_elsewhere(agent)
                && may_share_directory(agent))
    };
    let found = in_project.into_iter().find(free);
    Ok(found.map(|agent| (agent, CorrelationMethod::WorkingDirectory)))
}

/// Whether an agent may have left its conversation for a new one. It must be idle, unless its own process reports that
/// the conversation was cleared or compacted.
fn can_leave_conversation(agent: &AgentRow, origin: &EventOrigin<'_>) -> bool {
    let starts_over = matches!(origin.event.source.as_deref(), Some("clear" | "compact"));
    let is_restart = starts_over && origin.event.name == EventName::SessionStart;
    agent.state == AgentState::Idle || (is_restart && origin.is_same_process(agent))
}

fn resolve_project(rows: &mut dyn Rows, origin: &EventOrigin<'_>) -> Result<i64> {
    let Some(directory) = origin.working_directory() else {
        return rows.find_or_create_project(project::UNKNOWN_PROJECT_PATH, project::UNKNOWN_PROJECT_NAME, origin.at);
    };
    // Paths of another host cannot be checked here.
    let elsewhere = origin.sender.host.is_some() && origin.sender.host.as_deref() != origin.host;
    let root = if elsewhere { directory } else { project::find_project_root(&directory) };
    rows.find_or_create_project(&root.to_string_lossy(), &project::derive_project_name(&root), origin.at)
}

fn create_agent(rows: &mut dyn Rows, origin: &EventOrigin<'_>, project_id: i64) -> Result<AgentRow> {
    let mut agent = AgentRow { product: origin.sender.product.clone(), ..AgentRow::new(project_id, origin.at) };
    rows.save_agent(&mut agent)?;
    Ok(agent)
}

fn attach_known_session(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    origin: &EventOrigin<'_>,
    known: CorrelatedAgent,
    conversation: ConversationRow,
) -> Result<CorrelatedAgent> {
    let agent = &known.agent;
    let mut replaced = false;
    for id in origin.session_ids() {
        let is_known = seen.contains_key(id) || rows.find_session_binding(id)?.is_some();
        if !is_known {
            bind_session(rows, seen, id, &conversation)?;
        } else if Some(id) == origin.session_id() {
            // A known id of an agent that continued in another session.
            replaced = agent.session_id.as_deref().is_some_and(|current| current != id);
        }
    }
    // A replaced session that continues while its agent works on another one belongs to an agent of its own. While the
    // agent is idle, the session gets its agent back.
    let lives = replaced
        && origin.shows_live_session(agent, &conversation)
        && !is_duplicate_tool_event(rows, origin.event, conversation.conversation_id)?;
    let at_work = matches!(agent.state, AgentState::Processing | AgentState::AwaitingInput);
    if lives && (at_work || origin.is_in_other_process(agent)) {
        return move_to_new_agent(rows, seen, origin, agent, conversation);
    }
    let ended_by_itself = agent.state == AgentState::Ended && agent.state_source == StateSource::Hook;
    let may_change_agent = origin.is_session_or_prompt_start() || lives || !(replaced || ended_by_itself);
    Ok(CorrelatedAgent { conversation: Some(conversation), may_change_agent, ..known })
}

/// A conversation that its agent has left, and that continues elsewhere while the agent goes on.
fn move_to_new_agent(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    origin: &EventOrigin<'_>,
    former: &AgentRow,
    mut conversation: ConversationRow,
) -> Result<CorrelatedAgent> {
    // Only a session start reports the session's project. Other events may come from any directory.
    let starts_there = origin.event.name == EventName::SessionStart && origin.working_directory().is_some();
    let project_id = if starts_there { resolve_project(rows, origin)? } else { former.project_id };
    let agent = create_agent(rows, origin, project_id)?;
    conversation.agent_id = agent.agent_id;
    rows.save_conversation(&mut conversation)?;
    for id in rows.list_session_ids(conversation.conversation_id)? {
        seen.remove(&id);
    }
    Ok(CorrelatedAgent {
        agent,
        conversation: Some(conversation),
        correlation: CorrelationMethod::Created,
        is_new_agent: true,
        may_change_agent: true,
    })
}

fn attach_new_session(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    origin: &EventOrigin<'_>,
    agent: AgentRow,
    correlation: CorrelationMethod,
) -> Result<CorrelatedAgent> {
    let mut conversation = None;
    let ended_by_itself = agent.state == AgentState::Ended && agent.state_source == StateSource::Hook;
    let touches = origin.is_session_or_prompt_start() || !ended_by_itself;
    // An id of another agent's conversation is inherited.
    let mut ids = Vec::new();
    for id in origin.session_ids() {
        if find_known_session(rows, seen, id)?.is_none() {
            ids.push(id);
        }
    }
    if let Some(id) = ids.first() {
        let mut new = ConversationRow::new(id, agent.agent_id, origin.at);
        rows.save_conversation(&mut new)?;
        for id in &ids {
            bind_session(rows, seen, id, &new)?;
        }
        conversation = Some(new);
    }
    Ok(CorrelatedAgent {
        agent,
        conversation,
        correlation,
        is_new_agent: correlation == CorrelationMethod::Created,
        may_change_agent: touches,
    })
}

/// Binds the session of a sub-agent that starts to its parent's conversation, if the product gives sub-agents sessions of their
/// own whose later events do not name the parent.
pub(crate) fn bind_subagent_session(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    origin: &EventOrigin<'_>,
    found: &CorrelatedAgent,
) -> Result<()> {
    let product = AgentProduct::for_recorded_name(origin.sender.product.as_deref());
    let starts =
        product.subagent_sessions == SubagentSessions::Unlinked && origin.event.name == EventName::SubagentStart;
    let subagent = origin.event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
    if let (true, Some(id), Some(conversation)) = (starts, subagent, &found.conversation)
        && find_known_session(rows, seen, id)?.is_none()
    {
        bind_session(rows, seen, id, conversation)?;
    }
    Ok(())
}

fn bind_session(rows: &mut dyn Rows, seen: &mut SessionCache, id: &str, conversation: &ConversationRow) -> Result<()> {
    rows.bind_session_id(id, conversation.conversation_id)?;
    let known = SessionBinding { conversation_id: conversation.conversation_id, agent_id: conversation.agent_id };
    seen.insert(id.to_owned(), known);
    Ok(())
}

/// Makes this the agent's current conversation, and updates both from the event.
pub(crate) fn enter_conversation(
    rows: &mut dyn Rows,
    origin: &EventOrigin<'_>,
    found: &mut CorrelatedAgent,
) -> Result<()> {
    assign_missing_project(rows, origin, &mut found.agent)?;
    let (agent, sender) = (&mut found.agent, origin.sender);
    let Some(conversation) = &mut found.conversation else {
        update_from_sender(agent, origin);
        return Ok(());
    };
    if agent.conversation_id != Some(conversation.conversation_id) {
        if let Some(former) = agent.conversation_id.take() {
            end_left_conversation(rows, origin, former, agent.last_seen_at)?;
            // A compacted conversation continues, and so do its workers. A cleared one does not.
            if origin.event.source.as_deref() == Some("compact") {
                rows.transfer_workers(former, conversation.conversation_id)?;
            }
        }
        agent.conversation_id = Some(conversation.conversation_id);
        agent.clear_context();
    }
    // A conversation with new events has not ended.
    conversation.ended_at = None;
    conversation.end_reason = None;
    if origin.event.name == EventName::SessionStart
        && let Some(pane) = sender.tmux_pane.as_deref()
    {
        end_other_pane_sessions(rows, origin, pane, conversation.conversation_id)?;
    }
    set_if_some(&mut conversation.role, &sender.role);
    set_if_some(&mut conversation.mode, &sender.mode);
    set_if_some(&mut conversation.tmux_pane, &sender.tmux_pane);
    set_if_some(&mut conversation.model, &origin.event.model);
    set_if_some(&mut conversation.permission_mode, &origin.event.permission_mode);
    if let Some(mission) = &sender.mission_execution_id
        && conversation.mission_execution_id.as_ref() != Some(mission)
    {
        conversation.mission_execution_id = Some(mission.clone());
        rows.link_mission(mission, &conversation.session_id, origin.at)?;
    }
    update_from_sender(agent, origin);
    Ok(())
}

/// Sets the project of an agent without one.
fn assign_missing_project(rows: &mut dyn Rows, origin: &EventOrigin<'_>, agent: &mut AgentRow) -> Result<()> {
    if origin.working_directory().is_some()
        && rows.find_project_path(agent.project_id)?.as_deref() == Some(project::UNKNOWN_PROJECT_PATH)
    {
        agent.project_id = resolve_project(rows, origin)?;
    }
    Ok(())
}

/// Updates an agent from an event. The tmux session is the first one; the pane and the process are the latest.
fn update_from_sender(agent: &mut AgentRow, origin: &EventOrigin<'_>) {
    let sender = origin.sender;
    agent.last_seen_at = agent.last_seen_at.max(origin.at);
    agent.silent_since = None;
    if let Some(id) = origin.session_id() {
        agent.session_id = Some(id.to_owned());
    }
    set_if_none(&mut agent.product, &sender.product);
    set_if_none(&mut agent.tmux_session, &sender.tmux_session);
    set_if_none(&mut agent.headspace_session_id, &sender.headspace_session_id);
    set_if_some(&mut agent.tmux_pane, &sender.tmux_pane);
    set_if_some(&mut agent.tmux_server, &sender.tmux_server);
    set_if_some(&mut agent.host, &sender.host);
    agent.context_window = sender.context_window.or(agent.context_window);
    if let Some(process) = sender.process {
        agent.process_is_certain = sender.process_is_told || agent.process == Some(process);
        agent.process = Some(process);
    }
}

fn set_if_some(slot: &mut Option<String>, value: &Option<String>) {
    if value.is_some() {
        slot.clone_from(value);
    }
}

fn set_if_none(slot: &mut Option<String>, value: &Option<String>) {
    if slot.is_none() {
        slot.clone_from(value);
    }
}

/// Ends the conversation that the agent left for another one.
fn end_left_conversation(
    rows: &mut dyn Rows,
    origin: &EventOrigin<'_>,
    conversation_id: i64,
    last_seen_at: Timestamp,
) -> Result<()> {
    let Some(mut former) = rows.find_conversation(conversation_id)? else {
        return Ok(());
    };
    former.last_seen_at = last_seen_at;
    if former.ended_at.is_none() {
        let same_pane = former.tmux_pane.is_some() && former.tmux_pane == origin.sender.tmux_pane;
        former.mark_ended(if same_pane { "pane_reused" } else { REPLACED }, origin.at);
    }
    rows.save_conversation(&mut former)
}

/// A pane has one session at a time: earlier sessions in it have ended, with their agents.
fn end_other_pane_sessions(
    rows: &mut dyn Rows,
    origin: &EventOrigin<'_>,
    pane: &str,
    conversation_id: i64,
) -> Result<()> {
    for mut other in rows.list_conversations_on_pane(pane)? {
        if other.conversation_id == conversation_id {
            continue;
        }
        let Some(mut agent) = rows.find_agent(other.agent_id)? else {
            continue;
        };
        if !origin.is_same_pane(&agent) || origin.is_busy_in_other_process(&agent) {
            continue;
        }
        other.mark_ended("pane_reused", origin.at);
        rows.save_conversation(&mut other)?;
        let current = agent.conversation_id == Some(other.conversation_id);
        if current && agent.state != AgentState::Ended {
            agent.mark_ended(StateSource::Hook, "another session started in its tmux pane", "pane_reused", origin.at);
            rows.save_agent(&mut agent)?;
        }
    }
    Ok(())
}

/// The process and host in the payload, as receivers get them.
pub(crate) fn parse_sender_process(event: &Event) -> Option<ProcessIdentity> {
    let pid = event.raw.get("pid")?.as_u64()?;
    Some(ProcessIdentity {
        pid: u32::try_from(pid).ok()?,
        started: event.raw.get("pid_started").and_then(serde_json::Value::as_u64),
    })
}
