//! A real `snell serve`, and events sent to it over HTTP.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use snell_store::Store;
use snell_store::requests::{AnswerChannel, NewRequest, RequestAnswer, RequestKind, RequestOrigin, RequestView};
use snell_test_support::serve_process::ServeProcess;

use crate::support::CliSandbox;

/// A server in its own sandbox, which ends with the test.
pub struct BrowserTestServer {
    pub sandbox: CliSandbox,
    process: ServeProcess,
}

impl BrowserTestServer {
    /// A server with default settings.
    pub fn start() -> Self {
        Self::with_arguments(&[])
    }

    /// A server with these arguments.
    pub fn with_arguments(arguments: &[&str]) -> Self {
        Self::in_sandbox(CliSandbox::new(), arguments)
    }

    /// A server with this token.
    pub fn with_token(token: &str) -> Self {
        let sandbox = CliSandbox::new().secret_home_file("token", token);
        let file = sandbox.home().join("token");
        Self::in_sandbox(sandbox, &["--token-file", file.to_str().unwrap()])
    }

    /// A server in this prepared sandbox.
    pub fn in_sandbox(sandbox: CliSandbox, arguments: &[&str]) -> Self {
        let sandbox = sandbox.env("SNELL_SCRIBE", "off");
        let process = spawn_server(&sandbox, "127.0.0.1:0", arguments);
        Self { sandbox, process }
    }

    /// Kills the server without a shutdown.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts the server again on the same address.
    pub fn restart(&mut self) {
        self.process = spawn_server(&self.sandbox, &self.process.address, &[]);
    }

    /// The address of one of its pages.
    pub fn page_url(&self, path: &str) -> String {
        self.process.url(path)
    }

    /// The content of a page.
    pub fn get_page(&self, path: &str) -> String {
        let response = self.process.request("GET", path).without_chunking().send();
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.body
    }

    /// The value of the metric whose line starts with this.
    pub fn read_metric(&self, begin: &str) -> u64 {
        let metrics = self.get_page("/metrics");
        let line = metrics.lines().find(|line| line.starts_with(begin));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Opens a request of an agent, as a hook does.
    pub fn open_request(&self, agent_id: i64, change: impl FnOnce(&mut NewRequest)) -> RequestView {
        let opened_at = Timestamp::now();
        let mut request = NewRequest {
            kind: RequestKind::Permission,
            origin: RequestOrigin::Agent,
            channel: AnswerChannel::Reply,
            agent_id,
            session_id: Some("s1".to_owned()),
            event_id: None,
            tool: Some("Bash".to_owned()),
            tool_use_id: None,
            title: "Bash: make".to_owned(),
            detail: json!({"input": {"command": "make"}, "cwd": "/srv/shop"}),
            opened_at,
            expires_at: opened_at + Duration::from_secs(600),
            waiter: None,
        };
        change(&mut request);
        self.open_store().open_request(&request).unwrap()
    }

    /// The answer of a request, as its agent gets it; nothing if there is none yet.
    pub fn take_answer(&self, request: &RequestView) -> Option<RequestAnswer> {
        self.open_store().take_answer(request.request_id, Timestamp::now()).unwrap()
    }

    pub fn open_store(&self) -> Store {
        Store::open(&self.sandbox.database()).unwrap().store
    }

    /// Sends a JSON body, which must be accepted.
    pub fn post_json(&self, path: &str, body: &Value) {
        let response = self.process.request("POST", path).json(&body.to_string()).send();
        assert_eq!(response.status, 200, "{path}: {response:?}");
    }

    /// Sends an event, which must be accepted. Returns the number of the agent.
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
