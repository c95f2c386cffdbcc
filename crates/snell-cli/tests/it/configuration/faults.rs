//! Every fault has a file that is named after it, and a message that says where it is and what to write instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Sandbox;

/// A file under the contract it is read as, how many hooks are loaded all the same, and the findings.
type Row = (&'static str, usize, &'static [&'static str]);

const FAULTS: &[Row] = &[
    // A document that cannot be parsed is left out whole.
    (
        "claude:an-empty-file.json",
        0,
        &["1:1: error: is empty; write {} or remove it"],
    ),
    (
        "claude:an-unclosed-object.json",
        0,
        &["1:1: error: is not valid JSON: unterminated object"],
    ),
    (
        "claude:a-missing-comma.json",
        0,
        &["2:15: error: is not valid JSON: expected comma"],
    ),
    (
        "claude:single-quotes.json",
        0,
        &["1:2: error: is not valid JSON: single-quoted strings are not allowed"],
    ),
    (
        "snell:an-unclosed-string.toml",
        0,
        &[r#"2:20: error: is not valid TOML: invalid basic string, expected `"`"#],
    ),
    (
        "snell:a-key-written-twice.toml",
        0,
        &["4:1: error: is not valid TOML: duplicate key"],
    ),
    // A document of another shape.
    (
        "wave:an-array-instead-of-settings.json",
        0,
        &["1:1: error: a settings file must be an object, not an array"],
    ),
    (
        "whale:an-object-instead-of-an-array.whale.json",
        0,
        &["1:1: error: a whale hook file must be an array, not an object"],
    ),
    (
        "claude:hooks-as-an-array.json",
        0,
        &[r#"1:11: error: "hooks" must be an object, not an array"#],
    ),
    (
        "claude:an-event-without-an-array.json",
        1,
        &[r#"3:13: error: "Stop" must be an array, not an object"#],
    ),
    (
        "claude:an-entry-that-is-a-number.json",
        1,
        &[
            "3:14: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", or the \
             path of a script, not a number",
            "3:17: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", or the \
             path of a script, not null",
            "3:23: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", or the \
             path of a script, not an object with neither key",
        ],
    ),
    (
        "claude:a-hook-that-is-a-string.json",
        0,
        &["1:32: error: a hook must be an object, not a string"],
    ),
    (
        "snell:single-brackets.toml",
        0,
        &[r#"1:1: error: "hook" must be a list of tables; write [[hook]], with two brackets"#],
    ),
    (
        "snell:hooks-instead-of-hook.toml",
        1,
        &[r#"1:1: error: there is no "hooks" in snell.toml; write [[hook]]"#],
    ),
    (
        "snell:hook-as-a-number.toml",
        0,
        &[r#"1:8: error: "hook" must be an array, not a number"#],
    ),
    (
        "wave:no-hooks-in-a-group.json",
        0,
        &[
            "1:21: error: an entry for \"Stop\" has no hooks; add {\"type\": \"command\", \"command\": \"…\"} to \
             \"hooks\"",
        ],
    ),
    // Events: an error where the vocabulary is closed, a warning where it grows.
    (
        "wave:an-unknown-event.json",
        1,
        &[
            r#"3:5: error: unknown event "PreToolUSe" (did you mean "PreToolUse"?); its hooks are not loaded"#,
            "4:5: error: unknown event \"Banana\"; write one of SessionStart, UserPromptSubmit, PreToolUse, \
             PermissionRequest, PostToolUse, PostToolUseFailure, Notification, SubagentStart, \
             SubagentStop, Stop, PreCompact, PostCompact, SessionEnd; its hooks are not loaded",
        ],
    ),
    (
        "claude:an-unknown-event.json",
        3,
        &[
            "3:5: warning: unknown event \"PreToolUSe\" (did you mean \"PreToolUse\"?); its hooks are kept \
             under that name",
            r#"4:5: warning: unknown event "Banana"; its hooks are kept under that name"#,
        ],
    ),
    (
        "microai:an-unknown-event.flat.json",
        1,
        &[
            "1:12: error: unknown event \"PostToolUses\" (did you mean \"PostToolUse\"?); its hooks are not \
             loaded",
        ],
    ),
    (
        "whale:an-unknown-event.whale.json",
        1,
        &[r#"2:14: error: unknown event "BeforTool" (did you mean "BeforeTool"?); its hooks are not loaded"#],
    ),
    (
        "snell:an-unknown-event.toml",
        1,
        &[
            r#"2:18: error: unknown event "PostTolUse" (did you mean "PostToolUse"?); its hooks are not loaded"#,
            "6:9: error: unknown event \"Banana\"; write one of SessionStart, UserPromptSubmit, PreToolUse, \
             PermissionRequest, PostToolUse, PostToolUseFailure, Notification, SubagentStart, \
             SubagentStop, Stop, PreCompact, PostCompact, SessionEnd; its hooks are not loaded",
        ],
    ),
    (
        "whale:no-event.whale.json",
        0,
        &[r#"1:2: error: a hook has no "event"; add "event": "…""#],
    ),
    (
        "snell:no-event.toml",
        0,
        &[r#"1:1: error: a [[hook]] has no "event"; add event = "PreToolUse""#],
    ),
    (
        "snell:an-empty-list-of-events.toml",
        0,
        &[r#"2:9: error: "event" is an empty list; name at least one event"#],
    ),
    (
        "snell:an-event-that-is-a-number.toml",
        0,
        &[r#"2:9: error: "event" must be a string, not a number"#],
    ),
    // What to run.
    (
        "wave:no-command.json",
        0,
        &[r#"1:32: error: a command hook has no "command"; add "command": "…""#],
    ),
    (
        "whale:no-command.whale.json",
        0,
        &[r#"1:2: error: a hook has no "command"; add "command": "…""#],
    ),
    (
        "microai:an-empty-command.json",
        0,
        &[r#"1:33: error: "command" is empty; write what to run"#],
    ),
    (
        "microai:a-command-that-is-an-array.json",
        0,
        &[r#"1:33: error: "command" must be a string, not an array"#],
    ),
    (
        "microai:a-nul-in-a-command.json",
        0,
        &[r#"1:33: error: "command" holds a NUL character, which no process can be handed"#],
    ),
    (
        "claude:an-empty-script-path.json",
        0,
        &["1:21: error: the path of a script is empty; write the path, or remove the entry"],
    ),
    (
        "snell:nothing-to-do.toml",
        0,
        &[r#"1:1: error: a [[hook]] has nothing to do; add run = "…" or exec = ["…"]"#],
    ),
    (
        "snell:both-run-and-exec.toml",
        0,
        &[r#"4:8: error: a [[hook]] has both "run" and "exec"; keep one of them"#],
    ),
    (
        "snell:an-empty-exec.toml",
        0,
        &[r#"3:8: error: "exec" names no program; write exec = ["program", "argument"]"#],
    ),
    (
        "snell:an-exec-of-numbers.toml",
        0,
        &[r#"3:18: error: "exec[1]" must be a string, not a number"#],
    ),
    // Types of hooks.
    (
        "wave:no-type.json",
        0,
        &[r#"1:32: error: a hook has no "type"; add "type": "command""#],
    ),
    (
        "claude:no-type.json",
        0,
        &[r#"1:32: error: a hook has no "type"; add "type": "command""#],
    ),
    (
        "wave:an-unknown-type.json",
        0,
        &[
            "1:41: error: \"type\" must be \"command\", not \"comand\" (did you mean \"command\"?); the hook is \
             not loaded",
        ],
    ),
    (
        "claude:an-unknown-type.json",
        0,
        &[r#"1:41: error: unknown hook type "comand" (did you mean "command"?); the hook is not loaded"#],
    ),
    (
        "claude:a-type-that-needs-a-model.json",
        1,
        &[
            "1:32: warning: hooks of type \"prompt\" are not supported: it needs the agent's model; this \
             one is never run",
        ],
    ),
    (
        "claude:an-address-without-a-scheme.json",
        0,
        &[
            "1:56: error: \"url\" must begin with http:// or https://, not \"localhost:9/hook\"; the hook is \
             not loaded",
        ],
    ),
    (
        "claude:an-unknown-shell.json",
        1,
        &[r#"1:80: error: "shell" must be "bash" or "powershell", not "fish"; /bin/sh counts"#],
    ),
    // Matchers and conditions.
    (
        "wave:no-matcher.json",
        1,
        &[
            "4:7: error: an entry for \"PreToolUse\" needs a \"matcher\"; write \"matcher\": \"*\" for every tool \
             (the entry is not loaded)",
        ],
    ),
    (
        "wave:a-matcher-that-is-a-number.json",
        0,
        &[r#"1:39: error: "matcher" must be a string, not a number"#],
    ),
    (
        "wave:a-matcher-without-meaning.json",
        1,
        &[r#"1:33: warning: "matcher" has no meaning for Stop; it is ignored"#],
    ),
    (
        "claude:a-matcher-without-meaning.json",
        1,
        &[r#"1:33: warning: "matcher" has no meaning for Stop; it is ignored"#],
    ),
    (
        "claude:a-broken-regular-expression.json",
        0,
        &[
            "1:39: error: \"matcher\" \"mcp__(\" is not a valid regular expression (Parsing error at position \
             6: Opening parenthesis without closing parenthesis); the entry is not loaded",
        ],
    ),
    (
        "snell:a-broken-regular-expression.toml",
        0,
        &[
            "3:8: error: \"tool\" \"mcp__[\" is not a valid regular expression (Parsing error at position 6: \
             Invalid character class); the hook is not loaded",
        ],
    ),
    (
        "microai:an-unclosed-tool-pattern.json",
        0,
        &[
            "1:39: error: \"matcher\" \"Bash(git:*\" has no closing parenthesis; write \"Bash(git:*)\" (the \
             entry is not loaded)",
        ],
    ),
    (
        "microai:a-list-where-one-tool-is-meant.json",
        1,
        &[r#"1:39: warning: "Edit|Write" is one tool's name here, not a list; write one entry per tool"#],
    ),
    (
        "claude:an-unclosed-rule.json",
        0,
        &[
            "1:83: error: \"if\" \"Bash(git *\" has no closing parenthesis; write \"Bash(git *)\"; the hook is \
             not loaded",
        ],
    ),
    (
        "whale:a-pattern-without-meaning.whale.json",
        1,
        &[r#"1:39: warning: "pattern" has no meaning for SessionStart; it is ignored"#],
    ),
    (
        "snell:a-misspelled-tool-class.toml",
        1,
        &[r#"3:8: warning: "file.writ" is read as a regular expression (did you mean "file.write"?)"#],
    ),
    (
        "snell:a-tool-without-meaning.toml",
        1,
        &[r#"3:8: warning: "tool" has no meaning for this event; it is ignored"#],
    ),
    // Timeouts: the default counts, and the hook stays.
    (
        "wave:a-timeout-of-zero.json",
        1,
        &[
            "1:82: error: \"timeout\" must be a number of seconds above 0, not 0; write \"timeout\": 10 (the \
             default of 10s counts)",
        ],
    ),
    (
        "microai:a-negative-timeout.json",
        1,
        &[
            "1:52: error: \"timeout\" must be a number of milliseconds above 0, not -1; write \"timeout\": \
             5000 (the default of 5s counts)",
        ],
    ),
    (
        "claude:a-timeout-that-is-a-string.json",
        1,
        &[
            "1:82: error: \"timeout\" must be a number of seconds above 0, not a string; write \"timeout\": \
             10 (the default of 600s counts)",
        ],
    ),
    (
        "wave:a-timeout-in-the-wrong-unit.json",
        1,
        &[
            r#"1:82: warning: "timeout" is in seconds here; for 5000 milliseconds write 5"#,
            r#"1:82: warning: "timeout" is more than the 600s that this format allows; 600s counts"#,
        ],
    ),
    (
        "claude:a-timeout-in-the-wrong-unit.json",
        1,
        &[r#"1:82: warning: "timeout" is in seconds here; for 5000 milliseconds write 5"#],
    ),
    (
        "whale:a-timeout-in-the-wrong-unit.whale.json",
        1,
        &[r#"1:55: warning: "timeout" is in milliseconds here; for 10 seconds write 10000"#],
    ),
    (
        "snell:a-timeout-without-a-unit.toml",
        1,
        &[
            "4:11: error: \"timeout\" must be a duration with its unit; write \"10s\" or \"500ms\" (the default \
             of 10s counts)",
        ],
    ),
    (
        "snell:a-negative-timeout.toml",
        1,
        &[
            "4:11: error: \"timeout\" must be a duration with its unit; write \"10s\" or \"500ms\" (the default \
             of 10s counts)",
        ],
    ),
    // Keys and flags.
    (
        "claude:a-key-written-twice.json",
        1,
        &[r#"4:28: error: "matcher" is written twice in an entry for "PreToolUse"; only the last one counts"#],
    ),
    (
        "claude:a-misspelled-hooks.json",
        0,
        &[r#"1:2: warning: no "hooks" in this file, but "Hooks" (did you mean "hooks"?)"#],
    ),
    (
        "microai:a-misspelled-command.json",
        0,
        &[
            r#"1:21: error: an entry for "Stop" must be a group with "hooks", a hook with "command", or the path of a script, not an object with neither key (did you mean "command"?)"#,
        ],
    ),
    (
        "wave:an-expression-where-wildcards-are-meant.json",
        1,
        &[r#"1:39: warning: "Edit.*" is a wildcard pattern here, in which a dot is a dot; write "Edit*""#],
    ),
    (
        "whale:a-list-where-a-pattern-is-meant.whale.json",
        1,
        &[r#"1:37: warning: "read_*|write_*" is one wildcard pattern here; write * and ?, and one entry per name"#],
    ),
    (
        "wave:a-misspelled-key.json",
        1,
        &[r#"1:71: warning: unknown key "timout" in a hook (did you mean "timeout"?); it has no effect"#],
    ),
    (
        "claude:a-misspelled-key.json",
        1,
        &[
            "1:71: warning: unknown key \"timout\" in a command hook (did you mean \"timeout\"?); it has no \
             effect",
        ],
    ),
    (
        "whale:a-misspelled-key.whale.json",
        1,
        &[r#"1:45: warning: unknown key "patern" in a hook (did you mean "pattern"?); it has no effect"#],
    ),
    (
        "snell:a-misspelled-key.toml",
        1,
        &[
            r#"1:3: warning: unknown key "hoook" in snell.toml (did you mean "hook"?); it has no effect"#,
            "7:1: warning: unknown key \"on_failur\" in a [[hook]] (did you mean \"on_failure\"?); it has no \
             effect",
            r#"8:1: warning: unknown key "colour" in a [[hook]]; it has no effect"#,
        ],
    ),
    (
        "microai:a-flag-that-is-a-string.json",
        1,
        &[r#"1:68: error: "continueOnFailure" must be true or false, not a string; false counts"#],
    ),
    (
        "snell:a-flag-that-is-a-string.toml",
        1,
        &[r#"4:10: error: "modify" must be true or false, not a string"#],
    ),
    (
        "snell:an-unknown-policy.toml",
        1,
        &[r#"4:14: error: "on_failure" must be "continue" or "block"; "block" counts"#],
    ),
    (
        "snell:a-background-guard.toml",
        1,
        &[r#"1:1: warning: a hook that is not awaited cannot block; remove "background" or "on_failure""#],
    ),
    // Settings: the default counts.
    (
        "snell:an-unknown-contract-to-borrow.toml",
        1,
        &[
            "1:11: error: \"borrow\" names \"wavee\" (did you mean \"wave\"?), whose files cannot be borrowed; write \
             one of wave, microai, claude, whale",
            "1:29: error: \"borrow\" names \"snell\", whose files cannot be borrowed; write one of wave, microai, \
             claude, whale",
            r#"1:38: error: "borrow" must be a string, not a number"#,
        ],
    ),
    (
        "snell:a-borrow-that-is-a-string.toml",
        0,
        &[r#"1:10: error: "borrow" must be an array, not a string"#],
    ),
    (
        "snell:a-keep-without-a-unit.toml",
        0,
        &[
            "1:8: error: \"keep\" must be a duration with its unit; write \"30d\", \"2w\" or \"forever\" (the default \
             of 30d counts)",
        ],
    ),
    (
        "snell:a-negative-keep.toml",
        0,
        &[
            "1:8: error: \"keep\" must be a duration with its unit; write \"30d\", \"2w\" or \"forever\" (the default \
             of 30d counts)",
        ],
    ),
    (
        "snell:a-misspelled-handler.toml",
        0,
        &[
            r#"2:1: warning: unknown key "trak" in [handlers] (did you mean "track"?); it has no effect"#,
            r#"3:9: error: "track" must be true or false, not a string"#,
        ],
    ),
    (
        "snell:handlers-that-are-a-list.toml",
        0,
        &["1:12: error: [handlers] must be an object, not an array"],
    ),
    (
        "snell:a-server-that-is-a-string.toml",
        0,
        &["1:10: error: [server] must be an object, not a string"],
    ),
    (
        "snell:a-server-without-a-port.toml",
        0,
        &[
            "2:8: error: \"addr\" must be IP:PORT or HOST:PORT, not \"127.0.0.1\"; write \"127.0.0.1:7433\" (which \
             counts now)",
        ],
    ),
    (
        "snell:a-receiver-without-a-scheme.toml",
        0,
        &[
            "2:7: error: \"url\" does not begin with http:// or https://; write \"https://HOST\" or \
             \"http://HOST:PORT\" (it does not count)",
        ],
    ),
    (
        "snell:a-receiver-with-a-password.toml",
        0,
        &[
            "2:7: error: \"url\" holds a user's name or password, which belongs into token_file; write \
             \"https://HOST\" or \"http://HOST:PORT\" (it does not count)",
        ],
    ),
    (
        "snell:a-receiver-with-a-query.toml",
        0,
        &[
            "2:7: error: \"url\" has a part after its path (? or #); write \"https://HOST\" or \"http://HOST:PORT\" \
             (it does not count)",
        ],
    ),
    (
        "snell:a-database-of-no-kind.toml",
        0,
        &[
            "2:6: error: \"db\" must be sqlite:PATH or postgres://…; write \"sqlite:/home/me/snell.db\" (the default \
             counts now)",
        ],
    ),
    (
        "snell:a-polling-without-a-unit.toml",
        0,
        &[
            r#"2:15: error: "poll_active" must be a duration with its unit; write "60s" (which counts now)"#,
            r#"3:15: error: "poll_silent" must be a duration with its unit; write "2s" (which counts now)"#,
            r#"4:16: error: "silent_after" must be a duration with its unit; write "300s" (which counts now)"#,
        ],
    ),
    (
        "snell:a-host-with-a-scheme.toml",
        0,
        &[
            "2:16: error: \"allow_hosts\" names \"http://box.example\", which is no host; write \"box.example\" or \
             \"box.example:7433\"",
            r#"2:53: error: "allow_hosts" must be a string, not a number"#,
        ],
    ),
    (
        "snell:no-stream-clients.toml",
        0,
        &["2:22: error: \"max_stream_clients\" must be a whole number above 0; write 100 (the default counts now)"],
    ),
    (
        "snell:a-misspelled-key-of-the-server.toml",
        0,
        &[
            r#"2:1: warning: unknown key "adr" in [server] (did you mean "addr"?); it has no effect"#,
            r#"3:11: error: "enabled" must be true or false, not a string"#,
            r#"4:14: error: "token_file" is empty; write the path of the file that holds the token"#,
        ],
    ),
    (
        "snell:a-context-that-is-a-list.toml",
        0,
        &["1:11: error: [context] must be an object, not an array"],
    ),
    (
        "snell:a-misspelled-key-of-the-context.toml",
        0,
        &[
            r#"2:1: warning: unknown key "cores" in [context] (did you mean "core"?); it has no effect"#,
            r#"3:12: error: "max_file" must be a size with its unit; write "64KiB" (which counts now)"#,
        ],
    ),
    (
        "snell:core-files-that-are-no-paths.toml",
        0,
        &[
            "2:29: error: an entry of \"core\" has no \"path\"; write {path = \"notes/PLAN.md\", about = \"the plan\"}",
            "2:51: error: an entry of \"core\" must be a path, not a number; write \"notes/PLAN.md\" or {path = \
             \"notes/PLAN.md\", about = \"the plan\"}",
            r#"2:54: error: "core" holds an empty path; write "~/notes" or the like"#,
            "2:74: warning: unknown key \"abuot\" in an entry of \"core\" (did you mean \"about\"?); it has no effect",
            r#"3:9: error: "allow" must be an array, not a string"#,
        ],
    ),
    (
        "snell:sizes-that-cannot-count.toml",
        0,
        &[
            r#"2:12: error: "max_file" must be a size with its unit; write "64KiB" (which counts now)"#,
            r#"3:11: warning: "max_all" is more than the 16MiB that are possible; 16MiB counts"#,
        ],
    ),
    (
        "snell:a-setting-below-a-hook.toml",
        1,
        &[r#"4:1: error: "keep" is no key of a [[hook]]; write it above the first [[hook]] of the file"#],
    ),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/invalid")
}

#[test]
fn every_fault_is_found_where_it_is_and_its_neighbours_are_loaded() {
    for (written, hooks, findings) in FAULTS {
        let (_, fixture) = written.split_once(':').unwrap();
        let text = fs::read_to_string(fixtures().join(fixture)).unwrap();
        let sandbox = Sandbox::new().file(fixture, &text);
        let ran = sandbox.snell(&["lint", "--config", written], "");
        let lines: Vec<_> = ran.stdout.lines().collect();
        let (summary, found) = lines.split_last().unwrap();
        let expected: Vec<_> = findings.iter().map(|finding| format!("{fixture}:{finding}")).collect();
        assert_eq!(found, expected, "{written}");
        let plural = if *hooks == 1 { "" } else { "s" };
        assert!(
            summary.ends_with(&format!("({hooks} hook{plural} loaded).")),
            "{written}: {summary}"
        );
        let erroneous = findings.iter().any(|finding| finding.contains(": error: "));
        assert_eq!(ran.code, i32::from(erroneous), "{written}");
        assert_eq!(ran.stderr, "", "{written}");
    }
}

#[test]
fn every_file_of_a_fault_stands_in_the_table() {
    let files: BTreeSet<_> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let rows = FAULTS
        .iter()
        .map(|(written, _, _)| written.split_once(':').unwrap().1.to_owned());
    assert_eq!(files, rows.collect::<BTreeSet<_>>());
}

#[test]
fn the_findings_are_the_warnings_of_a_run() {
    for (written, _, findings) in FAULTS {
        let (_, fixture) = written.split_once(':').unwrap();
        let text = fs::read_to_string(fixtures().join(fixture)).unwrap();
        let sandbox = Sandbox::new().file(fixture, &text);
        // An event that none of the files has a hook for: nothing is run, and the files are still talked about.
        let ran = sandbox.snell(&["run", "PostCompact", "--config", written], "{}");
        let expected: Vec<_> = findings.iter().map(|finding| format!("{fixture}:{finding}")).collect();
        assert_eq!((ran.code, ran.warnings()), (0, expected), "{written}");
    }
}
