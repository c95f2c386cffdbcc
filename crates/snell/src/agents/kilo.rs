//! Kilo, a fork of OpenCode with the same plugins.

use super::fingerprint::PayloadMark::Values;
use super::install_recipe::{AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, SettingsScope};
use super::plugin_replies::{PLUGIN_NOTES, PLUGIN_REPLIES};
use super::unknown::BASE_PRODUCT;
use super::{AgentProduct, EvidenceLevel, opencode};

pub(super) static KILO: AgentProduct = AgentProduct {
    name: "kilo",
    title: "Kilo",
    evidence: EvidenceLevel::Run,
    headless_args: &["run"],
    payload_marks: &[Values("plugin", &["kilo"])],
    events: opencode::EVENTS,
    renamed_events: opencode::EVENT_ROWS,
    tools: &opencode::TOOLS,
    adapt: opencode::adapt,
    reply: &PLUGIN_REPLIES,
    answer_notes: PLUGIN_NOTES,
    notifications: opencode::NOTIFICATIONS,
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".config/kilo").or_variable("XDG_CONFIG_HOME", "kilo"),
    signs: ("kilo", ".config/kilo"),
    files: &[AgentSettingsFile::user("plugins/snell.js"), AgentSettingsFile::project(".kilo/plugins/snell.js")],
    notes: &[
        (SettingsScope::User, "Kilo loads plugins when it starts"),
        (SettingsScope::Project, "Kilo loads plugins when it starts"),
    ],
    proof: DenialProof::of_plugin(
        "tool.execute.before",
        r#"{"plugin": "kilo", "hook_event_name": "tool.execute.before", "tool_name": "bash",
            "tool_input": {"command": "COMMAND"}}"#,
    ),
    ..opencode::INSTALL
};
