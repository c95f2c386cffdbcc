//! The backups, and the files of one.

use serde::Serialize;
use snell::Timestamp;

use crate::backup::{BackupManifest, BackupStore, SavedForm, StoredBackup};
use crate::commands::DONE;
use crate::env::caller::CallerEnv;
use crate::output::time::{format_elapsed, format_time};
use crate::output::{self, TableColumn, TextTable};

/// The tool for shell commands, whose commands say enough.
const SHELL_TOOL: &str = "Bash";
/// The longest text of a cell.
const SHOWN_CELLS: usize = 60;

const LABEL_CELLS: usize = 10;

/// How backups are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackupListFormat {
    Text,
    Json,
}

/// A backup as JSON.
#[derive(Serialize)]
struct BackupJsonView<'a> {
    id: &'a str,
    bytes: u64,
    #[serde(flatten)]
    manifest: Option<&'a BackupManifest>,
}

/// Prints all backups, the latest first.
pub(super) fn print_list(store: &BackupStore, now: Timestamp, format: BackupListFormat) -> anyhow::Result<u8> {
    let backups: Vec<_> = store.list().into_iter().rev().map(|backup| (backup.load_manifest().ok(), backup)).collect();
    if format == BackupListFormat::Json {
        let views = backups.iter().map(|(manifest, backup)| BackupJsonView {
            id: &backup.id,
            bytes: backup.bytes,
            manifest: manifest.as_ref(),
        });
        output::print_json(&views.collect::<Vec<_>>())?;
    } else if backups.is_empty() {
        output::print_line(describe_emptiness());
    } else {
        output::start_paging();
        build_table(&backups, now).print();
        output::print_faint("To restore files: snell undo ID; to see them first: snell undo --list ID");
    }
    Ok(DONE)
}

fn describe_emptiness() -> &'static str {
    match CallerEnv::load_user_settings() {
        Ok(settings) if !settings.guard.backup.enabled => {
            "Nothing to undo: Snell saves no files. To change that, set backup = true in [guard] of your snell.toml."
        }
        _ => "Nothing to undo: no agent has deleted or overwritten a file that git does not have.",
    }
}

fn build_table(backups: &[(Option<BackupManifest>, StoredBackup)], now: Timestamp) -> TextTable<6> {
    let mut table = TextTable::new([
        TableColumn::new("ID"),
        TableColumn::new("SAVED").with_drop_rank(1),
        TableColumn::new("AGENT").with_drop_rank(2),
        TableColumn::new("PROJECT").with_drop_rank(3),
        TableColumn::new("FILES"),
        TableColumn::new("BEFORE").flexible(),
    ]);
    for (manifest, backup) in backups {
        let Some(manifest) = manifest else {
            let unreadable = "unreadable".to_owned();
            table.add_row([backup.id.clone(), unreadable, String::new(), String::new(), String::new(), String::new()]);
            continue;
        };
        let project = manifest.project.as_path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        table.add_row([
            backup.id.clone(),
            format!("{} ago", format_elapsed(manifest.time, now)),
            manifest.agent.clone().unwrap_or_else(|| "-".to_owned()),
            output::shorten_to_one_line(&project, SHOWN_CELLS),
            describe_files(manifest),
            output::shorten_to_one_line(&describe_call(manifest), SHOWN_CELLS),
        ]);
    }
    table
}

/// The command, or the tool and its file: `Write notes.txt`.
fn describe_call(manifest: &BackupManifest) -> String {
    match manifest.tool.as_deref() {
        Some(tool) if tool != SHELL_TOOL => format!("{tool} {}", manifest.call),
        _ => manifest.call.clone(),
    }
}

/// `3 files`, or `3 files, 1 not saved`.
fn describe_files(manifest: &BackupManifest) -> String {
    let is_file = |form: &SavedForm| !matches!(form, SavedForm::Directory);
    let saved = manifest.files.iter().filter(|file| is_file(&file.form)).count();
    match manifest.unsaved_count {
        0 => output::format_count(saved, "file"),
        unsaved => format!("{}, {unsaved} not saved", output::format_count(saved, "file")),
    }
}

/// Prints the files of a backup.
pub(super) fn print_backup(
    backup: &StoredBackup,
    manifest: &BackupManifest,
    format: BackupListFormat,
) -> anyhow::Result<u8> {
    if format == BackupListFormat::Json {
        output::print_json(&BackupJsonView { id: &backup.id, bytes: backup.bytes, manifest: Some(manifest) })?;
        return Ok(DONE);
    }
    output::start_paging();
    let agent = manifest.agent.clone().unwrap_or_else(|| "-".to_owned());
    let fields = [
        ("Backup", backup.id.clone()),
        ("Saved", format_time(manifest.time)),
        ("Agent", agent),
        ("Session", manifest.session.clone().unwrap_or_else(|| "-".to_owned())),
        ("Project", manifest.project.to_string()),
        ("Before", describe_call(manifest)),
    ];
    for (label, value) in fields {
        output::print_field(label, LABEL_CELLS, &value);
    }
    output::print_line("");
    for file in &manifest.files {
        let what = match &file.form {
            SavedForm::File { size, .. } => output::format_count(usize::try_from(*size).unwrap_or(usize::MAX), "byte"),
            SavedForm::Symlink { target } => format!("symlink to {target}"),
            SavedForm::Directory => "directory".to_owned(),
        };
        output::print_line(&format!("  {}  ({what})", file.path));
    }
    for file in &manifest.unsaved {
        output::print_line(&format!("  {}  (not saved: {})", file.path, file.reason.describe()));
    }
    let more = manifest.unsaved_count.saturating_sub(manifest.unsaved.len());
    if more > 0 {
        output::print_line(&format!("  … and {} that were not saved", output::format_count(more, "file")));
    }
    Ok(DONE)
}
