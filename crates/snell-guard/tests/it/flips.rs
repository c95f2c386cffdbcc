//! Flips of `explain`: every change is valid, short enough to read, and has the promised effect.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value as Json, json};
use snell_guard::explain::{DecisionFlip, FlipKind, GuardExplanation};
use snell_guard::{
    GuardDecision, GuardPolicy, GuardToolCall, PolicyAuthor, PolicyEntry, PolicyPreset, RuleOverride, explain_call,
    judge_call,
};
use snell_shell::parse;

use crate::corpus::{CorpusRow, build_corpus_context, read_corpus};

/// No flip is longer.
const MAX_OFFERED: usize = 4096;

/// Every third row of the corpus is tried: each change is judged again, which takes time.
const EVERY: usize = 3;

/// Every such command is also parsed by bash.
const EVERY_FOR_BASH: usize = 25;

/// Commands that are hard to quote.
const ODD: &[&str] = &[
    "pkill 'a\u{1b}[31mb'",
    "pkill 'a\tb'",
    "pkill 'a\nb'",
    "pkill 'a\u{202e}b'",
    "pkill 'a\"b'",
    "pkill 'a\\b'",
    "pkill 'ü\u{1f600}\u{7f}\u{0}x'",
    "pkill \"it's\"",
    "sudo make 'a b' # c",
    "rm -rf ~/\u{feff}x",
];

fn build_row_call<'a>(row: &'a CorpusRow) -> GuardToolCall<'a> {
    GuardToolCall { tool: &row.tool, input: &row.input }
}

fn explain_row(row: &CorpusRow) -> GuardExplanation {
    explain_call(&build_row_call(row), &GuardPolicy::default(), &row.judge_context())
}

/// The input of a call with another command or path.
fn apply_counterfactual(row: &CorpusRow, flip: &DecisionFlip) -> Vec<Json> {
    let Json::Object(fields) = &row.input else {
        return Vec::new();
    };
    let keys = fields.iter().filter(|(_, value)| value.is_string()).map(|(key, _)| key);
    let with = |key: &String| {
        let mut input = row.input.clone();
        input[key] = json!(flip.then);
        input
    };
    keys.map(with).collect()
}

/// The policy with a snippet of settings.
fn parse_policy(snippet: &str) -> GuardPolicy {
    let read: toml::Table = snippet.parse().unwrap_or_else(|error| panic!("{error}: {snippet}"));
    let guard = read.get("guard").and_then(toml::Value::as_table).expect("it is about the guard");
    let mut policy = GuardPolicy::default();
    for (key, value) in guard {
        match (key.as_str(), value) {
            ("preset", value) if value.as_str() == Some("strict") => policy.preset = PolicyPreset::Strict,
            ("rules", toml::Value::Table(rules)) => policy.rules = rules.keys().map(|id| allow_rule(id)).collect(),
            ("allow", toml::Value::Array(entries)) => policy.entries = entries.iter().map(parse_allowed).collect(),
            other => panic!("{other:?} is no setting"),
        }
    }
    policy
}

fn allow_rule(id: &str) -> (String, RuleOverride) {
    let choice = RuleOverride { decision: GuardDecision::Allow, by: PolicyAuthor::User };
    (id.to_owned(), choice)
}

fn parse_allowed(entry: &toml::Value) -> PolicyEntry {
    let text = |key: &str| entry.get(key).and_then(toml::Value::as_str).expect("a text").to_owned();
    PolicyEntry::allow(text("command"), text("reason"))
}

/// The fault of a flip for a call, if any.
fn find_fault(row: &CorpusRow, flip: &DecisionFlip) -> Option<String> {
    if flip.then.len() > MAX_OFFERED {
        return Some("it is too long".into());
    }
    let judged = |input: &Json, policy: &GuardPolicy| {
        let call = GuardToolCall { tool: &row.tool, input };
        judge_call(&call, policy, &row.judge_context()).unaudited
    };
    match flip.change {
        FlipKind::Rule | FlipKind::Allowed | FlipKind::Preset => {
            let found = judged(&row.input, &parse_policy(&flip.then));
            (found != flip.decision).then(|| format!("with it: {}", found.name()))
        }
        FlipKind::Command | FlipKind::Word | FlipKind::Target => {
            let is_path = row.input.get("command").is_none() && flip.change == FlipKind::Target;
            if !is_path && !parse(&flip.then).problems.is_empty() {
                return Some("no shell can read it".into());
            }
            let changed = apply_counterfactual(row, flip);
            let found: Vec<GuardDecision> =
                changed.iter().map(|input| judged(input, &GuardPolicy::default())).collect();
            (!found.contains(&flip.decision)).then(|| format!("with it: {found:?}"))
        }
    }
}

#[test]
fn every_change_that_is_offered_makes_sense_and_does_what_is_said() {
    let mut faults = Vec::new();
    let mut offered: BTreeMap<&str, usize> = BTreeMap::new();
    let mut for_bash = Vec::new();
    for row in read_corpus().iter().step_by(EVERY) {
        let told = explain_row(row);
        for flip in &told.flips {
            let kind = match flip.change {
                FlipKind::Command | FlipKind::Word | FlipKind::Target => "the call",
                FlipKind::Rule | FlipKind::Allowed | FlipKind::Preset => "the settings",
            };
            *offered.entry(kind).or_default() += 1;
            if let Some(fault) = find_fault(row, flip) {
                faults.push(format!("{} {}: {}\n  {}", row.tool, row.input, flip.then, fault));
            }
            if matches!(flip.change, FlipKind::Command | FlipKind::Word) {
                for_bash.push(flip.then.clone());
            }
        }
    }
    assert!(offered["the call"] > 200 && offered["the settings"] > 200, "{offered:?}");
    for command in for_bash.iter().step_by(EVERY_FOR_BASH) {
        faults.extend(check_bash_syntax(command));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The syntax error of bash for a command. Bash parses it and runs nothing.
fn check_bash_syntax(command: &str) -> Option<String> {
    let read = Command::new("bash").args(["--norc", "-n", "-c", command]).output();
    // Without bash, nothing is checked.
    let read = read.ok()?;
    let said = String::from_utf8_lossy(&read.stderr).into_owned();
    (!read.status.success()).then(|| format!("{command}\n  {said}"))
}

#[test]
fn odd_texts_are_offered_as_settings_can_hold_them() {
    let mut offered = 0;
    for command in ODD {
        let input = json!({ "command": command });
        let call = GuardToolCall { tool: "Bash", input: &input };
        let told = explain_call(&call, &GuardPolicy::default(), &build_corpus_context());
        for flip in told.flips.iter().filter(|flip| matches!(flip.change, FlipKind::Allowed | FlipKind::Rule)) {
            let found = judge_call(&call, &parse_policy(&flip.then), &build_corpus_context()).unaudited;
            assert_eq!(found, flip.decision, "{command:?}: {}", flip.then);
            let is_seen = |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{202e}' | '\u{feff}'));
            assert!(flip.then.chars().all(is_seen), "{command:?}: {:?}", flip.then);
            offered += usize::from(flip.change == FlipKind::Allowed);
        }
    }
    assert!(offered > 6, "{offered}");
}

#[test]
fn nonsense_is_not_offered() {
    let offered = |command: &str| -> Vec<String> {
        let input = json!({ "command": command });
        let call = GuardToolCall { tool: "Bash", input: &input };
        let told = explain_call(&call, &GuardPolicy::default(), &build_corpus_context());
        let of_the_call =
            |flip: &&DecisionFlip| matches!(flip.change, FlipKind::Command | FlipKind::Word | FlipKind::Target);
        told.flips.iter().filter(of_the_call).map(|flip| flip.then.clone()).collect()
    };
    let rows = [
        // A wrapper's flag is not a program.
        ("sudo -u bob ls", "-u bob ls"),
        // A flag without its value takes the next word for it.
        ("rsync -e ssh --delete a /etc/", "rsync ssh --delete a /etc/"),
        // A copy needs a destination.
        ("cp notes.txt /etc/notes.txt", "cp notes.txt"),
        ("mv notes.txt /etc/notes.txt", "mv notes.txt"),
        // A here-document belongs to its command.
        ("sudo tee /etc/x <<EOF\nrm -rf /\nEOF\n", ":\nrm -rf /\nEOF"),
        ("cat <<EOF > /etc/x\nrm -rf /\nEOF\n", ":\nrm -rf /\nEOF"),
        ("diff .env .env.example", "diff .env.example"),
        ("gh gist create .env", "gh gist .env"),
        ("pidof node | xargs kill", "pidof node | kill"),
        ("cat < .env", "cat"),
        ("exec 3> /etc/hosts; echo x >&3", "exec; echo x >&3"),
        ("update-alternatives --set python /tmp/x", "update-alternatives python /tmp/x"),
        ("tee /dev/sda < x", "tee ./sda < x"),
        // An empty call is no useful suggestion.
        ("pkill node", ":"),
        // An incomplete command is no command.
        ("sudo", ""),
    ];
    for (command, nonsense) in rows {
        let found = offered(command);
        assert!(!found.iter().any(|then| then.trim() == nonsense), "{command}: {found:?}");
    }
    assert_eq!(offered("sudo ls -l").first().map(String::as_str), Some("ls -l"));
}
