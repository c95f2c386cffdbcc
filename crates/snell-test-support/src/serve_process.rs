//! `snell serve` as a process.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::http::HttpRequest;
use crate::process::{ChildGuard, Signal};
use crate::sse::SseClient;
use crate::wait::wait_until;

/// The line that `snell serve` prints when it listens, up to its address.
const READY: &str = "Snell listens on http://";

/// A server, which is killed when it is dropped.
#[derive(Debug)]
pub struct ServeProcess {
    /// `HOST:PORT`
    pub address: String,
    process: ChildGuard,
    /// Reads the standard error, so that a server that logs a lot never waits.
    stderr: Option<JoinHandle<String>>,
}

impl ServeProcess {
    /// Starts a server by a command, and waits until it listens. An error is its output.
    pub fn spawn(command: &mut Command) -> Result<Self, String> {
        let mut process = ChildGuard::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        let stderr = process.0.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || io::read_to_string(stderr).unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        match line.trim_end().strip_prefix(READY) {
            Some(address) => Ok(Self { address: address.to_owned(), process, stderr: Some(stderr) }),
            None => {
                process.0.wait().unwrap();
                Err(format!("{line}{}", stderr.join().unwrap()))
            }
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// The port at which it listens.
    pub fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request in the making.
    pub fn request(&self, method: &str, path: &str) -> HttpRequest {
        HttpRequest::new(&self.address, method, path)
    }

    /// The JSON of a page, which must be there.
    #[track_caller]
    pub fn get_json(&self, path: &str) -> Value {
        self.request("GET", path).try_send().unwrap().expect_json()
    }

    /// Sends an event, which it must take.
    #[track_caller]
    pub fn send_event(&self, route: &str, event: &Value) -> Value {
        HttpRequest::for_hook(&self.address, route, event).try_send().unwrap().expect_json()
    }

    /// The server's report about hooks.
    #[track_caller]
    pub fn hook_status(&self) -> Value {
        self.get_json("/hook/status")
    }

    /// The agent of a session, also if it has ended.
    #[track_caller]
    pub fn find_agent(&self, session: &str) -> Option<Value> {
        let agents = self.get_json("/api/agents?ended=true")["items"].take();
        let mut agents = agents.as_array().unwrap().iter();
        agents.find(|agent| agent["session_id"] == session).cloned()
    }

    /// Waits until the agent of a session is in a state.
    #[track_caller]
    pub fn wait_for_agent_state(&self, session: &str, state: &str) -> Value {
        wait_until(|| self.find_agent(session).filter(|agent| agent["state"] == state))
    }

    /// Opens the stream of changes; the query begins with a question mark.
    #[track_caller]
    pub fn open_stream(&self, query: &str) -> SseClient {
        let request = self.request("GET", &format!("/api/events/stream{query}"));
        SseClient::open(&request.without_chunking())
    }

    /// Kills it.
    pub fn kill(&mut self) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
    }

    /// Ends it with a signal; its exit code and its standard error.
    #[track_caller]
    pub fn stop_with_signal(mut self, signal: Signal) -> (Option<i32>, String) {
        self.process.send_signal(signal);
        let error = self.stderr.take().unwrap().join().unwrap();
        (self.process.0.wait().unwrap().code(), error)
    }
}
