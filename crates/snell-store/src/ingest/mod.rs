//! Recording one event: find its agent, see what it changes, keep what was said, keep the event.
//!
//! What was observed is always kept. What follows from it is derived afterwards, and an event that changes nothing is
//! kept all the same.

mod activity;
mod asked;
mod correlate;
mod news;
pub(crate) mod tools;
mod transition;
mod turns;
mod workers;

use serde::Serialize;
use serde_json::Value;
use snell::{Event, EventName, Timestamp};

use crate::context::{self, Beginning};
use crate::error::Result;
use crate::intent::{self, Intent};
use crate::json;
use crate::model::{Agent, ContextSource, Correlation, Source, State, Told};
use crate::observation::{Judgement, Sender};
use crate::prepared::Prepared;
use crate::rows::{EventRow, Owner, Rows};
use crate::transcript::{Mark, Read};

pub(crate) use correlate::Seen;
use correlate::{Found, Signs, correlate, enter};
use transition::{Before, Change, ToolChange, transition};
use turns::Said;

/// What became of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The agent it belongs to.
    pub agent_id: i64,
    /// The agent's project.
    pub project_id: i64,
    /// Whether the agent is new.
    pub is_new_agent: bool,
    /// How the agent was found.
    pub correlation_method: Correlation,
    /// The agent's state, now that the event has counted.
    pub state: State,
    /// Whether that is another one than before.
    pub state_changed: bool,
    /// Whether it was there already, so that nothing was stored.
    pub duplicate: bool,
}

impl Receipt {
    fn of_duplicate(agent: &Agent, correlation_method: Correlation) -> Self {
        Self {
            agent_id: agent.agent_id,
            project_id: agent.project_id,
            is_new_agent: false,
            correlation_method,
            state: agent.state,
            state_changed: false,
            duplicate: true,
        }
    }
}

/// What was read of the transcript of an event's session, before the transaction began.
#[derive(Debug)]
pub(crate) struct CaughtUp {
    pub(crate) path: String,
    /// The mark from which it was read. If the store has another one by now, somebody else was faster.
    pub(crate) from: Option<String>,
    /// Whether the store knew of another file.
    pub(crate) is_other_file: bool,
    /// Whether it is read because the session begins.
    pub(crate) session_begins: bool,
    /// Nothing if it could not be read.
    pub(crate) read: Option<Read>,
}

impl CaughtUp {
    /// Whether there is anything to take in.
    pub(crate) fn is_news(&self) -> bool {
        let from: Option<Mark> = self.from.as_deref().and_then(|mark| mark.parse().ok());
        let further = |read: &Read| !from.as_ref().is_some_and(|from| from.is_same_place(&read.mark));
        self.is_other_file || self.read.as_ref().is_some_and(further)
    }
}

/// What surrounds recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    /// The host this program runs on.
    pub(crate) host: Option<&'a str>,
}

/// Records one observation.
pub(crate) fn ingest(
    rows: &mut dyn Rows,
    seen: &mut Seen,
    observed: &Prepared,
    caught_up: Option<&CaughtUp>,
    around: Around<'_>,
) -> Result<Receipt> {
    let event = &observed.event;
    let signs = Signs {
        event,
        sender: &observed.sender,
        at: observed.at,
        host: around.host,
    };
    if let Some(agent_id) = rows.agent_of_event(&observed.event_id)?
        && let Some(agent) = rows.agent(agent_id)?
    {
        return Ok(Receipt::of_duplicate(&agent, Correlation::DbSessionId));
    }
    let mut found = correlate(rows, seen, &signs)?;
    if let Some(conversation) = &found.conversation
        && is_known_tool_event(rows, event, conversation.conversation_id)?
    {
        return Ok(Receipt::of_duplicate(&found.agent, found.correlation));
    }
    // An event that was delayed changes nothing if a later one has said already what the agent is doing.
    let outrun = observed.delayed && found.agent.told_at > Some(observed.at);
    found.touches &= !outrun;
    let before = found.agent.state;
    if found.touches {
        enter(rows, &signs, &mut found)?;
        let beginning = context::beginning(event);
        if beginning == Some(Beginning::Anew) {
            begin_anew(&mut found);
        }
        // Whatever the transcript says was written before this event.
        if let (Some(caught_up), Some(session)) = (caught_up, signs.session_id()) {
            catch_up(rows, &mut found.agent, session, caught_up, observed.at)?;
        }
        if beginning == Some(Beginning::Emptied) {
            empty_context(&mut found);
        }
    }
    remember_told(rows, observed, &mut found, outrun)?;
    let change = if found.touches {
        change_by(rows, &found, event, observed.judgement.as_ref())?
    } else {
        None
    };
    let state = change.as_ref().map_or(found.agent.state, |change| change.state);
    let event_row = keep(rows, observed, &found, state)?;
    if found.touches {
        say(rows, &mut found.agent, observed)?;
        apply(&mut found, change, observed.at);
        if event.name == EventName::Stop && state != State::Processing {
            turns::conclude(rows, &mut found.agent, observed.at)?;
        }
        save(rows, &mut found)?;
    } else if outrun && event.name == EventName::UserPromptSubmit {
        turns::earlier_prompt(rows, &found.agent, event.prompt.as_deref(), observed.at)?;
    }
    keep_details(rows, observed, &found, event_row)?;
    keep_workers(rows, observed, &found)?;
    Ok(Receipt {
        state_changed: found.is_new_agent || state != before,
        state,
        is_new_agent: found.is_new_agent,
        duplicate: false,
        ..Receipt::of_duplicate(&found.agent, found.correlation)
    })
}

/// Whether the same was told already: the same event about the same call of a tool. The id of a call alone does not say
/// that, because not every model gives each call its own.
fn is_known_tool_event(rows: &mut dyn Rows, event: &Event, conversation_id: i64) -> Result<bool> {
    let Some(tool_use) = tools::call_id(event) else {
        return Ok(false);
    };
    let input = event.raw.get("tool_input");
    let same = |payload: &String| {
        let kept: Option<Value> = json::from_slice(payload.as_bytes()).ok();
        kept.is_some_and(|kept| kept.get("tool_input") == input)
    };
    let known = rows.tool_events(conversation_id, event.name.as_str(), tool_use)?;
    Ok(known.iter().any(same))
}

fn save(rows: &mut dyn Rows, found: &mut Found) -> Result<()> {
    rows.save_agent(&mut found.agent)?;
    let Some(conversation) = &mut found.conversation else {
        return Ok(());
    };
    // It is the same after most events, and then there is nothing to write.
    if rows.conversation(conversation.conversation_id)?.as_ref() == Some(conversation) {
        return Ok(());
    }
    rows.save_conversation(conversation)
}

/// Who sent it: what the one who observed it knows, else what the payload tells.
pub(crate) fn sender_of(mut sender: Sender, event: &Event) -> Sender {
    let text = |field: &str| event.raw.get(field).and_then(Value::as_str).map(str::to_owned);
    let tmux = event.tmux.as_ref();
    sender.tmux_pane = sender
        .tmux_pane
        .or_else(|| tmux?.pane.clone())
        .filter(|pane| !pane.is_empty());
    sender.tmux_session = sender
        .tmux_session
        .or_else(|| tmux?.session.clone())
        .filter(|session| !session.is_empty());
    sender.headspace_session_id = sender.headspace_session_id.or_else(|| text("headspace_session_id"));
    sender.host = sender.host.or_else(|| text("host"));
    if sender.process.is_none() {
        sender.process = correlate::told_process(event);
        sender.process_is_told = sender.process.is_some();
    }
    sender.product = sender.product.or_else(|| event.platform.clone());
    sender
}

fn change_by(
    rows: &mut dyn Rows,
    found: &Found,
    event: &Event,
    judgement: Option<&Judgement>,
) -> Result<Option<Change>> {
    let told = event.raw.get("last_assistant_message").and_then(Value::as_str);
    let remembered = if event.name == EventName::Stop && told.is_none() {
        turns::last_words(rows, &found.agent)?.map(|turn| turn.text)
    } else {
        None
    };
    let current_tool = found.agent.current_tool.as_deref();
    let call = match current_tool.filter(|_| event.name == EventName::Notification) {
        Some(tool) => rows.begun_call(found.agent.agent_id, tool)?,
        None => None,
    };
    let before = Before {
        state: found.agent.state,
        last_words: told.or(remembered.as_deref()),
        current_tool,
        call: call.as_deref(),
        why: &found.agent.why,
        is_unknown: found.agent.told_at.is_none(),
        blocked: judgement.is_some_and(|judgement| judgement.blocks() || judgement.goes_on),
        asked: judgement.and_then(Judgement::asks),
    };
    let heard_again = Change {
        state: State::Idle,
        tool: ToolChange::None,
        why: "it was heard of again".into(),
        end_reason: None,
    };
    let revived = found.agent.state == State::Ended;
    Ok(transition(event, before).or(revived.then_some(heard_again)))
}

/// Keeps the event itself, and answers its row.
fn keep(rows: &mut dyn Rows, observed: &Prepared, found: &Found, state: State) -> Result<i64> {
    let (event, judgement) = (&observed.event, observed.judgement.as_ref());
    let conversation = found.conversation.as_ref();
    let conversation_id = conversation.map(|conversation| conversation.conversation_id);
    let ended = tools::ended(rows, event, (found.agent.agent_id, conversation_id), observed.at)?;
    let error = tools::error(event);
    let changed = judgement.and_then(|judgement| judgement.changed_input.as_ref());
    let changed_input = changed.map(Value::to_string);
    let changed = judgement.and_then(|judgement| judgement.changed_output.as_ref());
    let changed_output = changed.map(Value::to_string);
    let told = judgement.map(|judgement| judgement.told.join("\n\n"));
    rows.keep_event(&EventRow {
        event_id: &observed.event_id,
        agent_id: found.agent.agent_id,
        conversation_id,
        name: &observed.name,
        tool: event.tool_name(),
        tool_use_id: tools::call_id(event),
        tool_summary: observed.tool_summary.as_deref(),
        tool_us: ended.took_us,
        ends: ended.began_by,
        error: error.as_deref(),
        decision: judgement.and_then(|judgement| judgement.decision.as_deref()),
        reason: judgement.and_then(|judgement| judgement.reason.as_deref()),
        changed_input: changed_input.as_deref(),
        changed_output: changed_output.as_deref(),
        told: told.as_deref().filter(|told| !told.is_empty()),
        state,
        correlation: found.correlation,
        at: observed.at,
        took_us: judgement.map(|judgement| judgement.took_us),
        payload: &observed.payload,
    })
}

fn keep_details(rows: &mut dyn Rows, observed: &Prepared, found: &Found, event_row: i64) -> Result<()> {
    let Some(judgement) = &observed.judgement else {
        return Ok(());
    };
    let owner = Owner {
        event_row: Some(event_row),
        agent_id: Some(found.agent.agent_id),
        event: &observed.name,
        at: observed.at,
    };
    for run in &judgement.runs {
        rows.keep_run(owner, run)?;
    }
    for verdict in &judgement.guard {
        rows.keep_guard_verdict(owner, verdict)?;
    }
    Ok(())
}

/// What the event tells of workers, and which of them the agent was told of, whenever it comes.
fn keep_workers(rows: &mut dyn Rows, observed: &Prepared, found: &Found) -> Result<()> {
    let Some(conversation) = &found.conversation else {
        return Ok(());
    };
    let judgement = observed.judgement.as_ref();
    let held_up = judgement.is_some_and(|judgement| judgement.blocks() || judgement.goes_on);
    let news = news::news(&observed.event, held_up);
    workers::note(rows, conversation.conversation_id, &news, observed.at)?;
    let reported = judgement.map_or(&[][..], |judgement| &judgement.reminded.workers);
    for worker_id in reported {
        rows.report_worker(conversation.conversation_id, *worker_id, observed.at)?;
    }
    Ok(())
}

/// What was said in the event itself.
fn say(rows: &mut dyn Rows, agent: &mut Agent, observed: &Prepared) -> Result<()> {
    let event = &observed.event;
    let blocked = observed.judgement.as_ref().is_some_and(Judgement::blocks);
    let said = Said::now(observed.at);
    match event.name {
        EventName::UserPromptSubmit if !blocked => {
            turns::prompt(rows, agent, event.prompt.as_deref().unwrap_or_default(), said)
        }
        EventName::Stop => {
            let told = event.raw.get("last_assistant_message").and_then(Value::as_str);
            let Some(text) = told else {
                return Ok(());
            };
            let intent = if blocked {
                Intent::Progress
            } else {
                intent::of_last_words(text)
            };
            turns::words(rows, agent, text, intent, said)
        }
        _ => Ok(()),
    }
}

/// What the agent was told about itself counts for its conversation, whenever it is recorded.
fn remember_told(rows: &mut dyn Rows, observed: &Prepared, found: &mut Found, outrun: bool) -> Result<()> {
    let reminded = observed.judgement.as_ref().map(|judgement| &judgement.reminded);
    let reminded = reminded.filter(|reminded| !reminded.is_nothing());
    let (Some(reminded), Some(conversation)) = (reminded, &mut found.conversation) else {
        return Ok(());
    };
    conversation.told.add(reminded, outrun);
    // Where the event changes anything else, all of it is saved together.
    if found.touches {
        return Ok(());
    }
    rows.save_conversation(conversation)
}

/// A session that starts, perhaps once more under its launcher's id: its agent has been told nothing yet, and has said nothing.
fn begin_anew(found: &mut Found) {
    found.agent.forget_context();
    if let Some(conversation) = &mut found.conversation {
        conversation.told = Told::default();
        conversation.pinged_at = None;
    }
}

/// Nothing is left of what filled the context, so it may fill again, and the agent be told again.
fn empty_context(found: &mut Found) {
    found.agent.forget_context();
    if let Some(conversation) = &mut found.conversation {
        (conversation.told.stop_level, conversation.told.prompt_level) = (0, 0);
    }
}

fn apply(found: &mut Found, change: Option<Change>, at: Timestamp) {
    let Some(change) = change else {
        return;
    };
    let agent = &mut found.agent;
    agent.told_at = agent.told_at.max(Some(at));
    agent.turn_to(change.state, Source::Hook, change.why, at);
    match change.tool {
        ToolChange::Keep => {}
        ToolChange::None => agent.current_tool = None,
        ToolChange::Is(tool) => agent.current_tool = Some(tool),
    }
    agent.end_reason.clone_from(&change.end_reason);
    if let (Some(reason), Some(conversation)) = (&change.end_reason, &mut found.conversation) {
        conversation.end(reason, at);
    }
}

/// Takes in what was read of a transcript, unless somebody else has by now.
pub(crate) fn catch_up(
    rows: &mut dyn Rows,
    agent: &mut Agent,
    session_id: &str,
    caught_up: &CaughtUp,
    now: Timestamp,
) -> Result<()> {
    let mut reached = rows.reached(session_id)?;
    if reached.mark != caught_up.from || !caught_up.is_news() {
        return Ok(());
    }
    reached.path = Some(caught_up.path.clone());
    if let Some(read) = &caught_up.read {
        let entries = match caught_up.from {
            // What stands there when a session begins was said in an earlier one.
            None if caught_up.session_begins => &[],
            None => turns::unfinished(&read.entries),
            Some(_) => read.entries.as_slice(),
        };
        turns::from_transcript(rows, agent, entries, now)?;
        if let Some(activity) = &read.activity
            && !caught_up.session_begins
        {
            activity::show(rows, agent, activity, caught_up.from.is_some(), now)?;
        }
        reached.mark = Some(read.mark.to_string());
    }
    if let Some(usage) = caught_up.read.as_ref().and_then(|read| read.usage.as_ref())
        && agent.context_source != Some(ContextSource::StatusLine)
    {
        agent.context_percent = Some(context::percent(usage, agent.context_window));
        agent.context_source = Some(ContextSource::Transcript);
    }
    rows.set_reached(session_id, &reached)
}
