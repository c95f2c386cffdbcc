//! Which calls are approved: only those that are harmless for certain.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use snell_guard::approval::{ApprovalCase, list_approval_cases};
use snell_guard::{
    ApprovalClass, ApprovalLevel, ApprovalPolicy, CallApproval, GuardDecision, GuardPolicy, GuardToolCall,
    JudgeContext, PolicyPreset, judge_call,
};

use crate::corpus::{CorpusRow, build_corpus_context, read_corpus};

/// Of the harmless commands of developers, at least this share is approved, in percent. Their corpus has few of what agents run all
/// day, and much that is rare.
const APPROVED_AT_LEAST: usize = 17;

/// A policy that approves as much as possible.
pub(crate) fn build_policy(level: ApprovalLevel) -> GuardPolicy {
    GuardPolicy {
        approval: ApprovalPolicy { level, commands: Vec::new(), is_project_trusted: true },
        ..GuardPolicy::new(PolicyPreset::Standard)
    }
}

fn approve_call(tool: &str, input: &Json, policy: &GuardPolicy, context: &JudgeContext) -> Option<CallApproval> {
    judge_call(&GuardToolCall { tool, input }, policy, context).approval
}

fn approve_command(command: &str, policy: &GuardPolicy) -> Option<CallApproval> {
    approve_call("Bash", &json!({ "command": command }), policy, &build_corpus_context())
}

fn approve_row(row: &CorpusRow, level: ApprovalLevel) -> Option<CallApproval> {
    approve_call(&row.tool, &row.input, &build_policy(level), &row.judge_context())
}

/// Each kind of row: the level at which it is approved, or `never`.
fn read_rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut rows = Vec::new();
    for line in include_str!("approvals.txt").lines() {
        if let Some(level) = line.strip_prefix("== ") {
            rows.push((level, Vec::new()));
        } else if !line.is_empty() && !line.starts_with('#') {
            rows.last_mut().expect("a row has a level").1.push(line);
        }
    }
    rows
}

#[test]
fn every_entry_of_the_table_approves_its_own_cases_and_no_other() {
    let policy = build_policy(ApprovalLevel::Project);
    let reading = build_policy(ApprovalLevel::Read);
    let mut wrong = Vec::new();
    for ApprovalCase { command, is_approved, class } in list_approval_cases() {
        let approval = approve_command(command, &policy);
        if approval.is_some() != is_approved {
            wrong.push(format!("{command}: {approval:?}"));
        }
        let is_read = approve_command(command, &reading).is_some();
        if is_approved && class != ApprovalClass::Reads && is_read {
            wrong.push(format!("{command}: approved as if it only read"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_dangerous_call_is_approved_at_any_level() {
    let approved: Vec<String> = read_corpus()
        .iter()
        .filter(|row| row.expected != GuardDecision::Allow)
        .flat_map(|row| [ApprovalLevel::Read, ApprovalLevel::Project].map(|level| (row, approve_row(row, level))))
        .filter_map(|(row, approval)| Some(format!("{} {}: {}", row.class, row.input, approval?)))
        .collect();
    assert!(approved.is_empty(), "{}", approved.join("\n"));
}

/// The share of the harmless rows of agents' shells that each level approves.
pub(crate) fn count_approved(level: ApprovalLevel) -> (usize, usize) {
    let rows = read_corpus();
    let shell = rows.iter().filter(|row| row.expected == GuardDecision::Allow && row.tool == "Bash");
    let work = shell.filter(|row| matches!(row.class.split('/').next(), Some("dev" | "mixed" | "project")));
    work.fold((0, 0), |(approved, all), row| (approved + usize::from(approve_row(row, level).is_some()), all + 1))
}

/// How many rows that must not run are approved.
pub(crate) fn count_approved_danger(level: ApprovalLevel) -> (usize, usize) {
    let rows = read_corpus();
    let dangerous = rows.iter().filter(|row| row.expected != GuardDecision::Allow);
    dangerous.fold((0, 0), |(approved, all), row| (approved + usize::from(approve_row(row, level).is_some()), all + 1))
}

#[test]
#[allow(clippy::print_stdout, reason = "the shares and the rows are for people who extend the tables")]
fn most_harmless_commands_are_approved() {
    let (approved, all) = count_approved(ApprovalLevel::Project);
    println!("read {:?}, project {approved} of {all}", count_approved(ApprovalLevel::Read));
    if std::env::var_os("SNELL_LIST_UNAPPROVED").is_some() {
        for row in read_corpus().iter().filter(|row| row.expected == GuardDecision::Allow && row.tool == "Bash") {
            if approve_row(row, ApprovalLevel::Project).is_none() {
                println!("{}\t{}", row.class, row.input["command"]);
            }
        }
    }
    assert!(approved * 100 >= all * APPROVED_AT_LEAST, "{approved} of {all}");
}

#[test]
fn each_row_is_approved_at_its_level_only() {
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (level, rows) in read_rows() {
        for row in rows {
            *counts.entry(level).or_default() += 1;
            let command = row.replace("⏎", "\n");
            let reads = approve_command(&command, &build_policy(ApprovalLevel::Read)).is_some();
            let project = approve_command(&command, &build_policy(ApprovalLevel::Project)).is_some();
            let found = match (reads, project) {
                (true, true) => "read",
                (false, true) => "project",
                (false, false) => "never",
                (true, false) => "only read",
            };
            if found != level {
                wrong.push(format!("{level}, not {found}: {row}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts["never"] >= 150, "{counts:?}");
    assert!(counts["read"] + counts["project"] >= 150, "{counts:?}");
}

/// Whatever is approved, danger beside it, before it, after it or in it is not.
#[test]
fn danger_is_never_approved_together_with_something_harmless() {
    let policy = build_policy(ApprovalLevel::Project);
    let harmless = [
        "ls",
        "cd src && ls -la",
        "cat src/main.rs | head -5",
        "cargo test 2>&1 | tail -20",
        "for f in a b; do wc -l $f; done",
    ];
    let rows = read_corpus();
    let dangerous = rows.iter().filter(|row| row.expected != GuardDecision::Allow && row.tool == "Bash");
    let mut wrong = Vec::new();
    for row in dangerous.step_by(7) {
        let Some(danger) = row.input["command"].as_str() else { continue };
        for (at, plain) in harmless.iter().enumerate() {
            let joined = match at {
                0 => format!("{plain}; {danger}"),
                1 => format!("{plain} && {danger}"),
                2 => format!("{plain} | {danger}"),
                3 => format!("{plain} \"$({danger}\n)\""),
                _ => format!("{danger}\n{plain}"),
            };
            let approval = judge_call(
                &GuardToolCall { tool: "Bash", input: &json!({ "command": joined }) },
                &policy,
                &row.judge_context(),
            )
            .approval;
            wrong.extend(approval.map(|approval| format!("{joined}: {approval}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
