//! `snell doctor`: is Snell where it should be, and does it work?
//!
//! One file per question. Each looks at the patient and answers with findings; a new question is a row of `CHECKS`. The
//! last one, the proof, runs what is registered as the agent would.

mod environment;
mod guard;
mod memory;
mod neighbours;
mod patient;
mod program;
mod proof;
mod receiver;
mod settings;
mod switches;

pub(crate) use patient::Patient;
use serde::Serialize;

/// How a finding is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Ok,
    /// Worth knowing, and no fault.
    Note,
    /// It works, and not as it should.
    Warning,
    /// It does not work.
    Problem,
}

impl Level {
    /// Whether somebody should do something about it.
    pub(crate) fn needs_attention(self) -> bool {
        matches!(self, Self::Warning | Self::Problem)
    }

    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) remedy: Option<String>,
}

/// A finding in the making, which does not know yet by which check it was found.
#[derive(Debug)]
struct Found {
    level: Level,
    what: String,
    remedy: Option<String>,
}

fn ok(what: impl Into<String>) -> Found {
    found(Level::Ok, what)
}

fn note(what: impl Into<String>) -> Found {
    found(Level::Note, what)
}

fn warning(what: impl Into<String>, remedy: impl Into<String>) -> Found {
    Found {
        remedy: Some(remedy.into()),
        ..found(Level::Warning, what)
    }
}

fn problem(what: impl Into<String>, remedy: impl Into<String>) -> Found {
    Found {
        remedy: Some(remedy.into()),
        ..found(Level::Problem, what)
    }
}

fn found(level: Level, what: impl Into<String>) -> Found {
    Found {
        level,
        what: what.into(),
        remedy: None,
    }
}

/// A question that is asked.
struct Check {
    title: &'static str,
    ask: fn(&Patient) -> Vec<Found>,
}

const CHECKS: &[Check] = &[
    check("Program", program::check),
    check("Settings", settings::check),
    check("Switches", switches::check),
    check("Environment", environment::check),
    check("Neighbours", neighbours::check),
    check("Receiver", receiver::check),
    check("Memory", memory::check),
    check("Configuration", memory::check_configuration),
    check("Guard", guard::check),
    check("Proof", proof::check),
];

const fn check(title: &'static str, ask: fn(&Patient) -> Vec<Found>) -> Check {
    Check { title, ask }
}

/// Asks everything, and tells each answer as it comes.
pub(crate) fn examine(patient: &Patient, tell: &mut dyn FnMut(&Finding)) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Check { title, ask } in CHECKS {
        for Found { level, what, remedy } in ask(patient) {
            let finding = Finding {
                check: title,
                level,
                what,
                remedy,
            };
            tell(&finding);
            findings.push(finding);
        }
    }
    findings
}
