//! A scripted model: a server on this machine that answers an agent as a test wants.
//!
//! It speaks the protocols of `PROTOCOLS`. Which turn of the [`ModelScript`] is due stands in the request itself, as marks
//! in earlier answers. So retries, resumed sessions and requests beside the work need no bookkeeping.

mod answer;
mod anthropic;
mod chat_completions;
mod conversation;
mod gemini;
mod responses;
mod script;
#[cfg(test)]
mod tests;

pub(crate) use answer::NativeCall;
pub use conversation::{MessageAuthor, ModelMessage, ModelRequest};
pub use script::{ModelScript, ModelTurn, SUBAGENT_WORDS, ScriptedCall};

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::agents::RealAgent;
use crate::model::answer::{AnswerPause, ModelAnswer};
use crate::stub_server::StubRequest;
use crate::wait::wait_until_within;

/// A protocol that agents and models speak.
struct ModelProtocol {
    /// How the path of a request ends.
    path_ends: &'static [&'static str],
    read_request: fn(&str, &Value) -> ModelRequest,
    write_body: fn(&ModelAnswer) -> Value,
    write_events: fn(&ModelAnswer) -> Vec<Value>,
    /// The text after the last event.
    stream_end: &'static str,
}

/// So long may an agent take until it asks the model, on a busy machine.
const REQUEST_LIMIT: Duration = Duration::from_secs(180);

const PROTOCOLS: &[ModelProtocol] = &[
    ModelProtocol {
        path_ends: &["/messages"],
        read_request: anthropic::read_request,
        write_body: anthropic::write_body,
        write_events: anthropic::write_events,
        stream_end: "",
    },
    ModelProtocol {
        path_ends: &["/responses"],
        read_request: responses::read_request,
        write_body: responses::write_body,
        write_events: responses::write_events,
        stream_end: "",
    },
    ModelProtocol {
        path_ends: &["/chat/completions"],
        read_request: chat_completions::read_request,
        write_body: chat_completions::write_body,
        write_events: chat_completions::write_events,
        stream_end: "data: [DONE]\n\n",
    },
    ModelProtocol {
        path_ends: &[":generateContent", ":streamGenerateContent"],
        read_request: gemini::read_request,
        write_body: gemini::write_body,
        write_events: gemini::write_events,
        stream_end: "",
    },
];

/// The body of a refusal: a fault of the request itself, so a retry makes no sense.
const REFUSAL: &str =
    r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "refused by the script"}}"#;

/// Requests that need no script: the end of the path, and the answer.
const FIXED_ANSWERS: &[(&str, &str)] = &[
    ("/count_tokens", r#"{"input_tokens": 100}"#),
    (":countTokens", r#"{"totalTokens": 100}"#),
    ("/models", r#"{"object": "list", "data": [{"id": "fake", "object": "model", "created": 1, "owned_by": "test"}]}"#),
];

/// The server. It listens on a port of its own, until the test ends.
pub struct ScriptedModel {
    address: SocketAddr,
    state: Arc<ModelState>,
}

struct ModelState {
    agent: &'static RealAgent,
    script: Mutex<ModelScript>,
    requests: Mutex<Vec<ModelRequest>>,
    gate: Mutex<AnswerGate>,
    gate_changed: Condvar,
}

/// Counts the answers that pause, and those that may go on.
#[derive(Default)]
struct AnswerGate {
    held: usize,
    released: usize,
}

impl ScriptedModel {
    /// A model that plays a script to an agent.
    pub fn start(agent: &'static RealAgent, script: ModelScript) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(ModelState {
            agent,
            script: Mutex::new(script),
            requests: Mutex::default(),
            gate: Mutex::default(),
            gate_changed: Condvar::new(),
        });
        let served = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&served);
                // A client that goes away is no fault of the server.
                thread::spawn(move || stream.ok().and_then(|stream| state.serve_connection(stream)));
            }
        });
        Self { address, state }
    }

    /// `http://HOST:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Plays another script from now on.
    pub fn set_script(&self, script: ModelScript) {
        *self.state.script.lock().unwrap() = script;
    }

    /// All requests for an answer so far, without those beside the work.
    pub fn requests(&self) -> Vec<ModelRequest> {
        let requests = self.state.requests.lock().unwrap();
        requests.iter().filter(|request| !request.is_side_request()).cloned().collect()
    }

    /// Whether the model read these words from the user, a tool or a hook.
    pub fn has_read(&self, words: &str) -> bool {
        self.requests().iter().any(|request| request.contains(words))
    }

    /// Waits until this many answers paused since the start.
    #[track_caller]
    pub fn wait_for_held_answers(&self, count: usize) {
        let is_held = || (self.state.gate.lock().unwrap().held >= count).then_some(());
        wait_until_within(REQUEST_LIMIT, is_held).expect("no request to hold");
    }

    /// Lets the answers that pause go on.
    pub fn release(&self) {
        let mut gate = self.state.gate.lock().unwrap();
        gate.released = gate.held;
        self.state.gate_changed.notify_all();
    }
}

impl ModelState {
    /// Answers the request of a connection, and closes it.
    fn serve_connection(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let request = StubRequest::read(&mut reader)?;
        let stream = reader.get_mut();
        let path = request.path();
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        if let Some(protocol) = PROTOCOLS.iter().find(|protocol| ends(protocol.path_ends)) {
            return self.answer_request(protocol, &request, stream);
        }
        match FIXED_ANSWERS.iter().find(|(end, _)| ends(&[end])) {
            Some((_, body)) => write_json(stream, "200 OK", body),
            None => write_json(stream, "404 Not Found", r#"{"error": {"message": "unknown path"}}"#),
        }
    }

    fn answer_request(&self, protocol: &ModelProtocol, request: &StubRequest, stream: &mut TcpStream) -> Option<()> {
        let body = serde_json::from_str(&request.body).ok()?;
        let request = (protocol.read_request)(request.path(), &body);
        let answer = self.choose_answer(&request);
        let is_stream = request.is_stream;
        self.requests.lock().unwrap().push(request);
        if answer.pause == AnswerPause::BeforeFirstToken {
            self.hold_answer();
        }
        if answer.is_refusal {
            return write_json(stream, "400 Bad Request", REFUSAL);
        }
        if !is_stream {
            return write_json(stream, "200 OK", &(protocol.write_body)(&answer).to_string());
        }
        let events = (protocol.write_events)(&answer);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").ok()?;
        for (event, index) in events.iter().zip(0..) {
            if answer.pause == AnswerPause::Halfway && index == events.len() / 2 {
                self.hold_answer();
            }
            write_event(stream, event)?;
        }
        stream.write_all(protocol.stream_end.as_bytes()).ok()
    }

    fn choose_answer(&self, request: &ModelRequest) -> ModelAnswer {
        let last = request.last_played_turn();
        if request.is_side_request() {
            return ModelAnswer::beside_the_work(last);
        }
        let script = self.script.lock().unwrap();
        let turns = if request.is_of_subagent() { &script.subagent_turns } else { &script.turns };
        let due = last.map_or(0, |last| last + 1);
        let end = ModelTurn::Text("The script has ended.".to_owned());
        ModelAnswer::from_turn(turns.get(due).unwrap_or(&end), due, &self.agent.tools)
    }

    /// Pauses until the test releases all answers that paused up to now.
    fn hold_answer(&self) {
        let mut gate = self.gate.lock().unwrap();
        gate.held += 1;
        let ticket = gate.held;
        let is_held = |gate: &mut AnswerGate| gate.released < ticket;
        let _released: MutexGuard<'_, _> = self.gate_changed.wait_while(gate, is_held).unwrap();
    }
}

/// One event of a stream. Its name stands before it where it has one.
fn write_event(stream: &mut TcpStream, event: &Value) -> Option<()> {
    let name = event["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    stream.write_all(format!("{name}data: {event}\n\n").as_bytes()).ok()
}

fn write_json(stream: &mut TcpStream, status: &str, body: &str) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).ok()
}
