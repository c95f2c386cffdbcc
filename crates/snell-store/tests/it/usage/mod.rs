//! Tokens from the files that agents write: every request once, whatever happened to the files.

mod claude;
mod damage;
mod formats;
mod independent_count;
mod otlp;
mod retention;

use std::fs;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use snell_store::usage::{PriceList, TokenCounts, UsageBreakdown, UsageDirectory, UsageScan, UsageSummary};
use snell_store::{Store, UsageFilter};
use tempfile::TempDir;

use crate::engines::TestDatabase;

/// A database, and a directory of transcripts.
pub struct UsageSandbox {
    root: TempDir,
    pub store: Store,
    product: &'static str,
    /// Removed after the store is closed.
    _database: TestDatabase,
}

impl UsageSandbox {
    pub fn new(product: &'static str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let database = TestDatabase::new();
        let store = Store::open_at(&database.location(root.path())).unwrap().store;
        fs::create_dir(root.path().join("transcripts")).unwrap();
        Self { root, store, product, _database: database }
    }

    pub fn transcripts(&self) -> PathBuf {
        self.root.path().join("transcripts")
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.transcripts().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Counts everything new. Returns how many steps it took.
    pub fn count(&mut self) -> usize {
        let directory = UsageDirectory { product: self.product.into(), path: self.transcripts() };
        let mut scan = UsageScan::start(&mut self.store, &[directory]).unwrap();
        let mut steps = 1;
        while scan.run_step(&mut self.store).unwrap() {
            steps += 1;
        }
        steps
    }

    pub fn summarize(&mut self, by: UsageBreakdown) -> UsageSummary {
        let sums = self.store.summarize_usage(by.grouping(), &UsageFilter::default()).unwrap();
        UsageSummary::new(by, &sums, &PriceList::default(), &TimeZone::UTC)
    }

    /// The number of requests, and their tokens.
    pub fn total(&mut self) -> (i64, TokenCounts) {
        let total = self.summarize(UsageBreakdown::Day).total;
        total.map_or((0, TokenCounts::default()), |total| (total.requests, total.tokens))
    }
}

/// A line of Claude Code with the answer to a request.
pub fn answer(session: &str, number: u32, output: u64) -> Value {
    json!({
        "type": "assistant", "sessionId": session, "cwd": "/work/api", "uuid": format!("{session}-{number}-{output}"),
        "timestamp": format!("2026-03-01T10:{:02}:00Z", number % 60), "requestId": format!("req_{number}"),
        "message": {
            "id": format!("msg_{number}"), "role": "assistant", "model": "claude-sonnet-4-6", "content": [],
            "usage": {
                "input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 50,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
                "iterations": [{"input_tokens": 10, "output_tokens": output, "type": "message"}]
            }
        }
    })
}

/// A prompt in a line of Claude Code.
pub fn prompt(session: &str, number: u32) -> Value {
    json!({
        "type": "user", "sessionId": session, "cwd": "/work/api", "uuid": format!("{session}-prompt-{number}"),
        "promptId": format!("prompt-{session}-{number}"), "timestamp": format!("2026-03-01T10:{:02}:00Z", number % 60),
        "message": {"role": "user", "content": "Go on."}
    })
}

pub fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
