//! Backups of files that a call is about to delete or overwrite, and their restoration.
//!
//! ```text
//!  losses of a call ── lost_files, git_files ──► files that git does not have ── save, file_copy ──► store: one directory each
//!                                                                                                          │
//!  snell undo ◄── restore: missing files come back, others only if the user insists ◄── manifest ◄─────────┘
//! ```

mod budget;
mod file_copy;
mod generated_dirs;
mod git_files;
mod lost_files;
mod manifest;
mod project_dir;
mod restore;
mod save;
mod store;

pub(crate) use file_copy::have_same_contents;
pub(crate) use manifest::{BackupManifest, SavedForm, UnsavedFile};
pub(crate) use restore::{RestoreMode, RestoreReport, RestoreStatus, restore_backup};
pub(crate) use save::{BackedUpCall, BackupOutcome, save_lost_files};
pub(crate) use store::{BackupStore, BackupTotals, StoredBackup};
