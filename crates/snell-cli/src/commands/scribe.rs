//! `snell scribe`: keeps the database open for a while, so that hooks need not. Started by `snell hook`, never by people.

use std::path::PathBuf;

use snell_store::scribe::{Settings, serve};

use super::DONE;

/// Keep the database open for hooks, for a while
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where Snell keeps what it records
    directory: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    // It outlives the terminal that its first hook was called from.
    let _ = rustix::process::setsid();
    serve(&args.directory, Settings::default())?;
    Ok(DONE)
}
