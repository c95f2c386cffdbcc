//! The settings beside the rules: protected paths, secret paths and allowed commands.

use serde::Serialize;
use snell::{GuardChoice, GuardEntry, GuardSettings, ProtectedPath, Timestamp};

use crate::output::{self, TableColumn, TextTable};

/// The lists as JSON.
#[derive(Debug, Serialize)]
pub(super) struct GuardListsView {
    /// Paths that must not be changed.
    protect: Vec<ProtectedPathView>,
    /// Paths that must not be read.
    secrets: Vec<ProtectedPathView>,
    deny: Vec<GuardEntryView>,
    ask: Vec<GuardEntryView>,
    allow: Vec<GuardEntryView>,
}

#[derive(Debug, Serialize)]
struct ProtectedPathView {
    path: String,
    origin: String,
}

#[derive(Debug, Serialize)]
struct GuardEntryView {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    #[serde(skip)]
    conditions: String,
    reason: Option<String>,
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
        let to_view = |entry: &GuardEntry| GuardEntryView {
            command: entry.command.clone(),
            tool: entry.tool.as_ref().map(|tool| tool.source_text().to_owned()),
            path: entry.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            host: entry.host.clone(),
            agents: entry.agents.clone(),
            conditions: entry.describe_conditions(),
            reason: entry.reason.clone(),
            until: entry.until.map(|until| until.to_string()),
            expired: entry.is_expired(now),
            origin: entry.origin.to_string(),
        };
        let entries = |action| settings.entries.iter().filter(|entry| entry.action == action).map(to_view).collect();
        Self {
            protect: places(&settings.protect),
            secrets: places(&settings.secrets),
            deny: entries(GuardChoice::Deny),
            ask: entries(GuardChoice::Ask),
            allow: entries(GuardChoice::Allow),
        }
    }

    /// Prints the lists as tables.
    pub(super) fn print(&self) {
        print_path_table("MUST NOT BE CHANGED", &self.protect);
        print_path_table("MUST NOT BE READ", &self.secrets);
        print_entry_table("DENIED", &self.deny);
        print_entry_table("ASKED ABOUT", &self.ask);
        print_entry_table("ALLOWED", &self.allow);
    }
}

fn print_entry_table(title: &'static str, entries: &[GuardEntryView]) {
    if entries.is_empty() {
        return;
    }
    let mut table = TextTable::new([
        TableColumn::new(title),
        TableColumn::new("REASON").flexible(),
        TableColumn::new("UNTIL").with_drop_rank(2).optional(),
        TableColumn::new("FROM").with_drop_rank(1),
    ]);
    for entry in entries {
        let until = entry.until.clone().unwrap_or_default();
        let expired = if entry.expired { " (expired)" } else { "" };
        table.add_row([
            entry.conditions.clone(),
            entry.reason.clone().unwrap_or_default(),
            format!("{until}{expired}"),
            entry.origin.clone(),
        ]);
    }
    output::print_line("");
    table.print();
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
