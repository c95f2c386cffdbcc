//! Which files a project wants sessions to get: whoever trusts it should have seen that.

use serde::Serialize;
use snell::ProjectFile;

use crate::output::TextTable;

/// Something that a project says about the files of a session.
#[derive(Debug, Serialize)]
pub(super) struct ProjectContextRequest {
    key: &'static str,
    value: String,
}

/// What a file says below `[context]`.
pub(super) fn collect_context_requests(file: &ProjectFile) -> Vec<ProjectContextRequest> {
    let said = file.context.explicit_entries().into_iter();
    said.map(|(key, value)| ProjectContextRequest { key, value }).collect()
}

pub(super) fn print_context_requests(files: &[ProjectFile]) {
    let mut table = TextTable::new(["CONTEXT", "VALUE", "SOURCE"], 1);
    for file in files {
        for wish in collect_context_requests(file) {
            table.add_row([wish.key.to_owned(), wish.value, file.display_path.clone()]);
        }
    }
    table.print_full_width();
}
