//! Kinds of things on a timeline, by which it can be narrowed.

use snell_store::{TimelineAspect, TurnActor};

use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

/// A kind of thing on a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimelineItemKind {
    /// What its user said.
    Prompt,
    /// What the agent said.
    Words,
    /// A call of a tool.
    Tool,
    /// What the guard said.
    Guard,
    /// A hook that ran.
    Hook,
    /// The agent does something else than before.
    State,
    /// Everything else that it told.
    Event,
}

/// Every kind: its name in an address, and how people call it.
pub(super) const TIMELINE_KINDS: &[(TimelineItemKind, &str, &str)] = &[
    (TimelineItemKind::Prompt, "prompts", "Prompts"),
    (TimelineItemKind::Words, "words", "Words"),
    (TimelineItemKind::Tool, "tools", "Tools"),
    (TimelineItemKind::Guard, "guard", "Guard"),
    (TimelineItemKind::Hook, "hooks", "Hooks"),
    (TimelineItemKind::State, "states", "States"),
    (TimelineItemKind::Event, "events", "Other events"),
];

/// In an address: only the kinds that are named are shown, even if none is.
pub(super) const ONLY_PARAM: &str = "only";

/// Which kinds are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimelineKindFilter(Vec<TimelineItemKind>);

impl TimelineKindFilter {
    /// All of them.
    pub(super) fn all() -> Self {
        Self(TIMELINE_KINDS.iter().map(|(kind, ..)| *kind).collect())
    }

    /// Those that are asked for; all but those that are declined, if none is, unless the form was sent with none.
    pub(super) fn parse(query: &QueryParams<'_>) -> Result<Self, HttpError> {
        let is_wanted = |word: &str| ["0", "1"].contains(&word).then_some(word == "1");
        let told = |name: &str| query.choice(name, is_wanted, ["1", "0"].into_iter());
        let (mut kinds, mut declined) = (Vec::new(), Vec::new());
        for (kind, name, _) in TIMELINE_KINDS {
            match told(name)? {
                Some(true) => kinds.push(*kind),
                Some(false) => declined.push(*kind),
                None => {}
            }
        }
        if kinds.is_empty() && told(ONLY_PARAM)? != Some(true) {
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

    /// Whether turns are among them.
    pub(super) fn includes_turns(&self) -> bool {
        self.contains(TimelineItemKind::Prompt) || self.contains(TimelineItemKind::Words)
    }

    /// Whose turns are among them, if it is one side's.
    pub(super) fn turn_actor(&self) -> Option<TurnActor> {
        match (self.contains(TimelineItemKind::Prompt), self.contains(TimelineItemKind::Words)) {
            (true, false) => Some(TurnActor::User),
            (false, true) => Some(TurnActor::Agent),
            _ => None,
        }
    }

    /// Whether anything is among them that comes with an event.
    pub(super) fn includes_events(&self) -> bool {
        // Prompts that were blocked are told by their events alone.
        self.0.iter().any(|kind| *kind != TimelineItemKind::Words)
    }

    /// What must come with an event that is shown; nothing in particular if all are.
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

    /// The names of the parameters that say the same in an address (`tools=1&guard=1`); none for all.
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
