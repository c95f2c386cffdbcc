//! The timeline of an agent, in SQLite.

use rusqlite::params;
use serde_json::Value;
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, columns, parse_json, select_also};
use super::sightings::parse_state;
use crate::db::columns::build_payload_column;
use crate::db::model::TurnActor;
use crate::error::Result;
use crate::views::log_search::extract_event_text;
use crate::views::queries::TimelineQueries;
use crate::views::query_types::{TurnFilter, TurnView};
use crate::views::timeline::{
    ChangedInput, SightingFilter, SightingView, TimelineAspect, TimelineEvent, TimelineFilter,
};

/// The state before an event: the last change without an event, else the state after the event before.
macro_rules! state_before {
    () => {
        "(SELECT coalesce((SELECT n.state FROM sightings n \
           WHERE n.agent_id = b.agent_id AND n.after_event = b.id ORDER BY n.sighting_id DESC LIMIT 1), b.state) \
         FROM events b WHERE b.agent_id = e.agent_id AND b.id < e.id ORDER BY b.id DESC LIMIT 1)"
    };
}

/// The event that ends the call which this one begins: found by the call's id, or, without ids, when the end was
/// stored.
const ENDED_BY: &str = "CASE WHEN e.name = 'PreToolUse' THEN coalesce( \
    (SELECT max(f.id) FROM events f WHERE f.ends = e.id), \
    (SELECT min(f.id) FROM events f WHERE f.tool_use_id = e.tool_use_id AND f.conversation_id = e.conversation_id \
      AND f.name IN ('PostToolUse', 'PostToolUseFailure') AND NOT EXISTS (SELECT 1 FROM events o \
        WHERE o.tool_use_id = e.tool_use_id AND o.conversation_id = e.conversation_id AND o.name = 'PreToolUse' \
        AND o.id <> e.id AND (f.id < e.id OR o.id > e.id AND o.id < f.id)))) END";

columns! {
    TimelineEvent from "events e" {
        id: "e.id", at: "e.at", event: "e.name", tool: "e.tool",
        // For a question to the user, the end has the answer too.
        tool_summary: "CASE WHEN e.tool = 'AskUserQuestion' THEN coalesce(z.tool_summary, e.tool_summary) \
            ELSE e.tool_summary END",
        tool_duration_ms: "coalesce(e.tool_us, z.tool_us) / CAST(1000 AS DOUBLE PRECISION)", ended_by: "z.name",
        error: "coalesce(e.error, z.error)",
        is_end_of_call: "e.name IN ('PostToolUse', 'PostToolUseFailure') AND ( \
            EXISTS (SELECT 1 FROM events b WHERE b.id = e.ends) OR EXISTS (SELECT 1 FROM events b \
              WHERE b.tool_use_id = e.tool_use_id AND b.conversation_id = e.conversation_id AND b.name = 'PreToolUse'))",
        decision: "e.decision", reason: "e.reason",
        // The original input is in the payload.
        changed_input: "e.changed_input" => |text| {
            parse_json(text).map(|after| ChangedInput { before: Value::Null, after })
        },
        changed_output: "coalesce(e.changed_output, z.changed_output)" => parse_json, told: "e.told",
        is_unended: "e.name = 'PreToolUse' AND e.decision IS DISTINCT FROM 'block' AND z.id IS NULL AND EXISTS \
            (SELECT 1 FROM events t WHERE t.agent_id = e.agent_id AND t.id > e.id \
              AND t.name IN ('UserPromptSubmit', 'Stop', 'SessionStart', 'SessionEnd'))",
        // One of the events just before it happened more than two seconds later. Simultaneous events overtake each
        // other by less.
        is_late: "EXISTS (SELECT 1 FROM \
            (SELECT b.at FROM events b WHERE b.agent_id = e.agent_id AND b.id < e.id ORDER BY b.id DESC LIMIT 20) \
            n WHERE n.at > e.at + 2000000)",
        state: "e.state", state_before: state_before!() => parse_state;
        message: None, hook_runs: Vec::new(), guard_verdicts: Vec::new(), seen_after: Vec::new(),
    }
}

columns! {
    TurnView from "turns t" {
        turn_id, agent_id: "t.agent_id", command_id, actor, intent, text, timestamp, timestamp_source,
    }
}

impl TimelineAspect {
    /// The SQL condition for events with this aspect.
    fn to_condition(self) -> &'static str {
        match self {
            Self::Call => "e.name IN ('PreToolUse', 'PostToolUse', 'PostToolUseFailure')",
            Self::Verdict => "EXISTS (SELECT 1 FROM guard_verdicts g WHERE g.id = e.id)",
            Self::Run => "EXISTS (SELECT 1 FROM hook_runs h WHERE h.id = e.id)",
            Self::Change => concat!(
                "e.state IS NOT ",
                state_before!(),
                " OR EXISTS (SELECT 1 FROM sightings n WHERE n.agent_id = e.agent_id AND n.after_event = e.id)"
            ),
            Self::BlockedPrompt => "e.name = 'UserPromptSubmit' AND e.decision = 'block'",
            Self::Itself => {
                "e.name NOT IN ('PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit') \
                 OR e.name = 'UserPromptSubmit' AND (e.decision <> 'block' OR e.tool_summary IS NOT NULL) \
                 OR e.told IS NOT NULL"
            }
        }
    }
}

impl TimelineQueries for SqliteDatabase {
    fn query_timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>> {
        let follows = filter.after_id.is_some() && filter.before_id.is_none();
        let order = if follows { "ASC" } else { "DESC" };
        let sql = format!(
            "{} LEFT JOIN events z ON z.id = {ENDED_BY} WHERE {} AND e.id < ?2 AND e.id > ?3 ORDER BY e.id {order} LIMIT ?4",
            select_also::<TimelineEvent>(&build_payload_column()),
            build_event_filter(&filter.with)
        );
        let (before, after) = (filter.before_id.unwrap_or(i64::MAX), filter.after_id.unwrap_or(0));
        let values = [filter.agent_id, before, after, i64::from(filter.limit)];
        let rows: Vec<(Option<String>, TimelineEvent)> = self.connection.query_all(&sql, values)?;
        let mut events = Vec::with_capacity(rows.len());
        for (payload, mut event) in rows {
            let mut payload = parse_json(payload).unwrap_or(Value::Null);
            event.message = extract_event_text(&event.event, &payload);
            if let Some(changed) = &mut event.changed_input {
                changed.before = payload.get_mut("tool_input").map(Value::take).unwrap_or(Value::Null);
            }
            event.hook_runs = self.read_hook_runs(event.id)?;
            event.guard_verdicts = self.read_event_verdicts(event.id)?;
            event.seen_after = self.read_sightings_after(filter.agent_id, event.id)?;
            events.push(event);
        }
        Ok(events)
    }

    fn list_sightings(&mut self, filter: &SightingFilter) -> Result<Vec<SightingView>> {
        let which = "WHERE agent_id = ?1 AND after_event < ?2 AND sighting_id < ?3 ORDER BY sighting_id DESC LIMIT ?4";
        let (event, before) = (filter.first_event.unwrap_or(i64::MAX), filter.before_id.unwrap_or(i64::MAX));
        self.connection.select_all(which, [filter.agent_id, event, before, i64::from(filter.limit)])
    }

    fn find_earlier_event(
        &mut self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>> {
        let sql = "SELECT id, at FROM events WHERE id = \
            (SELECT id FROM events WHERE agent_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)";
        self.connection.query_optional(sql, [agent_id, before_id.unwrap_or(i64::MAX), i64::from(events)])
    }

    fn list_turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>> {
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let which = format!(
            "WHERE agent_id = ?1 AND turn_id < ?2 AND turn_id > ?3 AND (?5 IS NULL OR actor = ?5) \
             ORDER BY turn_id {order} LIMIT ?4"
        );
        let (before, after) = (filter.before_id.unwrap_or(i64::MAX), filter.after_id.unwrap_or(0));
        let actor = filter.actor.map(TurnActor::as_str);
        self.connection.select_all(&which, params![filter.agent_id, before, after, filter.limit, actor])
    }
}

/// The SQL filter for events of an agent.
fn build_event_filter(with: &[TimelineAspect]) -> String {
    match with {
        [] => "e.agent_id = ?1".to_owned(),
        // There are few of them, and they have an index.
        [TimelineAspect::Verdict] => {
            "+e.agent_id = ?1 AND e.id IN (SELECT g.id FROM guard_verdicts g WHERE g.agent_id = ?1)".to_owned()
        }
        with => {
            let any: Vec<_> = with.iter().map(|with| with.to_condition()).collect();
            format!("e.agent_id = ?1 AND ({})", any.join(" OR "))
        }
    }
}
