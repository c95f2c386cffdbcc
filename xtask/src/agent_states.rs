//! Plays recorded sessions, and prints how well Snell showed the states of the agents.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The recordings of this repository.
const OWN_RECORDINGS: &str = "fixtures/recordings";

/// Plays the recordings below directories, or those of this repository. With `--detail PART` it prints the states of the
/// recordings whose path has this part.
pub(crate) fn play_recordings(arguments: &[String]) -> anyhow::Result<()> {
    if let [option, agent] = arguments
        && option == "--record"
    {
        return record_sessions(agent);
    }
    let mut arguments = arguments.iter();
    let (mut directories, mut detail) = (Vec::new(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--detail" => detail = Some(arguments.next().context("--detail needs a part of a recording's path")?),
            directory => directories.push(find_directory(Path::new(directory))?),
        }
    }
    if directories.is_empty() {
        directories.push(find_directory(Path::new(OWN_RECORDINGS))?);
    }
    let mut command = Command::new("cargo");
    command.args(["test", "--quiet", "--package", "snell-store", "--test", "states", "--", "--ignored", "--nocapture"]);
    command.env("SNELL_STATES_DIRS", std::env::join_paths(directories)?);
    if let Some(detail) = detail {
        command.env("SNELL_STATES_DETAIL", detail);
    }
    if !command.status().context("cannot start cargo")?.success() {
        bail!("the recordings could not be played");
    }
    Ok(())
}

/// Records sessions of a real agent that `cargo xtask agents` has installed.
fn record_sessions(agent: &str) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["test", "--package", "snell-cli", "--test", "agents", "--", "--ignored", "sessions_are_recorded"]);
    if !command.env("SNELL_RECORD_AGENT", agent).status().context("cannot start cargo")?.success() {
        bail!("the sessions of {agent} could not be recorded");
    }
    Ok(())
}

fn find_directory(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("cannot read {}", path.display()))
}
