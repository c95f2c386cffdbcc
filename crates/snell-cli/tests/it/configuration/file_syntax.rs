//! How a configuration may be written, and what is refused before it can do harm.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::CliSandbox;

/// A guard in a neighbouring file, which must work whatever the file under test does.
fn create_guarded_sandbox() -> CliSandbox {
    CliSandbox::new().file("snell.toml", "[[hook]]\nevent = \"PreToolUse\"\nrun = \"echo guarded >&2; exit 2\"\n")
}

fn render_settings(command: &str) -> String {
    json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}).to_string()
}

fn build_tool_call() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})
}

fn encode_utf_16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

/// What `snell lint` says of a file with these bytes at this place, beside its summary.
fn lint_file(sandbox: &CliSandbox, path: &str, bytes: &[u8]) -> Vec<String> {
    let place = sandbox.project().join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, bytes).unwrap();
    let ran = sandbox.run_snell(&["lint"], "");
    assert_eq!(ran.stderr, "");
    let mut lines = ran.lint_lines();
    lines.pop();
    lines
}

#[test]
fn comments_trailing_commas_marks_and_line_ends_are_all_fine() {
    let plain = "{\n\"hooks\": {\"Stop\": [{\"command\": \"true\"}]}\n}\n";
    let cases = [
        ("plain", plain.to_owned()),
        ("a byte order mark", format!("\u{feff}{plain}")),
        ("lines that end as on Windows", plain.replace('\n', "\r\n")),
        ("a comment in front", format!("// one\n/* two\n\"{{\" */ {plain}")),
        ("brackets in a comment", format!("// {}\n/* {} */ {plain}", "[".repeat(70), "{".repeat(70))),
        ("trailing commas", plain.replace("}]}", "},],},")),
        ("no hooks at all", "{}".to_owned()),
    ];
    for (case, text) in cases {
        for place in [".wave/settings.json", ".microai/settings.json", ".claude/settings.local.json"] {
            assert_eq!(lint_file(&CliSandbox::new(), place, text.as_bytes()), Vec::<String>::new(), "{case}, {place}");
        }
    }
    let plain = "[[hook]]\nevent = \"Stop\" # a comment\nrun = \"true\"\n";
    for text in [
        plain.to_owned(),
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        plain.replace("\"true\"", &format!("\"\"\"\necho '{}'\"\"\"", "{".repeat(70))),
        plain.replace("# a comment", &format!("# {}", "[".repeat(70))),
        String::new(),
    ] {
        assert_eq!(lint_file(&CliSandbox::new(), "snell.toml", text.as_bytes()), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn places_are_counted_in_characters_and_a_byte_order_mark_is_none() {
    let cases: [(&str, &str, &str); 3] = [
        (".claude/settings.json", "\u{feff}{\"höhe\": 1, \"hooks\": 7}", "1:22"),
        (".claude/settings.json", "{\r\n\"a\": \"ü\", \"hooks\": 7}", "2:20"),
        ("snell.toml", "\u{feff}hook = 7", "1:8"),
    ];
    for (path, text, place) in cases {
        let found = lint_file(&CliSandbox::new(), path, text.as_bytes());
        assert!(found.len() == 1 && found[0].starts_with(&format!("{path}:{place}: error: ")), "{text:?}: {found:?}");
    }
}

/// Puts a file that cannot be used beside a guard, which must still guard; answers what is said of the file.
fn expect_single_finding(case: &str, path: &str, bytes: &[u8]) -> String {
    let started = Instant::now();
    // Where the file under test is `snell.toml`, the neighbour is a file of another contract.
    let sandbox = match path {
        "snell.toml" => CliSandbox::new().file(".claude/settings.json", &render_settings("echo guarded >&2; exit 2")),
        _ => create_guarded_sandbox(),
    };
    let mut found = lint_file(&sandbox, path, bytes);
    let ran = sandbox.run_event("PreToolUse", &build_tool_call());
    assert_eq!((ran.code, ran.reason().as_str()), (2, "guarded"), "{case}");
    assert_eq!(ran.warnings(), found, "{case}");
    assert_eq!(found.len(), 1, "{case}: {found:?}");
    assert!(started.elapsed() < Duration::from_secs(10), "{case}");
    found.remove(0)
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_told_of_and_disables_nothing_else() {
    let cases = [
        ("UTF-16", encode_utf_16(&render_settings("true")), "1:1: error: is not UTF-8 text (hint: save it as UTF-8)"),
        ("one bad byte", b"{\n\"a\": \"\xff\"}".to_vec(), "2:7: error: is not UTF-8 text (hint: save it as UTF-8)"),
        ("ten megabytes", vec![b' '; 10_000_000], "1:1: error: is too large for a configuration file"),
    ];
    for (case, bytes, finding) in cases {
        for path in [".wave/settings.json", ".whale/hooks.json", "snell.toml"] {
            let found = expect_single_finding(case, path, &bytes);
            assert!(found.starts_with(&format!("{path}:{finding}")), "{case}: {found}");
        }
    }
}

/// A reader that recurses without a bound would end here with its stack, and with it every guard.
#[test]
fn a_file_that_is_nested_without_end_is_told_of_and_disables_nothing_else() {
    let deep = 100_000;
    let nested = |open: &str, inner: &str, close: &str| open.repeat(deep) + inner + &close.repeat(deep);
    let (arrays, tables) = (nested("[", "", "]"), nested("{a=", "1", "}"));
    let dotted = "a.".repeat(deep) + "a";
    let cases = [
        ("arrays", ".claude/settings.json", arrays.clone()),
        ("arrays that never end", ".claude/settings.json", "[".repeat(deep)),
        ("objects", ".claude/settings.json", nested("{\"a\":", "1", "}")),
        ("arrays behind a quote in a comment", ".claude/settings.json", format!("/* \" */{arrays}")),
        ("an array of hooks", ".whale/hooks.json", arrays.clone()),
        ("arrays in TOML", "snell.toml", format!("a = {arrays}")),
        ("inline tables", "snell.toml", format!("a = {tables}")),
        ("inline tables behind a quote", "snell.toml", format!("a = {{b='\"', c={tables}}}")),
        ("dotted keys", "snell.toml", format!("{dotted} = 1")),
        ("a dotted header", "snell.toml", format!("[{dotted}]")),
        ("dotted keys in a table", "snell.toml", format!("a = {{{dotted} = 1}}")),
    ];
    for (case, path, text) in cases {
        let found = expect_single_finding(case, path, text.as_bytes());
        assert!(found.starts_with(&format!("{path}:1:")) && found.contains(": error: is n"), "{case}: {found}");
        assert!(found.contains("nest") || found.contains("recurs"), "{case}: {found}");
    }
}

/// Things that are not files, where a file is looked for.
#[test]
fn whatever_stands_in_place_of_a_settings_file_is_told_of_and_holds_nobody_up() {
    type SettingsFileReplacement = fn(&Path);
    let cases: [(&str, SettingsFileReplacement, Option<&str>); 5] = [
        ("a directory", |path| fs::create_dir(path).unwrap(), Some("is not a regular file")),
        (
            "a pipe that nobody writes to",
            |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            Some("is not a regular file"),
        ),
        ("a device", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(), Some("is not a regular file")),
        (
            "a link to itself",
            |path| std::os::unix::fs::symlink("settings.json", path).unwrap(),
            Some("cannot be read: Too many levels of symbolic links (os error 40)"),
        ),
        (
            "a link to nothing",
            |path| std::os::unix::fs::symlink("nowhere", path).unwrap(),
            Some("is a symlink to a missing file"),
        ),
    ];
    for (case, put, message) in cases {
        for directory in [".wave", ".microai", ".claude"] {
            let sandbox = create_guarded_sandbox();
            fs::create_dir(sandbox.project().join(directory)).unwrap();
            put(&sandbox.project().join(directory).join("settings.json"));
            let ran = sandbox.run_event("PreToolUse", &build_tool_call());
            assert_eq!((ran.code, ran.reason().as_str()), (2, "guarded"), "{case}");
            let expected: Vec<_> = message
                .iter()
                .map(|message| {
                    let severity = if case == "a link to nothing" { "warning" } else { "error" };
                    format!("{directory}/settings.json:1:1: {severity}: {message}")
                })
                .collect();
            assert_eq!(ran.warnings(), expected, "{case}");
        }
    }
}

#[test]
fn a_file_where_a_directory_should_be_is_like_no_file() {
    let sandbox = create_guarded_sandbox().file(".claude", "not a directory").file(".wave", "");
    let ran = sandbox.run_event("PreToolUse", &build_tool_call());
    assert_eq!((ran.code, ran.warnings()), (2, Vec::new()));
}

#[test]
fn one_bad_entry_never_disables_its_neighbours() {
    let good = json!({"matcher": "*", "hooks": [{"type": "command", "command": "echo good >&2; exit 2"}]});
    let bad = [
        json!(7),
        json!({}),
        json!({"hooks": 1}),
        json!({"matcher": [], "hooks": []}),
        json!({"matcher": "*", "hooks": [{"type": "command"}, {"type": "none"}, null]}),
        json!({"command": ""}),
        json!({"matcher": "Bash(", "command": "true"}),
        json!(""),
    ];
    for directory in [".wave", ".claude"] {
        for bad in &bad {
            let hooks = json!({"PreToolUse": [bad, good, bad], "Stop": bad, "NoSuchEvent": [bad]});
            let sandbox = CliSandbox::new().hooks(&format!("{directory}/settings.json"), &hooks);
            let ran = sandbox.run_event("PreToolUse", &build_tool_call());
            assert_eq!((ran.code, ran.reason().as_str()), (2, "good"), "{directory}, {bad}");
            assert!(!ran.warnings().is_empty(), "{directory}, {bad}");
        }
    }
}

/// Whoever cuts a text in the middle of a character leaves such an escape behind; a strict reader would refuse the file.
#[test]
fn half_a_character_in_a_command_costs_nothing_else() {
    let group = r#"{"matcher": "*", "hooks": [
        {"type": "command", "command": "echo \ud83d"}, {"type": "command", "command": "echo guarded >&2; exit 2"}]}"#;
    let flat = r#"{"command": "echo \ud83d"}, {"command": "echo guarded >&2; exit 1", "continueOnFailure": false}"#;
    for (directory, entries, reason) in
        [(".wave", group, "guarded"), (".claude", group, "guarded"), (".microai", flat, "Hook blocked: guarded")]
    {
        let text = format!("{{\"hooks\": {{\"PreToolUse\": [{entries}]}}}}");
        let sandbox = CliSandbox::new().file(&format!("{directory}/settings.json"), &text);
        let ran = sandbox.run_event("PreToolUse", &build_tool_call());
        assert_eq!((ran.code, ran.reason().as_str()), (2, reason), "{directory}");
        assert_eq!(ran.statuses(), ["ok", "blocked"], "{directory}");
        assert_eq!(ran.warnings(), Vec::<String>::new(), "{directory}");
    }
}
