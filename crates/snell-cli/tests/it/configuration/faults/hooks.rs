//! Hooks: when one reacts, what it runs, and within which limits.

use super::ConfigFaultRow;

pub(super) const FAULTS: &[ConfigFaultRow] = &[
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
        &["1:12: error: unknown event \"PostToolUses\" (did you mean \"PostToolUse\"?); its hooks are not \
             loaded"],
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
    ("whale:no-event.whale.json", 0, &[r#"1:2: error: a hook has no "event"; add "event": "…""#]),
    ("snell:no-event.toml", 0, &[r#"1:1: error: a [[hook]] has no "event"; add event = "PreToolUse""#]),
    ("snell:an-empty-list-of-events.toml", 0, &[r#"2:9: error: "event" is an empty list; name at least one event"#]),
    ("snell:an-event-that-is-a-number.toml", 0, &[r#"2:9: error: "event" must be a string, not a number"#]),
    // What to run.
    ("wave:no-command.json", 0, &[r#"1:32: error: a command hook has no "command"; add "command": "…""#]),
    ("whale:no-command.whale.json", 0, &[r#"1:2: error: a hook has no "command"; add "command": "…""#]),
    ("microai:an-empty-command.json", 0, &[r#"1:33: error: "command" is empty; write what to run"#]),
    ("microai:a-command-that-is-an-array.json", 0, &[r#"1:33: error: "command" must be a string, not an array"#]),
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
    ("snell:nothing-to-do.toml", 0, &[r#"1:1: error: a [[hook]] has nothing to do; add run = "…" or exec = ["…"]"#]),
    ("snell:both-run-and-exec.toml", 0, &[r#"4:8: error: a [[hook]] has both "run" and "exec"; keep one of them"#]),
    ("snell:an-empty-exec.toml", 0, &[r#"3:8: error: "exec" names no program; write exec = ["program", "argument"]"#]),
    ("snell:an-exec-of-numbers.toml", 0, &[r#"3:18: error: "exec[1]" must be a string, not a number"#]),
    // Types of hooks.
    ("wave:no-type.json", 0, &[r#"1:32: error: a hook has no "type"; add "type": "command""#]),
    ("claude:no-type.json", 0, &[r#"1:32: error: a hook has no "type"; add "type": "command""#]),
    (
        "wave:an-unknown-type.json",
        0,
        &["1:41: error: \"type\" must be \"command\", not \"comand\" (did you mean \"command\"?); the hook is \
             not loaded"],
    ),
    (
        "claude:an-unknown-type.json",
        0,
        &[r#"1:41: error: unknown hook type "comand" (did you mean "command"?); the hook is not loaded"#],
    ),
    (
        "claude:a-type-that-needs-a-model.json",
        1,
        &["1:32: warning: hooks of type \"prompt\" are not supported: it needs the agent's model; this \
             one is never run"],
    ),
    (
        "claude:an-address-without-a-scheme.json",
        0,
        &["1:56: error: \"url\" must begin with http:// or https://, not \"localhost:9/hook\"; the hook is \
             not loaded"],
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
        &["4:7: error: an entry for \"PreToolUse\" needs a \"matcher\"; write \"matcher\": \"*\" for every tool \
             (the entry is not loaded)"],
    ),
    ("wave:a-matcher-that-is-a-number.json", 0, &[r#"1:39: error: "matcher" must be a string, not a number"#]),
    ("wave:a-matcher-without-meaning.json", 1, &[r#"1:33: warning: "matcher" has no meaning for Stop; it is ignored"#]),
    (
        "claude:a-matcher-without-meaning.json",
        1,
        &[r#"1:33: warning: "matcher" has no meaning for Stop; it is ignored"#],
    ),
    (
        "claude:a-broken-regular-expression.json",
        0,
        &["1:39: error: \"matcher\" \"mcp__(\" is not a valid regular expression (Parsing error at position \
             6: Opening parenthesis without closing parenthesis); the entry is not loaded"],
    ),
    (
        "snell:a-broken-regular-expression.toml",
        0,
        &["3:8: error: \"tool\" \"mcp__[\" is not a valid regular expression (Parsing error at position 6: \
             Invalid character class); the hook is not loaded"],
    ),
    (
        "microai:an-unclosed-tool-pattern.json",
        0,
        &["1:39: error: \"matcher\" \"Bash(git:*\" has no closing parenthesis; write \"Bash(git:*)\" (the \
             entry is not loaded)"],
    ),
    (
        "microai:a-list-where-one-tool-is-meant.json",
        1,
        &[r#"1:39: warning: "Edit|Write" is one tool's name here, not a list; write one entry per tool"#],
    ),
    (
        "claude:an-unclosed-rule.json",
        0,
        &["1:83: error: \"if\" \"Bash(git *\" has no closing parenthesis; write \"Bash(git *)\"; the hook is \
             not loaded"],
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
    ("snell:a-tool-without-meaning.toml", 1, &[r#"3:8: warning: "tool" has no meaning for this event; it is ignored"#]),
    // Timeouts: the default counts, and the hook stays.
    (
        "wave:a-timeout-of-zero.json",
        1,
        &["1:82: error: \"timeout\" must be a number of seconds above 0, not 0; write \"timeout\": 10 (the \
             default of 10s counts)"],
    ),
    (
        "microai:a-negative-timeout.json",
        1,
        &["1:52: error: \"timeout\" must be a number of milliseconds above 0, not -1; write \"timeout\": \
             5000 (the default of 5s counts)"],
    ),
    (
        "claude:a-timeout-that-is-a-string.json",
        1,
        &["1:82: error: \"timeout\" must be a number of seconds above 0, not a string; write \"timeout\": \
             10 (the default of 600s counts)"],
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
        &["4:11: error: \"timeout\" must be a duration with its unit; write \"10s\" or \"500ms\" (the default \
             of 10s counts)"],
    ),
    (
        "snell:a-negative-timeout.toml",
        1,
        &["4:11: error: \"timeout\" must be more than 0; write \"10s\" or \"500ms\" (the default of 10s counts)"],
    ),
    (
        "snell:a-timeout-of-nothing.toml",
        1,
        &["4:11: error: \"timeout\" must be more than 0; write \"10s\" or \"500ms\" (the default of 10s counts)"],
    ),
    (
        "snell:a-timeout-of-days.toml",
        1,
        &[r#"4:11: warning: "timeout" is more than the 86400s that this format allows; 86400s counts"#],
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
        &["1:71: warning: unknown key \"timout\" in a command hook (did you mean \"timeout\"?); it has no \
             effect"],
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
    ("snell:a-flag-that-is-a-string.toml", 1, &[r#"4:10: error: "modify" must be true or false, not a string"#]),
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
];
