//! Checks that the guard judges tool calls, and that its settings are valid.

use std::path::Path;

use snell::{BuiltinHandler, GuardChoice, GuardPreset, HeadlessChoice, SnellSettings, SourceLocation, Timestamp};

use super::changed_defaults::ChangedDefault;
use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding, warning_finding};
use crate::backup::BackupStore;
use crate::env;
use crate::env::ConfigArgs;
use crate::env::caller::CallerEnv;
use crate::guard::{lint_guard_settings, list_relaxed_rules};
use crate::install::handler::InstallMode;
use crate::output;

pub(super) fn check_guard(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let project = subject.project.clone();
    let engine = CallerEnv::engine_builder(project.clone()).map(|builder| builder.survey().require_trust());
    let looked = engine.map(|engine| (engine.load().0.settings(), env::read_clock_override()));
    match looked {
        Ok((settings, now)) => {
            let mut found = check_guard_settings(&settings, &project, now.unwrap_or_else(Timestamp::now));
            // If no agent calls the guard, that is more important than its policy.
            if let Some(unasked) =
                find_unused_guard(subject).filter(|_| settings.handlers.is_enabled(BuiltinHandler::Guard))
            {
                found[0] = unasked;
            }
            found.extend(find_changed_default(&settings, subject));
            found.extend(describe_backups(&settings, subject));
            found
        }
        Err(error) => {
            vec![problem_finding(format!("{error:#}"), format!("run: {}", env::format_lint_command(&subject.project)))]
        }
    }
}

/// Reports once which rules the default preset no longer denies, to users with settings from before.
fn find_changed_default(settings: &SnellSettings, subject: &DoctorSubject) -> Option<DoctorFinding> {
    let file = ConfigArgs::new(None, None).config_dir()?.join("snell.toml");
    let is_judged =
        settings.handlers.is_enabled(BuiltinHandler::Guard) && settings.guard.preset == GuardPreset::Standard;
    let is_old = file.is_file() && subject.data.is_dir();
    if !is_judged || !is_old || !ChangedDefault::Preset.claim_report(&subject.data) {
        return None;
    }
    let relaxed = list_relaxed_rules();
    let what = format!(
        "the preset standard now asks about {} that it denied before: {}",
        output::format_count(relaxed.len(), "rule"),
        relaxed.join(", ")
    );
    let remedy = "to deny them as before, set preset = \"claude-os\" in [guard] of your snell.toml (or \"strict\", to deny instead \
                  of asking); this is reported once";
    Some(DoctorFinding { remedy: Some(remedy.into()), ..note_finding(what) })
}

/// Says that files are saved before calls delete or overwrite them.
fn describe_backups(settings: &SnellSettings, subject: &DoctorSubject) -> Option<DoctorFinding> {
    let backup = &settings.guard.backup;
    if !backup.enabled {
        return None;
    }
    if !settings.handlers.is_enabled(BuiltinHandler::Guard) {
        let what = "no files are saved before calls, because the guard is disabled";
        return Some(warning_finding(what, "remove `guard = false` from [handlers], or `backup = true` from [guard]"));
    }
    let number = output::format_count(BackupStore::in_data_dir(&subject.data).totals().count, "backup");
    Some(ok_finding(format!(
        "files that git does not have are saved before calls delete or overwrite them; {number} until now (snell undo)"
    )))
}

/// Reports that no agent calls the guard.
fn find_unused_guard(subject: &DoctorSubject) -> Option<DoctorFinding> {
    let homes = subject.installed_files();
    let mut own = homes.iter().flat_map(|(one, file)| file.own_handlers().map(|handler| (one.agent, handler)));
    if own.any(|(agent, handler)| handler.way == Some(InstallMode::Hook) && handler.event == agent.proof.event) {
        return None;
    }
    Some(note_finding(if homes.is_empty() {
        "the guard judges no tool calls, because no agent calls Snell; to change that, run: snell install"
    } else {
        "the guard judges no tool calls, because Snell only forwards events; to change that, run `snell install` without --notify"
    }))
}

fn check_guard_settings(settings: &SnellSettings, project: &Path, now: Timestamp) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    if settings.handlers.is_enabled(BuiltinHandler::Guard) {
        found.push(describe_policy(settings));
    } else {
        found.push(warning_finding(
            "the guard is disabled, so it judges no tool calls",
            "remove `guard = false` from [handlers] in your own snell.toml",
        ));
    }
    if settings.guard.on_failure == GuardChoice::Allow {
        found.push(warning_finding(
            format!(
                "{}calls that the guard fails to judge are allowed",
                format_origin(settings.guard.on_failure_origin.as_ref())
            ),
            "remove `on_failure = \"allow\"`, or set it to \"ask\"",
        ));
    }
    if settings.guard.headless == HeadlessChoice::Allow {
        found.push(note_finding(format!(
            "{}if no user can answer, calls that the guard asks about are allowed",
            format_origin(settings.guard.headless_origin.as_ref())
        )));
    }
    let of_settings = lint_guard_settings(settings, project, now);
    found.extend(of_settings.into_iter().map(|finding| {
        let what = format!("{}{}", format_origin(Some(&finding.origin)), finding.what);
        warning_finding(what, finding.remedy)
    }));
    found
}

/// Describes the active policy.
fn describe_policy(settings: &SnellSettings) -> DoctorFinding {
    let guard = &settings.guard;
    let chosen = output::format_count(guard.rules.len(), "rule");
    let count = |action| guard.entries.iter().filter(|entry| entry.action == action).count();
    let allowed = output::format_count(count(GuardChoice::Allow), "command");
    let own = [(GuardChoice::Deny, "deny"), (GuardChoice::Ask, "ask about")];
    let own = own.map(|(action, verb)| match count(action) {
        0 => String::new(),
        number => format!(", {verb} {}", output::format_count(number, "pattern")),
    });
    let own = own.concat();
    let judges = |preset: &str| {
        ok_finding(format!(
            "the guard judges every tool call with the preset {preset}; your settings change {chosen}{own} and allow {allowed}"
        ))
    };
    match guard.preset {
        GuardPreset::Standard => judges("standard"),
        GuardPreset::ClaudeOs => judges("claude-os"),
        GuardPreset::Strict => judges("strict"),
        GuardPreset::Audit => note_finding(format!(
            "{}the guard only watches: it judges and records every tool call, and stops none",
            format_origin(guard.preset_origin.as_ref())
        )),
    }
}

/// The position of a setting, as a prefix of a message.
fn format_origin(origin: Option<&SourceLocation>) -> String {
    origin.map_or_else(String::new, |at| format!("{}:{}:{}: ", at.display_path, at.line, at.column))
}
