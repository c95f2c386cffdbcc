//! Properties of parallel hooks in every order, and of arbitrary configuration texts.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use snell::{ConfigFile, Decision, Engine};
use snell_test_support::files::find_repository_root;

use crate::support::{TestProject, build_tool_call};

/// Hooks with known answers: what each would decide if it were alone, and why.
const ANSWERS: [(&str, Decision, &str); 8] = [
    ("true", Decision::None, ""),
    ("exit 1", Decision::None, ""),
    ("kill -KILL $$", Decision::None, ""),
    ("echo no >&2; exit 2", Decision::Deny, "no"),
    (r#"echo '{"decision":"block","reason":"never"}'"#, Decision::Deny, "never"),
    (
        r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'"#,
        Decision::Ask,
        "sure?",
    ),
    (
        r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}'"#,
        Decision::Allow,
        "fine",
    ),
    ("sleep 0.02; echo late >&2; exit 2", Decision::Deny, "late"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Deny beats ask beats allow, and the reasons are those of all hooks with the combined decision.
    #[test]
    fn the_decision_of_parallel_hooks_does_not_depend_on_their_order(
        hooks in subsequence(ANSWERS.to_vec(), 0..=ANSWERS.len()).prop_shuffle(),
    ) {
        let commands: Vec<_> = hooks.iter().map(|(command, _, _)| *command).collect();
        let project = TestProject::new().with_claude_hooks(&commands);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let verdict = runtime.block_on(project.load_engine().fire(build_tool_call()));

        let decision = hooks.iter().map(|(_, decision, _)| *decision).max().unwrap_or_default();
        let winners = hooks.iter().filter(|(_, opinion, reason)| *opinion == decision && !reason.is_empty());
        let expected: BTreeSet<_> = winners.map(|(_, _, reason)| *reason).collect();
        let reasons: BTreeSet<_> = verdict.reason.iter().flat_map(|reason| reason.lines()).collect();
        prop_assert_eq!(verdict.decision, decision);
        prop_assert_eq!(reasons, expected);
        let reported: Vec<_> = verdict.hooks.iter().map(|run| run.hook.command_summary()).collect();
        prop_assert_eq!(reported, commands);
    }
}

/// One change to a text. Positions are relative, so that they fit the text after earlier changes.
#[derive(Clone, Debug)]
enum ConfigMutation {
    Delete(Index, Index),
    Duplicate(Index, Index),
    Replace(Index, char),
    Insert(Index, String),
}

fn any_config_mutation() -> impl Strategy<Value = ConfigMutation> {
    let telling =
        prop::sample::select(vec!['"', '\'', '{', '}', '[', ']', ',', ':', '=', '\\', '\n', '\0', '#', '/', 'é', '9']);
    let piece = prop::sample::select(vec![
        "null",
        "true",
        "-1e999",
        "\"\\ud800\"",
        "/*",
        "\u{feff}",
        "[[",
        "'''",
        "\"\"\"",
        "1979-05-27",
        "{}",
        "[]",
        "nan",
    ]);
    prop_oneof![
        any::<(Index, Index)>().prop_map(|(from, to)| ConfigMutation::Delete(from, to)),
        any::<(Index, Index)>().prop_map(|(from, to)| ConfigMutation::Duplicate(from, to)),
        (any::<Index>(), telling).prop_map(|(at, by)| ConfigMutation::Replace(at, by)),
        (any::<Index>(), piece).prop_map(|(at, text)| ConfigMutation::Insert(at, text.to_owned())),
    ]
}

fn apply_mutation(change: &ConfigMutation, text: &mut Vec<char>) {
    let within = |from: &Index, to: &Index, length: usize| {
        let (from, to) = (from.index(length + 1), to.index(length + 1));
        // Short pieces leave more of the file valid, and so reach deeper into the reader.
        let start = from.min(to);
        start..from.max(to).min(start + 12)
    };
    match change {
        ConfigMutation::Delete(from, to) => drop(text.drain(within(from, to, text.len()))),
        ConfigMutation::Duplicate(from, to) => {
            let range = within(from, to, text.len());
            let piece = text[range.clone()].to_vec();
            text.splice(range.end..range.end, piece);
        }
        ConfigMutation::Replace(at, by) if !text.is_empty() => {
            let at = at.index(text.len());
            text[at] = *by;
        }
        ConfigMutation::Replace(..) => {}
        ConfigMutation::Insert(at, piece) => {
            let at = at.index(text.len() + 1);
            text.splice(at..at, piece.chars());
        }
    }
}

/// The valid configurations that all tests share, with the contract each is read under.
fn read_valid_configurations() -> Vec<(String, String)> {
    let directory = find_repository_root().join("fixtures/valid");
    let mut found: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let contract = stem.split('-').next().unwrap().to_owned();
            (contract, fs::read_to_string(&path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// Loads a text under a contract and inspects the result.
fn load_and_check_config(contract: &str, text: &[u8]) {
    let project = TestProject::new();
    let path = project.path().join("configuration");
    fs::write(&path, text).unwrap();
    let file = ConfigFile::parse(&format!("{contract}:{}", path.display()));
    let (engine, diagnostics) = Engine::builder().project(project.path()).files([file]).load();
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    for diagnostic in &diagnostics {
        assert!((1..=lines).contains(&diagnostic.line) && diagnostic.column >= 1, "{diagnostic}");
        assert!(!diagnostic.message.is_empty());
    }
    for hook in engine.hooks() {
        assert!((1..=lines).contains(&hook.origin.line) && hook.origin.column >= 1, "{hook:?}");
        assert!(!hook.timeout().is_zero() && !hook.command_summary().is_empty(), "{hook:?}");
    }
    assert_eq!(engine.explain(&build_tool_call()).len(), engine.hooks().len());
    engine.check_hooks();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_change_to_a_valid_configuration_panics_the_loader(
        which in any::<Index>(),
        changes in prop::collection::vec(any_config_mutation(), 1..6),
    ) {
        let configurations = read_valid_configurations();
        let (contract, text) = which.get(&configurations);
        let mut text: Vec<char> = text.chars().collect();
        for change in &changes {
            apply_mutation(change, &mut text);
        }
        load_and_check_config(contract, text.into_iter().collect::<String>().as_bytes());
    }

    #[test]
    fn no_bytes_panic_the_loader(
        contract in prop::sample::select(ConfigFile::contract_names().collect::<Vec<_>>()),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        load_and_check_config(contract, &bytes);
    }
}

#[test]
fn every_shared_configuration_is_valid_as_it_stands() {
    for (contract, text) in read_valid_configurations() {
        let project = TestProject::new().with_file("configuration", &text);
        let path = project.path().join("configuration");
        let file = ConfigFile::parse(&format!("{contract}:{}", path.display()));
        let (engine, diagnostics) = Engine::builder().project(project.path()).files([file]).load();
        assert_eq!(diagnostics, [], "{text}");
        assert!(!engine.hooks().is_empty(), "{text}");
    }
}
