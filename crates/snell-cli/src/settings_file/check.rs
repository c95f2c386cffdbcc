//! Checks a text as a `snell.toml`, before it is written.

use std::fs;

use anyhow::Context;
use snell::{Diagnostic, Engine, Timestamp};

use super::{FILE_NAME, SnellToml, SnellTomlScope};
use crate::env::read_clock_override;
use crate::guard::lint_guard_settings;
use crate::output::CommandError;

/// The findings about a text, as if it were in this file. Hooks are not looked for on the disk.
pub(crate) fn check_text(file: &SnellToml, text: &str) -> anyhow::Result<Vec<Diagnostic>> {
    // The reader takes a file's rights from its place.
    let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
    let (config, project) = (directory.path().join("config"), directory.path().join("project"));
    for directory in [&config, &project] {
        fs::create_dir(directory).context("cannot create a temporary directory")?;
    }
    let place = match file.scope {
        SnellTomlScope::User => &config,
        SnellTomlScope::Project => &project,
    };
    fs::write(place.join(FILE_NAME), text).context("cannot write a temporary file")?;
    let (engine, mut findings) = Engine::builder().project(&project).config_dir(&config).load();
    let now = read_clock_override().unwrap_or_else(Timestamp::now);
    let guard_findings = lint_guard_settings(&engine.settings(), &project, now);
    findings.extend(guard_findings.iter().map(|finding| finding.to_diagnostic()));
    findings.sort_by_key(|found| (found.line, found.column));
    findings.dedup();
    for found in &mut findings {
        found.path.clone_from(&file.display_path);
    }
    Ok(findings)
}

/// Fails with the first finding that the new text has and the old one has not.
pub(crate) fn refuse_new_findings(file: &SnellToml, old: &str, new: &str) -> anyhow::Result<()> {
    let before = check_text(file, old)?;
    let is_new = |found: &Diagnostic| before.iter().all(|earlier| earlier.message != found.message);
    match check_text(file, new)?.into_iter().find(is_new) {
        Some(found) => Err(refuse_finding(&found).into()),
        None => Ok(()),
    }
}

/// The error about a finding: `path:line:column: message`, with its hint.
fn refuse_finding(found: &Diagnostic) -> CommandError {
    let Diagnostic { path, line, column, message, hint, .. } = found;
    let error = CommandError::new(format!("{path}:{line}:{column}: {message}; nothing was changed"));
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
