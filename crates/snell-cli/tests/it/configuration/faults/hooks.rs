//! Hooks: when one reacts, what it runs, and within which limits.

use super::ConfigFaultRow;

pub(super) const FAULTS: &[ConfigFaultRow] = &[
    // Events: an error where the vocabulary is closed, a warning where it grows.
    (
        "wave:an-unknown-event.json",
        1,
        &[
            r#"3:5: error: unknown event "PreToolUSe" (its hooks are ignored) (hint: did you mean "PreToolUse"?)"#,
            "4:5: error: unknown event \"Banana\" (its hooks are ignored) (hint: use one of SessionStart, \
             UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, \
             Notification, SubagentStart, SubagentStop, Stop, PreCompact, PostCompact, SessionEnd)",
        ],
    ),
    (
        "claude:an-unknown-event.json",
        3,
        &[
            "3:5: warning: unknown event \"PreToolUSe\" (its hooks are still loaded) (hint: did you mean \
             \"PreToolUse\"?)",
            r#"4:5: warning: unknown event "Banana" (its hooks are still loaded)"#,
        ],
    ),
    (
        "microai:an-unknown-event.flat.json",
        1,
        &["1:12: error: unknown event \"PostToolUses\" (its hooks are ignored) (hint: did you mean \
             \"PostToolUse\"?)"],
    ),
    (
        "whale:an-unknown-event.whale.json",
        1,
        &[r#"2:14: error: unknown event "BeforTool" (its hooks are ignored) (hint: did you mean "BeforeTool"?)"#],
    ),
    (
        "snell:an-unknown-event.toml",
        1,
        &[
            "2:18: error: unknown event \"PostTolUse\" (its hooks are ignored) (hint: did you mean \
             \"PostToolUse\"?)",
            "6:9: error: unknown event \"Banana\" (its hooks are ignored) (hint: use one of SessionStart, \
             UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, \
             Notification, SubagentStart, SubagentStop, Stop, PreCompact, PostCompact, SessionEnd, \
             NeedsUser, AgentIdle, AgentEnded)",
        ],
    ),
    ("whale:no-event.whale.json", 0, &[r#"1:2: error: a hook has no "event" (hint: add "event": "…")"#]),
    ("snell:no-event.toml", 0, &[r#"1:1: error: a [[hook]] has no "event" (hint: add event = "PreToolUse")"#]),
    (
        "snell:an-empty-list-of-events.toml",
        0,
        &[r#"2:9: error: "event" is an empty list (hint: write the name of an event)"#],
    ),
    ("snell:an-event-that-is-a-number.toml", 0, &[r#"2:9: error: "event" must be a string, not a number"#]),
    // What to run.
    ("wave:no-command.json", 0, &[r#"1:32: error: a command hook has no "command" (hint: add "command": "…")"#]),
    ("whale:no-command.whale.json", 0, &[r#"1:2: error: a hook has no "command" (hint: add "command": "…")"#]),
    ("microai:an-empty-command.json", 0, &[r#"1:33: error: "command" is empty (hint: write the command to run)"#]),
    ("microai:a-command-that-is-an-array.json", 0, &[r#"1:33: error: "command" must be a string, not an array"#]),
    ("microai:a-nul-in-a-command.json", 0, &[r#"1:33: error: "command" must not contain a NUL character"#]),
    (
        "claude:an-empty-script-path.json",
        0,
        &["1:21: error: the path of a script is empty (hint: write the path, or remove the entry)"],
    ),
    (
        "snell:nothing-to-do.toml",
        0,
        &[r#"1:1: error: a [[hook]] has no command (hint: add run = "…" or exec = ["…"])"#],
    ),
    (
        "snell:both-run-and-exec.toml",
        0,
        &[r#"4:8: error: a [[hook]] has both "run" and "exec" (hint: remove one of them)"#],
    ),
    (
        "snell:an-empty-exec.toml",
        0,
        &[r#"3:8: error: "exec" has no program (hint: write exec = ["program", "argument"])"#],
    ),
    ("snell:an-exec-of-numbers.toml", 0, &[r#"3:18: error: "exec[1]" must be a string, not a number"#]),
    // Types of hooks.
    ("wave:no-type.json", 0, &[r#"1:32: error: a hook has no "type" (hint: add "type": "command")"#]),
    ("claude:no-type.json", 0, &[r#"1:32: error: a hook has no "type" (hint: add "type": "command")"#]),
    ("wave:an-unknown-type.json", 0, &[r#"1:41: error: "type" must be "command", not "comand" (the hook is ignored)"#]),
    (
        "claude:an-unknown-type.json",
        0,
        &[r#"1:41: error: unknown hook type "comand" (the hook is ignored) (hint: did you mean "command"?)"#],
    ),
    (
        "claude:a-type-that-needs-a-model.json",
        1,
        &["1:32: warning: hooks of type \"prompt\" are not supported because they need the agent's \
             model (the hook never runs)"],
    ),
    (
        "claude:an-address-without-a-scheme.json",
        0,
        &["1:56: error: \"url\" must start with http:// or https://, not \"localhost:9/hook\" (the hook \
             is ignored)"],
    ),
    (
        "claude:an-unknown-shell.json",
        1,
        &[r#"1:80: error: "shell" must be "bash" or "powershell", not "fish" (using /bin/sh)"#],
    ),
    // Matchers and conditions.
    (
        "wave:no-matcher.json",
        1,
        &["4:7: error: an entry for \"PreToolUse\" has no \"matcher\" (the entry is ignored) (hint: \
             write \"matcher\": \"*\" for every tool)"],
    ),
    ("wave:a-matcher-that-is-a-number.json", 0, &[r#"1:39: error: "matcher" must be a string, not a number"#]),
    ("wave:a-matcher-without-meaning.json", 1, &[r#"1:33: warning: "matcher" has no effect on Stop"#]),
    ("claude:a-matcher-without-meaning.json", 1, &[r#"1:33: warning: "matcher" has no effect on Stop"#]),
    (
        "claude:a-broken-regular-expression.json",
        0,
        &["1:39: error: \"matcher\" has the invalid regular expression \"mcp__(\": Parsing error at \
             position 6: Opening parenthesis without closing parenthesis (the entry is ignored)"],
    ),
    (
        "snell:a-broken-regular-expression.toml",
        0,
        &["3:8: error: \"tool\" has the invalid regular expression \"mcp__[\": Parsing error at \
             position 6: Invalid character class (the hook is ignored)"],
    ),
    (
        "microai:an-unclosed-tool-pattern.json",
        0,
        &["1:39: error: \"matcher\" has no closing parenthesis in \"Bash(git:*\" (the entry is ignored) \
             (hint: write \"Bash(git:*)\")"],
    ),
    (
        "microai:a-list-where-one-tool-is-meant.json",
        1,
        &["1:39: warning: \"Edit|Write\" is one tool name in this format, not a list (hint: write one \
             entry per tool)"],
    ),
    (
        "claude:an-unclosed-rule.json",
        0,
        &["1:83: error: \"if\" has no closing parenthesis in \"Bash(git *\" (the hook is ignored) \
             (hint: write \"Bash(git *)\")"],
    ),
    ("whale:a-pattern-without-meaning.whale.json", 1, &[r#"1:39: warning: "pattern" has no effect on SessionStart"#]),
    (
        "snell:a-misspelled-tool-class.toml",
        1,
        &[r#"3:8: warning: "file.writ" is read as a regular expression (hint: did you mean "file.write"?)"#],
    ),
    ("snell:a-tool-without-meaning.toml", 1, &[r#"3:8: warning: "tool" has no effect on this event"#]),
    // Timeouts: the default counts, and the hook stays.
    (
        "wave:a-timeout-of-zero.json",
        1,
        &["1:82: error: \"timeout\" must be a number of seconds above 0, not 0 (using the default, 10s) \
             (hint: write \"timeout\": 10)"],
    ),
    (
        "microai:a-negative-timeout.json",
        1,
        &["1:52: error: \"timeout\" must be a number of milliseconds above 0, not -1 (using the \
             default, 5s) (hint: write \"timeout\": 5000)"],
    ),
    (
        "claude:a-timeout-that-is-a-string.json",
        1,
        &["1:82: error: \"timeout\" must be a number of seconds above 0, not a string (using the \
             default, 600s) (hint: write \"timeout\": 10)"],
    ),
    (
        "wave:a-timeout-in-the-wrong-unit.json",
        1,
        &[
            "1:82: warning: \"timeout\" is in seconds, so 5000 may be too long (hint: for 5000 \
             milliseconds, write 5)",
            r#"1:82: warning: "timeout" is longer than this format allows (using the limit, 600s)"#,
        ],
    ),
    (
        "claude:a-timeout-in-the-wrong-unit.json",
        1,
        &["1:82: warning: \"timeout\" is in seconds, so 5000 may be too long (hint: for 5000 \
             milliseconds, write 5)"],
    ),
    (
        "whale:a-timeout-in-the-wrong-unit.whale.json",
        1,
        &["1:55: warning: \"timeout\" is in milliseconds, so 10 may be too short (hint: for 10 seconds, \
             write 10000)"],
    ),
    (
        "snell:a-timeout-without-a-unit.toml",
        1,
        &["4:11: error: \"timeout\" must be a duration with a unit (using the default, 10s) (hint: \
             write \"10s\" or \"500ms\")"],
    ),
    (
        "snell:a-negative-timeout.toml",
        1,
        &[r#"4:11: error: "timeout" must be more than 0 (using the default, 10s) (hint: write "10s" or "500ms")"#],
    ),
    (
        "snell:a-timeout-of-nothing.toml",
        1,
        &[r#"4:11: error: "timeout" must be more than 0 (using the default, 10s) (hint: write "10s" or "500ms")"#],
    ),
    (
        "snell:a-timeout-of-days.toml",
        1,
        &[r#"4:11: warning: "timeout" is longer than this format allows (using the limit, 86400s)"#],
    ),
    // Keys and flags.
    (
        "claude:a-key-written-twice.json",
        1,
        &["4:28: error: \"matcher\" appears twice in an entry for \"PreToolUse\" (using the last one) \
             (hint: remove one of them)"],
    ),
    (
        "claude:a-misspelled-hooks.json",
        0,
        &[r#"1:2: warning: this file has "Hooks" but no "hooks" (hint: did you mean "hooks"?)"#],
    ),
    (
        "microai:a-misspelled-command.json",
        0,
        &["1:21: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", \
             or the path of a script, not an object without \"hooks\" or \"command\" (hint: did you mean \"command\"?)"],
    ),
    (
        "wave:an-expression-where-wildcards-are-meant.json",
        1,
        &["1:39: warning: \"Edit.*\" is a wildcard pattern in this format, so a dot only matches a dot \
             (hint: write \"Edit*\")"],
    ),
    (
        "whale:a-list-where-a-pattern-is-meant.whale.json",
        1,
        &["1:37: warning: \"read_*|write_*\" is one wildcard pattern in this format (hint: use * and ?, \
             and write one entry per name)"],
    ),
    (
        "wave:a-misspelled-key.json",
        1,
        &[r#"1:71: warning: unknown key "timout" in a hook (hint: did you mean "timeout"?)"#],
    ),
    (
        "claude:a-misspelled-key.json",
        1,
        &[r#"1:71: warning: unknown key "timout" in a command hook (hint: did you mean "timeout"?)"#],
    ),
    (
        "whale:a-misspelled-key.whale.json",
        1,
        &[r#"1:45: warning: unknown key "patern" in a hook (hint: did you mean "pattern"?)"#],
    ),
    (
        "snell:a-misspelled-key.toml",
        1,
        &[
            r#"1:3: warning: unknown key "hoook" in snell.toml (hint: did you mean "hook"?)"#,
            r#"7:1: warning: unknown key "on_failur" in a [[hook]] (hint: did you mean "on_failure"?)"#,
            r#"8:1: warning: unknown key "colour" in a [[hook]]"#,
        ],
    ),
    (
        "microai:a-flag-that-is-a-string.json",
        1,
        &[r#"1:68: error: "continueOnFailure" must be true or false, not a string (using false)"#],
    ),
    ("snell:a-flag-that-is-a-string.toml", 1, &[r#"4:10: error: "modify" must be true or false, not a string"#]),
    (
        "snell:an-unknown-policy.toml",
        1,
        &[r#"4:14: error: "on_failure" must be "continue" or "block" (using "block")"#],
    ),
    (
        "codex:a-key-at-the-root.codex.json",
        1,
        &[
            r#"1:2: error: Codex ignores the whole file because of "$schema" (hint: remove it)"#,
            r#"1:73: error: "matcher" has the invalid regular expression "(": Parsing error at position 1: Opening parenthesis without closing parenthesis (the entry is ignored)"#,
        ],
    ),
    (
        "gemini:an-event-of-another-agent.gemini.json",
        1,
        &[
            r#"1:12: warning: unknown event "PreToolUse" (its hooks are ignored) (hint: write "BeforeTool")"#,
            r#"1:157: warning: "timeout" is in milliseconds, so 30 may be too short (hint: for 30 seconds, write 30000)"#,
        ],
    ),
    (
        "copilot:a-command-for-another-system.copilot.json",
        2,
        &[
            r#"1:41: warning: this hook only has a command for Windows (the hook is ignored) (hint: add "bash")"#,
            r#"1:62: warning: hooks of type "prompt" are not supported because they need the agent's model (the hook never runs)"#,
            r#"1:128: warning: "timeoutSec" is in seconds, so 3000 may be too long (hint: for 3000 milliseconds, write 3)"#,
            r#"1:163: error: "matcher" has the invalid regular expression "(": Parsing error at position 1: Opening parenthesis without closing parenthesis (the entry is ignored)"#,
        ],
    ),
    (
        "vibe:no-name.vibe.toml",
        1,
        &[
            r#"1:1: error: a hook has no "name" (hint: add name = "…")"#,
            r#"7:8: warning: unknown event "before_tool" (its hooks are ignored) (hint: did you mean "pre_tool"?)"#,
            r#"16:8: error: two hooks have the name "a" (the second one is ignored) (hint: rename one of them)"#,
        ],
    ),
    (
        "kimi:a-key-of-another-agent.kimi.toml",
        1,
        &[
            r#"3:11: error: "command" must be a string, not an array"#,
            r#"8:11: warning: "matcher" has no effect on Stop"#,
            r#"9:11: warning: "timeout" is longer than this format allows (using the limit, 600s)"#,
            r#"10:1: warning: unknown key "name" in a hook"#,
        ],
    ),
    (
        "droid:no-hooks.droid.json",
        0,
        &[
            r#"1:66: error: "commandRegex" has the invalid regular expression "(": Parsing error at position 1: Opening parenthesis without closing parenthesis (the entry is ignored)"#,
            r#"1:123: error: an entry for "PreToolUse" has no "hooks" (hint: add "hooks": [{"type": "command", "command": "…"}])"#,
            r#"1:158: error: a hook has no "type" (hint: add "type": "command")"#,
        ],
    ),
    (
        "snell:a-background-guard.toml",
        1,
        &[r#"1:1: warning: a background hook cannot block (hint: remove "background" or "on_failure")"#],
    ),
];
