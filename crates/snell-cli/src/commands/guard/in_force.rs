//! What is in force beside the rules: places to be left alone, and commands that are let through.

use serde::Serialize;
use snell::{AllowedCommand, GuardSettings, ProtectedPath, Timestamp};

use crate::output::{self, Table};

/// The same, for programs.
#[derive(Debug, Serialize)]
pub(super) struct InForce {
    /// Must not be changed.
    protect: Vec<PlaceView>,
    /// Must not even be read.
    secrets: Vec<PlaceView>,
    allow: Vec<AllowedView>,
}

#[derive(Debug, Serialize)]
struct PlaceView {
    path: String,
    origin: String,
}

#[derive(Debug, Serialize)]
struct AllowedView {
    command: String,
    reason: String,
    until: Option<String>,
    expired: bool,
    origin: String,
}

impl InForce {
    pub(super) fn of(settings: &GuardSettings, now: Timestamp) -> Self {
        let places = |places: &[ProtectedPath]| places.iter().map(PlaceView::of).collect();
        Self {
            protect: places(&settings.protect),
            secrets: places(&settings.secrets),
            allow: settings.allow.iter().map(|entry| AllowedView::of(entry, now)).collect(),
        }
    }

    /// Shows what there is.
    pub(super) fn show(&self) {
        let place = |place: &PlaceView| [place.path.clone(), place.origin.clone()];
        list("MUST NOT BE CHANGED", self.protect.iter().map(place));
        list("MUST NOT BE READ", self.secrets.iter().map(place));
        if self.allow.is_empty() {
            return;
        }
        let mut table = Table::new(["LET THROUGH", "BECAUSE", "UNTIL", "FROM"], 1).optional(2);
        for entry in &self.allow {
            let until = entry.until.clone().unwrap_or_default();
            let over = if entry.expired { " (over)" } else { "" };
            table.row([
                entry.command.clone(),
                entry.reason.clone(),
                format!("{until}{over}"),
                entry.origin.clone(),
            ]);
        }
        output::line("");
        table.print();
    }
}

fn list(title: &str, rows: impl Iterator<Item = [String; 2]>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let mut table = Table::new([title, "FROM"], 0);
    rows.for_each(|row| table.row(row));
    output::line("");
    table.print();
}

impl PlaceView {
    fn of(place: &ProtectedPath) -> Self {
        Self {
            path: place.path.to_string_lossy().into_owned(),
            origin: place.origin.to_string(),
        }
    }
}

impl AllowedView {
    fn of(entry: &AllowedCommand, now: Timestamp) -> Self {
        Self {
            command: entry.command.clone(),
            reason: entry.reason.clone(),
            until: entry.until.map(|until| until.to_string()),
            expired: entry.is_expired(now),
            origin: entry.origin.to_string(),
        }
    }
}
