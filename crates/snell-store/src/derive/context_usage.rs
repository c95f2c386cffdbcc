//! An agent's context usage: the tokens that its model counted, divided by the size of the context.

use serde::{Deserialize, Serialize};
use snell::{Event, EventName};

use crate::db::model::{AgentRow, ConversationRow};
use crate::derive::transcript::ContextUsage;

/// The size of the context of a model without a row, in tokens.
const DEFAULT_WINDOW_TOKENS: u32 = 200_000;

/// The size of a large context. A model that has counted more tokens than the default has it, whatever its name.
const LARGE_WINDOW_TOKENS: u32 = 1_000_000;

/// Parts of the names of models, and the size of their context. The first match counts. A suffix such as `[1m]` is the
/// agent's own mark.
const MODEL_WINDOWS: &[(&str, u32)] = &[
    ("[1m]", LARGE_WINDOW_TOKENS),
    ("claude-2", DEFAULT_WINDOW_TOKENS),
    ("claude-3", DEFAULT_WINDOW_TOKENS),
    ("claude-haiku-3", DEFAULT_WINDOW_TOKENS),
    ("claude-sonnet-3", DEFAULT_WINDOW_TOKENS),
    ("claude-haiku-4", DEFAULT_WINDOW_TOKENS),
    ("claude-sonnet-4", DEFAULT_WINDOW_TOKENS),
    ("claude-opus-4-7", LARGE_WINDOW_TOKENS),
    ("claude-opus-4-8", LARGE_WINDOW_TOKENS),
    ("claude-opus-4", DEFAULT_WINDOW_TOKENS),
    ("claude-", LARGE_WINDOW_TOKENS),
];

/// The context data that an agent's status line reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextReport {
    /// The usage in percent; unknown before the first answer of the model.
    pub percent: Option<f64>,
    /// The size of the context in tokens.
    #[serde(default)]
    pub window: Option<u32>,
    /// The model in use.
    pub model: Option<String>,
}

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

/// The data about the size of a session's context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextWindow<'a> {
    /// From the agent's status line.
    pub(crate) reported: Option<u32>,
    /// From the user.
    pub(crate) configured: Option<u32>,
    /// The model of the session. Unlike the model in a transcript, it has the mark of a larger context.
    pub(crate) session_model: Option<&'a str>,
}

impl<'a> ContextWindow<'a> {
    /// The stored data of an agent's session.
    pub(crate) fn of_session(agent: &AgentRow, conversation: Option<&'a ConversationRow>) -> Self {
        Self {
            reported: conversation.and_then(|conversation| conversation.reported_window),
            configured: agent.context_window,
            session_model: conversation.and_then(|conversation| conversation.model.as_deref()),
        }
    }

    /// The context usage in percent.
    pub(crate) fn compute_percent(self, usage: &ContextUsage) -> f64 {
        let window = self.size_for(usage);
        (usage.context_tokens as f64 / f64::from(window) * 100.0).min(100.0)
    }

    /// The size of the context: the agent's own figure, else the user's, else by the model's name.
    fn size_for(self, usage: &ContextUsage) -> u32 {
        let known = self.reported.filter(|tokens| *tokens > 0).or(self.configured.filter(|tokens| *tokens > 0));
        known.unwrap_or_else(|| {
            let counted_by = usage.model.as_deref().unwrap_or_default();
            let model = self.session_model.filter(|model| model.starts_with(counted_by)).unwrap_or(counted_by);
            let by_name = MODEL_WINDOWS.iter().find(|(part, _)| model.contains(part));
            let window = by_name.map_or(DEFAULT_WINDOW_TOKENS, |(_, tokens)| *tokens);
            if usage.context_tokens > u64::from(window) { LARGE_WINDOW_TOKENS } else { window }
        })
    }
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
    fn the_window_is_the_agents_figure_or_the_users_or_the_models() {
        // Columns: tokens, the model that counted them, the agent's figure, the user's, the session's model, percent.
        let cases = [
            (50_000, "claude-opus-4-5", None, None, None, 25.0),
            (50_000, "claude-opus-4-6", None, None, None, 25.0),
            (50_000, "claude-opus-4-20250514", None, None, None, 25.0),
            (50_000, "claude-opus-4-7", None, None, None, 5.0),
            (50_000, "claude-sonnet-4-6", None, None, None, 25.0),
            (50_000, "claude-haiku-4-5-20251001", None, None, None, 25.0),
            (50_000, "claude-3-7-sonnet-20250219", None, None, None, 25.0),
            (130_000, "claude-opus-5-5", None, None, None, 13.0),
            (130_000, "us.anthropic.claude-opus-5-v1:0", None, None, None, 13.0),
            (50_000, "gpt-5", None, None, None, 25.0),
            (50_000, "claude-sonnet-4-5[1m]", None, None, None, 5.0),
            (50_000, "claude-sonnet-4-5", None, None, Some("claude-sonnet-4-5[1m]"), 5.0),
            (50_000, "claude-haiku-4-5", None, None, Some("claude-sonnet-4-5[1m]"), 25.0),
            (50_000, "claude-sonnet-4-5[1m]", None, Some(100_000), None, 50.0),
            (50_000, "claude-opus-4-5", None, Some(0), None, 25.0),
            (50_000, "claude-opus-4-5", Some(500_000), Some(100_000), None, 10.0),
            (50_000, "claude-opus-4-5", Some(0), Some(100_000), None, 50.0),
            // More than the default is in use, so the window is larger.
            (900_000, "claude-opus-4-5", None, None, None, 90.0),
            (900_000, "claude-opus-4-5", Some(200_000), None, None, 100.0),
        ];
        for (context_tokens, model, reported, configured, session_model, expected) in cases {
            let usage = ContextUsage { context_tokens, model: Some(model.into()) };
            let window = ContextWindow { reported, configured, session_model };
            assert_eq!(window.compute_percent(&usage), expected, "{context_tokens} {model} {window:?}");
        }
    }
}
