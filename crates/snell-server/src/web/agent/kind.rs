//! Kinds of things on a timeline, by which it can be narrowed.

use snell_store::{Actor, With};

use crate::error::Refusal;
use crate::query::Query;

/// A kind of thing on a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) const KINDS: &[(Kind, &str, &str)] = &[
    (Kind::Prompt, "prompts", "Prompts"),
    (Kind::Words, "words", "Words"),
    (Kind::Tool, "tools", "Tools"),
    (Kind::Guard, "guard", "Guard"),
    (Kind::Hook, "hooks", "Hooks"),
    (Kind::State, "states", "States"),
    (Kind::Event, "events", "Other events"),
];

/// In an address: only the kinds that are named are shown, even if none is.
pub(super) const ONLY: &str = "only";

/// Which kinds are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kinds(Vec<Kind>);

impl Kinds {
    /// All of them.
    pub(super) fn all() -> Self {
        Self(KINDS.iter().map(|(kind, ..)| *kind).collect())
    }

    /// Those that are asked for; all but those that are declined, if none is, unless the form was sent with none.
    pub(super) fn read(query: &Query<'_>) -> Result<Self, Refusal> {
        let is_wanted = |word: &str| ["0", "1"].contains(&word).then_some(word == "1");
        let told = |name: &str| query.word(name, is_wanted, ["1", "0"].into_iter());
        let (mut kinds, mut declined) = (Vec::new(), Vec::new());
        for (kind, name, _) in KINDS {
            match told(name)? {
                Some(true) => kinds.push(*kind),
                Some(false) => declined.push(*kind),
                None => {}
            }
        }
        if kinds.is_empty() && told(ONLY)? != Some(true) {
            kinds = Self::all().0;
            kinds.retain(|kind| !declined.contains(kind));
        }
        Ok(Self(kinds))
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    /// Whether everything is shown.
    pub(super) fn is_all(&self) -> bool {
        self.0.len() == KINDS.len()
    }

    /// Whether nothing is shown.
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether turns are among them.
    pub(super) fn with_turns(&self) -> bool {
        self.has(Kind::Prompt) || self.has(Kind::Words)
    }

    /// Whose turns are among them, if it is one side's.
    pub(super) fn actor(&self) -> Option<Actor> {
        match (self.has(Kind::Prompt), self.has(Kind::Words)) {
            (true, false) => Some(Actor::User),
            (false, true) => Some(Actor::Agent),
            _ => None,
        }
    }

    /// Whether anything is among them that comes with an event.
    pub(super) fn with_events(&self) -> bool {
        // Prompts that were blocked are told by their events alone.
        self.0.iter().any(|kind| *kind != Kind::Words)
    }

    /// What must come with an event that is shown; nothing in particular if all are.
    pub(super) fn with(&self) -> Vec<With> {
        if self.is_all() {
            return Vec::new();
        }
        let with = |kind: &Kind| match kind {
            Kind::Words => None,
            Kind::Prompt => Some(With::BlockedPrompt),
            Kind::Tool => Some(With::Call),
            Kind::Guard => Some(With::Verdict),
            Kind::Hook => Some(With::Run),
            Kind::State => Some(With::Change),
            Kind::Event => Some(With::Itself),
        };
        self.0.iter().filter_map(with).collect()
    }

    /// The same choice in an address: `tools=1&guard=1`, or nothing for all.
    pub(super) fn query(&self) -> String {
        if self.is_all() {
            return String::new();
        }
        let chosen = KINDS.iter().filter(|(kind, ..)| self.has(*kind));
        let words: Vec<_> = chosen.map(|(_, name, _)| format!("{name}=1")).collect();
        if words.is_empty() {
            return format!("{ONLY}=1");
        }
        words.join("&")
    }
}
