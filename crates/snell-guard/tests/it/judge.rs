//! What holds for every judgement.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use snell_guard::judge::{Call, Judgement, Policy, Preset, Verdict, judge};
use snell_guard::rules::RULES;

use crate::corpus::{Row, rows, world};

fn judged(tool: &str, input: &Json, preset: Preset) -> Judgement {
    judge(&Call { tool, input }, &Policy::new(preset), &world())
}

/// A case of a rule: a command, or a tool's name with its input.
fn case(line: &str, policy: &Policy) -> Judgement {
    let call = line.split_once(' ').filter(|(tool, input)| {
        input.starts_with('{') && tool.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
    });
    match call.and_then(|(tool, input)| Some((tool, serde_json::from_str(input).ok()?))) {
        Some((tool, input)) => judge(&Call { tool, input: &input }, policy, &world()),
        None => {
            let input = json!({ "command": line });
            let call = Call {
                tool: "Bash",
                input: &input,
            };
            judge(&call, policy, &world())
        }
    }
}

/// A policy for which there is nothing but this rule, and those that cannot be turned off.
fn alone(id: &str) -> Policy {
    let others = RULES.iter().filter(|other| other.id != id && !other.locked);
    let mut policy = Policy::new(Preset::Strict);
    policy.rules = others.map(|other| (other.id.to_owned(), Verdict::Allow)).collect();
    policy
}

#[test]
fn every_rule_finds_its_whole_cases_and_nothing_else() {
    let mut faults = Vec::new();
    for rule in RULES {
        let policy = alone(rule.id);
        for line in rule.cases.whole_match.iter().chain(rule.cases.matches) {
            let found = case(line, &policy).rule;
            let graver = || RULES.iter().any(|other| other.locked && Some(other.id) == found);
            if found != Some(rule.id) && !graver() {
                faults.push(format!("{}: `{line}` should match; found {found:?}", rule.id));
            }
        }
        for line in rule.cases.whole_not_match {
            if let Some(found) = case(line, &Policy::default()).rule {
                faults.push(format!("{}: `{line}` should match nothing; found {found}", rule.id));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Calls of tools, written as the cases of rules are, and the rule that finds them.
#[test]
fn tools_are_judged_by_what_they_would_do() {
    let table: &[(&str, Option<&str>)] = &[
        // Commands as words, in another directory, by other names.
        (
            r#"shell {"command": ["bash", "-lc", "rm -rf /"]}"#,
            Some("files.delete-root"),
        ),
        (r#"shell {"command": ["echo", "rm -rf /; sudo ls"]}"#, None),
        (r#"shell {"command": ["rm", "-rf", "*"]}"#, None),
        (
            r#"exec_command {"cmd": "rm -rf *", "workdir": "/home/ann"}"#,
            Some("files.delete-home"),
        ),
        (
            r#"Bash {"command": "rm -rf build", "cwd": "~"}"#,
            Some("files.delete-outside"),
        ),
        (
            r#"run_shell_command {"command": "pkill node"}"#,
            Some("process.kill-by-name"),
        ),
        (r#"Bash {"command": ["ls", 5]}"#, Some("guard.limit")),
        // Patches, also as a program.
        (
            r#"Bash {"command": "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: /etc/hosts\n*** End Patch\nE"}"#,
            Some("files.delete-system"),
        ),
        (
            r#"Bash {"command": "cd src && apply_patch <<'E'\n*** Begin Patch\n*** Add File: a.rs\n+rm -rf /\n*** End Patch\nE"}"#,
            None,
        ),
        (
            r#"apply_patch {"patch": "--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-/etc\n+/usr\n"}"#,
            None,
        ),
        (
            r#"apply_patch {"patch": "--- a/.env\t2024\n+++ b/.env\t2025\n@@ -1 +1 @@\n-a\n+b\n"}"#,
            Some("secret.write"),
        ),
        (
            r#"apply_patch {"input": "*** Begin Patch\n*** Add File: a.md\n+*** Delete File: /etc/passwd\n*** End Patch"}"#,
            None,
        ),
        // Files.
        (
            r#"read_file {"absolute_path": "/home/ann/.ssh/id_rsa"}"#,
            Some("secret.read"),
        ),
        (
            r#"read_many_files {"paths": ["a.md", "b/../.env"]}"#,
            Some("secret.read"),
        ),
        (
            r#"Grep {"pattern": "KEY", "path": ".env", "output_mode": "count"}"#,
            None,
        ),
        (
            r#"Grep {"pattern": "KEY", "glob": "**/.env", "output_mode": "content"}"#,
            Some("secret.read"),
        ),
        (
            r#"Grep {"pattern": "KEY", "glob": "**/*.ts", "output_mode": "content"}"#,
            None,
        ),
        (r#"Glob {"pattern": "**/.env"}"#, None),
        // Addresses.
        (
            r#"WebFetch {"url": "http://2852039166/latest/meta-data"}"#,
            Some("secret.store"),
        ),
        (
            r#"web_fetch {"prompt": "What does http://169.254.169.254/latest say?"}"#,
            Some("secret.store"),
        ),
        (
            r#"WebFetch {"url": "https://example.com", "prompt": "What is 169.254.169.254?"}"#,
            None,
        ),
        // Servers.
        (
            r#"mcp__filesystem__moveFile {"source": "a", "destination": "/home/ann/.bashrc"}"#,
            Some("files.write-start-up"),
        ),
        (
            r#"mcp__filesystem__create_directory {"path": "/home/ann/work/app/x"}"#,
            None,
        ),
        (r#"mcp__github__get_file_contents {"path": ".env"}"#, None),
        (
            r#"mcp__supabase__execute_sql {"query": "DROP TABLE users"}"#,
            Some("infra.drop-table"),
        ),
        (
            r#"mcp__supabase__execute_sql {"query": "SELECT 'DROP TABLE users'"}"#,
            None,
        ),
        (
            r#"mcp__mongodb__drop-database {"database": "prod"}"#,
            Some("infra.tool-destroy"),
        ),
        (r#"mcp__ssh__exec {"command": "ls /var/log"}"#, None),
        (
            r#"mcp__playwright__browser_navigate {"url": "http://169.254.169.254/"}"#,
            Some("secret.store"),
        ),
        (r#"mcp__linear__delete_comment {"id": "1"}"#, None),
        (r#"SomethingNew {"command": "whatever"}"#, None),
    ];
    let mut faults = Vec::new();
    for (line, expected) in table {
        let found = case(line, &Policy::default()).rule;
        if found != *expected {
            faults.push(format!("{line}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_advice_is_itself_denied() {
    for rule in RULES {
        for quoted in rule.advice.split('`').skip(1).step_by(2) {
            let found = case(quoted, &Policy::default());
            assert_eq!(
                found.decision,
                Verdict::Allow,
                "{}: `{quoted}`: {:?}",
                rule.id,
                found.rule
            );
        }
    }
}

/// What it is called, and how it is done.
type Rewrite = (&'static str, fn(&str) -> String);

/// Ways to write the same command.
const REWRITES: &[Rewrite] = &[
    ("blanks around it", |text| format!("  \t{text}\n\n")),
    ("in braces", |text| format!("{{ {text}\n}}")),
    ("in a subshell", |text| format!("(\n{text}\n)")),
    ("after something harmless", |text| format!("true\n{text}")),
    ("before something harmless", |text| format!("{text}\ntrue")),
    ("after a comment", |text| format!("# let's go: it's \"fine\"\n{text}")),
    ("in a branch", |text| format!("if true; then\n{text}\nfi")),
    ("quoted, for eval", |text| {
        format!("eval '{}'", text.replace('\'', r"'\''"))
    }),
    ("quoted, for another shell", |text| {
        format!("bash -c '{}'", text.replace('\'', r"'\''"))
    }),
    ("a longer blank", longer_blanks),
    ("a quoted name", quoted_name),
    ("a name with a backslash", escaped_name),
];

/// Only where a blank surely divides words.
fn longer_blanks(text: &str) -> String {
    if is_plain(text) {
        text.replace(' ', "  \t ")
    } else {
        text.to_owned()
    }
}

fn quoted_name(text: &str) -> String {
    match text.split_once(' ') {
        Some((name, rest)) if is_plain(text) => format!("\"{name}\" {rest}"),
        _ => text.to_owned(),
    }
}

fn escaped_name(text: &str) -> String {
    if is_plain(text) {
        format!("\\{text}")
    } else {
        text.to_owned()
    }
}

/// Words without anything that the shell would make something of, and no keyword or assignment before them.
fn is_plain(text: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "if", "for", "while", "until", "case", "time", "function", "select", "coproc",
    ];
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " -_./:@,+%".contains(c))
        && !KEYWORDS.contains(&text.split(' ').next().unwrap_or_default())
}

#[test]
fn writing_it_differently_does_not_change_the_verdict() {
    let mut faults = Vec::new();
    for row in rows().iter().filter(|row| row.tool == "Bash") {
        let text = row.input["command"].as_str().expect("a command is a text");
        let (verdict, _) = row.judged();
        for (how, rewrite) in REWRITES {
            let written = rewrite(text);
            let (found, rule) = row.judged_with(&json!({ "command": written }));
            if found != verdict {
                faults.push(format!(
                    "{how}: {found:?} ({rule:?}) instead of {verdict:?}: {written:?}"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}

proptest! {
    #[test]
    fn any_text_is_judged(text in any::<String>(), tool in prop::sample::select(vec!["Bash", "Read", "apply_patch", "Grep", "WebFetch", "mcp__fs__read", "mcp__pg__query", "mcp__shell__run"])) {
        for key in ["command", "file_path", "input", "glob", "url", "path", "sql"] {
            judged(tool, &json!({ key: text }), Preset::Standard);
        }
        judged(&text, &json!({ "command": text }), Preset::Strict);
    }

    #[test]
    fn pieces_of_the_corpus_are_judged(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), cut in any::<(prop::sample::Index, prop::sample::Index)>()) {
        static ROWS: LazyLock<Vec<Row>> = LazyLock::new(rows);
        let text = |index: &prop::sample::Index| ROWS[index.index(ROWS.len())].input["command"].as_str().unwrap_or("x").to_owned();
        let part = |text: String, at: &prop::sample::Index, head: bool| -> String {
            let count = text.chars().count();
            let at = at.index(count + 1);
            if head { text.chars().take(at).collect() } else { text.chars().skip(at).collect() }
        };
        let mixed = part(text(&from), &cut.0, true) + &part(text(&to), &cut.1, false);
        judged("Bash", &json!({ "command": mixed }), Preset::Standard);
    }

    #[test]
    fn any_input_is_judged(tool in "(Bash|Edit|Grep|apply_patch|mcp__[a-z]{1,5}__[a-zA-Z_]{0,8})", key in "(command|file_path|paths|sql|glob|patch)", number in any::<i64>()) {
        for input in [json!(null), json!([]), json!(number), json!({ &key: number }), json!({ &key: [number, "x", { &key: "y" }] }), json!({ &key: { &key: null } })] {
            judged(&tool, &input, Preset::Standard);
        }
    }
}
