//! Which files a project wants sessions to get: whoever trusts it should have seen that.

use serde::Serialize;
use snell::ProjectFile;

use crate::output::{self, Table};

/// Something that a project says about the files of a session.
#[derive(Debug, Serialize)]
pub(super) struct Wish {
    key: &'static str,
    value: String,
}

/// What a file says below `[context]`.
pub(super) fn wishes(file: &ProjectFile) -> Vec<Wish> {
    let said = file.context.said().into_iter();
    said.map(|(key, value)| Wish { key, value }).collect()
}

pub(super) fn show(files: &[ProjectFile]) {
    let mut table = Table::new(["CONTEXT", "VALUE", "SOURCE"], 1);
    let mut is_empty = true;
    for file in files {
        for wish in wishes(file) {
            table.row([wish.key.to_owned(), wish.value, file.shown.clone()]);
            is_empty = false;
        }
    }
    if !is_empty {
        table.print_whole();
        output::line("");
    }
}
