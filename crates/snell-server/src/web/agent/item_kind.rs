//! The kinds of items on a timeline, for filtering.

use snell_store::{TimelineAspect, TurnActor};

use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

/// The kind of an item on a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimelineItemKind {
    /// A text of the user.
    Prompt,
    /// A text of the agent.
    Words,
    /// A tool call.
    Tool,
    /// A verdict of the guard.
    Guard,
    /// A hook run.
    Hook,
    /// A change of state.
    State,
    /// Any other event.
    Event,
}

/// Every kind, its query parameter, and its label.
pub(super) const TIMELINE_KINDS: &[(TimelineItemKind, &str, &str)] = &[
    (TimelineItemKind::Prompt, "prompts", "Prompts"),
    (TimelineItemKind::Words, "words", "Replies"),
    (TimelineItemKind::Tool, "tools", "Tools"),
    (TimelineItemKind::Guard, "guard", "Guard"),
    (TimelineItemKind::Hook, "hooks", "Hooks"),
    (TimelineItemKind::State, "states", "States"),
    (TimelineItemKind::Event, "events", "Other events"),
];

/// The query parameter that shows only the chosen kinds, even if none is chosen.
pub(super) const ONLY_PARAM: &str = "only";

/// The kinds that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimelineKindFilter(Vec<TimelineItemKind>);

impl TimelineKindFilter {
    /// All kinds.
    pub(super) fn all() -> Self {
        Self(TIMELINE_KINDS.iter().map(|(kind, ..)| *kind).collect())
    }

    /// The chosen kinds. If none is chosen, all except the excluded ones, unless `only` is set.
    pub(super) fn parse(query: &QueryParams<'_>) -> Result<Self, HttpError> {
        let is_wanted = |word: &str| ["0", "1"].contains(&word).then_some(word == "1");
        let choice = |name: &str| query.choice(name, is_wanted, ["1", "0"].into_iter());
        let (mut kinds, mut declined) = (Vec::new(), Vec::new());
        for (kind, name, _) in TIMELINE_KINDS {
            match choice(name)? {
                Some(true) => kinds.push(*kind),
                Some(false) => declined.push(*kind),
                None => {}
            }
        }
        if kinds.is_empty() && choice(ONLY_PARAM)? != Some(true) {
            kinds = Self::all().0;
            kinds.retain(|kind| !declined.contains(kind));
        }
        Ok(Self(kinds))
    }

    pub(super) fn contains(&self, kind: TimelineItemKind) -> bool {
        self.0.contains(&kind)
    }

    /// Whether everything is shown.
    pub(super) fn is_all(&self) -> bool {
        self.0.len() == TIMELINE_KINDS.len()
    }

    /// Whether nothing is shown.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether turns are shown.
    pub(super) fn includes_turns(&self) -> bool {
        self.contains(TimelineItemKind::Prompt) || self.contains(TimelineItemKind::Words)
    }

    /// The actor of the shown turns, if it is only one.
    pub(super) fn turn_actor(&self) -> Option<TurnActor> {
        match (self.contains(TimelineItemKind::Prompt), self.contains(TimelineItemKind::Words)) {
            (true, false) => Some(TurnActor::User),
            (false, true) => Some(TurnActor::Agent),
            _ => None,
        }
    }

    /// Whether any kind of item that belongs to events is shown.
    pub(super) fn includes_events(&self) -> bool {
        // Blocked prompts exist only as events.
        self.0.iter().any(|kind| *kind != TimelineItemKind::Words)
    }

    /// The aspects of the events to query; empty for all events.
    pub(super) fn required_aspects(&self) -> Vec<TimelineAspect> {
        if self.is_all() {
            return Vec::new();
        }
        let with = |kind: &TimelineItemKind| match kind {
            TimelineItemKind::Words => None,
            TimelineItemKind::Prompt => Some(TimelineAspect::BlockedPrompt),
            TimelineItemKind::Tool => Some(TimelineAspect::Call),
            TimelineItemKind::Guard => Some(TimelineAspect::Verdict),
            TimelineItemKind::Hook => Some(TimelineAspect::Run),
            TimelineItemKind::State => Some(TimelineAspect::Change),
            TimelineItemKind::Event => Some(TimelineAspect::Itself),
        };
        self.0.iter().filter_map(with).collect()
    }

    /// The query parameters of this choice (`tools=1&guard=1`); none for all.
    pub(super) fn chosen_names(&self) -> Vec<&'static str> {
        if self.is_all() {
            return Vec::new();
        }
        if self.is_empty() {
            return vec![ONLY_PARAM];
        }
        let chosen = TIMELINE_KINDS.iter().filter(|(kind, ..)| self.contains(*kind));
        chosen.map(|(_, name, _)| *name).collect()
    }
}
