//! OpenCode. It runs plugins: `snell install` writes one that calls Snell.

use serde_json::{Map, Value};

use super::fingerprint::PayloadMark::Values;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, RegistrationFormat, SettingsScope,
};
use super::plugin_replies::{PLUGIN_NOTES, PLUGIN_REPLIES};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentEventRow, AgentProduct, EvidenceLevel, NotificationKinds};

pub(super) static OPENCODE: AgentProduct = AgentProduct {
    name: "opencode",
    title: "OpenCode",
    evidence: EvidenceLevel::Run,
    headless_args: &["run"],
    payload_marks: &[Values("plugin", &["opencode"])],
    events: EVENTS,
    renamed_events: EVENT_ROWS,
    tools: &TOOLS,
    adapt,
    reply: &PLUGIN_REPLIES,
    answer_notes: PLUGIN_NOTES,
    notifications: NOTIFICATIONS,
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

/// The types that `adapt` gives its permission events.
pub(super) const NOTIFICATIONS: NotificationKinds = NotificationKinds {
    needs_input: &[PERMISSION_ASKED],
    permission: &[PERMISSION_ASKED],
    input_given: &[PERMISSION_REPLIED],
    ..NotificationKinds::NONE
};
const PERMISSION_ASKED: &str = "permission_prompt";
const PERMISSION_REPLIED: &str = "permission_replied";

/// Its events, which Kilo has too.
pub(super) const EVENTS: &[&str] = &[
    "session.created",
    "chat.message",
    "tool.execute.before",
    "tool.execute.after",
    "permission.asked",
    "permission.replied",
    "session.compacted",
    "session.idle",
    "session.error",
    "session.deleted",
];

pub(super) const EVENT_ROWS: &[AgentEventRow] = &[
    AgentEventRow::new("session.created", "SessionStart"),
    AgentEventRow::new("chat.message", "UserPromptSubmit"),
    AgentEventRow::new("tool.execute.before", "PreToolUse"),
    AgentEventRow::new("tool.execute.after", "PostToolUse"),
    AgentEventRow::new("permission.asked", "Notification"),
    AgentEventRow::new("permission.replied", "Notification"),
    AgentEventRow::new("session.compacted", "PostCompact"),
    AgentEventRow::new("session.idle", "Stop"),
    AgentEventRow::new("session.error", "StopFailure"),
    AgentEventRow::new("session.deleted", "SessionEnd"),
];

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("bash", "Bash"),
        same_input("background_process", "Bash"),
        renamed_keys("read", "Read", FILE_KEYS),
        renamed_keys("write", "Write", FILE_KEYS),
        renamed_keys("edit", "Edit", FILE_KEYS),
        renamed_keys("multiedit", "MultiEdit", FILE_KEYS),
        same_input("grep", "Grep"),
        same_input("glob", "Glob"),
        same_input("list", "LS"),
        same_input("webfetch", "WebFetch"),
        same_input("websearch", "WebSearch"),
        same_input("task", "Agent"),
        same_input("question", "AskUserQuestion"),
        same_input("todowrite", "TodoWrite"),
    ],
    mcp: McpNameForm::ServerAndTool,
};

const FILE_KEYS: &[(&str, &str)] =
    &[("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string")];

/// Its permission events become notifications.
pub(super) fn adapt(payload: &mut Map<String, Value>) {
    let kind = match payload.get("hook_event_name").and_then(Value::as_str) {
        Some("permission.asked") => PERMISSION_ASKED,
        Some("permission.replied") => PERMISSION_REPLIED,
        _ => return,
    };
    payload.insert("notification_type".into(), kind.into());
}

/// Kilo, a fork, has most of it too.
pub(super) const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".config/opencode").or_variable("XDG_CONFIG_HOME", "opencode"),
    signs: ("opencode", ".config/opencode"),
    format: RegistrationFormat::OwnFile(concat!(include_str!("plugins/ask.js"), include_str!("plugins/opencode.js"))),
    files: &[AgentSettingsFile::user("plugins/snell.js"), AgentSettingsFile::project(".opencode/plugins/snell.js")],
    notes: &[
        (SettingsScope::User, "OpenCode loads plugins when it starts"),
        (SettingsScope::Project, "OpenCode loads plugins when it starts"),
    ],
    proof: DenialProof::of_plugin(
        "tool.execute.before",
        r#"{"plugin": "opencode", "hook_event_name": "tool.execute.before", "tool_name": "bash",
            "tool_input": {"command": "COMMAND"}}"#,
    ),
    ..InstallRecipe::BASE
};
