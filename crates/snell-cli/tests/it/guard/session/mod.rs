//! A call is judged by what its session did before. The commands are only judged: the test itself does what they would do.

mod fact_files;
mod own_files;
mod text_of_others;

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::run_with_stdin;
use snell_test_support::skip::report_skipped;

use super::GuardHookReply;
use crate::support::CliSandbox;

const CONFIG: &str = ".config/snell/snell.toml";
const DENIED: &str = "deny files.delete-outside";

/// The session of an agent, as its hooks tell it.
struct AgentSession {
    sandbox: CliSandbox,
    calls: Cell<u32>,
}

impl AgentSession {
    /// A session in a repository in which git has `tracked.txt`, and beside it files of the user.
    fn start() -> Self {
        Self::start_with("")
    }

    fn start_with(config: &str) -> Self {
        let sandbox = CliSandbox::new()
            .env("SNELL_SCRIBE", "off")
            .home_file(CONFIG, config)
            .home_file("user.txt", "the user's")
            .home_file("thesis/chapter.txt", "the user's")
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .file(".git/config", "[remote \"origin\"]\n\turl = https://git.example/ann/app\n")
            .file(".gitignore", "*.ignored\n")
            .file("tracked.txt", "git has it");
        fs::write(sandbox.project().join(".git/index"), build_git_index(&[".gitignore", "tracked.txt"])).unwrap();
        let session = Self { sandbox, calls: Cell::new(0) };
        for file in ["notes.md", "todo/list.md", "old.ignored", "run.log"] {
            fs::create_dir_all(session.project(file).parent().unwrap()).unwrap();
            fs::write(session.project(file), "the only copy").unwrap();
        }
        // A file counts as older than the session if it is so by more than the clock's tolerance.
        std::thread::sleep(Duration::from_millis(50));
        session.send("SessionStart", json!({"source": "startup"}));
        session
    }

    fn send(&self, event: &str, fields: Value) -> GuardHookReply {
        self.send_in("session-one", event, fields)
    }

    fn send_in(&self, session: &str, event: &str, fields: Value) -> GuardHookReply {
        let payload = json!({"session_id": session, "hook_event_name": event, "cwd": self.sandbox.project()});
        let payload = merge_fields(payload, &fields);
        run_with_stdin(&mut self.sandbox.command(&["hook"]), payload.to_string()).into()
    }

    fn prompt(&self) {
        self.send("UserPromptSubmit", json!({"prompt": "Go on."}));
    }

    /// The answer about a command that does not run.
    fn judge(&self, command: &str) -> GuardHookReply {
        self.judge_in("session-one", command)
    }

    fn judge_in(&self, session: &str, command: &str) -> GuardHookReply {
        self.calls.set(self.calls.get() + 1);
        let id = format!("call-{}", self.calls.get());
        let fields = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
        self.send_in(session, "PreToolUse", fields)
    }

    /// A command that runs: the test does what it would do.
    #[track_caller]
    fn run(&self, command: &str, work: impl FnOnce()) {
        let told = self.judge(command);
        assert_eq!(told.decision, None, "{command}: {told:?}");
        work();
        self.finish("Bash", &json!({"command": command}), json!({"stdout": "", "stderr": ""}));
    }

    /// A call of another tool that runs.
    #[track_caller]
    fn use_tool(&self, tool: &str, input: &Value, output: Value) {
        self.calls.set(self.calls.get() + 1);
        let id = format!("call-{}", self.calls.get());
        let told = self.send("PreToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
        assert_eq!(told.decision, None, "{tool} {input}: {told:?}");
        self.finish(tool, input, output);
    }

    fn finish(&self, tool: &str, input: &Value, output: Value) {
        let id = format!("call-{}", self.calls.get());
        let fields = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": output});
        self.send("PostToolUse", fields);
    }

    #[track_caller]
    fn assert_judgements(&self, cases: &[(&str, &str)]) {
        for (command, expected) in cases {
            let told = self.judge(command);
            assert_eq!(told.summarize(), *expected, "{command}: {told:?}");
        }
    }

    fn home(&self, path: &str) -> PathBuf {
        self.sandbox.home().join(path)
    }

    fn project(&self, path: &str) -> PathBuf {
        self.sandbox.project().join(path)
    }

    /// The files of facts.
    fn fact_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.sandbox.data().join("guard-sessions")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// An index in which git has these files.
fn build_git_index(names: &[&str]) -> Vec<u8> {
    let mut index = b"DIRC\0\0\0\x02".to_vec();
    index.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    for name in names {
        let start = index.len();
        index.extend([0; 24]);
        index.extend(0o100_644_u32.to_be_bytes());
        index.extend([0; 32]);
        index.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        index.extend(name.as_bytes());
        let zeros = 8 - (index.len() - start) % 8;
        index.resize(index.len() + zeros, 0);
    }
    index.extend([0; 20]);
    index
}

/// Whether the disk knows when a file was made; without that, no file counts as made by a session.
fn knows_birth_times(session: &AgentSession) -> bool {
    let is_known = fs::metadata(session.home("user.txt")).unwrap().created().is_ok();
    if !is_known {
        report_skipped("the disk does not know when files were created");
    }
    is_known
}
