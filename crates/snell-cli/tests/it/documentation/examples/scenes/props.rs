//! What lies in a project before anything is typed.

use std::fs;
use std::path::Path;

use serde_json::json;
use snell_test_support::files::{find_repository_root, set_file_mode};

use super::super::super::list_entries;
use super::super::list_code_blocks;
use crate::support::CliSandbox;

/// The files of "Write a first hook", as they stand on the page.
pub fn add_first_hook(sandbox: CliSandbox) -> CliSandbox {
    let page = fs::read_to_string(find_repository_root().join("docs/guide/write-hooks.md")).unwrap();
    let hook = list_code_blocks(&page, "toml").into_iter().find(|block| block.contains("no-rm-rf.sh")).unwrap();
    let script = list_code_blocks(&page, "sh").into_iter().find(|block| block.contains("SNELL_COMMAND")).unwrap();
    let sandbox = sandbox.file("snell.toml", &hook).file("hooks/no-rm-rf.sh", &script);
    let script = sandbox.project().join("hooks/no-rm-rf.sh");
    set_file_mode(script, 0o755);
    sandbox
}

/// A copy of what lies in `examples` of the repository.
pub fn copy_repository_examples(sandbox: CliSandbox) -> CliSandbox {
    copy_recursively(&find_repository_root().join("examples"), &sandbox.project().join("examples"));
    sandbox
}

fn copy_recursively(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in list_entries(from) {
            copy_recursively(&entry, &to.join(entry.file_name().unwrap()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Calls for the guard, of which the second is none.
pub fn add_guard_calls(sandbox: CliSandbox) -> CliSandbox {
    let lines = [
        r#"{"tool":"Bash","input":{"command":"ls"}}"#,
        r#"{"tool":"Bash"}"#,
        r#"{"tool":"Bash","input":{"command":"rm -rf /"}}"#,
    ];
    sandbox.file("calls.jsonl", &(lines.join("\n") + "\n"))
}

/// Three files with a fault in each.
pub fn add_faulty_files(sandbox: CliSandbox) -> CliSandbox {
    sandbox
        .file("snell.toml", "[[hook]]\nevent = \"PreToolUze\"\nrun = \"true\"\n")
        .file(
            ".wave/settings.json",
            r#"{"hooks": {
  "Stop": [{"hooks": [{"type": "command", "command": "make", "timeout": "10"}]}]
}}"#,
        )
        .file(
            ".microai/settings.json",
            r#"{"hooks": {
  "Stop": [{"command": "make", "timeout": 5}]
}}"#,
        )
}

/// What somebody may want to run in a project.
pub fn add_two_hooks(sandbox: CliSandbox) -> CliSandbox {
    sandbox
        .script("hooks/no-force-push.sh", "true")
        .file("Makefile", "check:\n\ttrue\n")
        .file(
            "snell.toml",
            "[[hook]]\nevent = \"PreToolUse\"\ntool = \"shell\"\nrun = \"hooks/no-force-push.sh\"\n\n[[hook]]\nevent = \"Stop\"\n\
             when = \"test -f Makefile\"\nrun = \"make check\"\n",
        )
}

/// A target of notices.
/// A transcript of Claude Code with three requests.
pub fn add_transcript(sandbox: CliSandbox) -> CliSandbox {
    let requests = [
        ("2026-02-28T10:00:00Z", [2000, 300, 0, 40_000]),
        ("2026-03-01T10:00:00Z", [10, 4000, 40_000, 5000]),
        ("2026-03-01T10:05:00Z", [20, 5000, 50_000, 5000]),
    ];
    let line = |(at, [input, output, read, write]): &(&str, [u32; 4])| {
        let usage = json!({"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write});
        let message = json!({"id": format!("msg_{at}"), "model": "claude-sonnet-4-6", "usage": usage});
        let line = json!({"type": "assistant", "sessionId": "s1", "cwd": "/home/me/api", "timestamp": at,
            "requestId": format!("req_{at}"), "message": message});
        format!("{line}\n")
    };
    sandbox.home_file(".claude/projects/-home-me-api/s1.jsonl", &requests.iter().map(line).collect::<String>())
}

pub fn add_notice_target(sandbox: CliSandbox) -> CliSandbox {
    sandbox.home_file(".config/snell/snell.toml", "[notify]\ncommand = \"true\"\n")
}
