//! `snell doctor`: checks the installation.

use std::path::PathBuf;

use serde::Serialize;

use super::{DONE, FAILED};
use crate::doctor::{DoctorFinding, DoctorSubject, FindingLevel, run_checks};
use crate::output::{self, TextStyle};

/// Check that Snell is installed correctly and works
///
/// Checks this program, the agents' settings with their other hooks, the receiver, the database, the project and the
/// configuration. Then it runs the registered command as the agent would, in a temporary home directory, and shows the
/// result.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell doctor")]
pub(crate) struct Args {
    /// Check this project [default: the nearest one upwards]
    ///
    /// The nearest directory upwards with a snell.toml or .git.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The findings, as JSON.
#[derive(Serialize)]
struct DoctorReport<'a> {
    healthy: bool,
    findings: &'a [DoctorFinding],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let subject = DoctorSubject::inspect(args.project.clone())?;
    let mut last = "";
    let findings = run_checks(&subject, &mut |finding| {
        if !args.json {
            print_finding(finding, last != finding.check);
            last = finding.check;
        }
    });
    let healthy = !findings.iter().any(|finding| finding.level.needs_attention());
    if args.json {
        output::print_json(&DoctorReport { healthy, findings: &findings })?;
    } else {
        output::print_line("");
        output::print_line(&summarize_findings(&findings, subject.is_installed()));
    }
    Ok(if healthy { DONE } else { FAILED })
}

fn print_finding(finding: &DoctorFinding, is_first: bool) {
    let style = match finding.level {
        FindingLevel::Ok => TextStyle::Green,
        FindingLevel::Note => TextStyle::Faint,
        FindingLevel::Warning => TextStyle::Yellow,
        FindingLevel::Problem => TextStyle::Red,
    };
    let label = if is_first { finding.check } else { "" };
    let mark = output::apply_style(&format!("{:<8}", finding.level.label()), style);
    output::print_text(&format!("{label:<14} {mark} {}\n", output::escape_invisible(&finding.what)));
    if let Some(remedy) = &finding.remedy {
        output::print_faint(&format!("{:<23} hint: {remedy}", ""));
    }
}

fn summarize_findings(findings: &[DoctorFinding], is_installed: bool) -> String {
    let number = |level| findings.iter().filter(|finding| finding.level == level).count();
    let counts = [(number(FindingLevel::Problem), "problem"), (number(FindingLevel::Warning), "warning")];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<_> = counts.map(|(number, thing)| output::format_count(number, thing)).collect();
    if counts.is_empty() && is_installed {
        "No problems.".into()
    } else if counts.is_empty() {
        "No problems, but no agent calls Snell yet. To install it: snell install".into()
    } else {
        format!("{}.", counts.join(", "))
    }
}
