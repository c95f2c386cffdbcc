//! A real little receiver: it keeps what it is sent, and can be in any mood.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use snell_test_support::wait::wait_until;

/// What a receiver does with a request that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverBehavior {
    /// It answers with this status.
    Answers(u16),
    /// It takes its time for each event, and takes it.
    IsSlow,
    /// It says nothing, and keeps the connection.
    IsSilent,
    /// It says an endless answer, a little at a time.
    Dribbles,
    /// It hangs up without an answer, although it has the event.
    HangsUp,
    /// It says something that is no HTTP.
    TalksNonsense,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The method and the path.
    pub line: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// A receiver on a port of its own.
pub struct NotifyReceiver {
    address: SocketAddr,
    shared: Arc<NotifyReceiverState>,
}

struct NotifyReceiverState {
    mood: Mutex<ReceiverBehavior>,
    requests: Mutex<Vec<ReceivedRequest>>,
    gone: AtomicBool,
}

impl NotifyReceiver {
    pub fn with_behavior(mood: ReceiverBehavior) -> Self {
        Self::bind("127.0.0.1:0".parse().unwrap(), mood)
    }

    pub fn new() -> Self {
        Self::with_behavior(ReceiverBehavior::Answers(200))
    }

    /// A receiver at an address at which nobody is.
    pub fn bind(address: SocketAddr, mood: ReceiverBehavior) -> Self {
        let listener = wait_until(|| TcpListener::bind(address).ok());
        let shared = Arc::new(NotifyReceiverState {
            mood: Mutex::new(mood),
            requests: Mutex::default(),
            gone: AtomicBool::new(false),
        });
        let receiver = Self { address: listener.local_addr().unwrap(), shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.gone.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A client that goes away is no fault of the receiver.
                thread::spawn(move || stream.ok().and_then(|stream| shared.serve_connection(stream)));
            }
        });
        receiver
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn set_behavior(&self, mood: ReceiverBehavior) {
        *self.shared.mood.lock().unwrap() = mood;
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// What it would have stored: every event once, by its id, in the order in which they came.
    pub fn unique_events(&self) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let bodies = self.requests().into_iter().map(|request| request.body);
        bodies.filter(|body| seen.insert(body["event_id"].as_str().unwrap().to_owned())).collect()
    }

    /// The prompts of what it would have stored.
    pub fn unique_prompts(&self) -> Vec<String> {
        let stored = self.unique_events();
        stored.iter().map(|body| body["prompt"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends it: from now on, nobody listens at its address.
    pub fn shut_down(self) -> SocketAddr {
        self.shared.gone.store(true, Ordering::Relaxed);
        // It looks when somebody comes.
        let _ = TcpStream::connect(self.address);
        wait_until(|| TcpStream::connect(self.address).is_err().then_some(()));
        self.address
    }
}

/// An address at which nobody is.
pub fn find_unused_address() -> SocketAddr {
    NotifyReceiver::new().shut_down()
}

impl NotifyReceiverState {
    /// Serves a connection until the client hangs up.
    fn serve_connection(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let request = read_request(&mut reader)?;
            let mood = *self.mood.lock().unwrap();
            self.requests.lock().unwrap().push(request);
            let stream = reader.get_mut();
            match mood {
                ReceiverBehavior::IsSlow => {
                    thread::sleep(Duration::from_millis(300));
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
                }
                ReceiverBehavior::Answers(status) => {
                    let body = format!("{{\"status\":\"told {status}\"}}");
                    let length = body.len();
                    let answer = format!(
                        "HTTP/1.1 {status} Told\r\ncontent-length: {length}\r\nlocation: http://127.0.0.1:1/\r\n\r\n{body}"
                    );
                    stream.write_all(answer.as_bytes()).ok()?;
                }
                ReceiverBehavior::IsSilent => return reader.read(&mut [0]).ok().map(drop),
                ReceiverBehavior::Dribbles => {
                    stream.write_all(b"HTTP/1.1 200 OK\r\n").ok()?;
                    loop {
                        stream.write_all(b"x-more: y\r\n").ok()?;
                        thread::sleep(Duration::from_millis(50));
                    }
                }
                ReceiverBehavior::HangsUp => return None,
                ReceiverBehavior::TalksNonsense => return stream.write_all(b"220 mail.example ready\r\n").ok(),
            }
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let headers: BTreeMap<_, _> = lines
        .get(1..)?
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { line: lines[0].clone(), headers, body: serde_json::from_slice(&body).ok()? })
}
