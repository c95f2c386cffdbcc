//! `snell lint`: what is wrong with the configuration.

use serde::Serialize;
use snell::{Diagnostic, Severity, Timestamp};

use super::{DONE, FAILED};
use crate::around::{Around, now};
use crate::guard::findings;
use crate::output;

/// Check every hook file: what is wrong, where, and what to write instead
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell lint --config whale:hooks.json\n\n\
    Exit codes: 0 no errors (warnings may be), 1 errors.")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    around: Around,
}

/// The findings, for programs.
#[derive(Serialize)]
struct Linted<'a> {
    files: usize,
    hooks: usize,
    errors: usize,
    warnings: usize,
    diagnostics: &'a [Diagnostic],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (engine, mut diagnostics) = args.around.engine()?.load();
    diagnostics.extend(engine.check());
    let now = now()?.unwrap_or_else(Timestamp::now);
    let of_the_guard = findings(&engine.settings().guard, now);
    diagnostics.extend(of_the_guard.iter().map(|finding| finding.diagnostic()));
    let errors = diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .count();
    let linted = Linted {
        files: engine.files().len(),
        hooks: engine.hooks().len(),
        errors,
        warnings: diagnostics.len() - errors,
        diagnostics: &diagnostics,
    };
    if args.json {
        output::json(&linted)?;
    } else {
        show(&linted);
    }
    Ok(if errors > 0 { FAILED } else { DONE })
}

fn show(linted: &Linted<'_>) {
    for diagnostic in linted.diagnostics {
        output::diagnostic(diagnostic);
    }
    let files = output::count(linted.files, "file");
    let hooks = output::count(linted.hooks, "hook");
    if linted.files == 0 {
        output::line("No hook files were found here. `snell docs configuration` shows where they can be written.");
    } else if linted.diagnostics.is_empty() {
        output::line(&format!("No problems in {files} ({hooks})."));
    } else {
        let errors = output::count(linted.errors, "error");
        let warnings = output::count(linted.warnings, "warning");
        output::line(&format!("{errors}, {warnings} in {files} ({hooks} loaded)."));
    }
}
