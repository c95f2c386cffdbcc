//! What an agent did when it was run last: `fixtures/agent-runs/AGENT.json`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::agents::RealAgent;
use snell_test_support::files::{find_repository_root, write_file};

use crate::checks::{BROKEN_CHECK, CheckResults, is_full_run};

/// Results that no record may change.
const MUST_HOLD: &[&str] = &["without_snell", "harmless", "block", "block_write", "subagent_block"];

/// The record of an agent.
pub struct AgentRecord {
    agent: &'static RealAgent,
    checks: BTreeMap<String, String>,
}

impl AgentRecord {
    /// The record; empty if there is none of this version.
    pub fn load(agent: &'static RealAgent) -> Self {
        let text = fs::read_to_string(record_path(agent)).unwrap_or_else(|_| "{}".to_owned());
        let record: Value = serde_json::from_str(&text).unwrap();
        let is_current = record["version"] == agent.version();
        let checks = record["checks"].as_object().filter(|_| is_current).into_iter().flatten();
        let checks = checks.map(|(name, result)| (name.clone(), result.as_str().unwrap().to_owned())).collect();
        Self { agent, checks }
    }

    /// Whether these results are those of the record.
    pub fn matches(&self, results: &CheckResults) -> bool {
        results.iter().all(|(name, result)| self.checks.get(*name) == Some(result))
    }

    /// Compares results with the record, or writes them into it.
    #[track_caller]
    pub fn settle(mut self, results: &CheckResults) {
        let is_broken = |result: &str| result.starts_with(BROKEN_CHECK);
        let is_lost = |(name, result): &&(&str, String)| {
            let runs_unasked = *name == "ask" && result.starts_with("no");
            MUST_HOLD.contains(name) && result != "yes" || runs_unasked || is_broken(result)
        };
        let lost: Vec<_> = results.iter().filter(is_lost).collect();
        if std::env::var_os("SNELL_BLESS").is_some() {
            // Results of checks that no longer exist.
            if is_full_run() {
                self.checks.clear();
            }
            let sound = results.iter().filter(|(_, result)| !is_broken(result));
            self.checks.extend(sound.map(|(name, result)| (name.to_string(), result.clone())));
            self.save();
            assert!(lost.is_empty(), "{}: {lost:?}", self.agent.title);
            return;
        }
        let mut changes = String::new();
        for (name, result) in results {
            let recorded = self.checks.get(*name).map_or("nothing", String::as_str);
            if recorded != result {
                writeln!(changes, "  {name}: the record has {recorded:?}, the agent did {result:?}").unwrap();
            }
        }
        let hint = "SNELL_BLESS=1 writes the record anew";
        assert!(changes.is_empty() && lost.is_empty(), "{}: {lost:?}\n{changes}hint: {hint}", self.agent.title);
    }

    fn save(&self) {
        let date = jiff::Zoned::now().date().to_string();
        let record =
            json!({"title": self.agent.title, "version": self.agent.version(), "date": date, "checks": self.checks});
        write_file(&record_path(self.agent), serde_json::to_string_pretty(&record).unwrap() + "\n");
    }
}

fn record_path(agent: &RealAgent) -> PathBuf {
    find_repository_root().join("fixtures/agent-runs").join(format!("{}.json", agent.name))
}
