//! `cargo xtask tidy`: the rules of this codebase that neither the compiler nor clippy checks.
//!
//! - `code`: names, module style, sizes, bool parameters.
//! - `prose`: phrases that messages, comments and documents do not use.
//! - `messages`: every text that Snell prints, as one file: `fixtures/messages.txt`.
//! - `sources`: the files of the workspace.
//!
//! Test code is exempt.

mod code;
mod messages;
mod prose;
mod sources;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use sources::WorkspaceSources;

/// Checks all sources and documents of the workspace.
pub(crate) fn check_workspace() -> anyhow::Result<()> {
    let sources = WorkspaceSources::read(workspace_root()?)?;
    let mut violations = code::check_code(&sources);
    violations.extend(prose::check_prose(&sources)?);
    violations.extend(messages::check_catalogue(&sources)?);
    if violations.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
    bail!("{} violations of the rules in xtask/src/tidy:\n{}", list.len(), list.join("\n"));
}

fn workspace_root() -> anyhow::Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent folder")
}

/// A rule that a place in the sources breaks.
struct Violation {
    place: SourcePlace,
    message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourcePlace { path, line } = &self.place;
        write!(formatter, "{}:{line}: {}", path.display(), self.message)
    }
}

/// A line of a file, relative to the workspace.
#[derive(Clone)]
struct SourcePlace {
    path: PathBuf,
    line: usize,
}
