//! Who said what: commands, and the turns that belong to them.

use jiff::SignedDuration;
use sha2::{Digest, Sha256};
use snell::Timestamp;

use super::transition;
use crate::error::Result;
use crate::intent::{self, Intent};
use crate::model::{Actor, Agent, Source, State, TimestampSource, Turn, as_kept};
use crate::observation::kept;
use crate::rows::Rows;
use crate::transcript::Entry;

/// The longest turn that is kept.
const MAX_TURN_BYTES: usize = 64 * 1024;

/// How far the clock of a transcript may be behind ours.
const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_secs(1);

/// How late something may be written to a transcript. What says that it is older, and yet was not there before, goes by
/// another clock than ours, and then only its place counts.
pub(super) const WRITTEN_LATE: SignedDuration = SignedDuration::from_mins(1);

/// When something was said, and by whose clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) at: Timestamp,
    pub(crate) source: TimestampSource,
}

impl Said {
    pub(crate) fn now(at: Timestamp) -> Self {
        Self {
            at: as_kept(at),
            source: TimestampSource::Server,
        }
    }

    fn in_transcript(at: Option<Timestamp>, otherwise: Timestamp) -> Self {
        match at {
            Some(at) => Self {
                at: as_kept(at),
                source: TimestampSource::Jsonl,
            },
            None => Self::now(otherwise),
        }
    }
}

/// A prompt opens a command, or answers the question that the last one ended with.
pub(crate) fn prompt(rows: &mut dyn Rows, agent: &mut Agent, text: &str, said: Said) -> Result<()> {
    let text = &kept(text, MAX_TURN_BYTES);
    if text.trim().is_empty() {
        return Ok(());
    }
    let last = match agent.command_id {
        Some(command) => last_said(rows, command)?,
        None => None,
    };
    let hash = content_hash(text);
    if let Some(last) = &last
        && last.actor == Actor::User
        && last.content_hash == hash
    {
        // The same prompt again and again, with no word of the agent between, is one turn.
        return Ok(());
    }
    if is_in_transcript(rows, agent, hash, said.at)? {
        return Ok(());
    }
    let answers = last.is_some_and(|last| last.actor == Actor::Agent && last.intent == Intent::Question);
    let (command_id, intent) = match agent.command_id {
        Some(command) if answers => (command, Intent::Answer),
        former => {
            if let Some(former) = former {
                rows.close_command(former, said.at)?;
            }
            let command = rows.open_command(agent.agent_id, agent.conversation_id, said.at)?;
            (command, Intent::Command)
        }
    };
    agent.command_id = Some(command_id);
    add(rows, agent, command_id, Actor::User, intent, text, said)
}

/// Whether the transcript told of this prompt already, because it was read before the event came.
fn is_in_transcript(rows: &mut dyn Rows, agent: &Agent, hash: i64, at: Timestamp) -> Result<bool> {
    let told = |turn: &Turn| {
        let late = turn.timestamp.duration_since(at);
        turn.actor == Actor::User && turn.timestamp_source == TimestampSource::Jsonl && late > -CLOCK_DIFFERENCE
    };
    Ok(rows.turns_saying(agent.agent_id, hash)?.iter().any(told))
}

/// A prompt that comes when later ones have been worked on already: it is kept, and changes nothing.
pub(crate) fn earlier_prompt(rows: &mut dyn Rows, agent: &Agent, text: Option<&str>, at: Timestamp) -> Result<()> {
    let text = &kept(text.unwrap_or_default(), MAX_TURN_BYTES);
    let hash = content_hash(text);
    let known = rows.turns_saying(agent.agent_id, hash)?;
    if text.trim().is_empty() || known.iter().any(|turn| turn.actor == Actor::User) {
        return Ok(());
    }
    let command_id = rows.open_command(agent.agent_id, agent.conversation_id, at)?;
    rows.close_command(command_id, at)?;
    rows.save_turn(&mut Turn {
        turn_id: 0,
        agent_id: agent.agent_id,
        command_id,
        actor: Actor::User,
        intent: Intent::Command,
        text: text.clone(),
        timestamp: at,
        timestamp_source: TimestampSource::Server,
        content_hash: hash,
    })
}

/// Words of the agent, which belong to the command that is being worked on.
pub(crate) fn words(rows: &mut dyn Rows, agent: &mut Agent, text: &str, intent: Intent, said: Said) -> Result<()> {
    let text = &kept(text, MAX_TURN_BYTES);
    if text.trim().is_empty() {
        return Ok(());
    }
    for mut same in rows.turns_saying(agent.agent_id, content_hash(text))? {
        let known = same.actor == Actor::Agent
            && (Some(same.command_id) == agent.command_id
                || (said.source == TimestampSource::Jsonl && same.timestamp == said.at));
        if known {
            return confirm(rows, &mut same, intent, said);
        }
    }
    let command_id = match agent.command_id {
        Some(command) => command,
        // An agent may speak before anybody asked it to, or before Snell was there to hear.
        None => rows.open_command(agent.agent_id, agent.conversation_id, said.at)?,
    };
    agent.command_id = Some(command_id);
    add(rows, agent, command_id, Actor::Agent, intent, text, said)
}

/// What is known of a turn that is there already: the transcript's time is the better one, and the end of a turn tells
/// better than its middle what it was for.
fn confirm(rows: &mut dyn Rows, turn: &mut Turn, intent: Intent, said: Said) -> Result<()> {
    let mut better = turn.clone();
    if said.source == TimestampSource::Jsonl {
        better.timestamp = said.at;
        better.timestamp_source = TimestampSource::Jsonl;
    }
    if intent != Intent::Progress {
        better.intent = intent;
    }
    if better != *turn {
        rows.save_turn(&mut better)?;
    }
    Ok(())
}

fn add(
    rows: &mut dyn Rows,
    agent: &mut Agent,
    command_id: i64,
    actor: Actor,
    intent: Intent,
    text: &str,
    said: Said,
) -> Result<()> {
    agent.last_words = Some(text.to_owned());
    rows.save_turn(&mut Turn {
        turn_id: 0,
        agent_id: agent.agent_id,
        command_id,
        actor,
        intent,
        content_hash: content_hash(text),
        text: text.to_owned(),
        timestamp: said.at,
        timestamp_source: said.source,
    })
}

/// What was said last. That is not always what was stored last: a transcript may show later what was said earlier.
fn last_said(rows: &mut dyn Rows, command_id: i64) -> Result<Option<Turn>> {
    let (stored, latest) = (rows.last_turn(command_id)?, rows.latest_turn(command_id)?);
    let earlier = |stored: &Turn, latest: &Turn| latest.timestamp.duration_since(stored.timestamp) < WRITTEN_LATE;
    Ok(match (stored, latest) {
        (Some(stored), Some(latest)) if earlier(&stored, &latest) => Some(latest),
        (stored, _) => stored,
    })
}

/// What the agent said last about what it is working on.
pub(crate) fn last_words(rows: &mut dyn Rows, agent: &Agent) -> Result<Option<Turn>> {
    let Some(command) = agent.command_id else {
        return Ok(None);
    };
    Ok(last_said(rows, command)?.filter(|turn| turn.actor == Actor::Agent))
}

/// The turn is over: its last words show what it was for.
pub(crate) fn conclude(rows: &mut dyn Rows, agent: &mut Agent, at: Timestamp) -> Result<()> {
    let Some(mut last) = last_words(rows, agent)? else {
        return Ok(());
    };
    let intent = intent::of_last_words(&last.text);
    if last.intent != intent {
        last.intent = intent;
        rows.save_turn(&mut last)?;
    }
    if intent == Intent::Completion {
        rows.close_command(last.command_id, at)?;
    }
    Ok(())
}

/// What a transcript that is read for the first time says about what is going on: the last prompt, and the words since. What
/// was said before, perhaps days ago, was not heard by us.
pub(crate) fn unfinished(entries: &[Entry]) -> &[Entry] {
    let last = entries.iter().rposition(|entry| matches!(entry, Entry::Prompt { .. }));
    &entries[last.unwrap_or(0)..]
}

/// What a transcript has to say that no event said: words, prompts that were missed, and turns that ended without one.
pub(crate) fn from_transcript(rows: &mut dyn Rows, agent: &mut Agent, entries: &[Entry], now: Timestamp) -> Result<()> {
    let mut cut_short = None;
    let mut spoke = false;
    for entry in entries {
        match entry {
            Entry::Words { text, at, .. } => {
                words(rows, agent, text, Intent::Progress, Said::in_transcript(*at, now))?;
                (cut_short, spoke) = (None, true);
            }
            Entry::Prompt { text, at, .. } => {
                missed_prompt(rows, agent, text, Said::in_transcript(*at, now))?;
                (cut_short, spoke) = (None, false);
            }
            // What happened before a hook last told what the agent is doing is over.
            Entry::Interrupted { at } | Entry::ApiError { at, .. } if is_over(agent, *at) => {}
            Entry::Interrupted { .. } => cut_short = Some("the user interrupted it".to_owned()),
            Entry::ApiError { text, .. } => {
                let text = kept(text, 200);
                cut_short = Some(format!("its turn ended with an error: {text}"));
            }
        }
    }
    match agent.state {
        State::Processing | State::AwaitingInput => {
            if let Some(why) = cut_short {
                agent.turn_to(State::Idle, Source::Transcript, why, now);
            }
        }
        // The turn had ended before its last words were written.
        State::Idle if spoke => {
            conclude(rows, agent, now)?;
            let words = last_words(rows, agent)?;
            if let Some(turn) = words.filter(|turn| turn.intent == Intent::Question) {
                let why = transition::question(Some(&turn.text));
                agent.turn_to(State::AwaitingInput, Source::Transcript, why, now);
            }
        }
        State::Idle | State::Ended => {}
    }
    Ok(())
}

/// Whether a hook has told since what the agent is doing. A hook tells it a little later than it is.
fn is_over(agent: &Agent, at: Option<Timestamp>) -> bool {
    let since = |at: Timestamp| agent.told_at.map(|told| told.duration_since(at));
    at.and_then(since)
        .is_some_and(|since| since > CLOCK_DIFFERENCE && since < WRITTEN_LATE)
}

/// A prompt in the transcript. Usually an event told of it already, and only its time becomes better.
fn missed_prompt(rows: &mut dyn Rows, agent: &mut Agent, text: &str, said: Said) -> Result<()> {
    for mut same in rows.turns_saying(agent.agent_id, content_hash(&kept(text, MAX_TURN_BYTES)))? {
        if same.actor != Actor::User {
            continue;
        }
        let unconfirmed = same.timestamp_source == TimestampSource::Server;
        if unconfirmed || same.timestamp == said.at {
            let intent = same.intent;
            return confirm(rows, &mut same, intent, said);
        }
    }
    prompt(rows, agent, text, said)
}

/// The words without their blanks, as a number: an agent's payload and its transcript differ in blanks.
pub(crate) fn content_hash(text: &str) -> i64 {
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
