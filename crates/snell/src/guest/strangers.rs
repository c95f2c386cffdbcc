//! What gives away agents that Snell cannot answer yet. Most of them run Claude Code's hook files beside their own, and
//! send payloads that look much like Claude Code's; their answers do not. `foreign` reads what they are about to do.
//!
//! When an agent gets a row among the guests, its row here goes.

use super::Caller;

/// An agent that Snell knows by its marks only.
struct Stranger {
    /// What it is called among people.
    agent: &'static str,
    /// Any one of them is enough; a variable only where nothing shows that somebody else calls.
    marks: &'static [Mark],
}

/// What gives an agent away.
enum Mark {
    /// The payload has all of these keys.
    Keys(&'static [&'static str]),
    /// A key of the payload has one of these values.
    Values(&'static str, &'static [&'static str]),
    /// The event's name begins like this.
    EventBegins(&'static str),
    /// A variable that the agent sets for its hooks. `CLAUDE_PROJECT_DIR` is none: half a dozen agents set it.
    Variable(&'static str),
}

use Mark::{EventBegins, Keys, Values, Variable};

static STRANGERS: &[Stranger] = &[
    stranger("Cursor", &[Keys(&["cursor_version"]), Variable("CURSOR_VERSION")]),
    stranger("Cline", &[Keys(&["clineVersion"])]),
    stranger("Windsurf", &[Keys(&["agent_action_name"])]),
    // Claude Code sends a turn's id too, when it shows a message, but never the model with it.
    stranger("Codex", &[Keys(&["turn_id", "model"])]),
    stranger(
        "Gemini CLI",
        &[
            EventBegins("Before"),
            EventBegins("After"),
            Values("hook_event_name", &["PreCompress"]),
            Variable("GEMINI_SESSION_ID"),
        ],
    ),
    stranger(
        "Qwen Code",
        &[
            Values("permission_mode", &["auto_edit", "yolo"]),
            Variable("QWEN_PROJECT_DIR"),
        ],
    ),
    stranger(
        "Grok Build",
        &[Keys(&["hookEventName", "workspaceRoot"]), Variable("GROK_SESSION_ID")],
    ),
    stranger("Antigravity", &[Keys(&["toolCall", "conversationId"])]),
    stranger("Copilot", &[Keys(&["sessionId", "toolArgs"])]),
    stranger("Goose", &[Keys(&["matcher_context"])]),
    stranger("Crush", &[Variable("CRUSH")]),
    stranger(
        "Factory droid",
        &[
            Values(
                "permission_mode",
                &["off", "spec", "auto-low", "auto-medium", "auto-high"],
            ),
            Variable("FACTORY_PROJECT_DIR"),
        ],
    ),
];

const fn stranger(agent: &'static str, marks: &'static [Mark]) -> Stranger {
    Stranger { agent, marks }
}

/// The one of them that calls, as the payload shows.
pub(super) fn by_payload(caller: &Caller<'_>) -> Option<&'static str> {
    with(|mark| !matches!(mark, Variable(_)) && mark.is_on(caller))
}

/// The one of them that calls, if variables are right. They are inherited, and anybody can set them.
pub(super) fn by_variable(caller: &Caller<'_>) -> Option<&'static str> {
    with(|mark| matches!(mark, Variable(_)) && mark.is_on(caller))
}

fn with(is_it: impl Fn(&Mark) -> bool) -> Option<&'static str> {
    let marked = |stranger: &&Stranger| stranger.marks.iter().any(&is_it);
    STRANGERS.iter().find(marked).map(|stranger| stranger.agent)
}

impl Mark {
    fn is_on(&self, caller: &Caller<'_>) -> bool {
        match self {
            Keys(keys) => keys.iter().all(|key| caller.payload.contains_key(*key)),
            Values(key, values) => caller.text(key).is_some_and(|value| values.contains(&value)),
            EventBegins(start) => caller
                .text("hook_event_name")
                .is_some_and(|name| name.starts_with(start)),
            Variable(name) => caller.has_variable(name),
        }
    }
}
