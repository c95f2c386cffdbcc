//! An agent's context usage: the tokens that its model counted, divided by the size of the context.

use snell::{Event, EventName};

use crate::derive::transcript::ContextUsage;

/// The size of a model's context in tokens, unless its user or its name sets another.
const DEFAULT_WINDOW_TOKENS: u32 = 200_000;

/// Suffixes of the names of models with a larger context.
const WINDOW_SUFFIXES: &[(&str, u32)] = &[("[1m]", 1_000_000)];

/// The effect of a session start on the known context usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextReset {
    /// The old usage is discarded, and the transcript's is used.
    Restarted,
    /// The context is nearly empty, and the transcript's usage is from before.
    Emptied,
}

/// The causes of a session start that discard the earlier conversation.
const CONTEXT_RESETS: &[(&str, ContextReset)] =
    &[("startup", ContextReset::Restarted), ("clear", ContextReset::Emptied), ("compact", ContextReset::Emptied)];

/// The context usage in percent. A window from the user takes precedence.
pub(crate) fn compute_context_percent(usage: &ContextUsage, window: Option<u32>) -> f64 {
    let by_name = || {
        let model = usage.model.as_deref().unwrap_or_default();
        let marked = WINDOW_SUFFIXES.iter().find(|(mark, _)| model.ends_with(mark));
        marked.map_or(DEFAULT_WINDOW_TOKENS, |(_, tokens)| *tokens)
    };
    let window = window.filter(|tokens| *tokens > 0).unwrap_or_else(by_name);
    (usage.context_tokens as f64 / f64::from(window) * 100.0).min(100.0)
}

/// The effect of this event on the context usage; nothing for most events.
pub(crate) fn detect_context_reset(event: &Event) -> Option<ContextReset> {
    let source = event.source.as_deref().filter(|_| event.name == EventName::SessionStart)?;
    let known = CONTEXT_RESETS.iter().find(|(known, _)| *known == source);
    known.map(|(_, beginning)| *beginning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_window_takes_precedence_over_the_models_name() {
        let cases = [
            (50_000, "claude-opus-4-5", None, 25.0),
            (50_000, "claude-sonnet-4-5[1m]", None, 5.0),
            (50_000, "claude-sonnet-4-5[1m]", Some(100_000), 50.0),
            (50_000, "claude-opus-4-5", Some(0), 25.0),
            (900_000, "claude-opus-4-5", None, 100.0),
        ];
        for (context_tokens, model, window, expected) in cases {
            let usage = ContextUsage { context_tokens, model: Some(model.into()) };
            assert_eq!(compute_context_percent(&usage, window), expected, "{context_tokens} {model} {window:?}");
        }
    }
}
