//! Is Snell installed, in which files, which way, on all events, and is it this program?

use std::path::Path;

use super::patient::{Content, File, Inhabited};
use super::{Found, Patient, note, ok, problem, warning};
use crate::install::agents::Scope;
use crate::install::entry::{Call, Way};
use crate::install::program::is_runnable;
use crate::install::script;

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let mut findings = Vec::new();
    for inhabited in &patient.agents {
        for file in &inhabited.files {
            findings.extend(check_file(patient, inhabited, file));
        }
        findings.extend(check_all(inhabited));
    }
    findings
}

/// What is wrong with all files of an agent together.
fn check_all(inhabited: &Inhabited) -> Option<Found> {
    let title = inhabited.agent.title();
    let install = format!("run: snell install {}", inhabited.agent.name);
    let homes: Vec<_> = inhabited
        .files
        .iter()
        .filter(|file| file.own().next().is_some())
        .collect();
    match homes[..] {
        [] if inhabited.agent.directory(&inhabited.around).is_dir() => {
            Some(warning(format!("Snell is not installed in {title}"), install))
        }
        [] => Some(note(format!(
            "{title} has not been used here, and Snell is not installed in it"
        ))),
        [_] => None,
        [first, .., last] => Some(warning(
            format!(
                "{} and {} both call Snell, so events may be told twice",
                first.path.display(),
                last.path.display()
            ),
            format!(
                "remove one of them: snell uninstall {} [--project | --local]",
                inhabited.agent.name
            ),
        )),
    }
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
            findings.extend(restricted(file));
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

/// Handlers that are for some things only.
fn restricted(file: &File) -> Option<Found> {
    let only: Vec<_> = file
        .own()
        .filter_map(|handler| Some(format!("{} only for \"{}\"", handler.event, handler.matcher.as_ref()?)))
        .collect();
    (!only.is_empty()).then(|| note(format!("{}: {}", file.path.display(), only.join(", "))))
}

/// Whether what is called is there, can be run, and is this program. Each is looked at once.
fn callees(patient: &Patient, inhabited: &Inhabited, file: &File) -> Vec<Found> {
    let mut seen: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for handler in file.own() {
        let Some(call) = &handler.call else { continue };
        let called = call.program();
        if seen.contains(&called) {
            continue;
        }
        let place = format!("{}:{}", file.path.display(), handler.line);
        findings.extend(callee(patient, &place, call, &called, &again(inhabited, file)));
        seen.push(called);
    }
    findings
}

fn callee(patient: &Patient, place: &str, call: &Call, called: &str, again: &str) -> Option<Found> {
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
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match script::assigned(&text, "snell") {
            Some(program) => program.into(),
            None => {
                return Some(note(format!(
                    "{called} was not written by Snell; whom it tells is up to it"
                )));
            }
        }
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
    match call {
        Call::Shell { .. } => Some(note(format!(
            "{place}: called by a shell, which doubles what it costs; {again}"
        ))),
        Call::Exec { .. } => None,
    }
}
