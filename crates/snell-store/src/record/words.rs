//! The words for decisions and statuses in records and rows. An unknown word of another version is read as no decision
//! or no status, so that the rest of the record is not lost.

use serde::{Deserialize, Deserializer, Serializer};
use snell::{Decision, HookRunStatus};

const STATUSES: [HookRunStatus; 6] = [
    HookRunStatus::Ok,
    HookRunStatus::Failed,
    HookRunStatus::Blocked,
    HookRunStatus::TimedOut,
    HookRunStatus::Skipped,
    HookRunStatus::Started,
];

/// The word for the decision about an event.
pub(crate) fn event_decision_word(decision: Decision) -> Option<&'static str> {
    match decision {
        Decision::None => None,
        Decision::Allow => Some("allow"),
        Decision::Ask => Some("ask"),
        Decision::Deny => Some("block"),
    }
}

/// The word for a decision of the guard.
pub(crate) fn guard_decision_word(decision: Decision) -> Option<&'static str> {
    match decision {
        Decision::Deny => Some("deny"),
        other => event_decision_word(other),
    }
}

/// The decision about an event, or of the guard, from its word.
pub(crate) fn parse_decision(word: &str) -> Decision {
    match word {
        "allow" => Decision::Allow,
        "ask" => Decision::Ask,
        "block" | "deny" => Decision::Deny,
        _ => Decision::None,
    }
}

/// The status of a hook from its word.
pub(crate) fn parse_status(word: &str) -> Option<HookRunStatus> {
    STATUSES.into_iter().find(|status| status.as_str() == word)
}

pub(super) fn is_undecided(decision: &Decision) -> bool {
    *decision == Decision::None
}

pub(super) fn serialize_event_decision<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(event_decision_word(*decision).unwrap_or_default())
}

pub(super) fn serialize_guard_decision<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(guard_decision_word(*decision).unwrap_or_default())
}

pub(super) fn deserialize_decision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decision, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    Ok(parse_decision(&word.unwrap_or_default()))
}

pub(super) fn serialize_status<S: Serializer>(
    status: &Option<HookRunStatus>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.map_or("", HookRunStatus::as_str))
}

pub(super) fn deserialize_status<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<HookRunStatus>, D::Error> {
    String::deserialize(deserializer).map(|word| parse_status(&word))
}
