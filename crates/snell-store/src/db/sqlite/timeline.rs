//! What an agent did, in SQLite.

use rusqlite::{OptionalExtension, Row};
use serde_json::Value;
use snell::Timestamp;

use super::SqliteDatabase;
use super::rows::{get_enum, get_json, get_time};
use crate::db::model::AgentState;
use crate::error::Result;
use crate::record::json;
use crate::views::log_search::{EVENT_TEXT_FIELDS, extract_event_text};
use crate::views::timeline::{ChangedInput, TimelineAspect, TimelineEvent, TimelineFilter};

/// What an agent did before an event: what it was seen to do after the one before, else what it did then.
const STATE_BEFORE: &str = "(SELECT coalesce((SELECT n.state FROM sightings n \
      WHERE n.agent_id = b.agent_id AND n.after_event = b.id ORDER BY n.sighting_id DESC LIMIT 1), b.state) \
    FROM events b WHERE b.agent_id = e.agent_id AND b.id < e.id ORDER BY b.id DESC LIMIT 1)";

/// The event that ends the call which this one begins: where calls have ids they tell, and where they have none, it was
/// found out when it came.
const ENDED_BY: &str = "CASE WHEN e.name = 'PreToolUse' THEN coalesce( \
    (SELECT max(f.id) FROM events f WHERE f.ends = e.id), \
    (SELECT min(f.id) FROM events f WHERE f.tool_use_id = e.tool_use_id AND f.conversation_id = e.conversation_id \
      AND f.name IN ('PostToolUse', 'PostToolUseFailure') AND NOT EXISTS (SELECT 1 FROM events o \
        WHERE o.tool_use_id = e.tool_use_id AND o.conversation_id = e.conversation_id AND o.name = 'PreToolUse' \
        AND o.id <> e.id AND (f.id < e.id OR o.id > e.id AND o.id < f.id)))) END";

/// Whether the turn of a call that has no end is over.
const IS_UNENDED: &str = "e.name = 'PreToolUse' AND e.decision IS NOT 'block' AND z.id IS NULL AND EXISTS \
    (SELECT 1 FROM events t WHERE t.agent_id = e.agent_id AND t.id > e.id \
      AND t.name IN ('UserPromptSubmit', 'Stop', 'SessionStart', 'SessionEnd'))";

/// Whether one of the events right before it happened more than two seconds later. Those that are told at the same time
/// overtake each other by less.
const IS_LATE: &str = "EXISTS (SELECT 1 FROM \
    (SELECT b.at FROM events b WHERE b.agent_id = e.agent_id AND b.id < e.id ORDER BY b.id DESC LIMIT 20) \
    WHERE at > e.at + 2000000)";

/// Whether an event ends a call whose beginning is kept.
const IS_END: &str = "e.name IN ('PostToolUse', 'PostToolUseFailure') AND ( \
    EXISTS (SELECT 1 FROM events b WHERE b.id = e.ends) OR EXISTS (SELECT 1 FROM events b \
      WHERE b.tool_use_id = e.tool_use_id AND b.conversation_id = e.conversation_id AND b.name = 'PreToolUse'))";

/// What a call is about. Of one that asks the user, its end tells the answer, too.
const CALL_SUMMARY: &str = "CASE WHEN e.tool = 'AskUserQuestion' THEN coalesce(z.tool_summary, e.tool_summary) \
    ELSE e.tool_summary END";

/// Events whose words are told as turns.
const TOLD_AS_TURNS: &[&str] = &["UserPromptSubmit", "Stop"];

impl TimelineAspect {
    /// What holds for an event with which such a thing comes.
    fn to_condition(self) -> String {
        match self {
            Self::Call => "e.name IN ('PreToolUse', 'PostToolUse', 'PostToolUseFailure')".to_owned(),
            Self::Verdict => "EXISTS (SELECT 1 FROM guard_verdicts g WHERE g.id = e.id)".to_owned(),
            Self::Run => "EXISTS (SELECT 1 FROM hook_runs h WHERE h.id = e.id)".to_owned(),
            Self::Change => format!(
                "e.state IS NOT {STATE_BEFORE} OR EXISTS \
                 (SELECT 1 FROM sightings n WHERE n.agent_id = e.agent_id AND n.after_event = e.id)"
            ),
            Self::BlockedPrompt => "e.name = 'UserPromptSubmit' AND e.decision = 'block'".to_owned(),
            Self::Itself => "e.name NOT IN ('PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit') \
                OR e.name = 'UserPromptSubmit' AND e.decision <> 'block' OR e.told IS NOT NULL"
                .to_owned(),
        }
    }
}

impl SqliteDatabase {
    pub(super) fn read_timeline(&self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>> {
        let follows = filter.after_id.is_some() && filter.before_id.is_none();
        let order = if follows { "ASC" } else { "DESC" };
        let sql = format!(
            "{} WHERE {} AND e.id < ?2 AND e.id > ?3 ORDER BY e.id {order} LIMIT ?4",
            build_timeline_sql(),
            build_event_filter(&filter.with)
        );
        let (before, after) = (filter.before_id.unwrap_or(i64::MAX), filter.after_id.unwrap_or(0));
        let values = [filter.agent_id, before, after, i64::from(filter.limit)];
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut events: Vec<_> =
            statement.query_map(values, decode_timeline_event)?.collect::<rusqlite::Result<_>>()?;
        for event in &mut events {
            event.hook_runs = self.read_hook_runs(event.id)?;
            event.guard_verdicts = self.read_event_verdicts(event.id)?;
            event.seen_after = self.read_sightings_after(filter.agent_id, event.id)?;
        }
        Ok(events)
    }

    pub(super) fn read_earlier_event(
        &self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>> {
        let sql = "SELECT id, at FROM events WHERE id = \
            (SELECT id FROM events WHERE agent_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = [agent_id, before_id.unwrap_or(i64::MAX), i64::from(events)];
        let found = statement.query_row(values, |row| Ok((row.get(0)?, get_time(row, 1)?)));
        Ok(found.optional()?)
    }
}

/// Which events of an agent are asked for.
fn build_event_filter(with: &[TimelineAspect]) -> String {
    match with {
        [] => "e.agent_id = ?1".to_owned(),
        // They are few, and known by themselves.
        [TimelineAspect::Verdict] => {
            "+e.agent_id = ?1 AND e.id IN (SELECT g.id FROM guard_verdicts g WHERE g.agent_id = ?1)".to_owned()
        }
        with => {
            let any: Vec<_> = with.iter().map(|with| with.to_condition()).collect();
            format!("e.agent_id = ?1 AND ({})", any.join(" OR "))
        }
    }
}

/// An event, the end of the call that it begins, whether it is itself the end of one, the state before it, and what it
/// says if it is of a kind that says something.
fn build_timeline_sql() -> String {
    let speaking = EVENT_TEXT_FIELDS.iter().filter(|(name, _)| !TOLD_AS_TURNS.contains(name));
    let speaking: Vec<_> = speaking.map(|(name, _)| format!("e.name = '{name}'")).collect();
    format!(
        "SELECT e.id, e.at, e.name, e.tool, {CALL_SUMMARY}, coalesce(e.tool_us, z.tool_us), z.name, {IS_END}, \
         e.decision, e.reason, e.state, {STATE_BEFORE}, \
         CASE WHEN {} OR e.changed_input IS NOT NULL OR e.name = 'UserPromptSubmit' AND e.decision = 'block' THEN (SELECT payload FROM payloads d WHERE d.id = e.id) END, \
         coalesce(e.error, z.error), e.changed_input, coalesce(e.changed_output, z.changed_output), e.told, \
         {IS_UNENDED}, {IS_LATE} \
         FROM events e LEFT JOIN events z ON z.id = {ENDED_BY}",
        speaking.join(" OR ")
    )
}

fn decode_timeline_event(row: &Row<'_>) -> rusqlite::Result<TimelineEvent> {
    let tool_us: Option<i64> = row.get(5)?;
    let state_before: Option<String> = row.get(11)?;
    let payload: Option<String> = row.get(12)?;
    let payload: Option<Value> = payload.and_then(|text| json::parse_stored_json(text.as_bytes()).ok());
    let event: String = row.get(2)?;
    let after = get_json(row, 14)?;
    let wanted = || payload.as_ref().and_then(|payload| payload.get("tool_input")).cloned();
    let changed_input = after.map(|after| ChangedInput { before: wanted().unwrap_or(Value::Null), after });
    Ok(TimelineEvent {
        id: row.get(0)?,
        at: get_time(row, 1)?,
        tool: row.get(3)?,
        tool_summary: row.get(4)?,
        tool_duration_ms: tool_us.map(|us| us as f64 / 1000.0),
        ended_by: row.get(6)?,
        error: row.get(13)?,
        is_end_of_call: row.get(7)?,
        decision: row.get(8)?,
        reason: row.get(9)?,
        state: get_enum(row, 10, AgentState::parse)?,
        state_before: state_before.as_deref().and_then(AgentState::parse),
        changed_input,
        changed_output: get_json(row, 15)?,
        told: row.get(16)?,
        is_unended: row.get(17)?,
        is_late: row.get(18)?,
        message: payload.and_then(|payload| extract_event_text(&event, &payload)),
        event,
        hook_runs: Vec::new(),
        guard_verdicts: Vec::new(),
        seen_after: Vec::new(),
    })
}
