//! `snell lint`: what is wrong with the configuration.

use serde::Serialize;
use snell::{Diagnostic, ServerSettings, Severity, Timestamp};

use super::{DONE, FAILED};
use crate::around::{Around, now, tell_project};
use crate::guard::findings;
use crate::output;
use crate::post;

/// Check every hook file: what is wrong, where, and what to write instead
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell lint --config whale:hooks.json")]
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
    let now = now().unwrap_or_else(Timestamp::now);
    let of_the_guard = findings(&engine.settings(), &args.around.project()?, now);
    diagnostics.extend(of_the_guard.iter().map(|finding| finding.diagnostic()));
    diagnostics.extend(of_the_token(&engine.settings().server));
    sort(&mut diagnostics);
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
        tell_project(&args.around);
        show(&linted);
    }
    Ok(if errors > 0 { FAILED } else { DONE })
}

/// Why the token that the user's file names is not used, if it is not.
fn of_the_token(server: &ServerSettings) -> Option<Diagnostic> {
    let (path, origin) = server.token_file.as_deref().zip(server.token_file_origin.as_ref())?;
    let why = post::token(path).err()?;
    Some(Diagnostic {
        severity: Severity::Warning,
        path: origin.shown.clone(),
        line: origin.line,
        column: origin.column,
        message: format!("the token is not used: {why}"),
    })
}

/// File by file as they were read, and each from top to bottom, as people read.
fn sort(diagnostics: &mut [Diagnostic]) {
    let mut files: Vec<String> = Vec::new();
    for found in diagnostics.iter() {
        if !files.contains(&found.path) {
            files.push(found.path.clone());
        }
    }
    let file = |found: &Diagnostic| files.iter().position(|path| *path == found.path);
    diagnostics.sort_by_key(|found| (file(found), found.line, found.column));
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
