//! What one transaction reads and writes: agents and conversations are held in memory until it ends, and every change is
//! noted for those who watch.
//!
//! Many events of one agent may come in one transaction. Each of them needs the agent and changes it, and only the last
//! version has to reach the database; but each change is told. What was held stays [`Remembered`] for the next transaction,
//! as long as nobody else writes.

use std::collections::{HashMap, HashSet};

use snell::Timestamp;

use crate::changes::{
    CardTold, ChangeKind, NewChange, RunTold, SessionCreatedTold, SessionEndedTold, StateTold, Told, TurnTold,
    VerdictTold,
};
use crate::error::{Result, StoreError};
use crate::model::{Agent, Conversation, Sighting, Source, State, Turn};
use crate::observation::{FinishedRun, GuardVerdict, Run};
use crate::rows::{EventRow, Finished, Known, OpenCall, Owner, Reached, Rows};
use crate::workers::{Worker, WorkerKind, WorkerRows};

/// Rows, as one transaction sees and changes them.
pub(crate) struct Journal<'a> {
    rows: &'a mut dyn Rows,
    held: &'a mut Remembered,
    /// Agents that were made here, and of which nothing has been told yet.
    untold: HashSet<i64>,
    occasion: Occasion,
}

/// What makes things change.
struct Occasion {
    /// The event's name, or what else it is.
    reason: String,
    at: Timestamp,
    /// The agent whose event it is, once that is kept.
    event_of: Option<i64>,
    /// What was said on this occasion, and when.
    turn: Option<(i64, Timestamp)>,
    /// What somebody said about the session on this occasion, beside its turns.
    message: Option<String>,
}

/// More rows are not remembered from one transaction to the next.
const MAX_REMEMBERED: usize = 10_000;

/// Rows as the database has them, as long as nobody else writes.
#[derive(Default)]
pub(crate) struct Remembered {
    agents: HashMap<i64, Held<Agent>>,
    conversations: HashMap<i64, Held<Conversation>>,
    /// The rows that the database has in an older version.
    unwritten_agents: Vec<i64>,
    unwritten_conversations: Vec<i64>,
}

impl Remembered {
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// A row that was read or written.
struct Held<T> {
    row: T,
    /// What the database has of it, if that is an older version.
    stored: Option<T>,
}

impl<T: Clone> Held<T> {
    fn as_read(row: T) -> Self {
        Self { row, stored: None }
    }

    /// Takes a new version; answers whether it is the first that is not written.
    fn change(&mut self, row: T) -> bool {
        let before = std::mem::replace(&mut self.row, row);
        let is_first = self.stored.is_none();
        if is_first {
            self.stored = Some(before);
        }
        is_first
    }
}

impl<'a> Journal<'a> {
    /// A journal of the transaction that has just begun. What is remembered counts only if nobody else has written.
    pub(crate) fn on(rows: &'a mut dyn Rows, remembered: &'a mut Remembered) -> Result<Self> {
        let many = remembered.agents.len() + remembered.conversations.len() > MAX_REMEMBERED;
        if many || rows.others_have_written()? {
            remembered.forget();
        }
        Ok(Self {
            rows,
            held: remembered,
            untold: HashSet::new(),
            occasion: Occasion {
                reason: String::new(),
                at: Timestamp::UNIX_EPOCH,
                event_of: None,
                turn: None,
                message: None,
            },
        })
    }

    /// What comes from now on happens because of this.
    pub(crate) fn because_of(&mut self, reason: &str, at: Timestamp) {
        self.occasion = Occasion {
            reason: reason.to_owned(),
            at,
            event_of: None,
            turn: None,
            message: None,
        };
    }

    /// On this occasion, somebody says this about the session.
    pub(crate) fn with_message(&mut self, message: Option<&str>) {
        self.occasion.message = message.map(str::to_owned);
    }

    /// Tells those who watch what is shown of an agent, although nothing of its own row has changed.
    pub(crate) fn refresh_card(&mut self, agent_id: i64) -> Result<()> {
        match self.agent(agent_id)? {
            None => Ok(()),
            Some(agent) => self.tell_card_of(&agent),
        }
    }

    /// Writes what is held. Without this, the transaction has changed nothing of it.
    pub(crate) fn write(&mut self) -> Result<()> {
        for id in std::mem::take(&mut self.held.unwritten_agents) {
            if let Some(held) = self.held.agents.get_mut(&id)
                && let Some(stored) = held.stored.take()
            {
                self.rows.update_agent(&held.row, &stored)?;
            }
        }
        for id in std::mem::take(&mut self.held.unwritten_conversations) {
            if let Some(held) = self.held.conversations.get_mut(&id)
                && held.stored.take().is_some()
            {
                self.rows.save_conversation(&mut held.row)?;
            }
        }
        Ok(())
    }

    /// A conversation that somebody has just seen, and that may have been removed since.
    pub(crate) fn conversation_there(&mut self, conversation_id: i64) -> Result<Conversation> {
        self.conversation(conversation_id)?
            .ok_or_else(|| StoreError::Database("the session was removed, because it was old".into()))
    }

    fn project_of(&mut self, agent_id: i64) -> Result<i64> {
        Ok(self.agent(agent_id)?.map_or(0, |agent| agent.project_id))
    }

    fn tell(&mut self, kind: ChangeKind, agent_id: i64, project_id: i64, data: Told<'_>) -> Result<()> {
        self.rows.keep_change(&NewChange {
            kind,
            agent_id,
            project_id,
            at: self.occasion.at,
            data,
        })
    }

    fn tell_of_agent(&mut self, before: Option<&Agent>, agent: &Agent) -> Result<()> {
        let (agent_id, project_id, at) = (agent.agent_id, agent.project_id, self.occasion.at);
        let before_state = before.map(|before| before.state);
        if before_state != Some(agent.state) {
            let told = StateTold::of(agent, before_state, self.occasion.turn, at);
            self.tell(ChangeKind::StateChanged, agent_id, project_id, Told::State(told))?;
            self.keep_if_unsaid(agent, before_state)?;
        }
        self.tell_card_of(agent)
    }

    /// Keeps a change of state that no event of the agent tells: it was seen, or came with somebody else's event.
    fn keep_if_unsaid(&mut self, agent: &Agent, before: Option<State>) -> Result<()> {
        let is_said = agent.state_source == Source::Hook && self.occasion.event_of == Some(agent.agent_id);
        if is_said {
            return Ok(());
        }
        let at = self.occasion.at;
        self.rows.keep_sighting(&Sighting { agent, before, at })
    }

    fn tell_card_of(&mut self, agent: &Agent) -> Result<()> {
        let conversation = match agent.conversation_id {
            Some(conversation_id) => self.conversation(conversation_id)?,
            None => None,
        };
        let status_text = conversation
            .as_ref()
            .and_then(|conversation| conversation.status_text.as_deref());
        let Occasion {
            ref reason,
            at,
            ref message,
            ..
        } = self.occasion;
        let told = CardTold::of(agent, status_text, reason, message.as_deref(), at);
        self.rows.keep_change(&NewChange {
            kind: ChangeKind::CardRefresh,
            agent_id: agent.agent_id,
            project_id: agent.project_id,
            at,
            data: Told::Card(told),
        })
    }

    fn tell_of_conversation(&mut self, was_open: Option<bool>, conversation: &Conversation) -> Result<()> {
        let is_open = conversation.ended_at.is_none();
        if was_open.is_some() && was_open == Some(is_open) {
            return Ok(());
        }
        let agent_id = conversation.agent_id;
        let (project_id, at) = (self.project_of(agent_id)?, self.occasion.at);
        if was_open.is_none() {
            let told = SessionCreatedTold::of(conversation, project_id, at);
            self.tell(
                ChangeKind::SessionCreated,
                agent_id,
                project_id,
                Told::SessionCreated(told),
            )?;
        }
        if !is_open {
            let told = SessionEndedTold::of(conversation, project_id, at);
            self.tell(ChangeKind::SessionEnded, agent_id, project_id, Told::SessionEnded(told))?;
        }
        Ok(())
    }
}

impl Rows for Journal<'_> {
    fn agent(&mut self, agent_id: i64) -> Result<Option<Agent>> {
        if let Some(held) = self.held.agents.get(&agent_id) {
            return Ok(Some(held.row.clone()));
        }
        let found = self.rows.agent(agent_id)?;
        if let Some(agent) = &found {
            self.held.agents.insert(agent_id, Held::as_read(agent.clone()));
        }
        Ok(found)
    }

    fn save_agent(&mut self, agent: &mut Agent) -> Result<()> {
        if agent.agent_id == 0 {
            // Others will refer to it, so it needs its number now. What there is to tell of it comes when it is saved
            // with what is known of it.
            self.rows.save_agent(agent)?;
            self.untold.insert(agent.agent_id);
            self.held.agents.insert(agent.agent_id, Held::as_read(agent.as_kept()));
            return Ok(());
        }
        let is_untold = self.untold.remove(&agent.agent_id);
        let before = self.agent(agent.agent_id)?;
        if before.as_ref() == Some(agent) && !is_untold {
            return Ok(());
        }
        self.tell_of_agent(before.as_ref().filter(|_| !is_untold), agent)?;
        if let Some(held) = self.held.agents.get_mut(&agent.agent_id)
            && held.change(agent.as_kept())
        {
            self.held.unwritten_agents.push(agent.agent_id);
        }
        Ok(())
    }

    fn conversation(&mut self, conversation_id: i64) -> Result<Option<Conversation>> {
        if let Some(held) = self.held.conversations.get(&conversation_id) {
            return Ok(Some(held.row.clone()));
        }
        let found = self.rows.conversation(conversation_id)?;
        if let Some(conversation) = &found {
            self.held
                .conversations
                .insert(conversation_id, Held::as_read(conversation.clone()));
        }
        Ok(found)
    }

    fn save_conversation(&mut self, conversation: &mut Conversation) -> Result<()> {
        let is_new = conversation.conversation_id == 0;
        let before = if is_new {
            self.rows.save_conversation(conversation)?;
            None
        } else {
            self.conversation(conversation.conversation_id)?
        };
        let was_open = before.map(|before| before.ended_at.is_none());
        self.tell_of_conversation(was_open, conversation)?;
        let id = conversation.conversation_id;
        if is_new {
            self.held
                .conversations
                .insert(id, Held::as_read(conversation.as_kept()));
        } else if let Some(held) = self.held.conversations.get_mut(&id)
            && held.change(conversation.as_kept())
        {
            self.held.unwritten_conversations.push(id);
        }
        Ok(())
    }

    fn save_turn(&mut self, turn: &mut Turn) -> Result<()> {
        let is_new = turn.turn_id == 0;
        self.rows.save_turn(turn)?;
        self.occasion.turn = Some((turn.turn_id, turn.timestamp));
        let project_id = self.project_of(turn.agent_id)?;
        let kind = if is_new {
            ChangeKind::TurnCreated
        } else {
            ChangeKind::TurnUpdated
        };
        let told = Told::Turn(TurnTold::of(turn, project_id));
        self.tell(kind, turn.agent_id, project_id, told)
    }

    fn keep_run(&mut self, owner: Owner<'_>, run: &Run) -> Result<()> {
        self.rows.keep_run(owner, run)?;
        let agent_id = owner.agent_id.unwrap_or(0);
        let project_id = self.project_of(agent_id)?;
        let told = RunTold::of(run, (agent_id, project_id), owner.event, owner.at);
        self.tell(ChangeKind::HookRun, agent_id, project_id, Told::Run(told))
    }

    fn finish_run(&mut self, finished: &FinishedRun) -> Result<Option<Finished>> {
        let Some(done) = self.rows.finish_run(finished)? else {
            return Ok(None);
        };
        let project_id = self.project_of(done.agent_id)?;
        let told = RunTold::of(&finished.run, (done.agent_id, project_id), &finished.event, finished.at);
        self.tell(ChangeKind::HookRun, done.agent_id, project_id, Told::Run(told))?;
        Ok(Some(done))
    }

    fn keep_guard_verdict(&mut self, owner: Owner<'_>, verdict: &GuardVerdict) -> Result<()> {
        self.rows.keep_guard_verdict(owner, verdict)?;
        let agent_id = owner.agent_id.unwrap_or(0);
        let project_id = self.project_of(agent_id)?;
        let told = VerdictTold::of(verdict, (agent_id, project_id), owner.event, owner.at);
        self.tell(ChangeKind::GuardVerdict, agent_id, project_id, Told::Verdict(told))
    }

    // What looks for agents or conversations by what they are must see what they are now.

    fn agent_of_headspace(&mut self, headspace_session_id: &str) -> Result<Option<Agent>> {
        self.write()?;
        self.rows.agent_of_headspace(headspace_session_id)
    }

    fn agents_on_pane(&mut self, pane: &str) -> Result<Vec<Agent>> {
        self.write()?;
        self.rows.agents_on_pane(pane)
    }

    fn agents_in_project(&mut self, project_id: i64) -> Result<Vec<Agent>> {
        self.write()?;
        self.rows.agents_in_project(project_id)
    }

    fn agents_at_work(&mut self) -> Result<Vec<Agent>> {
        self.write()?;
        self.rows.agents_at_work()
    }

    fn conversations_on_pane(&mut self, pane: &str) -> Result<Vec<Conversation>> {
        self.write()?;
        self.rows.conversations_on_pane(pane)
    }

    fn known_session(&mut self, session_id: &str) -> Result<Option<Known>> {
        self.write()?;
        self.rows.known_session(session_id)
    }

    // The rest goes straight through.

    fn others_have_written(&mut self) -> Result<bool> {
        self.rows.others_have_written()
    }

    fn update_agent(&mut self, agent: &Agent, stored: &Agent) -> Result<()> {
        self.rows.update_agent(agent, stored)
    }

    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()> {
        self.rows.bind_session_id(session_id, conversation_id)
    }

    fn session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>> {
        self.rows.session_ids(conversation_id)
    }

    fn project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64> {
        self.rows.project(path, name, now)
    }

    fn project_path(&mut self, project_id: i64) -> Result<Option<String>> {
        self.rows.project_path(project_id)
    }

    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()> {
        self.rows.link_mission(mission_execution_id, session_id, at)
    }

    fn reached(&mut self, session_id: &str) -> Result<Reached> {
        self.rows.reached(session_id)
    }

    fn set_reached(&mut self, session_id: &str, reached: &Reached) -> Result<()> {
        self.rows.set_reached(session_id, reached)
    }

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64> {
        self.rows.open_command(agent_id, conversation_id, at)
    }

    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()> {
        self.rows.close_command(command_id, at)
    }

    fn last_turn(&mut self, command_id: i64) -> Result<Option<Turn>> {
        self.rows.last_turn(command_id)
    }

    fn latest_turn(&mut self, command_id: i64) -> Result<Option<Turn>> {
        self.rows.latest_turn(command_id)
    }

    fn turns_saying(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<Turn>> {
        self.rows.turns_saying(agent_id, content_hash)
    }

    fn agent_of_event(&mut self, event_id: &str) -> Result<Option<i64>> {
        self.rows.agent_of_event(event_id)
    }

    fn tool_events(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>> {
        self.rows.tool_events(conversation_id, name, tool_use_id)
    }

    fn tool_began(&mut self, conversation_id: i64, tool_use_id: &str, before: Timestamp) -> Result<Option<Timestamp>> {
        self.rows.tool_began(conversation_id, tool_use_id, before)
    }

    fn open_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenCall>> {
        self.rows.open_calls(agent_id, conversation_id, tool)
    }

    fn begun_call(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        self.rows.begun_call(agent_id, tool)
    }

    fn keep_event(&mut self, event: &EventRow<'_>) -> Result<i64> {
        self.occasion.event_of = Some(event.agent_id);
        self.rows.keep_event(event)
    }

    fn keep_sighting(&mut self, sighting: &Sighting<'_>) -> Result<()> {
        self.rows.keep_sighting(sighting)
    }

    fn keep_change(&mut self, change: &NewChange<'_>) -> Result<()> {
        self.rows.keep_change(change)
    }
}

/// Nobody watches workers, so they go straight through.
impl WorkerRows for Journal<'_> {
    fn worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<Worker>> {
        self.rows.worker(conversation_id, kind, name)
    }

    fn running_in_background(&mut self, conversation_id: i64) -> Result<Vec<Worker>> {
        self.rows.running_in_background(conversation_id)
    }

    fn unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<Worker>> {
        self.rows.unreported_workers(conversation_id, at_most)
    }

    fn save_worker(&mut self, worker: &mut Worker) -> Result<()> {
        self.rows.save_worker(worker)
    }

    fn hand_on_workers(&mut self, from: i64, to: i64) -> Result<()> {
        self.rows.hand_on_workers(from, to)
    }

    fn report_worker(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()> {
        self.rows.report_worker(conversation_id, worker_id, at)
    }
}
