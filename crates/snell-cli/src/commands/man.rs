//! `snell man`: man pages.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::CommandFactory;
use snell::did_you_mean;

use super::DONE;
use crate::cli::Cli;
use crate::manual::man_pages::{self, ManPage};
use crate::output::{self, CommandError};

/// Print a man page, or write all of them to a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell man | man -l -\n  snell man guard check | man -l -\n  \
    snell man --dir ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Command of the page [default: snell itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write all pages to this directory, and create it if needed
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let pages = man_pages::build_man_pages(Cli::command())?;
    match &args.dir {
        Some(directory) => write_man_pages(directory, &pages)?,
        None => output::print_text(&find_man_page(&args.command.join(" "), &pages)?.text),
    }
    Ok(DONE)
}

fn find_man_page<'p>(command: &str, pages: &'p [ManPage]) -> anyhow::Result<&'p ManPage> {
    if let Some(page) = pages.iter().find(|page| page.command == command) {
        return Ok(page);
    }
    let near = did_you_mean(command, pages.iter().map(|page| page.command.as_str()));
    let hint = near.map_or("`snell --help` lists all commands".into(), |near| format!("did you mean \"{near}\"?"));
    Err(CommandError::new(format!("unknown command \"{command}\"")).with_hint(hint).into())
}

fn write_man_pages(directory: &Path, pages: &[ManPage]) -> anyhow::Result<()> {
    let shown = directory.display();
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {shown}"))?;
    for page in pages {
        let path = directory.join(&page.file);
        let written = snell::check_regular_file(&path).and_then(|()| std::fs::write(&path, &page.text));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::print_line(&format!("Wrote {} to {shown}.", output::format_count(pages.len(), "man page")));
    Ok(())
}
