//! What stands on a timeline, made from events and turns. It decides and touches nothing.

use std::fmt;

use snell::Timestamp;
use snell_store::{Actor, GuardVerdictView, HookRunView, SightingView, State, TimelineEvent, TurnView};

use super::kind::{Kind, Kinds};
use crate::query::id;

/// One thing on a timeline.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) at: Timestamp,
    /// By which it is told from others; it stays when more is known of it.
    pub(super) key: String,
    pub(super) origin: Origin,
    /// Whether what happened clearly later stands before it.
    pub(super) is_late: bool,
    pub(super) what: What,
}

/// The row that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Event(i64),
    Turn(i64),
    /// Something that was seen before all events.
    Seen(i64),
}

/// What it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// Something was said.
    Said(TurnView),
    /// A prompt was blocked, so its agent never saw it.
    Blocked(Box<TimelineEvent>),
    /// A tool was called.
    Called(Box<TimelineEvent>),
    /// The guard judged a call.
    Judged(GuardVerdictView),
    /// A hook ran.
    Ran(HookRunView),
    /// The agent was given something to read.
    Told(String),
    /// The agent does something else than before.
    Changed { from: Option<State>, to: State },
    /// The same, but nothing that it told says so.
    Seen(SightingView),
    /// Anything else.
    Happened(Box<TimelineEvent>),
}

impl Moment {
    pub(super) fn kind(&self) -> Kind {
        match &self.what {
            What::Said(turn) => match turn.actor {
                Actor::User => Kind::Prompt,
                Actor::Agent => Kind::Words,
            },
            What::Blocked(_) => Kind::Prompt,
            What::Called(_) => Kind::Tool,
            What::Judged(_) => Kind::Guard,
            What::Ran(_) => Kind::Hook,
            What::Changed { .. } | What::Seen(_) => Kind::State,
            What::Told(_) | What::Happened(_) => Kind::Event,
        }
    }

    fn said(turn: TurnView) -> Self {
        Self {
            at: turn.timestamp,
            key: format!("t{}", turn.turn_id),
            origin: Origin::Turn(turn.turn_id),
            is_late: false,
            what: What::Said(turn),
        }
    }

    fn seen(sighting: SightingView, origin: Origin) -> Self {
        Self {
            at: sighting.at,
            key: format!("n{}", sighting.id),
            origin,
            is_late: false,
            what: What::Seen(sighting),
        }
    }
}

/// How far back a timeline was read: everything on it before these comes on the next page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) event: Option<i64>,
    pub(super) turn: Option<i64>,
    /// Of what was seen before all events.
    pub(super) seen: Option<i64>,
}

impl Place {
    /// Reads what [`fmt::Display`] writes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (event, rest) = text.strip_prefix('e')?.split_once('t')?;
        let (turn, seen) = rest
            .split_once('n')
            .map_or((rest, None), |(turn, seen)| (turn, Some(seen)));
        let number = |text: &str| if text == "-" { Some(None) } else { id(text).map(Some) };
        Some(Self {
            event: number(event)?,
            turn: number(turn)?,
            seen: match seen {
                Some(seen) => Some(id(seen)?),
                None => None,
            },
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |id: Option<i64>| id.map_or("-".to_owned(), |id| id.to_string());
        write!(f, "e{}t{}", number(self.event), number(self.turn))?;
        self.seen.map_or(Ok(()), |seen| write!(f, "n{seen}"))
    }
}

impl Place {
    /// A place that has this moment and everything older before it.
    pub(super) fn after(mut self, moment: &Moment) -> Self {
        match moment.origin {
            Origin::Event(id) => self.event = Some(id + 1),
            Origin::Turn(id) => self.turn = Some(id + 1),
            Origin::Seen(id) => self.seen = Some(id + 1),
        }
        self
    }
}

/// What an event stands for on a timeline, in order.
pub(super) fn moments_of(event: TimelineEvent, kinds: &Kinds) -> Vec<Moment> {
    let (id, at) = (event.id, event.at);
    let origin = Origin::Event(id);
    let moment = |key: String, what: What| Moment {
        at,
        key,
        origin,
        is_late: false,
        what,
    };
    let is_late = event.is_late;
    let changed = event.state_before != Some(event.state) && !event.seen_after.iter().any(|seen| is_same(seen, &event));
    let change = What::Changed {
        from: event.state_before,
        to: event.state,
    };
    let verdicts = event.guard_verdicts.clone();
    let runs = event.hook_runs.clone();
    let seen = event.seen_after.clone();
    let told = event.told.clone();
    let mut all: Vec<_> = own(event)
        .map(|what| moment(format!("e{id}"), what))
        .into_iter()
        .collect();
    for (number, verdict) in verdicts.into_iter().enumerate() {
        all.push(moment(format!("g{id}-{number}"), What::Judged(verdict)));
    }
    for (number, run) in runs.into_iter().enumerate() {
        all.push(moment(format!("h{id}-{number}"), What::Ran(run)));
    }
    all.extend(told.map(|told| moment(format!("c{id}"), What::Told(told))));
    if changed {
        all.push(moment(format!("s{id}"), change));
    }
    all.extend(seen.into_iter().map(|seen| Moment::seen(seen, origin)));
    all.retain(|moment| kinds.has(moment.kind()));
    if let Some(first) = all.first_mut() {
        first.is_late = is_late;
    }
    all
}

/// Whether what was seen is what the event is said to have changed: it was seen when the event came.
fn is_same(seen: &SightingView, event: &TimelineEvent) -> bool {
    seen.state_before == event.state_before && seen.state == event.state
}

/// What an event itself stands for. A prompt is told by the turn that it made, if it made one, and a call's end by its
/// beginning.
fn own(event: TimelineEvent) -> Option<What> {
    match event.event.as_str() {
        "UserPromptSubmit" if event.decision.is_none() => None,
        "UserPromptSubmit" if event.decision.as_deref() == Some("block") => Some(What::Blocked(Box::new(event))),
        "PreToolUse" => Some(What::Called(Box::new(event))),
        "PostToolUse" | "PostToolUseFailure" if event.is_end_of_call => None,
        "PostToolUse" | "PostToolUseFailure" => Some(What::Called(Box::new(event))),
        _ => Some(What::Happened(Box::new(event))),
    }
}

/// What was seen before all events, events and turns, each the oldest first, as one timeline. What was said goes before the
/// event that told it.
pub(super) fn merge(
    first: Vec<SightingView>,
    events: Vec<TimelineEvent>,
    turns: Vec<TurnView>,
    kinds: &Kinds,
) -> Vec<Moment> {
    let mut moments = Vec::new();
    let mut turns = turns.into_iter().peekable();
    for seen in first {
        while let Some(turn) = turns.next_if(|turn| turn.timestamp <= seen.at) {
            moments.push(Moment::said(turn));
        }
        let origin = Origin::Seen(seen.id);
        moments.push(Moment::seen(seen, origin));
    }
    for event in events {
        while let Some(turn) = turns.next_if(|turn| turn.timestamp <= event.at) {
            moments.push(Moment::said(turn));
        }
        moments.extend(moments_of(event, kinds));
    }
    moments.extend(turns.map(Moment::said));
    moments.retain(|moment| kinds.has(moment.kind()));
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::hostile::{event, turn};

    fn keys(moments: &[Moment]) -> Vec<&str> {
        moments.iter().map(|moment| moment.key.as_str()).collect()
    }

    #[test]
    fn an_event_stands_for_itself_and_all_that_hangs_on_it() {
        let cases: [(&str, bool, &[&str]); 6] = [
            ("PreToolUse", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
            ("PostToolUse", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
            // Its beginning tells how it ended.
            ("PostToolUse", true, &["g9-0", "h9-0", "c9", "s9", "n3"]),
            ("PostToolUseFailure", true, &["g9-0", "h9-0", "c9", "s9", "n3"]),
            ("Notification", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
            ("UserPromptSubmit", false, &["e9", "g9-0", "h9-0", "c9", "s9", "n3"]),
        ];
        for (name, is_end_of_call, expected) in cases {
            let event = TimelineEvent {
                is_end_of_call,
                ..event(name, "x")
            };
            assert_eq!(keys(&moments_of(event, &Kinds::all())), expected, "{name}");
        }
        // A prompt is told by its turn, unless it was judged.
        let prompt = TimelineEvent {
            decision: None,
            state: State::Idle,
            state_before: Some(State::Idle),
            ..event("UserPromptSubmit", "x")
        };
        assert_eq!(keys(&moments_of(prompt, &Kinds::all())), ["g9-0", "h9-0", "c9", "n3"]);
    }

    #[test]
    fn what_was_said_goes_before_the_event_that_told_it() {
        let at = |second: i64| TimelineEvent {
            id: second,
            at: Timestamp::from_second(second).unwrap(),
            hook_runs: Vec::new(),
            guard_verdicts: Vec::new(),
            seen_after: Vec::new(),
            told: None,
            state_before: Some(State::Idle),
            ..event("Notification", "x")
        };
        let turns = [1, 3, 4, 9].map(|second| turn(second, Actor::User, "x", second));
        let moments = merge(Vec::new(), vec![at(2), at(4), at(5)], turns.to_vec(), &Kinds::all());
        assert_eq!(keys(&moments), ["t1", "e2", "t3", "t4", "e4", "e5", "t9"]);
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["e1t2", "e-t-", "e-t5", "e7t-", "e9223372036854775807t1", "e-t4n5"] {
            assert_eq!(Place::read(text).unwrap().to_string(), text);
        }
        for text in [
            "", "e", "et", "e1", "t1", "e1t", "e-1t2", "e0t0", "e1t2x", "E1T2", "e1 t2", "e+1t2", "e1t2n", "e1t2n-",
            "e1n2",
        ] {
            assert_eq!(Place::read(text), None, "{text}");
        }
    }
}
