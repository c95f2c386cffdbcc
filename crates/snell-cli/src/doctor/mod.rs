//! `snell doctor`: checks that Snell is installed and works.
//!
//! One file per check, and one row of `CHECKS`. A check inspects the subject and returns findings. The last one, the self-test,
//! runs the registered commands as the agent would.

mod agent_settings;
mod changed_defaults;
mod database;
mod disabled;
mod env_vars;
mod guard;
mod notices;
mod other_hooks;
mod profile;
mod program;
mod receiver;
mod self_test;
mod subject;
mod telemetry;

pub(crate) use changed_defaults::skip_reports_in_new_setup;
pub(crate) use receiver::is_snell_receiver;
use serde::Serialize;
pub(crate) use subject::DoctorSubject;

use crate::output::Spinner;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingLevel {
    Ok,
    /// Information, not a problem.
    Note,
    /// It works, but not as it should.
    Warning,
    /// It does not work.
    Problem,
}

impl FindingLevel {
    /// Whether the user should act.
    pub(crate) fn needs_attention(self) -> bool {
        matches!(self, Self::Warning | Self::Problem)
    }

    fn from_label(label: &str) -> Option<Self> {
        [Self::Ok, Self::Note, Self::Warning, Self::Problem].into_iter().find(|level| level.label() == label)
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// The finding of a check.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DoctorFinding {
    pub(crate) check: &'static str,
    pub(crate) level: FindingLevel,
    pub(crate) what: String,
    /// The hint.
    pub(crate) remedy: Option<String>,
}

fn ok_finding(what: impl Into<String>) -> DoctorFinding {
    new_finding(FindingLevel::Ok, what)
}

fn note_finding(what: impl Into<String>) -> DoctorFinding {
    new_finding(FindingLevel::Note, what)
}

fn warning_finding(what: impl Into<String>, remedy: impl Into<String>) -> DoctorFinding {
    DoctorFinding { remedy: Some(remedy.into()), ..new_finding(FindingLevel::Warning, what) }
}

fn problem_finding(what: impl Into<String>, remedy: impl Into<String>) -> DoctorFinding {
    DoctorFinding { remedy: Some(remedy.into()), ..new_finding(FindingLevel::Problem, what) }
}

fn new_finding(level: FindingLevel, what: impl Into<String>) -> DoctorFinding {
    DoctorFinding { check: "", level, what: what.into(), remedy: None }
}

/// A check.
type DoctorCheck = fn(&DoctorSubject) -> Vec<DoctorFinding>;

const CHECKS: &[(&str, DoctorCheck)] = &[
    ("Program", program::check_program),
    ("Settings", agent_settings::check_settings),
    ("Switches", disabled::check_disabled_hooks),
    ("Environment", env_vars::check_environment),
    ("Neighbours", other_hooks::check_other_hooks),
    ("Receiver", receiver::check_receivers),
    ("Records", database::check_database),
    ("Configuration", database::check_configuration),
    ("Profile", profile::check_profile),
    ("Guard", guard::check_guard),
    ("Notices", notices::check_notices),
    ("Telemetry", telemetry::check_telemetry),
    ("Proof", self_test::run_self_tests),
];

/// Runs all checks, and reports each finding immediately.
pub(crate) fn run_checks(subject: &DoctorSubject, report: &mut dyn FnMut(&DoctorFinding)) -> Vec<DoctorFinding> {
    let spinner = Spinner::start("checking");
    let mut findings = Vec::new();
    for (name, run_check) in CHECKS {
        spinner.set_text(format!("checking: {}", name.to_lowercase()));
        for finding in run_check(subject) {
            let finding = DoctorFinding { check: name, ..finding };
            report(&finding);
            findings.push(finding);
        }
    }
    findings
}
