//! `snell undo`: lists files that Snell saved before agents deleted or overwrote them, and restores them.

mod backup_list;
mod restore_report;

use std::path::{Path, PathBuf};

use anyhow::Context;
use snell::Timestamp;

use super::{DONE, FAILED};
use backup_list::BackupListFormat;

use crate::backup::{BackedUpCall, BackupManifest, BackupStore, RestoreMode, StoredBackup, restore_backup};
use crate::env::caller::CallerEnv;
use crate::output::{self, CommandError};

/// Restore files that an agent deleted or overwrote
///
/// If `[guard] backup = true` is set in your snell.toml, Snell saves files that git does not have before a call deletes or overwrites
/// them. Without an ID, this lists what it saved. A file with other contents than the saved ones stays, unless you add --force.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell undo\n  snell undo --last --dry-run\n  snell undo 4t1w0q2mz notes.txt\n  \
    snell undo 4t1w0q2mz --force")]
pub(crate) struct Args {
    /// Restore the files of this backup; the beginning of its id is enough
    #[arg(value_name = "ID")]
    id: Option<PathBuf>,
    /// Restore only these files and directories
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The latest backup of the project in which you are
    #[arg(long)]
    last: bool,
    /// List instead of restoring, with an ID or --last its files
    #[arg(long)]
    list: bool,
    /// Show what would be restored, and change nothing
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,
    /// Also replace files with other contents, which become a new backup
    #[arg(long, conflicts_with = "list")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let caller = CallerEnv::from_env();
    let store = BackupStore::in_data_dir(&caller.data);
    let now = caller.now.unwrap_or_else(Timestamp::now);
    let format = if args.json { BackupListFormat::Json } else { BackupListFormat::Text };
    let id = args.id.as_ref().filter(|_| !args.last);
    let backup = match id {
        Some(id) => find_backup(&store, &id.to_string_lossy())?,
        None if args.last => find_latest(&store)?,
        None => {
            refuse_options_without_id(args)?;
            return backup_list::print_list(&store, now, format);
        }
    };
    let manifest = backup.load_manifest().with_context(|| format!("cannot read the backup {}", backup.id))?;
    if args.list {
        return backup_list::print_backup(&backup, &manifest, format);
    }
    // With --last, the first word is a path too.
    let first = args.id.iter().filter(|_| args.last);
    let selected = select_paths(first.chain(&args.paths), &manifest)?;
    let mode = match (args.dry_run, args.force) {
        (true, false) => RestoreMode::DryRun,
        (true, true) => RestoreMode::ForcedDryRun,
        (false, false) => RestoreMode::Careful,
        (false, true) => RestoreMode::Forced,
    };
    let is_selected = |path: &Path| selected.is_empty() || selected.iter().any(|one| path.starts_with(one));
    let call = describe_undo(&backup, now);
    let report = restore_backup(&store, &backup, (&manifest, &is_selected), mode, call)?;
    if args.json {
        output::print_json(&report)?;
    } else {
        restore_report::print_report(&backup, &manifest, &report, mode);
    }
    Ok(if restore_report::is_complete(&report) { DONE } else { FAILED })
}

fn refuse_options_without_id(args: &Args) -> anyhow::Result<()> {
    if args.dry_run || args.force {
        let error = CommandError::new("there is no backup to restore");
        return Err(error.with_hint("add an ID from `snell undo`, or --last").into());
    }
    Ok(())
}

/// The backup with this id, or the only one whose id starts with it.
fn find_backup(store: &BackupStore, id: &str) -> anyhow::Result<StoredBackup> {
    let mut found: Vec<_> = store.list().into_iter().filter(|backup| backup.id.starts_with(id)).collect();
    match (found.len(), found.pop()) {
        (1, Some(backup)) if !id.is_empty() => Ok(backup),
        (0, _) => {
            let error = CommandError::new(format!("no backup has the id \"{id}\""));
            Err(error.with_hint("run `snell undo` for a list").into())
        }
        _ => {
            let error = CommandError::new(format!("several backups have an id that begins with \"{id}\""));
            Err(error.with_hint("write more of the id").into())
        }
    }
}

/// The latest backup whose project is around the current directory, or in it.
fn find_latest(store: &BackupStore) -> anyhow::Result<StoredBackup> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    let is_here = |backup: &StoredBackup| {
        backup.load_manifest().is_ok_and(|manifest| {
            let project = manifest.project.as_path();
            here.starts_with(project) || project.starts_with(&here)
        })
    };
    store.list().into_iter().rev().find(is_here).ok_or_else(|| {
        let error = CommandError::new(format!("no files of {} were saved", here.display()));
        error.with_hint("run `snell undo` for the backups of all projects").into()
    })
}

/// The given paths, below the project of the backup.
fn select_paths<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    manifest: &BackupManifest,
) -> anyhow::Result<Vec<PathBuf>> {
    let project = manifest.project.as_path();
    let mut selected = Vec::new();
    for path in paths {
        let is_saved = |below: &PathBuf| manifest.files.iter().any(|file| file.path.as_path().starts_with(below));
        let absolute =
            std::path::absolute(path).ok().and_then(|path| Some(path.strip_prefix(project).ok()?.to_owned()));
        let plain = path.components().collect::<PathBuf>();
        let found = absolute.into_iter().chain([plain]).find(is_saved).ok_or_else(|| {
            CommandError::new(format!("the backup has no file {}", path.display()))
                .with_hint("run `snell undo --list ID` for its files")
        })?;
        selected.push(found);
    }
    Ok(selected)
}

fn describe_undo(backup: &StoredBackup, time: Timestamp) -> BackedUpCall {
    let text = format!("snell undo {} --force", backup.id);
    BackedUpCall { time, agent: None, session: None, tool: None, text, undo_of: Some(backup.id.clone()) }
}
