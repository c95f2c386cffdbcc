//! `snell init`: writes the first `snell.toml`, and installs Snell in agents.

mod answers;
mod template;

use std::path::PathBuf;

use super::install::{InstallTargetArgs, install_named_agents};
use super::{DONE, FAILED};
use crate::doctor;
use crate::install::apply::ChangeMode;
use crate::install::atomic_file::{FileModePolicy, FileSnapshot};
use crate::output::{self, CommandError};
use crate::settings_file::check::refuse_new_findings;
use crate::settings_file::{ProjectFileArgs, SnellToml, SnellTomlScope};
use answers::InitAnswers;

/// Write a first snell.toml, and install Snell in your agents
///
/// At a terminal it asks which agents to install in, how strict the guard is, what it approves, and how to notify you. Options answer these questions; without a
/// terminal, or with --yes, the defaults apply. The file explains its settings, with an example of each. An existing file is not changed:
/// then there is nothing to do, or an error if an option asks for a change.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell init\n  snell init --yes --guard strict\n  \
    snell init --agents claude,codex --notify desktop\n  snell init --project --guard strict")]
pub(crate) struct Args {
    /// Install in these agents: names with commas, all or none [default: all; with --project none]
    #[arg(long, value_name = "NAMES")]
    agents: Option<String>,
    /// How strict the guard is: standard, strict or audit [default: standard]
    ///
    /// standard: denies disasters, asks about risks. strict: denies instead of asking. audit: only judges and records, stops nothing.
    #[arg(long, value_name = "PRESET")]
    guard: Option<String>,
    /// Which harmless calls the guard approves, so that agents ask less: off, read or project [default: off]
    ///
    /// read: calls that change nothing. project: also calls that edit, build and test the project.
    #[arg(long, value_name = "LEVEL", conflicts_with = "project")]
    approve: Option<String>,
    /// How to notify you: none, desktop, or the URL of an ntfy topic [default: none]
    #[arg(long, value_name = "HOW", conflicts_with = "project")]
    notify: Option<String>,
    /// Write the file of a project [default: the nearest project]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Take the defaults instead of asking
    #[arg(long, short)]
    yes: bool,
    /// Only show the file and the changes
    #[arg(long)]
    dry_run: bool,
    /// Replace an existing file, and keep a backup beside it
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let place = ProjectFileArgs::new(args.project.clone());
    let file = place.locate_file()?;
    let snapshot = FileSnapshot::load(&file.path)?;
    if snapshot.exists() && !args.force {
        return keep_existing_file(args, &file);
    }
    let agent_scope = InstallTargetArgs::in_scope(place.resolve_project()?);
    let answers = InitAnswers::collect(args, file.scope, &agent_scope)?;
    let text = template::render_file(file.scope, &answers);
    refuse_new_findings(&file, "", &text)?;
    if !args.dry_run && file.scope == SnellTomlScope::User {
        doctor::skip_reports_in_new_setup();
    }
    if args.dry_run {
        output::print_line(&format!("Would write {}:", file.display_path));
        output::print_line("");
        output::print_text(&text);
        output::print_line("");
    } else {
        let backup = write_file(&file, &snapshot, &text)?;
        output::print_line(&format!("Wrote {}", file.display_path));
        if let Some(backup) = backup {
            output::print_line(&format!("  {:<10} {}", "Backup", backup.display()));
        }
    }
    let code = install_agents(args, agent_scope, answers.agents)?;
    if !args.dry_run && code == DONE {
        print_next_steps(&file);
    }
    Ok(code)
}

/// Reports that the file exists. That is an error if options ask for another content or for agents.
fn keep_existing_file(args: &Args, file: &SnellToml) -> anyhow::Result<u8> {
    let option = match file.scope {
        SnellTomlScope::User => "",
        SnellTomlScope::Project => " --project",
    };
    let hint = format!(
        "change it with `snell config edit{option}` or `snell config set{option} KEY VALUE`, or pass --force to replace it"
    );
    let path = &file.display_path;
    if args.guard.is_some() || args.approve.is_some() || args.notify.is_some() || args.agents.is_some() {
        return Err(CommandError::new(format!("{path} exists already, so nothing was changed")).with_hint(hint).into());
    }
    output::print_line(&format!("Nothing to do: {path} exists already."));
    output::print_line(&format!(
        "  {:<10} snell config set{option} KEY VALUE, or snell config edit{option}",
        "To change"
    ));
    output::print_line(&format!("  {:<10} snell init{option} --force", "To replace"));
    output::print_line(&format!("  {:<10} snell install", "Agents"));
    Ok(DONE)
}

/// Writes the file. Returns the backup of an earlier one.
fn write_file(file: &SnellToml, snapshot: &FileSnapshot, text: &str) -> anyhow::Result<Option<PathBuf>> {
    if let Some(other) = snapshot.find_backup_conflict() {
        let problem = format!("{} is a backup of an earlier file, so nothing was changed", other.display());
        return Err(CommandError::new(problem).with_hint("move it away, then run this command again").into());
    }
    let backup = snapshot.back_up()?;
    let access = match file.scope {
        SnellTomlScope::User => FileModePolicy::Private,
        SnellTomlScope::Project => FileModePolicy::Usual,
    };
    snapshot.replace(text, access)?;
    Ok(backup)
}

fn install_agents(args: &Args, scope: InstallTargetArgs, agents: Vec<String>) -> anyhow::Result<u8> {
    if agents.is_empty() {
        output::print_line("No agent was changed. To install Snell in one later: snell install");
        return Ok(DONE);
    }
    let mode = if args.dry_run { ChangeMode::DryRun } else { ChangeMode::Write };
    match install_named_agents(scope.with_agents(agents, mode)) {
        Err(error) => {
            // The file is written. Only this agent failed.
            output::print_error(&error);
            Ok(FAILED)
        }
        done => done,
    }
}

fn print_next_steps(file: &SnellToml) {
    let steps: &[(&str, &str)] = match file.scope {
        SnellTomlScope::User => {
            &[("To check", "snell doctor"), ("Settings", "snell config list"), ("Page", "snell serve --open")]
        }
        SnellTomlScope::Project => &[("To check", "snell lint"), ("To use it", "snell trust")],
    };
    for (label, command) in steps {
        output::print_line(&format!("  {label:<10} {command}"));
    }
}
