//! `snell uninstall`: removes Snell from an agent's settings.

use super::install::{AgentTargets, InstallTargetArgs, print_script_results};
use super::{DONE, FAILED};
use crate::env::{ConfigArgs, shell_quote_path};
use crate::install::agents::SettingsScope;
use crate::install::apply::{self, ChangeMode, UninstallReport};
use crate::install::audit_preset;
use crate::install::profile::{self, ProfileReport};
use crate::output::{self, CommandError};

/// Remove Snell from agents' settings
///
/// If a file has not changed since the installation, the old content is restored byte for byte. Otherwise only Snell's
/// entries are removed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell uninstall claude --dry-run\n  snell uninstall claude --project\n  snell uninstall --all"
)]
pub(crate) struct Args {
    #[command(flatten)]
    place: InstallTargetArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mode = if args.place.dry_run { ChangeMode::DryRun } else { ChangeMode::Write };
    let agents = if args.place.all { args.place.resolve_all()? } else { args.place.resolve_named()? };
    if agents.is_empty() {
        return Err(CommandError::new("no agent is named").with_hint("name an agent, or pass --all").into());
    }
    let mut reports = Vec::new();
    let mut has_failed = false;
    for one in &agents {
        match uninstall_from_agent(one, mode) {
            Ok(report) if args.place.all && !report.changed && report.profile.is_none() => {}
            Ok(report) => reports.push(report),
            Err(error) if agents.len() == 1 => return Err(error),
            Err(error) => {
                has_failed = true;
                output::print_error(&error.context(format!("cannot remove Snell from {}", one.agent.title())));
            }
        }
    }
    match reports.as_slice() {
        [report] if args.place.json && args.place.names_one_agent() => output::print_json(report)?,
        reports if args.place.json => output::print_json(&reports)?,
        [] if !has_failed => output::print_line("Nothing to do: no agent calls Snell."),
        reports => reports.iter().for_each(print_removal),
    }
    let is_unused = !is_installed_somewhere(args)?;
    if is_unused {
        remove_audit_preset(args, mode)?;
    }
    let shows_kept = mode == ChangeMode::Write && !args.place.json && args.place.scope() == SettingsScope::User;
    if is_unused && shows_kept && reports.iter().any(|report| report.changed) {
        print_kept_files();
    }
    Ok(if has_failed { FAILED } else { DONE })
}

/// Removes Snell from an agent's files, and the profile that came with it.
fn uninstall_from_agent(target: &AgentTargets, mode: ChangeMode) -> anyhow::Result<UninstallReport> {
    let mut report = apply::uninstall_snell(&target.files, mode)?;
    let data = target.files.first().map(|file| &file.data).filter(|_| target.scope == SettingsScope::User);
    if let Some(data) = data
        && let Some(change) = profile::prepare_removal(data, target.agent.name)?
    {
        if mode == ChangeMode::Write {
            profile::write_removal(&change, data)?;
        }
        report.profile = Some(ProfileReport::from_change(&change));
    }
    Ok(report)
}

/// Whether an agent still calls Snell.
fn is_installed_somewhere(args: &Args) -> anyhow::Result<bool> {
    let is_installed =
        |one: &AgentTargets| apply::uninstall_snell(&one.files, ChangeMode::DryRun).is_ok_and(|report| report.changed);
    Ok(args.place.resolve_all()?.iter().any(is_installed))
}

/// Shows the user's files that an uninstallation keeps, and how to remove them.
fn print_kept_files() {
    let config = ConfigArgs::new(None, None);
    let kept = [(config.user_config_file(), "your settings"), (Some(config.data_dir()), "records")];
    let kept: Vec<_> =
        kept.into_iter().filter_map(|(path, what)| Some((path.filter(|path| path.exists())?, what))).collect();
    if kept.is_empty() {
        return;
    }
    let mut command = "rm -r".to_owned();
    for (path, what) in &kept {
        output::print_line(&format!("  {:<10} {} ({what})", "Kept", path.display()));
        command = format!("{command} {}", shell_quote_path(path));
    }
    output::print_line(&format!("  {:<10} {command}", "To remove"));
}

/// Removes the preset that `snell install --audit` wrote, or restores the earlier one.
fn remove_audit_preset(args: &Args, mode: ChangeMode) -> anyhow::Result<()> {
    let Some(change) = audit_preset::plan_audit_removal()? else {
        return Ok(());
    };
    match mode {
        ChangeMode::DryRun => output::print_diff(&change.diff()),
        ChangeMode::Write => {
            change.write()?;
            if !args.place.json {
                output::print_line(&format!("Removed preset = \"audit\" from {}.", change.path().display()));
            }
        }
    }
    Ok(())
}

fn print_removal(done: &UninstallReport) {
    let file = match (done.more_files.len(), done.file.parent()) {
        (1.., Some(directory)) => directory.display(),
        _ => done.file.display(),
    };
    let scripts = [&done.script, &done.restored_script];
    if !done.changed {
        output::print_line(&format!("Nothing to do: Snell is not installed in {file}."));
    } else if done.dry_run {
        output::print_diff(&done.diff);
        print_script_results(scripts, ["Would remove", "Would restore"]);
    } else {
        output::print_line(&match (done.removed, done.restored) {
            _ if done.diff.is_empty() => {
                format!("{file} contained no entries of Snell. Removed only Snell's backup data.")
            }
            (true, _) => format!("Removed {file}: it did not exist before Snell."),
            (false, true) => format!("Restored {file} to its content before Snell."),
            (false, false) => {
                format!("Removed Snell's entries from {file}. The rest is unchanged.")
            }
        });
        print_script_results(scripts, ["Removed", "Restored"]);
    }
    match &done.profile {
        Some(profile) if done.dry_run => output::print_diff(&profile.diff),
        Some(profile) => output::print_line(&format!("Removed the profile from {}.", profile.file.display())),
        None => {}
    }
    for warning in &done.warnings {
        output::print_warning(warning);
    }
}
