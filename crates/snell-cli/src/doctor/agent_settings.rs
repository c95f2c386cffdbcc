//! Checks where Snell is installed, how, on which events, and whether it is this program.

use std::path::Path;

use snell::RegistrationFormat;

use super::subject::{InspectedAgent, InspectedSettingsFile, SettingsContent};
use super::{DoctorFinding, DoctorSubject, FindingLevel, note_finding, ok_finding, problem_finding, warning_finding};
use crate::install::agents::{InstallAgent, RegistrationFile, SettingsScope};
use crate::install::apply::{self, InstallRequest, InstallTarget};
use crate::install::atomic_file;
use crate::install::backup::InstallLog;
use crate::install::exe_path::is_runnable;
use crate::install::handler::{HandlerCommand, InstallMode};
use crate::install::notify_script;
use crate::install::scan::RegisteredHandler;

pub(super) fn check_settings(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    for inspected in &subject.agents {
        for file in &inspected.files {
            findings.extend(check_settings_file(subject, inspected, file));
        }
        findings.extend(summarize_event_files(inspected));
        findings.extend(check_agent(subject, inspected));
    }
    if findings.is_empty() {
        findings.push(note_finding("no known agent has been used here, and none calls Snell"));
    }
    findings
}

/// The files of an agent that has one for each event, in one line for each directory.
fn summarize_event_files(inspected: &InspectedAgent) -> Vec<DoctorFinding> {
    let scopes = [SettingsScope::User, SettingsScope::Project];
    let summarize = |scope: SettingsScope| {
        let of_scope = || inspected.files.iter().filter(move |file| file.scope == scope && file.is_for_one_event());
        let (on, off): (Vec<_>, Vec<_>) = of_scope().partition(|file| file.own_handlers().next().is_some());
        let directory = on.first().and_then(|file| file.path.parent())?.display();
        let what = format!(
            "{directory} ({}): {} on {}",
            scope.title(),
            InstallMode::Hook.title(),
            crate::output::format_count(on.len(), "event")
        );
        let missing: Vec<_> = off.iter().flat_map(|file| file.events.clone()).collect();
        Some(if missing.is_empty() {
            ok_finding(what)
        } else {
            let again = build_reinstall_command(inspected, on[0]);
            warning_finding(format!("{what}, but not on: {}", missing.join(", ")), again)
        })
    };
    scopes.into_iter().filter_map(summarize).collect()
}

/// Checks all files of an agent together.
fn check_agent(subject: &DoctorSubject, inspected: &InspectedAgent) -> Option<DoctorFinding> {
    let title = inspected.agent.title();
    let install = format!("run: snell install {}", inspected.agent.name);
    let home = inspected.files.iter().find(|file| file.own_handlers().next().is_some());
    let Some(home) = home else {
        let is_used = inspected.agent.is_used(&inspected.around);
        let what = format!("Snell is not installed in {title}");
        return is_used.then(|| match subject.is_installed() {
            // Its user may want Snell in some agents only.
            true => note_finding(format!("{what}; to install it, {install}")),
            false => warning_finding(what, install),
        });
    };
    let target = build_target(subject, inspected, home);
    let others = target.find_other_installations(&InstallLog::open_read_only(&subject.data));
    let (paths, undo): (Vec<_>, Vec<_>) =
        others.into_iter().map(|other| (other.path.display().to_string(), other.undo)).unzip();
    (!paths.is_empty()).then(|| {
        warning_finding(
            format!(
                "{} and {} both call Snell, so events may be recorded twice",
                home.path.display(),
                paths.join(" and ")
            ),
            format!("keep one, and remove the other: {}; or {}", target.undo_hint(home.scope), undo.join("; or ")),
        )
    })
}

fn check_settings_file(
    subject: &DoctorSubject,
    inspected: &InspectedAgent,
    file: &InspectedSettingsFile,
) -> Vec<DoctorFinding> {
    let shown = file.path.display();
    let again = build_reinstall_command(inspected, file);
    match &file.content {
        SettingsContent::Missing => Vec::new(),
        SettingsContent::Invalid(what) => {
            vec![problem_finding(what.clone(), "fix the file; until then its hooks do not run")]
        }
        SettingsContent::Settings { .. } if file.own_handlers().next().is_none() => {
            vec![note_finding(format!("{shown} ({}) does not call Snell", file.scope.title()))]
        }
        SettingsContent::Settings { .. } if file.is_for_one_event() => {
            check_programs(subject, inspected.agent, file, &again)
        }
        SettingsContent::Settings { .. } => {
            let mut findings = Vec::new();
            let ways = [InstallMode::Hook, InstallMode::Notify];
            let used = ways.into_iter().filter(|way| file.own_handlers().any(|handler| handler.way == Some(*way)));
            findings.extend(used.map(|way| check_registered_events(inspected.agent, file, way, &again)));
            if findings.len() > 1 {
                let what =
                    format!("{shown} calls both `snell hook` and notify-headspace.sh, so events are recorded twice");
                findings.push(warning_finding(what, again.as_str()));
            }
            findings.extend(check_handler_limits(file, &again));
            findings.extend(check_programs(subject, inspected.agent, file, &again));
            findings.extend(check_version(subject, inspected, file, &again));
            findings
        }
    }
}

/// The file as a target of an installation.
fn build_target(subject: &DoctorSubject, inspected: &InspectedAgent, file: &InspectedSettingsFile) -> InstallTarget {
    InstallTarget {
        agent: inspected.agent,
        file: RegistrationFile { scope: file.scope, path: file.path.clone(), events: file.events.clone() },
        dirs: inspected.around.clone(),
        data: subject.data.clone(),
        program: subject.program.clone(),
    }
}

/// Checks that a plugin is the one of this version.
fn check_version(
    subject: &DoctorSubject,
    inspected: &InspectedAgent,
    file: &InspectedSettingsFile,
    again: &str,
) -> Option<DoctorFinding> {
    if !matches!(inspected.agent.format, RegistrationFormat::OwnFile(_)) {
        return None;
    }
    let request = InstallRequest { way: InstallMode::Hook, url: None, force: true, dry_run: true };
    let report = apply::install_snell(&[build_target(subject, inspected, file)], &request).ok()?;
    let what = format!("{} differs from the file that this version installs", file.path.display());
    report.changed.then(|| warning_finding(what, again))
}

/// The command that repairs a file.
fn build_reinstall_command(inspected: &InspectedAgent, file: &InspectedSettingsFile) -> String {
    let option = match file.scope {
        SettingsScope::User | SettingsScope::Managed => "",
        SettingsScope::Project => " --project",
        SettingsScope::Local => " --local",
    };
    let is_notify = file.own_handlers().all(|handler| handler.way == Some(InstallMode::Notify));
    let way = if is_notify { " --notify" } else { "" };
    format!("run: snell install {}{option}{way}", inspected.agent.name)
}

/// Checks on which events a file calls Snell in this way.
fn check_registered_events(
    agent: InstallAgent,
    file: &InspectedSettingsFile,
    way: InstallMode,
    again: &str,
) -> DoctorFinding {
    let events: Vec<&str> = match way {
        InstallMode::Hook => file.events.clone(),
        InstallMode::Notify => agent.forwarded.iter().map(|(event, _)| *event).collect(),
    };
    let is_on = |event: &&str| file.own_handlers().any(|handler| handler.way == Some(way) && handler.event == *event);
    let (on, off): (Vec<_>, Vec<_>) = events.into_iter().partition(is_on);
    let what = format!(
        "{} ({}): {} on {}",
        file.path.display(),
        file.scope.title(),
        way.title(),
        crate::output::format_count(on.len(), "event")
    );
    if off.is_empty() {
        ok_finding(what)
    } else {
        warning_finding(format!("{what}, but not on: {}", off.join(", ")), again)
    }
}

/// Checks for handlers that are not always called, or not awaited.
fn check_handler_limits(file: &InspectedSettingsFile, again: &str) -> Option<DoctorFinding> {
    let limits = |handler: &RegisteredHandler| {
        let event = handler.event.clone();
        handler.limits().into_iter().map(move |limit| format!("{event} {limit}"))
    };
    let limited: Vec<_> = file.own_handlers().flat_map(limits).collect();
    let what = format!("{} calls Snell on {}", file.path.display(), limited.join(", "));
    (!limited.is_empty()).then(|| warning_finding(what, again))
}

/// Checks that each called program exists, can be run, and is this program.
fn check_programs(
    subject: &DoctorSubject,
    agent: InstallAgent,
    file: &InspectedSettingsFile,
    again: &str,
) -> Vec<DoctorFinding> {
    let mut seen: Vec<&str> = Vec::new();
    let mut findings = Vec::new();
    for handler in file.own_handlers().filter(|handler| !handler.words.is_empty()) {
        if !seen.contains(&handler.program()) {
            findings.extend(check_handler_program(subject, file, handler, again).filter(|finding| {
                // Other agents know no other way to call a program.
                agent.registers_arguments() || finding.level != FindingLevel::Note
            }));
            seen.push(handler.program());
        }
    }
    findings
}

fn check_handler_program(
    subject: &DoctorSubject,
    file: &InspectedSettingsFile,
    handler: &RegisteredHandler,
    again: &str,
) -> Option<DoctorFinding> {
    let called = handler.program();
    let place = format!("{}:{}", file.path.display(), handler.line);
    let path = subject.started.find_program(called);
    let Some(path) = path.filter(|path| path.exists()) else {
        return Some(problem_finding(format!("{place}: {called} does not exist, so Snell is not called"), again));
    };
    if !is_runnable(&path) {
        return Some(problem_finding(format!("{place}: {called} cannot be run, so Snell is not called"), again));
    }
    let is_script = path.file_name().is_some_and(|name| name == notify_script::SCRIPT_NAME);
    let program = if is_script {
        let text = atomic_file::read_text(&path).unwrap_or_default();
        notify_script::read_assignment(&text, "snell").unwrap_or_default().into()
    } else {
        path
    };
    if !is_runnable(&program) {
        let what = format!("{called} calls {}, which does not exist; using curl", program.display());
        return Some(warning_finding(what, again));
    }
    let is_this = |one: &Path, other: &Path| one.canonicalize().ok() == other.canonicalize().ok();
    if !is_this(&program, &subject.program) {
        let what = format!("{place}: another program is called: {}", program.display());
        return Some(warning_finding(what, format!("to use this program, {again}")));
    }
    match handler.call.as_ref()? {
        HandlerCommand::Shell { .. } => Some(note_finding(format!(
            "{place}: Snell is called through a shell, which takes twice as long; to call Snell directly, {again}"
        ))),
        HandlerCommand::Exec { .. } => None,
    }
}
