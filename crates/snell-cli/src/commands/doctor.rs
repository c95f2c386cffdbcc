//! `snell doctor`: is Snell where it should be, and does it work?

use std::path::PathBuf;

use serde::Serialize;

use super::{DONE, FAILED};
use crate::doctor::{DoctorFinding, DoctorSubject, FindingLevel, run_checks};
use crate::output::{self, TextStyle};

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
        output::print_faint(&format!("{:<23} {remedy}", ""));
    }
}

fn summarize_findings(findings: &[DoctorFinding], is_installed: bool) -> String {
    let number = |level| findings.iter().filter(|finding| finding.level == level).count();
    let counts = [(number(FindingLevel::Problem), "problem"), (number(FindingLevel::Warning), "warning")];
    let told = counts.into_iter().filter(|(number, _)| *number > 0);
    let told: Vec<_> = told.map(|(number, thing)| output::format_count(number, thing)).collect();
    if told.is_empty() && is_installed {
        "All is well.".into()
    } else if told.is_empty() {
        "Nothing is wrong, but no agent calls Snell yet. To change that: snell install claude".into()
    } else {
        format!("{}.", told.join(", "))
    }
}
