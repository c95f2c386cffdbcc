//! Events that follow from an agent's state, and notices about it: what hooks and targets really get, and how often.

mod commands;
mod derived_events;
mod focus;
mod once;
mod requests;
mod targets;
mod timing;

use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::database::{query_rows, query_texts};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{Signal, find_processes, is_process_running, run_with_stdin, send_signal};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::stub_server::{StubReply, StubServer};
use snell_test_support::wait::wait_until;

use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// A project whose user has this `snell.toml`.
struct NoticeSandbox {
    sandbox: CliSandbox,
}

impl NoticeSandbox {
    fn new(config: &str) -> Self {
        Self::with_sandbox(CliSandbox::new(), config)
    }

    fn with_sandbox(sandbox: CliSandbox, config: &str) -> Self {
        let sandbox = sandbox.file(".git/HEAD", "ref: refs/heads/main\n").home_file(".config/snell/snell.toml", config);
        Self { sandbox: sandbox.env("SNELL_SCRIBE", "wait") }
    }

    /// A webhook at this server, without a delay.
    fn with_webhook(server: &StubServer, more: &str) -> Self {
        Self::with_sandbox(CliSandbox::new().env("KEY", "k"), &webhook_config(server, more))
    }

    /// An event of Claude Code.
    fn send_event(&self, session: &str, event: &str, fields: Value) {
        self.send_event_with_env(session, event, fields, &[]);
    }

    fn send_event_with_env(&self, session: &str, event: &str, fields: Value, variables: &[(&str, &str)]) {
        let payload = json!({"session_id": session, "cwd": self.sandbox.project(), "hook_event_name": event});
        let mut command = self.sandbox.command(&["hook", "--agent", "claude"]);
        command.envs(variables.iter().copied());
        let ran = run_with_stdin(&mut command, merge_fields(payload, &fields).to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// The agent of a session asks its user for permission.
    fn ask_permission(&self, session: &str) {
        let message = "Claude needs your permission to use Bash";
        self.send_event(session, "Notification", json!({"message": message, "notification_type": "permission_prompt"}));
    }

    /// A call that the guard denies.
    fn make_blocked_call(&self, session: &str) {
        self.send_event(session, "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}));
    }

    fn database(&self) -> PathBuf {
        self.sandbox.database()
    }

    fn start_server(&self) -> ServeProcess {
        start_server(&self.sandbox, &[ANYWHERE, &["--log", "off"]].concat())
    }

    /// The deliveries so far, as `kind target status`.
    fn list_deliveries(&self) -> Vec<String> {
        let sql = "SELECT kind || ' ' || target || ' ' || status FROM deliveries JOIN dispatches USING (dispatch_id) \
                   ORDER BY delivery_id";
        query_texts(&self.database(), sql)
    }

    /// Waits until the deliveries are these.
    #[track_caller]
    fn wait_for_deliveries(&self, expected: &[&str]) {
        let mut last = Vec::new();
        let is_reached = snell_test_support::wait::wait_until_within(snell_test_support::wait::WAIT_TIMEOUT, || {
            std::thread::yield_now();
            last = self.list_deliveries();
            (last == expected).then_some(())
        });
        assert!(is_reached.is_some(), "{last:?} instead of {expected:?}");
    }

    fn find_daemon(&self) -> u32 {
        let data = self.sandbox.data();
        let words = [env!("CARGO_BIN_EXE_snell"), "daemon", data.to_str().unwrap(), "--job=store"];
        let words = words.map(str::to_owned);
        wait_until(|| find_processes(|process| process.command_line().starts_with(&words)).first().copied())
    }

    /// Ends the daemon, and waits until it is gone.
    fn end_daemon(&self, signal: Signal) {
        let daemon = self.find_daemon();
        send_signal(daemon, signal);
        wait_until(|| (!is_process_running(daemon)).then_some(()));
    }

    /// The rows of a query.
    fn query(&self, sql: &str) -> Vec<Value> {
        query_rows(&self.database(), sql)
    }
}

/// A `[notify]` with a webhook at this server, without a delay.
fn webhook_config(server: &StubServer, more: &str) -> String {
    format!(
        "[notify]\nafter = \"1ms\"\nwebhook = {{ url = \"{}/hook\", secret_env = \"KEY\" }}\n{more}\n",
        server.url()
    )
}

/// A server that accepts everything.
fn start_target() -> StubServer {
    StubServer::with_reply(StubReply::answer(200, ""))
}
