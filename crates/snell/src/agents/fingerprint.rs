//! The parts of a payload and of an environment that identify a product.

use serde_json::{Map, Value};

use super::AgentProduct;

/// A part of a payload that only one product sends.
pub(super) enum PayloadMark {
    /// All of these keys exist.
    Keys(&'static [&'static str]),
    /// All keys of the first list exist, and none of the second.
    KeysWithout(&'static [&'static str], &'static [&'static str]),
    /// The key has one of these values.
    Values(&'static str, &'static [&'static str]),
    /// The value of the key contains this.
    Contains(&'static str, &'static str),
    /// The event's name starts with this.
    EventPrefix(&'static str),
}

/// Event names that other products use as well.
pub(super) struct AgentVocabulary {
    pub(super) is_spoken_by: fn(&CallerEvidence<'_>) -> bool,
    /// With one of these variables and a session id, variables of other products are ignored.
    pub(super) confirmed_by: &'static [&'static str],
}

/// The payload and the environment of a call.
pub(super) struct CallerEvidence<'a> {
    pub(super) payload: &'a Map<String, Value>,
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
}

impl CallerEvidence<'_> {
    /// A field of the payload, if it is a string and not empty.
    pub(super) fn payload_text(&self, key: &str) -> Option<&str> {
        self.payload.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn has_env_var(&self, name: &str) -> bool {
        (self.environment)(name).is_some_and(|value| !value.is_empty())
    }
}

impl AgentProduct {
    pub(super) fn has_payload_mark(&self, caller: &CallerEvidence<'_>) -> bool {
        self.payload_marks.iter().any(|mark| mark.is_in_payload(caller))
    }

    pub(super) fn has_env_mark(&self, caller: &CallerEvidence<'_>) -> bool {
        self.env_marks.iter().any(|name| caller.has_env_var(name))
    }

    pub(super) fn has_vocabulary(&self, caller: &CallerEvidence<'_>) -> bool {
        self.vocabulary.as_ref().is_some_and(|vocabulary| (vocabulary.is_spoken_by)(caller))
    }

    /// A process that the product starts inherits its variables, so they prove nothing without its event names.
    pub(super) fn is_vocabulary_confirmed(&self, caller: &CallerEvidence<'_>) -> bool {
        let variables = self.vocabulary.as_ref().map_or(&[][..], |vocabulary| vocabulary.confirmed_by);
        self.has_vocabulary(caller)
            && caller.payload_text("session_id").is_some()
            && variables.iter().any(|name| caller.has_env_var(name))
    }

    /// The keys by which the product is recognized.
    pub(super) fn mark_keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = |mark: &'static PayloadMark| match mark {
            PayloadMark::Keys(keys) | PayloadMark::KeysWithout(keys, _) => *keys,
            _ => &[],
        };
        self.payload_marks.iter().flat_map(keys).copied()
    }
}

impl PayloadMark {
    fn is_in_payload(&self, caller: &CallerEvidence<'_>) -> bool {
        let is_text = |key: &str, is_match: &dyn Fn(&str) -> bool| caller.payload_text(key).is_some_and(is_match);
        match self {
            Self::Keys(keys) => keys.iter().all(|key| caller.payload.contains_key(*key)),
            Self::KeysWithout(keys, absent) => {
                let has = |key: &&str| caller.payload.contains_key(*key);
                keys.iter().all(has) && !absent.iter().any(has)
            }
            Self::Values(key, values) => is_text(key, &|value| values.contains(&value)),
            Self::Contains(key, part) => is_text(key, &|value| value.contains(part)),
            Self::EventPrefix(start) => is_text("hook_event_name", &|name| name.starts_with(start)),
        }
    }
}
