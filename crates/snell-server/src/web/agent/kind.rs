//! Kinds of things on a timeline, by which it can be narrowed.

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

/// Which kinds are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kinds(Vec<Kind>);

impl Kinds {
    /// All of them.
    pub(super) fn all() -> Self {
        Self(KINDS.iter().map(|(kind, ..)| *kind).collect())
    }

    /// Those that are asked for; all if none is.
    pub(super) fn read(query: &Query<'_>) -> Result<Self, Refusal> {
        let mut kinds = Vec::new();
        for (kind, name, _) in KINDS {
            if query
                .word(name, |word| (word == "1").then_some(()), ["1"].into_iter())?
                .is_some()
            {
                kinds.push(*kind);
            }
        }
        Ok(if kinds.is_empty() { Self::all() } else { Self(kinds) })
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    /// Whether everything is shown.
    pub(super) fn is_all(&self) -> bool {
        self.0.len() == KINDS.len()
    }

    /// Whether turns are among them.
    pub(super) fn with_turns(&self) -> bool {
        self.has(Kind::Prompt) || self.has(Kind::Words)
    }

    /// Whether anything is among them that comes with an event.
    pub(super) fn with_events(&self) -> bool {
        let is_turn = |kind: &Kind| matches!(kind, Kind::Prompt | Kind::Words);
        !self.0.iter().all(is_turn)
    }

    /// Whether nothing that comes with an event is among them but what the guard said.
    pub(super) fn with_nothing_but_the_guard(&self) -> bool {
        let fits = |kind: &Kind| matches!(kind, Kind::Prompt | Kind::Words | Kind::Guard);
        self.0.iter().all(fits)
    }

    /// The same choice in an address: `tools=1&guard=1`, or nothing for all.
    pub(super) fn query(&self) -> String {
        if self.is_all() {
            return String::new();
        }
        let chosen = KINDS.iter().filter(|(kind, ..)| self.has(*kind));
        let words: Vec<_> = chosen.map(|(_, name, _)| format!("{name}=1")).collect();
        words.join("&")
    }
}
