//! The settings beside the rules: protected paths, secret paths and allowed commands.

use serde::Serialize;
use snell::{AllowedCommand, GuardSettings, ProtectedPath, Timestamp};

use crate::output::{self, TableColumn, TextTable};

/// The lists as JSON.
#[derive(Debug, Serialize)]
pub(super) struct GuardListsView {
    /// Paths that must not be changed.
    protect: Vec<ProtectedPathView>,
    /// Paths that must not be read.
    secrets: Vec<ProtectedPathView>,
    allow: Vec<AllowedCommandView>,
}

#[derive(Debug, Serialize)]
struct ProtectedPathView {
    path: String,
    origin: String,
}

#[derive(Debug, Serialize)]
struct AllowedCommandView {
    command: String,
    reason: String,
    until: Option<String>,
    expired: bool,
    origin: String,
}

impl GuardListsView {
    pub(super) fn from_settings(settings: &GuardSettings, now: Timestamp) -> Self {
        let place = |place: &ProtectedPath| ProtectedPathView {
            path: place.path.to_string_lossy().into_owned(),
            origin: place.origin.to_string(),
        };
        let places = |places: &[ProtectedPath]| places.iter().map(place).collect();
        let command = |entry: &AllowedCommand| AllowedCommandView {
            command: entry.command.clone(),
            reason: entry.reason.clone(),
            until: entry.until.map(|until| until.to_string()),
            expired: entry.is_expired(now),
            origin: entry.origin.to_string(),
        };
        Self {
            protect: places(&settings.protect),
            secrets: places(&settings.secrets),
            allow: settings.allow.iter().map(command).collect(),
        }
    }

    /// Prints the lists as tables.
    pub(super) fn print(&self) {
        print_path_table("MUST NOT BE CHANGED", &self.protect);
        print_path_table("MUST NOT BE READ", &self.secrets);
        if self.allow.is_empty() {
            return;
        }
        let mut table = TextTable::new([
            TableColumn::new("ALLOWED"),
            TableColumn::new("REASON").flexible(),
            TableColumn::new("UNTIL").with_drop_rank(2).optional(),
            TableColumn::new("FROM").with_drop_rank(1),
        ]);
        for entry in &self.allow {
            let until = entry.until.clone().unwrap_or_default();
            let expired = if entry.expired { " (expired)" } else { "" };
            table.add_row([
                entry.command.clone(),
                entry.reason.clone(),
                format!("{until}{expired}"),
                entry.origin.clone(),
            ]);
        }
        output::print_line("");
        table.print();
    }
}

fn print_path_table(title: &'static str, places: &[ProtectedPathView]) {
    if places.is_empty() {
        return;
    }
    let mut table = TextTable::new([TableColumn::new(title).flexible(), TableColumn::new("FROM").with_drop_rank(1)]);
    for place in places {
        table.add_row([place.path.clone(), place.origin.clone()]);
    }
    output::print_line("");
    table.print();
}
