//! The items of a timeline, built from events and turns. Pure functions.

use std::fmt;

use snell::Timestamp;
use snell_store::{AgentState, GuardVerdictView, HookRunView, SightingView, TimelineEvent, TurnActor, TurnView};

use super::item_kind::{TimelineItemKind, TimelineKindFilter};
use crate::http::query_params::parse_id;

/// One item of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimelineItem {
    pub(super) at: Timestamp,
    /// The id of the row, which does not change when the item is updated.
    pub(super) key: String,
    pub(super) origin: TimelineItemOrigin,
    /// Whether items before it happened clearly later.
    pub(super) is_late: bool,
    pub(super) content: TimelineItemContent,
}

/// The database row of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimelineItemOrigin {
    Event(i64),
    Turn(i64),
    /// A sighting before the first event.
    Sighting(i64),
}

/// The content of an item.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TimelineItemContent {
    /// A text of the user or the agent.
    Turn(TurnView),
    /// A blocked prompt, which the agent never got.
    BlockedPrompt(Box<TimelineEvent>),
    /// A tool call.
    ToolCall(Box<TimelineEvent>),
    /// A verdict of the guard.
    GuardVerdict(GuardVerdictView),
    /// A hook run.
    HookRun(HookRunView),
    /// Context that the agent got.
    Context(String),
    /// A change of state by an event.
    StateChange { from: Option<AgentState>, to: AgentState },
    /// A change of state without an event.
    Sighting(SightingView),
    /// Anything else.
    OtherEvent(Box<TimelineEvent>),
}

impl TimelineItem {
    pub(super) fn kind(&self) -> TimelineItemKind {
        match &self.content {
            TimelineItemContent::Turn(turn) => match turn.actor {
                TurnActor::User => TimelineItemKind::Prompt,
                TurnActor::Agent => TimelineItemKind::Words,
            },
            TimelineItemContent::BlockedPrompt(_) => TimelineItemKind::Prompt,
            TimelineItemContent::ToolCall(_) => TimelineItemKind::Tool,
            TimelineItemContent::GuardVerdict(_) => TimelineItemKind::Guard,
            TimelineItemContent::HookRun(_) => TimelineItemKind::Hook,
            TimelineItemContent::StateChange { .. } | TimelineItemContent::Sighting(_) => TimelineItemKind::State,
            TimelineItemContent::Context(_) | TimelineItemContent::OtherEvent(_) => TimelineItemKind::Event,
        }
    }

    fn from_turn(turn: TurnView) -> Self {
        Self {
            at: turn.timestamp,
            key: format!("t{}", turn.turn_id),
            origin: TimelineItemOrigin::Turn(turn.turn_id),
            is_late: false,
            content: TimelineItemContent::Turn(turn),
        }
    }

    fn from_sighting(sighting: SightingView, origin: TimelineItemOrigin) -> Self {
        Self {
            at: sighting.at,
            key: format!("n{}", sighting.id),
            origin,
            is_late: false,
            content: TimelineItemContent::Sighting(sighting),
        }
    }
}

/// The position in a timeline: older items are on the next page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimelineCursor {
    pub(super) event: Option<i64>,
    pub(super) turn: Option<i64>,
    /// Among the sightings before the first event.
    pub(super) sighting: Option<i64>,
}

impl TimelineCursor {
    /// Parses the [`fmt::Display`] format.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (event, rest) = text.strip_prefix('e')?.split_once('t')?;
        let (turn, seen) = rest.split_once('n').map_or((rest, None), |(turn, seen)| (turn, Some(seen)));
        let number = |text: &str| if text == "-" { Some(None) } else { parse_id(text).map(Some) };
        Some(Self {
            event: number(event)?,
            turn: number(turn)?,
            sighting: match seen {
                Some(seen) => Some(parse_id(seen)?),
                None => None,
            },
        })
    }
}

impl fmt::Display for TimelineCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |id: Option<i64>| id.map_or("-".to_owned(), |id| id.to_string());
        write!(f, "e{}t{}", number(self.event), number(self.turn))?;
        self.sighting.map_or(Ok(()), |seen| write!(f, "n{seen}"))
    }
}

impl TimelineCursor {
    /// A cursor before which this item and all older ones are.
    pub(super) fn after_item(mut self, moment: &TimelineItem) -> Self {
        match moment.origin {
            TimelineItemOrigin::Event(id) => self.event = Some(id + 1),
            TimelineItemOrigin::Turn(id) => self.turn = Some(id + 1),
            TimelineItemOrigin::Sighting(id) => self.sighting = Some(id + 1),
        }
        self
    }
}

/// The items of an event, in order.
pub(super) fn items_from_event(event: TimelineEvent, kinds: &TimelineKindFilter) -> Vec<TimelineItem> {
    let (id, at) = (event.id, event.at);
    let origin = TimelineItemOrigin::Event(id);
    let moment =
        |key: String, what: TimelineItemContent| TimelineItem { at, key, origin, is_late: false, content: what };
    let is_late = event.is_late;
    let changed =
        event.state_before != Some(event.state) && !event.seen_after.iter().any(|seen| is_same_change(seen, &event));
    let change = TimelineItemContent::StateChange { from: event.state_before, to: event.state };
    let verdicts = event.guard_verdicts.clone();
    let runs = event.hook_runs.clone();
    let seen = event.seen_after.clone();
    let context = event.told.clone();
    let mut all: Vec<_> = event_content(event).map(|what| moment(format!("e{id}"), what)).into_iter().collect();
    for (number, verdict) in verdicts.into_iter().enumerate() {
        all.push(moment(format!("g{id}-{number}"), TimelineItemContent::GuardVerdict(verdict)));
    }
    for (number, run) in runs.into_iter().enumerate() {
        all.push(moment(format!("h{id}-{number}"), TimelineItemContent::HookRun(run)));
    }
    all.extend(context.map(|text| moment(format!("c{id}"), TimelineItemContent::Context(text))));
    if changed {
        all.push(moment(format!("s{id}"), change));
    }
    all.extend(seen.into_iter().map(|seen| TimelineItem::from_sighting(seen, origin)));
    all.retain(|moment| kinds.contains(moment.kind()));
    if let Some(first) = all.first_mut() {
        first.is_late = is_late;
    }
    all
}

/// Whether a sighting is the change of state of the event: it was seen when the event arrived.
fn is_same_change(seen: &SightingView, event: &TimelineEvent) -> bool {
    seen.state_before == event.state_before && seen.state == event.state
}

/// The item of the event itself. A prompt is shown by its turn, and the end of a call by its start. The result of a
/// background task, which comes as a prompt, has a summary and no turn.
fn event_content(event: TimelineEvent) -> Option<TimelineItemContent> {
    match event.event.as_str() {
        "UserPromptSubmit" if event.decision.is_none() && event.tool_summary.is_none() => None,
        "UserPromptSubmit" if event.decision.as_deref() == Some("block") => {
            Some(TimelineItemContent::BlockedPrompt(Box::new(event)))
        }
        "PreToolUse" => Some(TimelineItemContent::ToolCall(Box::new(event))),
        "PostToolUse" | "PostToolUseFailure" if event.is_end_of_call => None,
        "PostToolUse" | "PostToolUseFailure" => Some(TimelineItemContent::ToolCall(Box::new(event))),
        _ => Some(TimelineItemContent::OtherEvent(Box::new(event))),
    }
}

/// Merges sightings before the first event, events and turns, each oldest first. A turn comes before the event that
/// reported it.
pub(super) fn merge_timeline(
    first: Vec<SightingView>,
    events: Vec<TimelineEvent>,
    turns: Vec<TurnView>,
    kinds: &TimelineKindFilter,
) -> Vec<TimelineItem> {
    let mut moments = Vec::new();
    let mut turns = turns.into_iter().peekable();
    for seen in first {
        while let Some(turn) = turns.next_if(|turn| turn.timestamp <= seen.at) {
            moments.push(TimelineItem::from_turn(turn));
        }
        let origin = TimelineItemOrigin::Sighting(seen.id);
        moments.push(TimelineItem::from_sighting(seen, origin));
    }
    for event in events {
        while let Some(turn) = turns.next_if(|turn| turn.timestamp <= event.at) {
            moments.push(TimelineItem::from_turn(turn));
        }
        moments.extend(items_from_event(event, kinds));
    }
    moments.extend(turns.map(TimelineItem::from_turn));
    moments.retain(|moment| kinds.contains(moment.kind()));
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::html_injection_tests::{sample_event, sample_turn};

    fn item_keys(moments: &[TimelineItem]) -> Vec<&str> {
        moments.iter().map(|moment| moment.key.as_str()).collect()
    }

    #[test]
    fn an_event_becomes_itself_and_everything_attached_to_it() {
        let cases: [(&str, bool, &[&str]); 6] = [
            ("PreToolUse", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
            ("PostToolUse", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
            // The start of the call shows its end.
            ("PostToolUse", true, &["g9-0", "h9-0", "c9", "s9", "n3"]),
            ("PostToolUseFailure", true, &["g9-0", "h9-0", "c9", "s9", "n3"]),
            ("Notification", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
            ("UserPromptSubmit", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
        ];
        for (name, is_end_of_call, expected) in cases {
            let event = TimelineEvent { is_end_of_call, ..sample_event(name, "x") };
            assert_eq!(item_keys(&items_from_event(event, &TimelineKindFilter::all())), expected, "{name}");
        }
        // A prompt is shown by its turn, unless it has a decision, or is the result of a background task.
        let result = TimelineEvent { decision: None, ..sample_event("UserPromptSubmit", "x") };
        assert_eq!(item_keys(&items_from_event(result, &TimelineKindFilter::all()))[0], "e9");
        let prompt = TimelineEvent {
            decision: None,
            tool_summary: None,
            state: AgentState::Idle,
            state_before: Some(AgentState::Idle),
            ..sample_event("UserPromptSubmit", "x")
        };
        assert_eq!(item_keys(&items_from_event(prompt, &TimelineKindFilter::all())), ["g9-0", "h9-0", "c9", "n3"]);
    }

    #[test]
    fn a_turn_comes_before_the_event_that_reported_it() {
        let at = |second: i64| TimelineEvent {
            id: second,
            at: Timestamp::from_second(second).unwrap(),
            hook_runs: Vec::new(),
            guard_verdicts: Vec::new(),
            seen_after: Vec::new(),
            told: None,
            state_before: Some(AgentState::Idle),
            ..sample_event("Notification", "x")
        };
        let turns = [1, 3, 4, 9].map(|second| sample_turn(second, TurnActor::User, "x", second));
        let moments = merge_timeline(Vec::new(), vec![at(2), at(4), at(5)], turns.to_vec(), &TimelineKindFilter::all());
        assert_eq!(item_keys(&moments), ["t1", "e2", "t3", "t4", "e4", "e5", "t9"]);
    }

    #[test]
    fn cursors_survive_a_round_trip() {
        for text in ["e1t2", "e-t-", "e-t5", "e7t-", "e9223372036854775807t1", "e-t4n5"] {
            assert_eq!(TimelineCursor::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "", "e", "et", "e1", "t1", "e1t", "e-1t2", "e0t0", "e1t2x", "E1T2", "e1 t2", "e+1t2", "e1t2n", "e1t2n-",
            "e1n2",
        ] {
            assert_eq!(TimelineCursor::parse(text), None, "{text}");
        }
    }
}
