//! `snell doctor`: is Snell where it should be, and does it work?

use std::path::PathBuf;

use serde::Serialize;

use super::{DONE, FAILED};
use crate::doctor::{Finding, Level, Patient, examine};
use crate::output::{self, Style};

/// Check that Snell is installed, that it is the right one, and that it works
///
/// Looks at this program, the agents' settings, what else is registered there, the receiver, the database, the project and
/// the configuration. Then it runs what is registered exactly as the agent would, in a home directory of its own, and
/// shows what comes of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell doctor")]
pub(crate) struct Args {
    /// The project whose files are looked at [default: the nearest directory upwards with a snell.toml or .git]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The findings, for programs.
#[derive(Serialize)]
struct Diagnosis<'a> {
    healthy: bool,
    findings: &'a [Finding],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let patient = Patient::look(args.project.clone())?;
    let mut last = "";
    let findings = examine(&patient, &mut |finding| {
        if !args.json {
            show(finding, last != finding.check);
            last = finding.check;
        }
    });
    let healthy = !findings.iter().any(|finding| finding.level.needs_attention());
    if args.json {
        output::json(&Diagnosis {
            healthy,
            findings: &findings,
        })?;
    } else {
        output::line("");
        output::line(&summary(&findings, patient.is_installed()));
    }
    Ok(if healthy { DONE } else { FAILED })
}

fn show(finding: &Finding, is_first: bool) {
    let style = match finding.level {
        Level::Ok => Style::Green,
        Level::Note => Style::Faint,
        Level::Warning => Style::Yellow,
        Level::Problem => Style::Red,
    };
    let label = if is_first { finding.check } else { "" };
    let mark = output::styled(&format!("{:<8}", finding.level.mark()), style);
    output::text(&format!("{label:<14} {mark} {}\n", output::harmless(&finding.what)));
    if let Some(remedy) = &finding.remedy {
        output::faint(&format!("{:<23} {remedy}", ""));
    }
}

fn summary(findings: &[Finding], is_installed: bool) -> String {
    let number = |level| findings.iter().filter(|finding| finding.level == level).count();
    let counts = [(number(Level::Problem), "problem"), (number(Level::Warning), "warning")];
    let told = counts.into_iter().filter(|(number, _)| *number > 0);
    let told: Vec<_> = told.map(|(number, thing)| output::count(number, thing)).collect();
    if told.is_empty() && is_installed {
        "All is well.".into()
    } else if told.is_empty() {
        "Nothing is wrong, but no agent calls Snell yet. To change that: snell install claude".into()
    } else {
        format!("{}.", told.join(", "))
    }
}
