//! Is Snell installed, in which files, which way, on all events, and is it this program?

use std::path::Path;

use super::patient::{Content, File, Inhabited};
use super::{Found, Patient, note, ok, problem, warning};
use crate::install::agents::Scope;
use crate::install::disk;
use crate::install::entry::{Call, Way};
use crate::install::program::is_runnable;
use crate::install::remembered::Installed;
use crate::install::script;
use crate::install::survey::Registered;
use crate::install::work::Target;

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let mut findings = Vec::new();
    for inhabited in &patient.agents {
        for file in &inhabited.files {
            findings.extend(check_file(patient, inhabited, file));
        }
        findings.extend(check_all(patient, inhabited));
    }
    findings
}

/// What is wrong with all files of an agent together.
fn check_all(patient: &Patient, inhabited: &Inhabited) -> Option<Found> {
    let title = inhabited.agent.title();
    let install = format!("run: snell install {}", inhabited.agent.name);
    let home = inhabited.files.iter().find(|file| file.own().next().is_some());
    let Some(home) = home else {
        let is_used = inhabited.agent.directory(&inhabited.around).is_dir();
        return Some(if is_used {
            warning(format!("Snell is not installed in {title}"), install)
        } else {
            note(format!(
                "{title} has not been used here, and Snell is not installed in it"
            ))
        });
    };
    let target = Target {
        agent: inhabited.agent,
        scope: home.scope,
        around: inhabited.around.clone(),
        data: patient.data.clone(),
        program: patient.program.clone(),
    };
    let others = target.elsewhere(&Installed::look(&patient.data));
    let (paths, undo): (Vec<_>, Vec<_>) = others
        .into_iter()
        .map(|other| (other.path.display().to_string(), other.undo))
        .unzip();
    (!paths.is_empty()).then(|| {
        warning(
            format!(
                "{} and {} call Snell, so events may be told twice",
                home.path.display(),
                paths.join(" and ")
            ),
            format!(
                "remove all but one: {}; or {}",
                target.to_undo(home.scope),
                undo.join("; or ")
            ),
        )
    })
}

fn check_file(patient: &Patient, inhabited: &Inhabited, file: &File) -> Vec<Found> {
    let shown = file.path.display();
    match &file.content {
        Content::Missing => Vec::new(),
        Content::Faulty(what) => vec![problem(what.clone(), "correct it; until then its hooks do not run")],
        Content::Settings { .. } if file.own().next().is_none() => {
            vec![note(format!("{shown} ({}): Snell is not in it", file.scope.title()))]
        }
        Content::Settings { .. } => {
            let mut findings = Vec::new();
            let ways = [Way::Hook, Way::Notify];
            let used = ways
                .into_iter()
                .filter(|way| file.own().any(|handler| handler.way == Some(*way)));
            let used: Vec<_> = used.collect();
            for way in &used {
                findings.push(registered(inhabited, file, *way));
            }
            if used.len() > 1 {
                findings.push(warning(
                    format!("{shown} calls Snell both ways, so events are told twice"),
                    again(inhabited, file),
                ));
            }
            findings.extend(restricted(inhabited, file));
            findings.extend(callees(patient, inhabited, file));
            findings
        }
    }
}

/// What to run to put a file right.
fn again(inhabited: &Inhabited, file: &File) -> String {
    let option = match file.scope {
        Scope::User | Scope::Managed => "",
        Scope::Project => " --project",
        Scope::Local => " --local",
    };
    let is_notify = file.own().all(|handler| handler.way == Some(Way::Notify));
    let way = if is_notify { " --notify" } else { "" };
    format!("run: snell install {}{option}{way}", inhabited.agent.name)
}

/// On which events it is called this way, and on which it is not.
fn registered(inhabited: &Inhabited, file: &File, way: Way) -> Found {
    let events: Vec<&str> = match way {
        Way::Hook => inhabited.agent.events().collect(),
        Way::Notify => inhabited.agent.forwarded.iter().map(|(event, _)| *event).collect(),
    };
    let is_on = |event: &&str| {
        file.own()
            .any(|handler| handler.way == Some(way) && handler.event == *event)
    };
    let (on, off): (Vec<_>, Vec<_>) = events.into_iter().partition(is_on);
    let what = format!(
        "{} ({}): {} on {}",
        file.path.display(),
        file.scope.title(),
        way.title(),
        crate::output::count(on.len(), "event")
    );
    if off.is_empty() {
        ok(what)
    } else {
        warning(
            format!("{what}, and not on: {}", off.join(", ")),
            again(inhabited, file),
        )
    }
}

/// Handlers that are not called, or not heard, every time.
fn restricted(inhabited: &Inhabited, file: &File) -> Option<Found> {
    let limited: Vec<_> = file
        .own()
        .flat_map(|handler| {
            let limits = handler.limits().into_iter();
            limits.map(|limit| format!("{} {limit}", handler.event))
        })
        .collect();
    let what = format!("{} calls Snell on {}", file.path.display(), limited.join(", "));
    (!limited.is_empty()).then(|| warning(what, again(inhabited, file)))
}

/// Whether what is called is there, can be run, and is this program. Each is looked at once.
fn callees(patient: &Patient, inhabited: &Inhabited, file: &File) -> Vec<Found> {
    let mut seen: Vec<&str> = Vec::new();
    let mut findings = Vec::new();
    for handler in file.own().filter(|handler| !handler.words.is_empty()) {
        if !seen.contains(&handler.program()) {
            findings.extend(callee(patient, file, handler, &again(inhabited, file)));
            seen.push(handler.program());
        }
    }
    findings
}

fn callee(patient: &Patient, file: &File, handler: &Registered, again: &str) -> Option<Found> {
    let called = handler.program();
    let place = format!("{}:{}", file.path.display(), handler.line);
    let path = patient.started.find(called);
    let Some(path) = path.filter(|path| path.exists()) else {
        return Some(problem(
            format!("{place}: {called} is not there, so nothing is told"),
            again,
        ));
    };
    if !is_runnable(&path) {
        return Some(problem(
            format!("{place}: {called} cannot be run, so nothing is told"),
            again,
        ));
    }
    let is_script = path.file_name().is_some_and(|name| name == script::NAME);
    let program = if is_script {
        let text = disk::read_text(&path).unwrap_or_default();
        script::assigned(&text, "snell").unwrap_or_default().into()
    } else {
        path
    };
    if !is_runnable(&program) {
        let what = format!(
            "{called} calls {}, which is not there; it makes do with curl",
            program.display()
        );
        return Some(warning(what, again));
    }
    let is_this = |one: &Path, other: &Path| one.canonicalize().ok() == other.canonicalize().ok();
    if !is_this(&program, &patient.program) {
        let what = format!("{place}: {} is called, and not this program", program.display());
        return Some(warning(
            what,
            format!("if this one should be: {}", again.replacen("run: ", "", 1)),
        ));
    }
    match handler.call.as_ref()? {
        Call::Shell { .. } => Some(note(format!(
            "{place}: called by a shell, which doubles what it costs; {again}"
        ))),
        Call::Exec { .. } => None,
    }
}
