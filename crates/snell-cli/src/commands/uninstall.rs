//! `snell uninstall`: removes Snell from an agent's settings.

use super::DONE;
use super::install::{InstallTargetArgs, print_script_results};
use crate::install::apply::{self, ChangeMode, UninstallReport};
use crate::output;

/// Remove Snell from an agent's settings
///
/// If the file has not changed since the installation, the old content is restored byte for byte. Otherwise only Snell's
/// entries are removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell uninstall claude --dry-run\n  snell uninstall claude --project")]
pub(crate) struct Args {
    #[command(flatten)]
    place: InstallTargetArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mode = if args.place.dry_run { ChangeMode::DryRun } else { ChangeMode::Write };
    let done = apply::uninstall_snell(&args.place.resolve_target()?, mode)?;
    if args.place.json {
        output::print_json(&done)?;
    } else {
        print_removal(&done);
    }
    Ok(DONE)
}

fn print_removal(done: &UninstallReport) {
    let file = done.file.display();
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
    for warning in &done.warnings {
        output::print_warning(warning);
    }
}
