//! What gives away agents that Snell cannot answer yet. Most of them run Claude Code's hook files beside their own, and
//! send payloads that look much like Claude Code's; their answers do not. `foreign` reads what they are about to do.
//!
//! When an agent gets a row among the guests, its row here goes.

use super::CallerEvidence;

/// An agent that Snell knows by its marks only.
struct UnsupportedAgent {
    /// What it is called among people.
    agent: &'static str,
    /// Any one of them is enough; a variable only where nothing shows that somebody else calls.
    fingerprints: &'static [AgentFingerprint],
}

/// What gives an agent away.
enum AgentFingerprint {
    /// The payload has all of these keys.
    Keys(&'static [&'static str]),
    /// A key of the payload has one of these values.
    Values(&'static str, &'static [&'static str]),
    /// The event's name begins like this.
    EventPrefix(&'static str),
    /// A variable that the agent sets for its hooks. `CLAUDE_PROJECT_DIR` is none: half a dozen agents set it.
    Variable(&'static str),
}

use AgentFingerprint::{EventPrefix, Keys, Values, Variable};

static UNSUPPORTED_AGENTS: &[UnsupportedAgent] = &[
    unsupported_agent("Cursor", &[Keys(&["cursor_version"]), Variable("CURSOR_VERSION")]),
    unsupported_agent("Cline", &[Keys(&["clineVersion"])]),
    unsupported_agent("Windsurf", &[Keys(&["agent_action_name"])]),
    // Claude Code sends a turn's id too, when it shows a message, but never the model with it.
    unsupported_agent("Codex", &[Keys(&["turn_id", "model"])]),
    unsupported_agent(
        "Gemini CLI",
        &[
            EventPrefix("Before"),
            EventPrefix("After"),
            Values("hook_event_name", &["PreCompress"]),
            Variable("GEMINI_SESSION_ID"),
        ],
    ),
    unsupported_agent("Qwen Code", &[Values("permission_mode", &["auto_edit", "yolo"]), Variable("QWEN_PROJECT_DIR")]),
    unsupported_agent("Grok Build", &[Keys(&["hookEventName", "workspaceRoot"]), Variable("GROK_SESSION_ID")]),
    unsupported_agent("Antigravity", &[Keys(&["toolCall", "conversationId"])]),
    unsupported_agent("Copilot", &[Keys(&["sessionId", "toolArgs"])]),
    unsupported_agent("Goose", &[Keys(&["matcher_context"])]),
    unsupported_agent("Crush", &[Variable("CRUSH")]),
    unsupported_agent(
        "Factory droid",
        &[
            Values("permission_mode", &["off", "spec", "auto-low", "auto-medium", "auto-high"]),
            Variable("FACTORY_PROJECT_DIR"),
        ],
    ),
];

const fn unsupported_agent(agent: &'static str, marks: &'static [AgentFingerprint]) -> UnsupportedAgent {
    UnsupportedAgent { agent, fingerprints: marks }
}

/// The one of them that calls, as the payload shows.
pub(super) fn identify_by_payload(caller: &CallerEvidence<'_>) -> Option<&'static str> {
    find_by_fingerprint(|mark| !matches!(mark, Variable(_)) && mark.matches_caller(caller))
}

/// The one of them that calls, if variables are right. They are inherited, and anybody can set them.
pub(super) fn identify_by_variable(caller: &CallerEvidence<'_>) -> Option<&'static str> {
    find_by_fingerprint(|mark| matches!(mark, Variable(_)) && mark.matches_caller(caller))
}

fn find_by_fingerprint(is_it: impl Fn(&AgentFingerprint) -> bool) -> Option<&'static str> {
    let marked = |stranger: &&UnsupportedAgent| stranger.fingerprints.iter().any(&is_it);
    UNSUPPORTED_AGENTS.iter().find(marked).map(|stranger| stranger.agent)
}

impl AgentFingerprint {
    fn matches_caller(&self, caller: &CallerEvidence<'_>) -> bool {
        match self {
            Keys(keys) => keys.iter().all(|key| caller.payload.contains_key(*key)),
            Values(key, values) => caller.payload_text(key).is_some_and(|value| values.contains(&value)),
            EventPrefix(start) => caller.payload_text("hook_event_name").is_some_and(|name| name.starts_with(start)),
            Variable(name) => caller.has_env_var(name),
        }
    }
}
