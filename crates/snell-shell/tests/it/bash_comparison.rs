//! Compares the parser with the bash of this machine: does it accept the same texts, and does it make the same words?
//!
//! The texts cannot do harm: bash runs with `-n` if a text is only parsed; otherwise the only command that bash finds
//! is a function that prints its arguments.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snell_shell::{ParsedScript, SyntaxProblemKind, parse};
use snell_test_support::scripts::{VALID_SCRIPTS, any_mutilated_script, any_token_soup};
use snell_test_support::skip::require_program;

use crate::tree_text::format_tree;
use crate::word_expansion::{predict_argv, predict_tell_output};

/// Whether a difference is to be expected.
type DifferencePredicate = fn(&str, &ParsedScript) -> bool;

/// Texts on which bash and the parser differ, and why. Each is recognized by its form.
const KNOWN_DIFFERENCES: &[(&str, DifferencePredicate)] = &[
    ("we read extended patterns, which bash takes only after `shopt -s extglob`", |text, _| {
        ["@(", "?(", "*(", "+(", "!("].iter().any(|sign| text.contains(sign))
    }),
    ("a limit was passed", |_, parsed| {
        parsed.problems.iter().any(|p| matches!(p.kind, SyntaxProblemKind::TooDeep | SyntaxProblemKind::TooLong))
    }),
    ("bash stops at `for ((…) )` without a word, and its exit code is that of success", |text, _| {
        text.contains("for ((") || text.contains("for((")
    }),
    ("bash looks for the end of `$[` without regard to what stands in it", |text, _| text.contains("$[")),
    ("after `coproc WORD`, bash takes more words for reserved, and any word for a name", |text, _| {
        text.contains("coproc")
    }),
    ("a fault in an array does not stop bash, though it reports it", |text, parsed| {
        text.replace("\\\n", "").contains("=(") && parsed.problems.iter().any(|p| p.runs_until.is_none())
    }),
    ("NUL cannot be handed over", |text, _| text.contains('\0')),
    ("we read `${ a; }` as newer versions of bash do", |text, _| {
        ["${ ", "${\n", "${\t", "${|"].iter().any(|sign| text.contains(sign))
    }),
];

fn is_known_difference(text: &str, parsed: &ParsedScript) -> bool {
    KNOWN_DIFFERENCES.iter().any(|(_, applies)| applies(text, parsed))
}

/// The number of texts: a few seconds' worth, or the requested number.
fn read_trial_count(usual: usize) -> usize {
    let asked = std::env::var("SNELL_TRIALS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

/// Whether bash accepts a text. It reports errors in `[[ … ]]`, but its exit code does not show them.
fn is_accepted_by_bash(bash: &Path, text: &str) -> bool {
    let output = Command::new(bash)
        .args(["-n", "-c", "--", text])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let complains = ["syntax error", "unexpected", "conditional", "expected `)'"];
    output.status.success() && !complains.iter().any(|words| said.contains(words))
}

#[test]
fn bash_takes_a_text_exactly_if_we_find_nothing_that_stops_it() {
    let Some(bash) = require_program("bash") else { return };
    let mut runner = TestRunner::deterministic();
    let texts = prop_oneof![3 => any_mutilated_script(), 1 => any_token_soup()];
    let mut differences = BTreeSet::new();
    for _ in 0..read_trial_count(1_000) {
        let text = texts.new_tree(&mut runner).expect("a text").current();
        let parsed = parse(&text);
        let ours = parsed.problems.iter().all(|p| p.runs_until.is_none());
        if !text.contains('\0') && is_accepted_by_bash(&bash, &text) != ours && !is_known_difference(&text, &parsed) {
            differences.insert(format!("{text:?}\n  {}", format_tree(&parsed).replace('\n', "\n  ")));
        }
    }
    let count = differences.len();
    assert!(differences.is_empty(), "{count} differ:\n{}", differences.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn bash_takes_what_is_to_be_mutilated() {
    let Some(bash) = require_program("bash") else { return };
    for text in VALID_SCRIPTS {
        assert!(is_accepted_by_bash(&bash, text), "{text}");
        assert_eq!(parse(text).problems, [], "{text}");
    }
}

/// The output of the only command: the number of arguments, the arguments, and its input.
const STUB: &str = r#"
set -f
tell() {
    local input=
    IFS= read -r -d '' input
    printf '%s\0' "$#" "$@" "$input"
}
"#;

fn expand_with_bash(bash: &Path, place: &Path, text: &str) -> (Vec<String>, bool) {
    let output = Command::new(bash)
        .args(["-c", "--", text])
        .env_clear()
        .env("PATH", place)
        .env("HOME", "/home/of")
        .env("LC_ALL", "C.UTF-8")
        .env("BASH_ENV", place.join("stub"))
        .current_dir(place.join("empty"))
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let words = String::from_utf8_lossy(&output.stdout);
    let mut words: Vec<String> = words.split('\0').map(str::to_owned).collect();
    words.pop();
    let said = String::from_utf8_lossy(&output.stderr);
    (words, said.contains("syntax error") || said.contains("unexpected"))
}

#[test]
fn bash_makes_the_same_words_of_literal_texts() {
    let Some(bash) = require_program("bash") else { return };
    let place = create_stub_dir();
    let mut runner = TestRunner::deterministic();
    let texts = literal_script();
    let mut differences = Vec::new();
    for _ in 0..read_trial_count(600) {
        let text = texts.new_tree(&mut runner).expect("a text").current();
        let parsed = parse(&text);
        let (theirs, rejected) = expand_with_bash(&bash, place.path(), &text);
        let ours_rejected = parsed.problems.iter().any(|p| p.runs_until.is_some());
        let ours = predict_tell_output(&parsed);
        if is_known_difference(&text, &parsed) {
            continue;
        }
        if rejected != ours_rejected || (!rejected && ours != theirs) {
            differences.push(format!("{text:?}\n  ours   {ours:?}\n  theirs {theirs:?}\n  {}", format_tree(&parsed)));
        }
    }
    let count = differences.len();
    differences.truncate(20);
    assert!(differences.is_empty(), "{count} differ:\n{}", differences.join("\n"));
}

/// Fragments of words without expansions, in all forms of quoting.
const FRAGMENTS: &[&str] = &[
    "a",
    "b",
    "c1",
    "-",
    "=",
    "x=",
    ":",
    "~",
    "~/",
    "/",
    ".",
    "..",
    ",",
    "{",
    "}",
    "{a,b}",
    "{1..3}",
    "{3..1}",
    "{a..e..2}",
    "{01..3}",
    "{,x}",
    "{a}",
    "{}",
    "[",
    "]",
    "[ab]",
    "*",
    "?",
    "!",
    "@",
    "%",
    "^",
    "a#",
    "é",
    "\\ ",
    "\\\\",
    "\\'",
    "\\\"",
    "\\$",
    "\\*",
    "\\{",
    "\\,",
    "\\}",
    "\\a",
    "\\\n",
    "\\~",
    "''",
    "'a b'",
    "'\"$x'",
    "'{a,b}'",
    "'\\'",
    "'\n'",
    "\"\"",
    "\"a b\"",
    "\"\\\"\\\\\\$\\`\\a\"",
    "\"{a,b}'\"",
    "\"a\\\nb\"",
    "\"\n\"",
    "$'a\\tb\\'c\\x41\\101\\u00e9\\\\\\q'",
    "$''",
    "$\"a b\"",
    "\"$\"",
    "$'\\cA\\e\\x{42}'",
    "2",
    "12",
];

fn literal_word() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(FRAGMENTS), 1..6).prop_map(|parts| parts.concat())
}

/// Lines of a here-document without expansions.
const LINES: &[&str] =
    &["a b", "\"q\" 'r'", "\\$x \\\\ \\` \\q \\\"", "\tc", "joined \\", "EE", " E", "", "{a,b} ~ *", "d\\\\"];

fn literal_command() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(literal_word(), 0..5);
    let document = prop::option::weighted(0.3, prop::collection::vec(prop::sample::select(LINES), 0..4));
    let mark = prop::sample::select(&["<<E", "<<'E'", "<<-E", "<<\\E", "<<-\"E\"", "<< E", "<<$'E'"][..]);
    (words, document, mark, any::<bool>()).prop_map(|(words, document, mark, before)| {
        let words = words.join(" ");
        match document {
            None => format!("tell {words}\n"),
            Some(lines) => {
                let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
                let end = if mark.starts_with("<<-") { "\tE\n" } else { "E\n" };
                let command = if before { format!("{mark} tell {words}") } else { format!("tell {words} {mark}") };
                format!("{command}\n{lines}{end}")
            }
        }
    })
}

fn literal_script() -> impl Strategy<Value = String> {
    let around = prop::sample::select(
        &[
            ("", ""),
            ("{ ", "}\n"),
            ("( ", ")\n"),
            ("if ", "then tell yes; fi\n"),
            ("! ", ""),
            ("for v in 1; do ", "done\n"),
            ("case a in a) ", ";; esac\n"),
            ("tell a && ", ""),
            ("tell a; tell b; ", ""),
            ("while ", "do break; done\n"),
            ("time ", ""),
            ("# no\n", "\n"),
        ][..],
    );
    let command = (around, literal_command()).prop_map(|((open, close), command)| format!("{open}{command}{close}"));
    prop::collection::vec(command, 1..4).prop_map(|commands| commands.concat())
}

#[test]
fn the_words_of_a_tree_are_told_as_bash_would() {
    let table = [
        ("tell a{b,c}d {1..3}", vec!["abd", "acd", "1", "2", "3"]),
        ("tell {01..3..2} {c..a}", vec!["01", "03", "c", "b", "a"]),
        ("tell '' {,a} ~", vec!["", "a", "/home/of"]),
    ];
    for (text, words) in table {
        assert_eq!(predict_argv(&parse(text)), words, "{text}");
    }
}

/// Lines that bash cannot read.
const BROKEN: &[&str] = &[
    "tell a )",
    "tell \"a",
    "tell 'a",
    "tell a; ( tell b",
    "{ tell a",
    "if tell a; then tell b",
    "tell a ;; tell b",
    "tell $(tell a",
    "tell ${x",
    "tell a && && tell b",
    "for v in a; tell b; done",
    "tell a\nfi",
    "tell a (b)",
    "[[ a b ]]",
    "tell a >",
    "tell `tell a",
    "((1",
    "f() tell a",
    "case a in a tell b;; esac",
];

#[test]
fn bash_runs_what_stands_before_the_line_that_it_cannot_read_and_nothing_else() {
    let Some(bash) = require_program("bash") else { return };
    let place = create_stub_dir();
    let mut runner = TestRunner::deterministic();
    let texts = (literal_script(), prop::sample::select(BROKEN), literal_script());
    let mut compared = 0;
    for _ in 0..read_trial_count(200) {
        let (before, broken, after) = texts.new_tree(&mut runner).expect("a text").current();
        let text = format!("{before}{broken}\n{after}");
        let parsed = parse(&text);
        // Errors that bash reports only when it runs the text may end it too, so the first problem must be the one.
        let until = parsed.problems.first().and_then(|p| p.runs_until);
        let Some(until) = until.filter(|_| !is_known_difference(&text, &parsed)) else {
            continue;
        };
        let ours = predict_tell_output(&parse(&text[..until]));
        assert_eq!(ours, expand_with_bash(&bash, place.path(), &text).0, "{text:?}\n{}", format_tree(&parsed));
        compared += 1;
    }
    assert!(compared > 100, "only {compared} were compared");
}

/// A directory with the stub, and an empty one.
fn create_stub_dir() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(place.path().join("empty")).expect("an empty directory");
    std::fs::write(place.path().join("stub"), STUB).expect("a stub");
    place
}

#[test]
fn bash_goes_on_after_a_fault_in_an_array() {
    let Some(bash) = require_program("bash") else { return };
    let place = create_stub_dir();
    for broken in ["x=(a; b)", "x=(a | tell b", "{ x=(a & b) }", "if false; then x=(a (b))", "export x=(a; tell b)"] {
        let text = format!("tell first\n{broken}\ntell second");
        let (theirs, _) = expand_with_bash(&bash, place.path(), &text);
        assert_eq!(theirs, ["1", "first", "", "1", "second", ""], "{text}");
        assert_eq!(predict_tell_output(&parse(&text)), theirs, "{text}");
    }
}
