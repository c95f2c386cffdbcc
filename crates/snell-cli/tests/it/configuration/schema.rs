//! The schemas in the documentation agree with what Snell reads and prints.

use std::fs;
use std::path::PathBuf;

use jsonschema::Validator;
use serde_json::{Value, json};
use snell_test_support::files::find_repository_root;
use toml::de::{DeTable, DeValue};

use crate::support::CliSandbox;

fn resolve_repository_path(path: &str) -> PathBuf {
    find_repository_root().join(path)
}

fn load_schema(name: &str) -> Validator {
    let text = fs::read_to_string(resolve_repository_path("docs/schema").join(name)).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

/// The files of a directory of fixtures, with their names.
fn read_fixtures(directory: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(resolve_repository_path(directory))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect();
    found.sort();
    found
}

fn table_to_json(table: &DeTable<'_>) -> Value {
    let members = table.iter().map(|(key, member)| (key.get_ref().to_string(), value_to_json(member.get_ref())));
    Value::Object(members.collect())
}

/// A TOML value as the JSON that an editor's schema check sees.
fn value_to_json(node: &DeValue<'_>) -> Value {
    match node {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().unwrap()),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| value_to_json(item.get_ref())).collect(),
        DeValue::Table(members) => table_to_json(members),
    }
}

#[test]
fn the_schema_of_snell_toml_accepts_what_is_valid() {
    let schema = load_schema("snell.toml.json");
    let files = read_fixtures("fixtures/valid");
    let files: Vec<_> =
        files.iter().filter(|(name, _)| name.starts_with("snell-") && name.ends_with(".toml")).collect();
    assert!(!files.is_empty());
    for (name, text) in files {
        let document = table_to_json(DeTable::parse(text).unwrap().get_ref());
        let errors: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

/// What only a reader can know: how a duration or a regular expression is written, and what keys mean together.
const BEYOND_A_SCHEMA: [&str; 10] = [
    "a-background-guard.toml",
    "a-broken-regular-expression.toml",
    "a-keep-of-nothing.toml",
    "a-misspelled-tool-class.toml",
    "a-negative-keep.toml",
    "a-negative-timeout.toml",
    "a-timeout-of-days.toml",
    "a-timeout-of-nothing.toml",
    "a-tool-without-meaning.toml",
    "a-wait-longer-than-agents-wait.toml",
];

#[test]
fn the_schema_of_snell_toml_rejects_what_is_not_valid_where_a_schema_can() {
    let schema = load_schema("snell.toml.json");
    let mut accepted = Vec::new();
    for (name, text) in read_fixtures("fixtures/invalid") {
        // `no-name.vibe.toml` is a file of an agent.
        if !name.ends_with(".toml") || name.matches('.').count() > 1 {
            continue;
        }
        // A document that is no TOML does not reach a schema.
        let Ok(document) = DeTable::parse(&text) else {
            continue;
        };
        if schema.is_valid(&table_to_json(document.get_ref())) {
            accepted.push(name);
        }
    }
    assert_eq!(accepted, BEYOND_A_SCHEMA);
}

#[test]
fn valid_files_have_nothing_to_be_said_about() {
    for (name, text) in read_fixtures("fixtures/valid") {
        let contract = name.split('-').next().unwrap();
        let scripts = ["bye", "check", "guard", "hooks/pre-tool-use", "hooks/session-start", "index", "log", "start"];
        let sandbox = CliSandbox::new().secret_home_file(".config/snell/token", "secret");
        let sandbox = scripts
            .iter()
            .fold(sandbox.file(&name, &text), |sandbox, script| sandbox.script(&format!("{script}.sh"), "true"));
        let ran = sandbox.run_snell(&["lint", "--config", &format!("{contract}:{name}")], "");
        assert!(ran.code == 0 && ran.stdout.starts_with("No problems in 1 file"), "{name}: {}", ran.stdout);
    }
}

#[test]
fn what_snell_run_prints_is_as_its_schema_says() {
    let schema = load_schema("run-result.json");
    let tool =
        json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "done"});
    let native = |run: &str, more: &str| {
        format!("[[hook]]\nevent = [\"PreToolUse\", \"PostToolUse\"]\nrun = '''{run}'''\n{more}\n")
    };
    let rows = [
        ("nothing", String::new(), "allow", 0),
        ("a block", native("echo no >&2; exit 2", ""), "block", 2),
        ("a question", native(r#"echo '{"decision":"ask","reason":"sure?"}'"#, ""), "ask", 0),
        (
            "a change, context and a message",
            native(r#"echo '{"tool_input":{"command":"pwd"},"context":"c","message":"m"}'"#, "modify = true"),
            "allow",
            0,
        ),
        ("a timeout", native("sleep 30", "timeout = \"50ms\""), "allow", 0),
        ("a signal", native("kill -KILL $$", ""), "allow", 0),
        ("a skipped hook", native("true", "when = \"false\""), "allow", 0),
        ("a hook in the background", native("true", "background = true"), "allow", 0),
        ("a flood and a leak", native("sleep 1 & head -c 2000000 /dev/zero | tr '\\0' x", ""), "allow", 0),
        ("a file that cannot be parsed", "[[hook".to_owned(), "allow", 0),
    ];
    for (case, toml, decision, code) in rows {
        let sandbox = CliSandbox::new().file("snell.toml", &toml);
        for event in ["PreToolUse", "PostToolUse", "SomethingElse"] {
            let ran = sandbox.run_event(event, &tool);
            let result = ran.json();
            let errors: Vec<_> = schema.iter_errors(&result).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{case}, {event}: {errors:?}");
            if event == "PreToolUse" {
                assert_eq!((ran.decision().as_str(), ran.code), (decision, code), "{case}");
            }
        }
    }
}

#[test]
fn the_schema_of_a_result_rejects_what_is_none() {
    let schema = load_schema("run-result.json");
    let sandbox = CliSandbox::new().file("snell.toml", "[[hook]]\nevent = \"PreToolUse\"\nrun = \"true\"\n");
    let good = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash"})).json();
    assert!(schema.is_valid(&good));
    let changes = [
        ("/decision", json!("deny")),
        ("/hooks", json!({})),
        ("/hooks/0/status", json!("fine")),
        ("/hooks/0/exit_code", json!("0")),
        ("/context", json!([1])),
    ];
    for (place, value) in changes {
        let mut result = good.clone();
        *result.pointer_mut(place).unwrap() = value;
        assert!(!schema.is_valid(&result), "{place}");
    }
}
