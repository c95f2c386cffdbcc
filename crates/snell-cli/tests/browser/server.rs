//! A real `snell serve`, and events told to it over HTTP.

use serde_json::{Value, json};
use snell_test_support::serve_process::ServeProcess;

use crate::support::CliSandbox;

/// A server in a sandbox of its own, ended with the test.
pub struct BrowserTestServer {
    pub sandbox: CliSandbox,
    process: ServeProcess,
}

impl BrowserTestServer {
    /// One as anybody runs it.
    pub fn start() -> Self {
        Self::with_arguments(&[])
    }

    /// One with these arguments.
    pub fn with_arguments(arguments: &[&str]) -> Self {
        Self::in_sandbox(CliSandbox::new(), arguments)
    }

    /// One that wants this token.
    pub fn with_token(token: &str) -> Self {
        let sandbox = CliSandbox::new().secret_home_file("token", token);
        let file = sandbox.home().join("token");
        Self::in_sandbox(sandbox, &["--token-file", file.to_str().unwrap()])
    }

    /// One that finds what was prepared in this sandbox.
    pub fn in_sandbox(sandbox: CliSandbox, arguments: &[&str]) -> Self {
        let sandbox = sandbox.env("SNELL_SCRIBE", "off");
        let process = spawn_server(&sandbox, "127.0.0.1:0", arguments);
        Self { sandbox, process }
    }

    /// Kills it, without a chance to say goodbye.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again where it was.
    pub fn restart(&mut self) {
        self.process = spawn_server(&self.sandbox, &self.process.address, &[]);
    }

    /// The address of one of its pages.
    pub fn page_url(&self, path: &str) -> String {
        self.process.url(path)
    }

    /// What it answers there.
    pub fn get_page(&self, path: &str) -> String {
        let response = self.process.request("GET", path).without_chunking().send();
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.body
    }

    /// One of the numbers that it counts: that of the line of its metrics that begins so.
    pub fn read_metric(&self, begin: &str) -> u64 {
        let metrics = self.get_page("/metrics");
        let line = metrics.lines().find(|line| line.starts_with(begin));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Tells it an event of a session, which it must take; answers the agent's number.
    pub fn send_event(&self, session: &str, route: &str, mut fields: Value) -> i64 {
        fields["session_id"] = session.into();
        if fields.get("cwd").is_none() {
            fields["cwd"] = json!(self.sandbox.project());
        }
        self.process.send_event(route, &fields)["agent_id"].as_i64().unwrap()
    }
}

fn spawn_server(sandbox: &CliSandbox, address: &str, arguments: &[&str]) -> ServeProcess {
    let mut command = sandbox.command(&["serve", "--log", "off", "--addr", address]);
    ServeProcess::spawn(command.args(arguments)).unwrap_or_else(|error| panic!("no server: {error}"))
}
