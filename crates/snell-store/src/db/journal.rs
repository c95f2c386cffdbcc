//! The reads and writes of one transaction: agents and conversations stay in memory until it ends, and every change is
//! written to the change feed.
//!
//! One transaction may have many events of one agent. Each of them needs the agent and changes it, and only the last
//! version has to reach the database; but the feed gets each change. The rows stay in the [`RowCache`] for the next
//! transaction, unless another process writes.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use snell::{NoticeKind, Timestamp};

use crate::db::agent_activity::AgentActivity;
use crate::db::change_feed::{
    CardPayload, ChangeKind, ChangePayload, GuardVerdictPayload, HookRunPayload, NewChange, RequestPayload,
    SessionCreatedPayload, SessionEndedPayload, StatePayload, TurnPayload,
};
use crate::db::dispatches::{NewDispatch, classify_state_change};
use crate::db::model::{AgentRow, AgentState, ConversationRow, SightingRow, StateSource, TurnRow};
use crate::db::open_calls::{EndedCall, OpenCallCache};
use crate::db::rows::{EventReference, EventRow, HookRunOwner, OpenToolCall, Rows, SessionBinding, TranscriptProgress};
use crate::db::workers::{SessionWorker, WorkerKind, WorkerRows};
use crate::derive::open_requests::NO_LONGER_WAITS;
use crate::error::{Result, StoreError};
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};
use crate::requests::{
    AnswerChannel, NewRequest, RememberedAnswer, RequestEnd, RequestRows, RequestStatus, RequestView,
};

/// Rows as one transaction reads and changes them.
pub(crate) struct Journal<'a> {
    rows: &'a mut dyn Rows,
    cache: &'a mut RowCache,
    /// Agents created in this transaction that are not in the change feed yet.
    unannounced: HashSet<i64>,
    cause: ChangeCause,
}

/// The cause of changes.
struct ChangeCause {
    /// The event's name, or another cause.
    reason: String,
    at: Timestamp,
    /// The agent of the event, once that is stored.
    event_agent_id: Option<i64>,
    /// The turn of this event, and its time.
    turn: Option<(i64, Timestamp)>,
    /// The message about the session that came with this event, apart from its turns.
    message: Option<String>,
    /// Whether a hook started the agent of this event.
    is_nested: bool,
}

/// An agent before a change.
struct AgentBefore {
    state: AgentState,
    activity: AgentActivity,
    /// Whether its reason was another one than now.
    has_other_reason: bool,
}

/// The largest number of rows that are kept between transactions.
const MAX_CACHED_ROWS: usize = 10_000;

/// Rows as the database has them, unless another process writes.
#[derive(Default)]
pub(crate) struct RowCache {
    agents: HashMap<i64, CachedRow<AgentRow>>,
    conversations: HashMap<i64, CachedRow<ConversationRow>>,
    /// Agents with an older version in the database.
    unwritten_agents: Vec<i64>,
    unwritten_conversations: Vec<i64>,
    open_calls: OpenCallCache,
    /// The paths of projects, which do not change.
    project_paths: HashMap<i64, String>,
}

impl RowCache {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A row that was read or written.
struct CachedRow<T> {
    row: T,
    /// The version in the database, if it is older.
    stored: Option<T>,
}

impl<T: Clone> CachedRow<T> {
    fn from_stored(row: T) -> Self {
        Self { row, stored: None }
    }

    /// Takes a new version; returns whether it is the first unwritten one.
    fn replace(&mut self, row: T) -> bool {
        let before = std::mem::replace(&mut self.row, row);
        let is_first = self.stored.is_none();
        if is_first {
            self.stored = Some(before);
        }
        is_first
    }
}

impl<'a> Journal<'a> {
    /// Opens a journal for a transaction that has just begun. The cache is used only if no other process has written.
    pub(crate) fn open(rows: &'a mut dyn Rows, remembered: &'a mut RowCache) -> Result<Self> {
        let rows_in_all = remembered.agents.len() + remembered.conversations.len() + remembered.open_calls.len();
        let many = rows_in_all > MAX_CACHED_ROWS;
        if many || rows.has_external_writes()? {
            remembered.clear();
        }
        Ok(Self {
            rows,
            cache: remembered,
            unannounced: HashSet::new(),
            cause: ChangeCause {
                reason: String::new(),
                at: Timestamp::UNIX_EPOCH,
                event_agent_id: None,
                turn: None,
                message: None,
                is_nested: false,
            },
        })
    }

    /// Sets the cause of the changes that follow.
    pub(crate) fn set_cause(&mut self, reason: &str, at: Timestamp) {
        self.cause = ChangeCause {
            reason: reason.to_owned(),
            at,
            event_agent_id: None,
            turn: None,
            message: None,
            is_nested: false,
        };
    }

    /// Marks the event as one of an agent that a hook started. Hooks and notices do not react to its changes: a hook that
    /// starts an agent whenever one is idle would run forever.
    pub(crate) fn mark_nested(&mut self) {
        self.cause.is_nested = true;
    }

    /// Sets the message about the session that comes with this event.
    pub(crate) fn set_message(&mut self, message: Option<&str>) {
        self.cause.message = message.map(str::to_owned);
    }

    /// Writes a card to the change feed although the agent's own row has not changed.
    pub(crate) fn refresh_card(&mut self, agent_id: i64) -> Result<()> {
        match self.find_agent(agent_id)? {
            None => Ok(()),
            Some(agent) => self.record_card_change(&agent),
        }
    }

    /// Writes the rows in memory. Without this call, the transaction does not change them.
    pub(crate) fn flush(&mut self) -> Result<()> {
        for id in std::mem::take(&mut self.cache.unwritten_agents) {
            if let Some(held) = self.cache.agents.get_mut(&id)
                && let Some(stored) = held.stored.take()
            {
                self.rows.update_agent(&held.row, &stored)?;
            }
        }
        for id in std::mem::take(&mut self.cache.unwritten_conversations) {
            if let Some(held) = self.cache.conversations.get_mut(&id)
                && held.stored.take().is_some()
            {
                self.rows.save_conversation(&mut held.row)?;
            }
        }
        Ok(())
    }

    /// The conversation that the caller has just read; it may have been removed since.
    pub(crate) fn require_conversation(&mut self, conversation_id: i64) -> Result<ConversationRow> {
        self.find_conversation(conversation_id)?
            .ok_or_else(|| StoreError::Database("the session was removed because it was old".into()))
    }

    fn find_project_id(&mut self, agent_id: i64) -> Result<i64> {
        Ok(self.load_agent(agent_id)?.map_or(0, |held| held.row.project_id))
    }

    /// The agent in the cache, where it is read to if necessary.
    fn load_agent(&mut self, agent_id: i64) -> Result<Option<&mut CachedRow<AgentRow>>> {
        if let Entry::Vacant(vacant) = self.cache.agents.entry(agent_id)
            && let Some(agent) = self.rows.find_agent(agent_id)?
        {
            vacant.insert(CachedRow::from_stored(agent));
        }
        Ok(self.cache.agents.get_mut(&agent_id))
    }

    /// The conversation in the cache, where it is read to if necessary.
    fn load_conversation(&mut self, conversation_id: i64) -> Result<Option<&mut CachedRow<ConversationRow>>> {
        if let Entry::Vacant(vacant) = self.cache.conversations.entry(conversation_id)
            && let Some(conversation) = self.rows.find_conversation(conversation_id)?
        {
            vacant.insert(CachedRow::from_stored(conversation));
        }
        Ok(self.cache.conversations.get_mut(&conversation_id))
    }

    fn record_change(
        &mut self,
        kind: ChangeKind,
        agent_id: i64,
        project_id: i64,
        data: ChangePayload<'_>,
    ) -> Result<()> {
        self.rows.insert_change(&NewChange { kind, agent_id, project_id, at: self.cause.at, data })
    }

    fn record_agent_change(&mut self, before: Option<AgentBefore>, agent: &AgentRow) -> Result<()> {
        let (agent_id, project_id, at) = (agent.agent_id, agent.project_id, self.cause.at);
        let before_state = before.as_ref().map(|before| before.state);
        if before.as_ref().map(|before| before.activity) != Some(agent.activity()) {
            let payload = StatePayload::new(agent, before_state, self.cause.turn, at);
            self.record_change(ChangeKind::StateChanged, agent_id, project_id, ChangePayload::State(payload))?;
            self.insert_sighting_if_unreported(agent, before_state)?;
            if let Some(kind) = classify_state_change(before_state, agent) {
                self.insert_dispatch(&NewDispatch {
                    uid: None,
                    kind,
                    agent_id,
                    at: agent.state_since,
                    text: &agent.why,
                })?;
            }
            if before_state == Some(AgentState::AwaitingInput) && agent.state != AgentState::AwaitingInput {
                self.withdraw_requests(agent_id, AnswerChannel::ALL, NO_LONGER_WAITS)?;
            }
        } else if agent.state == AgentState::AwaitingInput && before.is_some_and(|before| before.has_other_reason) {
            self.withdraw_requests(agent_id, &[AnswerChannel::Pane], "the agent asks something else")?;
        }
        self.record_card_change(agent)
    }

    /// Closes the open requests of an agent with one of these ways of an answer.
    fn withdraw_requests(&mut self, agent_id: i64, channels: &[AnswerChannel], why: &str) -> Result<()> {
        let open = self.rows.list_open_requests(agent_id)?;
        for request in open.into_iter().filter(|request| channels.contains(&request.channel)) {
            let end = RequestEnd::without_answer(RequestStatus::Withdrawn, why, Timestamp::now());
            self.close_request(request.request_id, &end)?;
        }
        Ok(())
    }

    /// Closes the requests that cannot be answered from here, because a hook of the agent waits for an answer.
    pub(crate) fn close_requests_elsewhere(&mut self, agent_id: i64) -> Result<()> {
        self.withdraw_requests(agent_id, &[AnswerChannel::Elsewhere], "a hook of the agent waits for the answer")
    }

    /// Reports a closed request again, after its delivery.
    pub(crate) fn record_request_delivery(&mut self, request_id: i64) -> Result<RequestView> {
        self.record_request_change(ChangeKind::RequestClosed, request_id)?;
        self.require_request(request_id)
    }

    /// The request that the caller has just written.
    pub(crate) fn require_request(&mut self, request_id: i64) -> Result<RequestView> {
        self.rows
            .find_request(request_id)?
            .ok_or_else(|| StoreError::Database("the request was removed with its agent".into()))
    }

    fn record_request_change(&mut self, kind: ChangeKind, request_id: i64) -> Result<()> {
        let request = self.require_request(request_id)?;
        let payload = ChangePayload::Request(RequestPayload::new(&request, self.cause.at));
        self.record_change(kind, request.agent_id, request.project_id, payload)
    }

    /// Stores a change of state that no event of the agent reports: the reconciler saw it, or it came with another
    /// agent's event.
    fn insert_sighting_if_unreported(&mut self, agent: &AgentRow, before: Option<AgentState>) -> Result<()> {
        let is_reported = agent.state_source == StateSource::Hook && self.cause.event_agent_id == Some(agent.agent_id);
        if is_reported {
            return Ok(());
        }
        let at = self.cause.at;
        self.rows.insert_sighting(&SightingRow { agent, before, at })
    }

    fn record_card_change(&mut self, agent: &AgentRow) -> Result<()> {
        if let Some(conversation_id) = agent.conversation_id {
            self.load_conversation(conversation_id)?;
        }
        let held = agent.conversation_id.and_then(|id| self.cache.conversations.get(&id));
        let status_text = held.and_then(|held| held.row.status_text.as_deref());
        let ChangeCause { ref reason, at, ref message, .. } = self.cause;
        let payload = CardPayload::new(agent, status_text, reason, message.as_deref(), at);
        self.rows.insert_change(&NewChange {
            kind: ChangeKind::CardRefresh,
            agent_id: agent.agent_id,
            project_id: agent.project_id,
            at,
            data: ChangePayload::Card(payload),
        })
    }

    fn record_conversation_change(&mut self, was_open: Option<bool>, conversation: &ConversationRow) -> Result<()> {
        let is_open = conversation.ended_at.is_none();
        if was_open.is_some() && was_open == Some(is_open) {
            return Ok(());
        }
        let agent_id = conversation.agent_id;
        let (project_id, at) = (self.find_project_id(agent_id)?, self.cause.at);
        if was_open.is_none() {
            let payload = SessionCreatedPayload::new(conversation, project_id, at);
            self.record_change(
                ChangeKind::SessionCreated,
                agent_id,
                project_id,
                ChangePayload::SessionCreated(payload),
            )?;
        }
        if !is_open {
            let payload = SessionEndedPayload::new(conversation, project_id, at);
            self.record_change(ChangeKind::SessionEnded, agent_id, project_id, ChangePayload::SessionEnded(payload))?;
        }
        Ok(())
    }
}

/// Methods of [`Rows`] that the journal forwards, some of them after a flush.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        fn $name(&mut self, $($argument: $type),*) -> Result<$result> {
            self.rows.$name($($argument),*)
        }
    )+};
    (after flush: $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        fn $name(&mut self, $($argument: $type),*) -> Result<$result> {
            self.flush()?;
            self.rows.$name($($argument),*)
        }
    )+};
}

impl Rows for Journal<'_> {
    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>> {
        Ok(self.load_agent(agent_id)?.map(|held| held.row.clone()))
    }

    fn save_agent(&mut self, agent: &mut AgentRow) -> Result<()> {
        if agent.agent_id == 0 {
            // Other rows will refer to it, so it needs its id now. The change feed gets it when it is saved complete.
            self.rows.save_agent(agent)?;
            self.unannounced.insert(agent.agent_id);
            self.cache.agents.insert(agent.agent_id, CachedRow::from_stored(agent.to_stored_precision()));
            return Ok(());
        }
        let is_unannounced = self.unannounced.remove(&agent.agent_id);
        let held = self.load_agent(agent.agent_id)?;
        if held.as_ref().is_some_and(|held| held.row == *agent) && !is_unannounced {
            return Ok(());
        }
        let before = held.filter(|_| !is_unannounced).map(|held| AgentBefore {
            state: held.row.state,
            activity: held.row.activity(),
            has_other_reason: held.row.why != agent.why,
        });
        self.record_agent_change(before, agent)?;
        if let Some(held) = self.cache.agents.get_mut(&agent.agent_id)
            && held.replace(agent.to_stored_precision())
        {
            self.cache.unwritten_agents.push(agent.agent_id);
        }
        Ok(())
    }

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>> {
        Ok(self.load_conversation(conversation_id)?.map(|held| held.row.clone()))
    }

    fn save_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()> {
        let is_new = conversation.conversation_id == 0;
        let was_open = if is_new {
            self.rows.save_conversation(conversation)?;
            None
        } else {
            let held = self.load_conversation(conversation.conversation_id)?;
            // Most events do not change it, so there is nothing to write.
            if held.as_ref().is_some_and(|held| held.row == *conversation) {
                return Ok(());
            }
            held.map(|held| held.row.ended_at.is_none())
        };
        self.record_conversation_change(was_open, conversation)?;
        let id = conversation.conversation_id;
        if is_new {
            self.cache.conversations.insert(id, CachedRow::from_stored(conversation.to_stored_precision()));
        } else if let Some(held) = self.cache.conversations.get_mut(&id)
            && held.replace(conversation.to_stored_precision())
        {
            self.cache.unwritten_conversations.push(id);
        }
        Ok(())
    }

    fn find_project_path(&mut self, project_id: i64) -> Result<Option<String>> {
        if let Some(known) = self.cache.project_paths.get(&project_id) {
            return Ok(Some(known.clone()));
        }
        let found = self.rows.find_project_path(project_id)?;
        if let Some(path) = &found {
            self.cache.project_paths.insert(project_id, path.clone());
        }
        Ok(found)
    }

    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()> {
        let is_new = turn.turn_id == 0;
        self.rows.save_turn(turn)?;
        self.cause.turn = Some((turn.turn_id, turn.timestamp));
        let project_id = self.find_project_id(turn.agent_id)?;
        let kind = if is_new { ChangeKind::TurnCreated } else { ChangeKind::TurnUpdated };
        let payload = ChangePayload::Turn(TurnPayload::new(turn, project_id));
        self.record_change(kind, turn.agent_id, project_id, payload)
    }

    fn insert_hook_run(&mut self, owner: EventReference<'_>, run: &HookRunRecord) -> Result<()> {
        self.rows.insert_hook_run(owner, run)?;
        let agent_id = owner.agent_id.unwrap_or(0);
        let project_id = self.find_project_id(agent_id)?;
        let payload = HookRunPayload::new(run, (agent_id, project_id), owner.event, owner.at);
        self.record_change(ChangeKind::HookRun, agent_id, project_id, ChangePayload::Run(payload))
    }

    fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<Option<HookRunOwner>> {
        let Some(done) = self.rows.finish_hook_run(finished)? else {
            return Ok(None);
        };
        let project_id = self.find_project_id(done.agent_id)?;
        let payload = HookRunPayload::new(&finished.run, (done.agent_id, project_id), &finished.event, finished.at);
        self.record_change(ChangeKind::HookRun, done.agent_id, project_id, ChangePayload::Run(payload))?;
        Ok(Some(done))
    }

    fn insert_guard_verdict(&mut self, owner: EventReference<'_>, verdict: &GuardVerdictRecord) -> Result<()> {
        self.rows.insert_guard_verdict(owner, verdict)?;
        let agent_id = owner.agent_id.unwrap_or(0);
        let project_id = self.find_project_id(agent_id)?;
        let payload = GuardVerdictPayload::new(verdict, (agent_id, project_id), owner.event, owner.at);
        self.record_change(ChangeKind::GuardVerdict, agent_id, project_id, ChangePayload::Verdict(payload))
    }

    fn insert_dispatch(&mut self, dispatch: &NewDispatch<'_>) -> Result<()> {
        if self.cause.is_nested {
            return Ok(());
        }
        self.rows.insert_dispatch(dispatch)
    }

    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64> {
        self.cause.event_agent_id = Some(event.agent_id);
        let row = self.rows.insert_event(event)?;
        self.cache.open_calls.follow_event(row, event);
        Ok(row)
    }

    fn find_ended_call(&mut self, end: &EndedCall<'_>) -> Result<Option<(i64, Timestamp)>> {
        let Self { rows, cache, .. } = self;
        cache.open_calls.find_ended(end, || rows.list_open_tool_calls(end.agent_id, end.conversation_id, end.tool))
    }

    // Queries for agents or conversations by their columns must see the current versions.
    forward! { after flush:
        find_agent_by_headspace(headspace_session_id: &str) -> Option<AgentRow>;
        list_agents_on_pane(pane: &str) -> Vec<AgentRow>;
        list_agents_in_project(project_id: i64) -> Vec<AgentRow>;
        list_live_agents() -> Vec<AgentRow>;
        list_conversations_on_pane(pane: &str) -> Vec<ConversationRow>;
        find_session_binding(session_id: &str) -> Option<SessionBinding>;
    }

    forward! {
        has_external_writes() -> bool;
        update_agent(agent: &AgentRow, stored: &AgentRow) -> ();
        bind_session_id(session_id: &str, conversation_id: i64) -> ();
        list_session_ids(conversation_id: i64) -> Vec<String>;
        find_or_create_project(path: &str, name: &str, now: Timestamp) -> i64;
        link_mission(mission_execution_id: &str, session_id: &str, at: Timestamp) -> ();
        load_transcript_progress(session_id: &str) -> TranscriptProgress;
        save_transcript_progress(session_id: &str, reached: &TranscriptProgress) -> ();
        open_command(agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> i64;
        close_command(command_id: i64, at: Timestamp) -> ();
        find_last_stored_turn(command_id: i64) -> Option<TurnRow>;
        find_latest_turn(command_id: i64) -> Option<TurnRow>;
        find_turns_by_hash(agent_id: i64, content_hash: i64) -> Vec<TurnRow>;
        find_event_agent(event_id: &str) -> Option<i64>;
        list_tool_event_payloads(conversation_id: i64, name: &str, tool_use_id: &str) -> Vec<String>;
        find_tool_start(conversation_id: i64, tool_use_id: &str, before: Timestamp) -> Option<Timestamp>;
        list_open_tool_calls(agent_id: i64, conversation_id: i64, tool: &str) -> Vec<OpenToolCall>;
        find_last_call_summary(agent_id: i64, tool: &str) -> Option<String>;
        repeats_guard_verdict(owner: EventReference<'_>, verdict: &GuardVerdictRecord, since: Timestamp) -> bool;
        insert_sighting(sighting: &SightingRow<'_>) -> ();
        insert_change(change: &NewChange<'_>) -> ();
    }
}

/// Workers are not in the change feed, so they go straight through.
impl WorkerRows for Journal<'_> {
    forward! {
        find_worker(conversation_id: i64, kind: WorkerKind, name: &str) -> Option<SessionWorker>;
        list_background_workers(conversation_id: i64) -> Vec<SessionWorker>;
        list_unreported_workers(conversation_id: i64, at_most: u32) -> Vec<SessionWorker>;
        save_worker(worker: &mut SessionWorker) -> ();
        transfer_workers(from: i64, to: i64) -> ();
        mark_worker_reported(conversation_id: i64, worker_id: i64, at: Timestamp) -> ();
    }
}

/// Requests refer to their agents, so these must be in the database.
impl RequestRows for Journal<'_> {
    fn insert_request(&mut self, request: &NewRequest, host: Option<&str>) -> Result<i64> {
        self.flush()?;
        let request_id = self.rows.insert_request(request, host)?;
        self.record_request_change(ChangeKind::RequestOpened, request_id)?;
        // Other requests follow from a wait, which has a notice of its own.
        if request.channel != AnswerChannel::Reply {
            return Ok(request_id);
        }
        let uid = self.require_request(request_id)?.uid;
        let (agent_id, at) = (request.agent_id, request.opened_at);
        let dispatch = NewDispatch { uid: Some(&uid), kind: NoticeKind::Request, agent_id, at, text: &request.title };
        self.insert_dispatch(&dispatch)?;
        Ok(request_id)
    }

    fn close_request(&mut self, request_id: i64, end: &RequestEnd) -> Result<()> {
        self.rows.close_request(request_id, end)?;
        self.record_request_change(ChangeKind::RequestClosed, request_id)
    }

    forward! {
        find_request(request_id: i64) -> Option<RequestView>;
        find_request_by_uid(uid: &str) -> Option<RequestView>;
        list_open_requests(agent_id: i64) -> Vec<RequestView>;
        save_request_delivery(request_id: i64, delivered_at: Option<Timestamp>, reason: Option<&str>) -> ();
        has_request_of_event(agent_id: i64, event_id: &str) -> bool;
        save_remembered_answer(remembered: &RememberedAnswer) -> ();
        delete_remembered_answer(request_uid: &str) -> Option<RememberedAnswer>;
    }
}
