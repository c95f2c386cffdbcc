//! The result of a restoration as text.

use crate::backup::{BackupManifest, RestoreMode, RestoreReport, RestoreStatus, StoredBackup};
use crate::output;

/// Whether every file is now as it was saved.
pub(super) fn is_complete(report: &RestoreReport) -> bool {
    !report.files.iter().any(|file| matches!(file.status, RestoreStatus::Differs | RestoreStatus::Refused(_)))
}

/// Prints a line for each file, and a summary.
pub(super) fn print_report(
    backup: &StoredBackup,
    manifest: &BackupManifest,
    report: &RestoreReport,
    mode: RestoreMode,
) {
    let is_dry = mode.is_dry();
    let would = if is_dry { "would be " } else { "" };
    for file in &report.files {
        let what = match &file.status {
            RestoreStatus::Restored => format!("{would}restored"),
            RestoreStatus::Replaced => format!("{would}replaced"),
            RestoreStatus::Unchanged => "unchanged".to_owned(),
            RestoreStatus::Differs => "left: it has other contents now".to_owned(),
            RestoreStatus::Refused(why) => format!("left: {why}"),
        };
        output::print_line(&format!("  {}  {what}", file.path));
    }
    let files = || report.files.iter().filter(|file| !file.is_directory);
    let count = |wanted: fn(&RestoreStatus) -> bool| files().filter(|file| wanted(&file.status)).count();
    let written = count(|status| matches!(status, RestoreStatus::Restored | RestoreStatus::Replaced));
    let verb = if is_dry { "Would restore" } else { "Restored" };
    output::print_line(&format!("{verb} {} in {}.", output::format_count(written, "file"), manifest.project));
    if count(|status| *status == RestoreStatus::Differs) > 0 {
        let id = &backup.id;
        output::print_line(&format!(
            "To replace files with other contents too, which saves those first: snell undo {id} --force"
        ));
    }
    if let Some(saved) = &report.saved_as {
        output::print_line(&format!("The replaced contents are saved: snell undo {saved}"));
    }
    if manifest.unsaved_count > 0 {
        let unsaved = output::format_count(manifest.unsaved_count, "file");
        output::print_line(&format!("{unsaved} could not be saved: snell undo --list {}", backup.id));
    }
}
