//! The document's own configurations and scripts, as printed. Only the paths of its log files are moved into the
//! project, and programs that a machine may not have are stood in for.

use serde_json::json;
use snell_test_support::process::CommandOutput;

use super::{SETTINGS, build_bash_call};
use crate::support::CliSandbox;

/// A project with this configuration, whose log files are in the project and whose `bin` is on the path.
fn create_project(configuration: &str) -> CliSandbox {
    let sandbox = CliSandbox::new().file(SETTINGS, &configuration.replace("/tmp/", ""));
    let bin = sandbox.project().join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    sandbox.env("PATH", &path).env("SNELL_NOW", "2025-12-31T10:30:00Z")
}

/// Scripts that write their name and arguments into `log.txt`.
fn add_logger_scripts(mut sandbox: CliSandbox, names: &[&str]) -> CliSandbox {
    for name in names {
        let body = format!("printf '%s' {name} >> log.txt; printf ' [%s]' \"$@\" >> log.txt; echo >> log.txt");
        sandbox = sandbox.script(&format!("bin/{name}"), &body);
    }
    sandbox
}

fn assert_clean(ran: &CommandOutput, code: i32) {
    assert_eq!((ran.code, ran.warnings()), (code, vec![]), "{ran:?}");
}

#[test]
fn the_configuration_logs_every_kind_of_event() {
    let sandbox = create_project(
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "command": "echo \"[$(date -Iseconds)] Bash: $INPUT\" >> /tmp/bash-log.txt"
      },
      {
        "matcher": "Read",
        "command": "echo \"[$(date -Iseconds)] Read: $INPUT\" >> /tmp/access-log.txt"
      }
    ],

    "PostToolUse": [
      {
        "matcher": "Edit",
        "command": "echo \"[$(date -Iseconds)] Edited: $INPUT\" >> /tmp/changes-log.txt"
      }
    ],

    "UserPromptSubmit": [
      {
        "command": "echo \"$PROMPT\" >> /tmp/prompts.txt"
      }
    ],

    "SessionStart": [
      {
        "command": "echo \"Session started: $SESSION_ID at $TIMESTAMP\" >> /tmp/sessions.txt"
      }
    ],

    "SessionEnd": [
      {
        "command": "echo \"Session ended: $SESSION_ID\" >> /tmp/sessions.txt"
      }
    ]
  }
}"#,
    );
    assert_clean(&sandbox.run_event("SessionStart", &json!({"session_id": "abc123"})), 0);
    assert_clean(&sandbox.run_event("UserPromptSubmit", &json!({"prompt": "Fix the bug in auth"})), 0);
    assert_clean(&sandbox.run_event("PreToolUse", &build_bash_call("git status")), 0);
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "a.go"}});
    assert_clean(&sandbox.run_event("PreToolUse", &read), 0);
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "b.go"}, "tool_response": "ok"});
    assert_clean(&sandbox.run_event("PostToolUse", &edit), 0);
    assert_clean(&sandbox.run_event("SessionEnd", &json!({"session_id": "abc123"})), 0);
    assert_eq!(
        sandbox.read("sessions.txt"),
        "Session started: abc123 at 2025-12-31T10:30:00Z\nSession ended: abc123\n"
    );
    assert_eq!(sandbox.read("prompts.txt"), "Fix the bug in auth\n");
    assert!(sandbox.read("bash-log.txt").ends_with("] Bash: {\"command\":\"git status\"}\n"));
    assert!(sandbox.read("access-log.txt").ends_with("] Read: {\"file_path\":\"a.go\"}\n"));
    assert!(sandbox.wait_for_content("changes-log.txt").ends_with("] Edited: {\"file_path\":\"b.go\"}\n"));
    for log in ["bash-log.txt", "access-log.txt"] {
        assert_eq!(sandbox.read(log).lines().count(), 1, "{log}");
    }
}

#[test]
fn the_complete_schema_blocks_what_its_script_refuses() {
    // The dots stand for entries that the document leaves to the reader.
    let configuration = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "command": "validation-script.sh $INPUT",
        "timeout": 3000,
        "continueOnFailure": false
      }
    ],
    "PostToolUse": [...],
    "UserPromptSubmit": [...],
    "SessionStart": [...],
    "SessionEnd": [...]
  }
}"#
    .replace("[...]", "[]");
    let sandbox = create_project(&configuration)
        .script("bin/validation-script.sh", "case \"$*\" in *forbidden*) echo 'forbidden word' >&2; exit 1;; esac");
    assert_clean(&sandbox.run_event("PreToolUse", &build_bash_call("ls -l")), 0);
    let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls forbidden"));
    assert_clean(&ran, 2);
    assert_eq!(ran.reason(), "Hook blocked: forbidden word");
}

#[test]
fn the_pattern_examples_log_by_tool_by_command_and_all() {
    let configuration = r#"{
  "PreToolUse": [
    // All Bash commands
    {
      "matcher": "Bash",
      "command": "log-bash.sh \"$INPUT\""
    },

    // Only git commands
    {
      "matcher": "Bash(git:*)",
      "command": "log-git.sh \"$INPUT\""
    },

    // All file reads
    {
      "matcher": "Read",
      "command": "log-access.sh \"$INPUT\""
    },

    // All tools (catch-all)
    {
      "matcher": "*",
      "command": "log-all.sh \"$TOOL_NAME\" \"$INPUT\""
    }
  ]
}"#;
    let cases = [
        (
            build_bash_call("git push"),
            "log-bash.sh [{\"command\":\"git push\"}]\nlog-git.sh [{\"command\":\"git push\"}]\n\
             log-all.sh [Bash] [{\"command\":\"git push\"}]\n",
        ),
        (build_bash_call("ls"), "log-bash.sh [{\"command\":\"ls\"}]\nlog-all.sh [Bash] [{\"command\":\"ls\"}]\n"),
        (
            json!({"tool_name": "Read", "tool_input": {"file_path": "a b"}}),
            "log-access.sh [{\"file_path\":\"a b\"}]\nlog-all.sh [Read] [{\"file_path\":\"a b\"}]\n",
        ),
        (json!({"tool_name": "Edit", "tool_input": {}}), "log-all.sh [Edit] [{}]\n"),
    ];
    for (payload, expected) in cases {
        let scripts = ["log-bash.sh", "log-git.sh", "log-access.sh", "log-all.sh"];
        let sandbox = add_logger_scripts(create_project(configuration), &scripts);
        assert_clean(&sandbox.run_event("PreToolUse", &payload), 0);
        assert_eq!(sandbox.read("log.txt"), expected, "{payload}");
    }
}

#[test]
fn audit_logging_hands_jq_the_values_as_they_are() {
    let sandbox = create_project(
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "command": "jq -nc --arg tool \"$TOOL_NAME\" --arg input \"$INPUT\" --arg ts \"$TIMESTAMP\" '{timestamp: $ts, tool: $tool, input: $input}' >> audit.jsonl"
      }
    ],
    "UserPromptSubmit": [
      {
        "command": "jq -nc --arg prompt \"$PROMPT\" --arg ts \"$TIMESTAMP\" '{timestamp: $ts, type: \"prompt\", content: $prompt}' >> audit.jsonl"
      }
    ]
  }
}"#,
    )
    .script("bin/jq", "printf '[%s]' \"$@\"; echo");
    assert_clean(&sandbox.run_event("PreToolUse", &build_bash_call("echo \"$(id)\" 'x'")), 0);
    assert_clean(&sandbox.run_event("UserPromptSubmit", &json!({"prompt": "say \"hi\" $(id)\n`id`"})), 0);
    assert_eq!(
        sandbox.read("audit.jsonl"),
        "[-nc][--arg][tool][Bash][--arg][input][{\"command\":\"echo \\\"$(id)\\\" 'x'\"}][--arg][ts]\
         [2025-12-31T10:30:00Z][{timestamp: $ts, tool: $tool, input: $input}]\n\
         [-nc][--arg][prompt][say \"hi\" $(id)\n`id`][--arg][ts][2025-12-31T10:30:00Z]\
         [{timestamp: $ts, type: \"prompt\", content: $prompt}]\n"
    );
}

#[test]
fn structured_logging_finds_the_values_in_the_environment() {
    // The stand-in prints what the document's filter would.
    let stand_in = r#"printf '{"ts":"%s","tool":"%s","input":%s}\n' "$TIMESTAMP" "$TOOL_NAME" "$INPUT""#;
    let sandbox = create_project(
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "command": "jq -nc '{ts: $ENV.TIMESTAMP, tool: $ENV.TOOL_NAME, input: ($ENV.INPUT | fromjson)}' >> hooks.jsonl"
      }
    ]
  }
}"#,
    )
    .script("bin/jq", stand_in);
    assert_clean(&sandbox.run_event("PreToolUse", &build_bash_call("git status")), 0);
    assert_eq!(
        sandbox.read_json("hooks.jsonl"),
        json!({"ts": "2025-12-31T10:30:00Z", "tool": "Bash", "input": {"command": "git status"}})
    );
}

#[test]
fn command_validation_blocks_dangerous_commands() {
    let sandbox = create_project(
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "command": "validate-bash.sh \"$INPUT\"",
        "continueOnFailure": false
      }
    ]
  }
}"#,
    )
    .script(
        "bin/validate-bash.sh",
        r#"#!/bin/bash
# validate-bash.sh - Block dangerous commands

INPUT="$1"

# Check for dangerous patterns
if echo "$INPUT" | grep -qE "(rm -rf /|sudo|chmod 777)"; then
    echo "BLOCKED: Dangerous command detected"
    exit 1
fi

exit 0"#,
    );
    let cases =
        [("ls -l", 0), ("rm -rf ./build", 0), ("rm -rf /", 2), ("sudo reboot", 2), ("cd x && chmod 777 \"it's\"", 2)];
    for (command, code) in cases {
        let ran = sandbox.run_event("PreToolUse", &build_bash_call(command));
        assert_clean(&ran, code);
        // The script speaks on standard output; its words are not lost for that.
        let reason = if code == 2 { "Hook blocked: BLOCKED: Dangerous command detected" } else { "" };
        assert_eq!(ran.reason(), reason, "{command}");
    }
    // Other tools may mention what they like.
    let write = json!({"tool_name": "Write", "tool_input": {"content": "sudo"}});
    assert_clean(&sandbox.run_event("PreToolUse", &write), 0);
}

#[test]
fn notifications_are_sent_after_a_write_and_at_the_end() {
    let sandbox = add_logger_scripts(
        create_project(
            r#"{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Write",
        "command": "notify-file-change.sh \"$INPUT\""
      }
    ],
    "SessionEnd": [
      {
        "command": "notify-session-end.sh \"$SESSION_ID\""
      }
    ]
  }
}"#,
        ),
        &["notify-file-change.sh", "notify-session-end.sh"],
    );
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "/a b"}, "tool_response": {"ok": true}});
    let ran = sandbox.run_event("PostToolUse", &write);
    assert_clean(&ran, 0);
    assert_eq!(ran.statuses(), ["started"]);
    sandbox.wait_for_background_outcomes(1);
    assert_clean(&sandbox.run_event("SessionEnd", &json!({"session_id": "abc123"})), 0);
    assert_eq!(
        sandbox.read("log.txt"),
        "notify-file-change.sh [{\"file_path\":\"/a b\"}]\nnotify-session-end.sh [abc123]\n"
    );
}

#[test]
fn automatic_backup_copies_the_file_before_the_edit() {
    let sandbox = create_project(
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Edit",
        "command": "backup-before-edit.sh \"$INPUT\""
      }
    ]
  }
}"#,
    )
    .script("bin/jq", r#"sed 's/.*"file_path":"\([^"]*\)".*/\1/'"#)
    .script(
        "bin/backup-before-edit.sh",
        r#"#!/bin/bash
# backup-before-edit.sh - Create backup before editing

INPUT="$1"
FILE_PATH=$(echo "$INPUT" | jq -r '.file_path')

if [ -f "$FILE_PATH" ]; then
    BACKUP_DIR=".backups/$(date +%Y-%m-%d)"
    mkdir -p "$BACKUP_DIR"
    cp "$FILE_PATH" "$BACKUP_DIR/$(basename $FILE_PATH).$(date +%H%M%S)"
fi"#,
    )
    .file("src/main.go", "package main");
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "src/main.go", "old_string": "x"}});
    assert_clean(&sandbox.run_event("PreToolUse", &edit), 0);
    let days: Vec<_> = std::fs::read_dir(sandbox.project().join(".backups")).unwrap().collect();
    assert_eq!(days.len(), 1);
    let copies: Vec<_> = std::fs::read_dir(days[0].as_ref().unwrap().path()).unwrap().collect();
    assert_eq!(copies.len(), 1);
    let copy = copies[0].as_ref().unwrap().path();
    assert!(copy.file_name().unwrap().to_str().unwrap().starts_with("main.go."), "{copy:?}");
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "package main");
}

#[test]
fn statistics_are_collected_over_a_session() {
    let sandbox = add_logger_scripts(
        create_project(
            r#"{
  "hooks": {
    "SessionStart": [
      {
        "command": "stats-session-start.sh"
      }
    ],
    "SessionEnd": [
      {
        "command": "stats-session-end.sh"
      }
    ],
    "PostToolUse": [
      {
        "matcher": "*",
        "command": "stats-tool-use.sh \"$TOOL_NAME\""
      }
    ]
  }
}"#,
        ),
        &["stats-session-start.sh", "stats-session-end.sh", "stats-tool-use.sh"],
    );
    assert_clean(&sandbox.run_event("SessionStart", &json!({})), 0);
    assert_clean(&sandbox.run_event("PostToolUse", &json!({"tool_name": "Grep"})), 0);
    sandbox.wait_for_background_outcomes(1);
    assert_clean(&sandbox.run_event("SessionEnd", &json!({})), 0);
    assert_eq!(
        sandbox.read("log.txt"),
        "stats-session-start.sh []\nstats-tool-use.sh [Grep]\nstats-session-end.sh []\n"
    );
}

#[test]
fn context_injection_reaches_the_model() {
    let sandbox = create_project(
        r#"{
  "hooks": {
    "SessionStart": [
      {
        "command": "inject-context.sh"
      }
    ]
  }
}"#,
    )
    .script(
        "bin/inject-context.sh",
        r###"#!/bin/bash
# inject-context.sh - Output additional context for session

echo "## Project Status"
echo ""
git status --short 2>/dev/null || echo "Not a git repository"
echo ""
echo "## Recent Changes"
git log --oneline -5 2>/dev/null || echo "No git history""###,
    )
    .script("bin/git", "exit 128");
    let ran = sandbox.run_event("SessionStart", &json!({}));
    assert_clean(&ran, 0);
    assert_eq!(ran.context(), ["## Project Status\n\nNot a git repository\n\n## Recent Changes\nNo git history"]);
}

#[test]
fn the_best_practices_work_comments_included() {
    let quick = r#"{
  "PreToolUse": [
    {
      "matcher": "*",
      "command": "quick-log.sh \"$INPUT\"",
      "timeout": 1000  // 1 second max
    }
  ]
}"#;
    let sandbox = add_logger_scripts(create_project(quick), &["quick-log.sh"]);
    assert_clean(&sandbox.run_event("PreToolUse", &build_bash_call("ls")), 0);
    assert_eq!(sandbox.read("log.txt"), "quick-log.sh [{\"command\":\"ls\"}]\n");
    assert_eq!(sandbox.run_snell(&["list", "--json"], "").json()[0]["timeout_ms"], 1000);

    let wisely = r#"{
  "PreToolUse": [
    // Logging should never block
    {
      "matcher": "*",
      "command": "log.sh",
      "continueOnFailure": true
    },

    // Security checks should block
    {
      "matcher": "Bash",
      "command": "security-check.sh",
      "continueOnFailure": false
    }
  ]
}"#;
    let sandbox = create_project(wisely)
        .script("bin/log.sh", "exit 1")
        .script("bin/security-check.sh", "echo insecure >&2; exit 1");
    let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls"));
    assert_eq!((ran.code, ran.statuses()), (2, vec!["failed".to_owned(), "blocked".to_owned()]));
    assert_eq!(ran.reason(), "Hook blocked: insecure");
    let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Read"}));
    assert_eq!((ran.code, ran.statuses()), (0, vec!["failed".to_owned()]), "logging never blocks");
}
