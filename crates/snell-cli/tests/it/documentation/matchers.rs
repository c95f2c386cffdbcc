//! The lists of matchers in the page about contracts: every item is tried.

use std::fs;

use serde_json::json;
use snell_test_support::files::find_repository_root;

use super::capability_tables::{HookSpec, create_project};
use super::reference::find_section;
use crate::support::CliSandbox;

/// An item: matchers that mean the same, calls that they match, and calls that they do not.
struct MatcherExample {
    matchers: Vec<String>,
    matches: Vec<String>,
    misses: Vec<String>,
}

/// The texts between backquotes.
fn list_quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The items of the lists in a section below a line that ends like this: `- matchers: matches; not misses`.
fn parse_matcher_rows(section: &str, head: &str) -> Vec<MatcherExample> {
    let mut found = Vec::new();
    let mut in_list = false;
    for line in section.lines() {
        let item = line.strip_prefix("- ").and_then(|item| item.split_once(": "));
        in_list = line.ends_with(head) || (in_list && (line.is_empty() || item.is_some()));
        if let (Some((matchers, rest)), true) = (item, in_list) {
            let (matches, misses) = match rest.strip_prefix("not ") {
                Some(misses) => ("", misses),
                None => rest.split_once("; not ").unwrap_or((rest, "")),
            };
            let everything = matches == "everything";
            let anything = || vec!["Anything".to_owned()];
            found.push(MatcherExample {
                matchers: list_quoted(matchers).iter().map(|text| strip_quotes(text)).collect(),
                matches: if everything { anything() } else { list_quoted(matches) },
                misses: list_quoted(misses),
            });
        }
    }
    found
}

/// A text without the quotes that a file has around it.
fn strip_quotes(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(text).to_owned()
}

/// The tool and the input that a text of a row means: a tool's name, or what a matcher with parentheses looks at.
fn parse_row_call(matcher: &str, text: &str) -> (String, String) {
    match matcher.split_once('(') {
        Some((tool @ ("Bash" | "Read" | "WebFetch" | "*"), _)) if !matcher.starts_with('^') => {
            let tool = if tool == "*" { "Bash" } else { tool };
            let input = json!({"command": text, "file_path": text, "url": text});
            (tool.to_owned(), input.to_string())
        }
        _ => (text.to_owned(), "{}".to_owned()),
    }
}

fn is_hook_fired(sandbox: &CliSandbox, matcher: &str, text: &str) -> bool {
    let (tool, input) = parse_row_call(matcher, text);
    let args = ["explain", "PreToolUse", "--tool", &tool, "--input", &input, "--json"];
    let told = sandbox.run_snell(&args, "").json();
    told.as_array().unwrap().iter().any(|hook| hook["fires"] == true)
}

/// Writes a hook with each matcher of the rows, and asks whether it would run.
fn assert_rows_hold(contract: &str, rows: &[MatcherExample], hook: fn(&str) -> HookSpec<'_>) {
    assert!(rows.len() > 3, "{contract}");
    for row in rows {
        for matcher in &row.matchers {
            let sandbox = create_project(contract, &["PreToolUse"], &hook(matcher));
            for (texts, expected) in [(&row.matches, true), (&row.misses, false)] {
                for text in texts {
                    let fires = is_hook_fired(&sandbox, matcher, text);
                    assert_eq!(fires, expected, "{contract}: {matcher:?} and {text:?}");
                }
            }
        }
    }
}

#[test]
fn every_row_about_matchers_is_true() {
    let page = fs::read_to_string(find_repository_root().join("docs/reference/contracts.md")).unwrap();
    for contract in ["snell", "wave", "microai", "claude", "whale"] {
        let rows = parse_matcher_rows(find_section(&page, contract).unwrap(), ", each with what it matches:");
        assert_rows_hold(contract, &rows, |matcher| HookSpec { matcher: Some(matcher), ..HookSpec::default() });
    }
}

/// Those about files say in words which file is meant, and have tests of their own.
#[test]
fn every_row_about_rules_for_commands_and_addresses_is_true() {
    let page = fs::read_to_string(find_repository_root().join("docs/reference/contracts.md")).unwrap();
    let mut rows = parse_matcher_rows(find_section(&page, "claude").unwrap(), "; each covers:");
    let is_tried = |rule: &String| ["Bash", "WebFetch", "mcp__"].iter().any(|tool| rule.starts_with(tool));
    rows.retain(|row| row.matchers.iter().all(is_tried));
    assert_rows_hold("claude", &rows, |rule| HookSpec { rule: Some(rule), ..HookSpec::default() });
}

#[test]
fn a_row_is_read_as_it_is_shown() {
    let list = "Matchers:\n\n- absent, `\"\"`: everything\n- `\"A|B\"`, `\"A, B\"`: `A`, `B`; not `AB`\n- `C`: not `D`\n\n\
                Text.\n\n- `x`: `y`; not `z`\n";
    let rows = parse_matcher_rows(list, "Matchers:");
    assert_eq!(rows.len(), 3);
    let read: Vec<_> = rows.iter().map(|row| (&row.matchers[..], &row.matches[..], &row.misses[..])).collect();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(read[0], (&texts(&[""])[..], &texts(&["Anything"])[..], &texts(&[])[..]));
    assert_eq!(read[2], (&texts(&["C"])[..], &texts(&[])[..], &texts(&["D"])[..]));
    assert_eq!(read[1], (&texts(&["A|B", "A, B"])[..], &texts(&["A", "B"])[..], &texts(&["AB"])[..]));
}
