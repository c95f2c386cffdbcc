//! Patches: the files that they change, and how. The contents do not matter.

use serde_json::Value as Json;

use super::{MAX_PATHS, build_file_effect, collect_strings, input_fields};
use crate::effects::PathAction;
use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;

/// The keys of a patch.
const PATCH_KEYS: &[&str] = &["input", "patch", "command", "patchText", "patch_text", "diff", "content"];

/// Header lines of the agents' own format, and their effects on the file that they name.
const FILE_HEADERS: &[(&str, PathAction)] = &[
    ("*** Update File: ", PathAction::Overwrite),
    ("*** Add File: ", PathAction::Overwrite),
    ("*** Delete File: ", PathAction::Delete),
    ("*** Move to: ", PathAction::Overwrite),
];

/// Adds the effects of a patch tool.
pub(super) fn analyze_patch_tool(input: &Json, context: &JudgeContext, analysis: &mut CallAnalysis) {
    let texts = match input {
        Json::String(text) => vec![text.as_str()],
        _ => collect_strings(input, PATCH_KEYS),
    };
    if !input.is_string() {
        input_fields::check_required_fields(input, PATCH_KEYS, analysis);
    }
    for text in texts {
        analyze_patch(text, context, analysis);
    }
}

/// Adds the effects of one patch.
pub(super) fn analyze_patch(text: &str, context: &JudgeContext, analysis: &mut CallAnalysis) {
    let touched = if text.lines().any(|line| line.starts_with("*** Begin Patch")) {
        parse_agent_patch(text)
    } else {
        parse_unified_diff(text)
    };
    if touched.len() > MAX_PATHS {
        analysis.mark_limit_exceeded("paths");
    }
    let effects = touched.into_iter().take(MAX_PATHS);
    analysis.effects.extend(effects.map(|(kind, path)| build_file_effect(kind, path, context)));
}

fn parse_agent_patch(text: &str) -> Vec<(PathAction, &str)> {
    let mut touched: Vec<(PathAction, &str)> = Vec::new();
    for line in text.lines() {
        for (head, kind) in FILE_HEADERS {
            if let Some(path) = line.trim_start().strip_prefix(head) {
                if head.contains("Move") {
                    // A moved file is no longer at its source.
                    let source = touched.last().map(|(_, path)| *path);
                    touched.extend(source.map(|path| (PathAction::Take, path)));
                }
                touched.push((*kind, path.trim()));
            }
        }
    }
    touched
}

/// `---` and `+++` on two consecutive lines.
fn parse_unified_diff(text: &str) -> Vec<(PathAction, &str)> {
    let mut touched = Vec::new();
    let mut old = None;
    for line in text.lines() {
        match (old.take(), line.strip_prefix("+++ ")) {
            (Some(old), Some(new)) if strip_diff_path(new) == "/dev/null" => {
                touched.push((PathAction::Delete, strip_diff_path(old)))
            }
            (Some(_), Some(new)) => touched.push((PathAction::Overwrite, strip_diff_path(new))),
            _ => old = line.strip_prefix("--- "),
        }
    }
    touched
}

/// The path without the prefix of `git` and without the time that `diff` appends.
fn strip_diff_path(written: &str) -> &str {
    let path = written.split('\t').next().unwrap_or_default().trim();
    let plain = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    plain.unwrap_or(path)
}
