//! Shows the active profile, and reports once what its absence means for a setup of an earlier version, in which its handlers ran
//! by default.

use snell::{ActiveProfile, BuiltinHandler, HandlerSwitch, ProfileOrigin, SnellSettings};

use super::changed_defaults::ChangedDefault;
use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding};
use crate::commands::status::describe_profile;
use crate::env::caller::CallerEnv;
use crate::handlers::find_project_context_files;

const REMEDY: &str = "to have all of it as before, write profile = \"claude-os\" into your snell.toml (or: snell install claude --profile claude-os)";

pub(super) fn check_profile(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let Ok(builder) = CallerEnv::engine_builder(subject.project.clone()) else {
        // Another check reports that.
        return Vec::new();
    };
    let settings = builder.survey().load().0.settings();
    let mut findings: Vec<_> =
        settings.profile.map(|active| ok_finding(describe_profile(active))).into_iter().collect();
    let in_project = find_project_context_files(&settings.context, &subject.project);
    let context_file = in_project.first().map(|path| path.display().to_string());
    let changes = list_changes(&settings, context_file.as_deref());
    if !changes.is_empty() && ChangedDefault::Profile.claim_report(&subject.data) {
        findings.extend(changes.into_iter().map(|change| DoctorFinding {
            remedy: Some(REMEDY.to_owned()),
            ..note_finding(format!("changed since an earlier version: {change}"))
        }));
    }
    findings
}

/// The changes of defaults that this setup may notice. `context_file` is a file of the project that sessions got by default.
fn list_changes(settings: &SnellSettings, context_file: Option<&str>) -> Vec<String> {
    let is_by_user = |active: ActiveProfile| active.origin == ProfileOrigin::UserFile;
    if settings.profile.is_some_and(is_by_user) {
        return Vec::new();
    }
    let switch_of = |handler| settings.handlers.switch_of(handler);
    let mut changes = Vec::new();
    match (switch_of(BuiltinHandler::Context), context_file) {
        (HandlerSwitch::NotWanted, Some(file)) => {
            changes.push(format!("sessions get no context files without a profile, such as {file}"));
        }
        (HandlerSwitch::ByLauncher, Some(file)) => changes.push(format!(
            "a launcher's variables give sessions the project's context files, such as {file}, only after `snell trust`"
        )),
        _ => {}
    }
    let has_reminder_settings = settings.context_window.is_some() || settings.messages.has_changes();
    if switch_of(BuiltinHandler::Remind) == HandlerSwitch::NotWanted && has_reminder_settings {
        changes.push(
            "agents get no reminders without a profile; \"context_window\" and [messages] do not change that".into(),
        );
    }
    let has_texts = [BuiltinHandler::Context, BuiltinHandler::Remind]
        .into_iter()
        .any(|handler| switch_of(handler) == HandlerSwitch::ByUser);
    if has_texts && settings.profile.is_none() && !settings.messages.has_own_prefix() {
        changes
            .push("messages to agents begin with \"[Snell: INFO]: \" without a profile, and have other texts".into());
    }
    changes
}
