//! The files in which agents write their tokens, one module per format.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod kimi;
mod pi;
mod qwen;
mod vibe;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use snell::Timestamp;

use super::request::{TokenCounts, UsageRequest, UsageTurn};

/// Longer ids, models and paths are truncated.
const MAX_TEXT_CHARS: usize = 300;

/// The files of one product.
#[derive(Debug)]
pub(super) struct UsageFormat {
    /// The product's name.
    pub(super) product: &'static str,
    /// The ending of the files' names.
    pub(super) ending: &'static str,
    /// A part of the files' paths, below the directory of transcripts.
    pub(super) path_part: &'static str,
    pub(super) reader: UsageReader,
}

/// Reads a part of a file, with the knowledge from earlier parts.
type ReadPart = fn(&[u8], &mut UsageFileState) -> LineUsage;

/// How a file is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum UsageReader {
    /// Line by line. Lines are added.
    Lines(ReadPart),
    /// Line by line. The file names neither its session nor its (sub-)agent: they are the names of the directories so many
    /// levels above it.
    LinesOfSession { read: ReadPart, session_level: usize, agent_level: usize },
    /// As a whole. It is written anew.
    Document(ReadPart),
}

/// Every format.
pub(super) static FORMATS: &[UsageFormat] = &[
    UsageFormat { product: "claude", ending: ".jsonl", path_part: "", reader: UsageReader::Lines(claude::read_line) },
    UsageFormat {
        product: "codex",
        ending: ".jsonl",
        path_part: "/rollout-",
        reader: UsageReader::Lines(codex::read_line),
    },
    UsageFormat {
        product: "copilot",
        ending: "/events.jsonl",
        path_part: "",
        reader: UsageReader::Lines(copilot::read_line),
    },
    UsageFormat {
        product: "gemini",
        ending: ".jsonl",
        path_part: "/chats/",
        reader: UsageReader::Lines(gemini::read_line),
    },
    UsageFormat {
        product: "kimi",
        ending: "/wire.jsonl",
        path_part: "/agents/",
        reader: UsageReader::LinesOfSession { read: kimi::read_line, session_level: 3, agent_level: 1 },
    },
    UsageFormat { product: "pi", ending: ".jsonl", path_part: "", reader: UsageReader::Lines(pi::read_line) },
    UsageFormat {
        product: "qwen",
        ending: ".jsonl",
        path_part: "/chats/",
        reader: UsageReader::Lines(qwen::read_line),
    },
    UsageFormat {
        product: "vibe",
        ending: "/meta.json",
        path_part: "",
        reader: UsageReader::Document(vibe::read_document),
    },
];

/// The content of one line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LineUsage {
    pub(super) requests: Vec<UsageRequest>,
    pub(super) turn: Option<UsageTurn>,
}

/// The knowledge from earlier lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct UsageFileState {
    /// The session.
    pub(super) session_id: String,
    /// The agent's directory.
    pub(super) cwd: String,
    /// The current model.
    pub(super) model: String,
    /// The current turn.
    pub(super) turn: String,
    /// The last totals, by model or session.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) totals: BTreeMap<String, TokenCounts>,
    /// The last numbers of requests, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) requests: BTreeMap<String, i64>,
}

/// A text of a file within limits.
pub(in crate::usage) fn limit_text(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// The highest cost of one request in US dollars.
const MAX_REPORTED_USD: f64 = 10_000.0;

/// A cost as an agent reports it. It reports 0 if it does not know the price.
pub(in crate::usage) fn check_reported_cost(usd: f64) -> Option<f64> {
    (usd > 0.0 && usd <= MAX_REPORTED_USD).then_some(usd)
}

/// The time that a line has as text.
fn parse_time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok()
}
