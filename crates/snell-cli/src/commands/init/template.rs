//! The text of a first `snell.toml`. Tables without an answer are comments: the mere presence of some of them has an effect.

use super::answers::{InitAnswers, NotifyChoice};
use crate::config_edit::quote_toml_string;
use crate::settings_file::SnellTomlScope;

const USER_TEMPLATE: &str = include_str!("user_template.toml");
const PROJECT_TEMPLATE: &str = include_str!("project_template.toml");

/// The preset that applies without a setting.
const DEFAULT_PRESET: &str = "standard";

/// The file with the user's answers.
pub(super) fn render_file(scope: SnellTomlScope, answers: &InitAnswers) -> String {
    match scope {
        SnellTomlScope::User => {
            let notify = answers.notify.as_ref().map(render_notify).unwrap_or_default();
            let approve = match answers.approve.as_deref() {
                None | Some("off") => "#approve = \"read\"".to_owned(),
                Some(level) => format!("approve = {}", quote_toml_string(level)),
            };
            let text = USER_TEMPLATE.replace("{preset}", &answers.preset);
            text.replace("{approve}", &approve).replace("{notify}", &notify)
        }
        SnellTomlScope::Project => {
            let guard = match answers.preset.as_str() {
                DEFAULT_PRESET => "#[guard]\n#preset = \"strict\"".to_owned(),
                other => format!("[guard]\npreset = {}", quote_toml_string(other)),
            };
            PROJECT_TEMPLATE.replace("{guard}", &guard)
        }
    }
}

/// The table of notices, with an empty line after it.
fn render_notify(choice: &NotifyChoice) -> String {
    let example = "#ntfy = \"https://ntfy.sh/my-topic\"";
    let lines = match choice {
        NotifyChoice::Nothing => format!("#[notify]\n#desktop = true\n{example}"),
        NotifyChoice::Desktop => format!("[notify]\ndesktop = true\n{example}"),
        NotifyChoice::Ntfy(url) => format!("[notify]\n#desktop = true\nntfy = {}", quote_toml_string(url)),
    };
    let about = "# How Snell notifies you when an agent needs you: on the desktop, or with ntfy (https://ntfy.sh).";
    format!("{about}\n{lines}\n\n")
}
