//! A real `snell serve`, and events told to it over HTTP.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use snell_test_support::files::set_file_mode;
use ureq::Agent;

use crate::support::CliSandbox;

/// A server in a sandbox of its own, ended with the test.
pub struct BrowserTestServer {
    pub sandbox: CliSandbox,
    http: Agent,
    /// `127.0.0.1:PORT`
    address: String,
    process: Child,
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
        let sandbox = CliSandbox::new().home_file("token", token);
        let file = sandbox.home().join("token");
        set_file_mode(&file, 0o600);
        Self::in_sandbox(sandbox, &["--token-file", file.to_str().unwrap()])
    }

    /// One that finds what was prepared in this sandbox.
    pub fn in_sandbox(sandbox: CliSandbox, arguments: &[&str]) -> Self {
        let sandbox = sandbox.env("SNELL_SCRIBE", "off");
        let (process, address) = spawn_server(&sandbox, "127.0.0.1:0", arguments);
        Self { sandbox, http: Agent::config_builder().proxy(None).build().into(), address, process }
    }

    /// Kills it, without a chance to say goodbye.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again where it was.
    pub fn restart(&mut self) {
        (self.process, self.address) = spawn_server(&self.sandbox, &self.address, &[]);
    }

    /// The address of one of its pages.
    pub fn page_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it answers there.
    pub fn get_page(&self, path: &str) -> String {
        let mut answer = self.http.get(self.page_url(path)).call().unwrap();
        answer.body_mut().read_to_string().unwrap()
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
        let request = self.http.post(self.page_url(&format!("/hook/{route}")));
        let request = request.content_type("application/json");
        let mut answer = request.send(fields.to_string()).unwrap();
        let told: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        told["agent_id"].as_i64().unwrap()
    }
}

impl Drop for BrowserTestServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn_server(sandbox: &CliSandbox, address: &str, arguments: &[&str]) -> (Child, String) {
    let mut command = sandbox.command(&["serve", "--log", "off", "--addr", address]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(process.stdout.as_mut().unwrap());
    said.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("Snell listens on http://");
    let address = address.unwrap_or_else(|| panic!("no server: {line}")).to_owned();
    (process, address)
}
