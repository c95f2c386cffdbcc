//! Commands, and the turns that belong to them.

use jiff::SignedDuration;
use serde_json::Value;
use sha2::{Digest, Sha256};
use snell::{Event, EventName, Timestamp};

use super::transition;
use crate::db::model::{AgentRow, AgentState, StateSource, TimestampSource, TurnActor, TurnRow, to_stored_precision};
use crate::db::rows::Rows;
use crate::derive::intent::{self, TurnIntent};
use crate::derive::transcript::TranscriptEntry;
use crate::error::Result;
use crate::record::text_limits::sanitize_text;

/// Longer turns are truncated.
const MAX_TURN_BYTES: usize = 64 * 1024;

/// How far the clock of a transcript may be behind ours.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(1);

/// How late a transcript may be written. A new entry with an older time has another clock than ours, so only its
/// position counts.
pub(super) const MAX_WRITE_DELAY: SignedDuration = SignedDuration::from_mins(1);

/// The time of a turn, and its clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnTime {
    pub(crate) at: Timestamp,
    pub(crate) source: TimestampSource,
}

impl TurnTime {
    pub(crate) fn from_server_clock(at: Timestamp) -> Self {
        Self { at: to_stored_precision(at), source: TimestampSource::Server }
    }

    fn from_transcript(at: Option<Timestamp>, otherwise: Timestamp) -> Self {
        match at {
            Some(at) => Self { at: to_stored_precision(at), source: TimestampSource::Jsonl },
            None => Self::from_server_clock(otherwise),
        }
    }
}

/// The hash of the turn that an event adds: of its prompt, or of the agent's last message.
pub(crate) fn hash_event_text(event: &Event) -> Option<i64> {
    let text = match event.name {
        EventName::UserPromptSubmit => event.prompt.as_deref(),
        EventName::Stop => event.raw.get("last_assistant_message").and_then(Value::as_str),
        _ => None,
    };
    text.map(|text| hash_content(&sanitize_text(text, MAX_TURN_BYTES)))
}

/// Stores a prompt. It opens a command, or answers the question at the end of the last one.
pub(crate) fn record_prompt(rows: &mut dyn Rows, agent: &mut AgentRow, text: &str, time: TurnTime) -> Result<()> {
    let text = &sanitize_text(text, MAX_TURN_BYTES);
    if text.trim().is_empty() {
        return Ok(());
    }
    let last = match agent.command_id {
        Some(command) => find_last_turn(rows, command)?,
        None => None,
    };
    let hash = hash_content(text);
    if let Some(last) = &last
        && last.actor == TurnActor::User
        && last.content_hash == hash
    {
        // The same prompt repeated, without a message of the agent in between, is one turn.
        return Ok(());
    }
    if is_prompt_in_transcript(rows, agent, hash, time.at)? {
        return Ok(());
    }
    let answers = last.is_some_and(|last| last.actor == TurnActor::Agent && last.intent == TurnIntent::Question);
    let (command_id, intent) = match agent.command_id {
        Some(command) if answers => (command, TurnIntent::Answer),
        former => {
            if let Some(former) = former {
                rows.close_command(former, time.at)?;
            }
            let command = rows.open_command(agent.agent_id, agent.conversation_id, time.at)?;
            (command, TurnIntent::Command)
        }
    };
    agent.command_id = Some(command_id);
    insert_turn(rows, agent, build_turn(TurnActor::User, intent, text, time), command_id)
}

/// Whether the transcript, read before the event came, had this prompt already.
fn is_prompt_in_transcript(rows: &mut dyn Rows, agent: &AgentRow, hash: i64, at: Timestamp) -> Result<bool> {
    let is_same_prompt = |turn: &TurnRow| {
        let late = turn.timestamp.duration_since(at);
        turn.actor == TurnActor::User && turn.timestamp_source == TimestampSource::Jsonl && late > -MAX_CLOCK_SKEW
    };
    Ok(rows.find_turns_by_hash(agent.agent_id, hash)?.iter().any(is_same_prompt))
}

/// Stores a prompt that comes after later ones: it changes nothing else.
pub(crate) fn record_late_prompt(
    rows: &mut dyn Rows,
    agent: &AgentRow,
    text: Option<&str>,
    at: Timestamp,
) -> Result<()> {
    let text = &sanitize_text(text.unwrap_or_default(), MAX_TURN_BYTES);
    let hash = hash_content(text);
    let known = rows.find_turns_by_hash(agent.agent_id, hash)?;
    if text.trim().is_empty() || known.iter().any(|turn| turn.actor == TurnActor::User) {
        return Ok(());
    }
    let command_id = rows.open_command(agent.agent_id, agent.conversation_id, at)?;
    rows.close_command(command_id, at)?;
    let turn = build_turn(TurnActor::User, TurnIntent::Command, text, TurnTime::from_server_clock(at));
    rows.save_turn(&mut TurnRow { agent_id: agent.agent_id, command_id, ..turn })
}

/// Stores the user's answer to a question that a tool asked, in the current command.
pub(crate) fn record_answer(rows: &mut dyn Rows, agent: &mut AgentRow, text: &str, time: TurnTime) -> Result<()> {
    let text = &sanitize_text(text, MAX_TURN_BYTES);
    let (Some(command_id), false) = (agent.command_id, text.trim().is_empty()) else {
        return Ok(());
    };
    insert_turn(rows, agent, build_turn(TurnActor::User, TurnIntent::Answer, text, time), command_id)
}

/// Stores a message of the agent, in its current command.
pub(crate) fn record_agent_text(
    rows: &mut dyn Rows,
    agent: &mut AgentRow,
    text: &str,
    intent: TurnIntent,
    time: TurnTime,
) -> Result<()> {
    let text = &sanitize_text(text, MAX_TURN_BYTES);
    if text.trim().is_empty() {
        return Ok(());
    }
    for mut same in rows.find_turns_by_hash(agent.agent_id, hash_content(text))? {
        let known = same.actor == TurnActor::Agent
            && (Some(same.command_id) == agent.command_id
                || (time.source == TimestampSource::Jsonl && same.timestamp == time.at));
        if known {
            return refine_turn(rows, &mut same, intent, time);
        }
    }
    let command_id = match agent.command_id {
        Some(command) => command,
        // An agent may write before its first prompt, or before Snell was installed.
        None => rows.open_command(agent.agent_id, agent.conversation_id, time.at)?,
    };
    agent.command_id = Some(command_id);
    insert_turn(rows, agent, build_turn(TurnActor::Agent, intent, text, time), command_id)
}

/// Updates a stored turn: the transcript's time is more precise, and the end of a turn shows its intent better than its
/// middle.
fn refine_turn(rows: &mut dyn Rows, turn: &mut TurnRow, intent: TurnIntent, time: TurnTime) -> Result<()> {
    let mut better = turn.clone();
    if time.source == TimestampSource::Jsonl {
        better.timestamp = time.at;
        better.timestamp_source = TimestampSource::Jsonl;
    }
    if intent != TurnIntent::Progress {
        better.intent = intent;
    }
    if better != *turn {
        rows.save_turn(&mut better)?;
    }
    Ok(())
}

/// A turn without a command.
fn build_turn(actor: TurnActor, intent: TurnIntent, text: &str, time: TurnTime) -> TurnRow {
    TurnRow {
        turn_id: 0,
        agent_id: 0,
        command_id: 0,
        actor,
        intent,
        content_hash: hash_content(text),
        text: text.to_owned(),
        timestamp: time.at,
        timestamp_source: time.source,
    }
}

fn insert_turn(rows: &mut dyn Rows, agent: &mut AgentRow, turn: TurnRow, command_id: i64) -> Result<()> {
    agent.last_words = Some(turn.text.clone());
    rows.save_turn(&mut TurnRow { agent_id: agent.agent_id, command_id, ..turn })
}

/// The turn with the latest time. The last stored one may be earlier, because transcripts are read late.
fn find_last_turn(rows: &mut dyn Rows, command_id: i64) -> Result<Option<TurnRow>> {
    let (stored, latest) = (rows.find_last_stored_turn(command_id)?, rows.find_latest_turn(command_id)?);
    let earlier =
        |stored: &TurnRow, latest: &TurnRow| latest.timestamp.duration_since(stored.timestamp) < MAX_WRITE_DELAY;
    Ok(match (stored, latest) {
        (Some(stored), Some(latest)) if earlier(&stored, &latest) => Some(latest),
        (stored, _) => stored,
    })
}

/// The agent's last turn in its current command.
pub(crate) fn find_last_agent_turn(rows: &mut dyn Rows, agent: &AgentRow) -> Result<Option<TurnRow>> {
    let Some(command) = agent.command_id else {
        return Ok(None);
    };
    Ok(find_last_turn(rows, command)?.filter(|turn| turn.actor == TurnActor::Agent))
}

/// Ends a turn: its last message shows its intent.
pub(crate) fn conclude_turn(rows: &mut dyn Rows, agent: &mut AgentRow, at: Timestamp) -> Result<()> {
    let Some(mut last) = find_last_agent_turn(rows, agent)? else {
        return Ok(());
    };
    let intent = intent::classify_last_words(&last.text);
    if last.intent != intent {
        last.intent = intent;
        rows.save_turn(&mut last)?;
    }
    if intent == TurnIntent::Completion {
        rows.close_command(last.command_id, at)?;
    }
    Ok(())
}

/// The current part of a transcript that is read for the first time: the last prompt, and the messages since. Earlier
/// entries may be days old.
pub(crate) fn skip_finished_entries(entries: &[TranscriptEntry]) -> &[TranscriptEntry] {
    let last = entries.iter().rposition(|entry| matches!(entry, TranscriptEntry::Prompt { .. }));
    &entries[last.unwrap_or(0)..]
}

/// Stores the part of a transcript that no event had: messages, missed prompts, and turns that ended without an event.
pub(crate) fn record_transcript_entries(
    rows: &mut dyn Rows,
    agent: &mut AgentRow,
    entries: &[TranscriptEntry],
    now: Timestamp,
) -> Result<()> {
    let mut cut_short = None;
    let mut spoke = false;
    for entry in entries {
        match entry {
            TranscriptEntry::AgentText { text, at, .. } => {
                record_agent_text(rows, agent, text, TurnIntent::Progress, TurnTime::from_transcript(*at, now))?;
                (cut_short, spoke) = (None, true);
            }
            TranscriptEntry::Prompt { text, at, .. } => {
                record_missed_prompt(rows, agent, text, TurnTime::from_transcript(*at, now))?;
                (cut_short, spoke) = (None, false);
            }
            // Entries from before the last hook event are outdated.
            TranscriptEntry::Interrupted { at } | TranscriptEntry::ApiError { at, .. }
                if is_superseded_by_hook(agent, *at) => {}
            TranscriptEntry::Interrupted { .. } => cut_short = Some("the user interrupted it".to_owned()),
            TranscriptEntry::ApiError { text, .. } => {
                let text = sanitize_text(text, 200);
                cut_short = Some(format!("its turn ended with an error: {text}"));
            }
        }
    }
    match agent.state {
        AgentState::Processing | AgentState::AwaitingInput => {
            if let Some(why) = cut_short {
                agent.set_state(AgentState::Idle, StateSource::Transcript, why, now);
            }
        }
        // The turn had ended before its last message was written.
        AgentState::Idle if spoke => {
            conclude_turn(rows, agent, now)?;
            let words = find_last_agent_turn(rows, agent)?;
            if let Some(turn) = words.filter(|turn| turn.intent == TurnIntent::Question) {
                let why = transition::explain_question(Some(&turn.text));
                agent.set_state(AgentState::AwaitingInput, StateSource::Transcript, why, now);
            }
        }
        AgentState::Ended if spoke => conclude_turn(rows, agent, now)?,
        AgentState::Idle | AgentState::Ended => {}
    }
    Ok(())
}

/// Whether a hook has reported a newer state. Hook events come a little late.
fn is_superseded_by_hook(agent: &AgentRow, at: Option<Timestamp>) -> bool {
    let since = |at: Timestamp| agent.state_reported_at.map(|reported_at| reported_at.duration_since(at));
    at.and_then(since).is_some_and(|since| since > MAX_CLOCK_SKEW && since < MAX_WRITE_DELAY)
}

/// Stores a prompt from the transcript. Usually an event had it already, and only its time becomes more precise.
fn record_missed_prompt(rows: &mut dyn Rows, agent: &mut AgentRow, text: &str, time: TurnTime) -> Result<()> {
    for mut same in rows.find_turns_by_hash(agent.agent_id, hash_content(&sanitize_text(text, MAX_TURN_BYTES)))? {
        if same.actor != TurnActor::User {
            continue;
        }
        let unconfirmed = same.timestamp_source == TimestampSource::Server;
        if unconfirmed || same.timestamp == time.at {
            let intent = same.intent;
            return refine_turn(rows, &mut same, intent, time);
        }
    }
    record_prompt(rows, agent, text, time)
}

/// A hash of the text without white space: payload and transcript differ in white space.
pub(crate) fn hash_content(text: &str) -> i64 {
    let mut hash = Sha256::new();
    for word in text.split_whitespace() {
        hash.update(word.as_bytes());
        hash.update(b" ");
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}
