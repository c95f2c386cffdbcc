//! The context files that a project requests, shown before it is trusted.

use std::path::{Path, PathBuf};

use serde::Serialize;
use snell::ProjectFile;

use crate::output::{self, TableColumn, TextTable};

/// A key of `[context]` in a project's file.
#[derive(Debug, Serialize)]
pub(super) struct ProjectContextRequest {
    key: &'static str,
    value: String,
}

/// The keys that a file sets in `[context]`.
pub(super) fn collect_context_requests(file: &ProjectFile) -> Vec<ProjectContextRequest> {
    let entries = file.context.explicit_entries().into_iter();
    entries.map(|(key, value)| ProjectContextRequest { key, value }).collect()
}

pub(super) fn print_context_requests(files: &[ProjectFile]) {
    let mut table =
        TextTable::new([TableColumn::new("CONTEXT"), TableColumn::new("VALUE"), TableColumn::new("SOURCE")]);
    for file in files {
        for request in collect_context_requests(file) {
            table.add_row([request.key.to_owned(), request.value, file.display_path.clone()]);
        }
    }
    table.print_full_width();
}

pub(super) fn print_context_files(project: &Path, files: &[PathBuf]) {
    if files.is_empty() {
        return;
    }
    let shown = project.display();
    output::print_line(&format!("Sessions in {shown} may get its context files, also after these change:"));
    for file in files {
        output::print_line(&format!("  {}", file.display()));
    }
}
