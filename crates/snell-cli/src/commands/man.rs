//! `snell man`: the manual in the form that `man` reads.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::CommandFactory;
use snell::did_you_mean;

use super::DONE;
use crate::cli::Cli;
use crate::manual::man_pages::{self, ManPage};
use crate::output;

/// Print a man page, or write all of them into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell man | man -l -\n  snell man guard check | man -l -\n  \
    snell man --dir ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// The command whose page is printed; without it, the page of snell itself
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write the pages of all commands into this directory, which is made if need be
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
    let near = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
    bail!("snell has no command \"{command}\"{near}; `snell --help` shows all of them");
}

fn write_man_pages(directory: &Path, pages: &[ManPage]) -> anyhow::Result<()> {
    let shown = directory.display();
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {shown}"))?;
    for page in pages {
        let path = directory.join(&page.file);
        let written = snell::check_regular_file(&path).and_then(|()| std::fs::write(&path, &page.text));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::print_line(&format!("{} written to {shown}.", output::format_count(pages.len(), "man page")));
    Ok(())
}
