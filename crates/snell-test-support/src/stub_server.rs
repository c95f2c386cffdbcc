//! A small HTTP server that keeps the requests it gets, and replies as a test wants.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::wait::wait_until;

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StubReply {
    /// A response. Its `location` is another path of the same server, so that a client that follows redirects is noticed.
    Answer {
        /// The status code.
        status: u16,
        /// The body.
        body: String,
    },
    /// An empty response with status 200, after a while.
    Slow(Duration),
    /// Nothing; the connection stays open until the client closes it.
    Silent,
    /// A response without an end, a little at a time.
    Dribble,
    /// Nothing; the connection is closed.
    HangUp,
    /// Something that is not HTTP.
    Garbage,
}

impl StubReply {
    /// A response.
    pub fn answer(status: u16, body: impl Into<String>) -> Self {
        Self::Answer { status, body: body.into() }
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct StubRequest {
    /// The method, the path and the version.
    pub line: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; empty if the request has none.
    pub body: String,
}

impl StubRequest {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        let target = self.line.split(' ').nth(1).unwrap_or_default();
        target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
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
        let headers = lines.get(1..)?.iter().filter_map(|line| line.split_once(':'));
        let headers: BTreeMap<_, _> =
            headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
        let body = if headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked") {
            read_chunks(reader)?
        } else {
            let length = headers.get("content-length").map_or(Some(0), |length| length.parse().ok())?;
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            body
        };
        Some(Self { line: lines.swap_remove(0), headers, body: String::from_utf8(body).ok()? })
    }
}

/// Reads a body in chunks to its end.
fn read_chunks(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        // Each chunk ends with a line break.
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

type StubHandler = Arc<dyn Fn(&StubRequest) -> StubReply + Send + Sync>;

/// A server on a port of its own.
pub struct StubServer {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<StubServerState>,
    /// How many requests were returned one by one.
    read: AtomicUsize,
}

struct StubServerState {
    handler: Mutex<StubHandler>,
    requests: Mutex<Vec<StubRequest>>,
}

impl StubServer {
    /// A server that replies so to every request.
    pub fn with_reply(reply: StubReply) -> Self {
        Self::with_handler(move |_| reply.clone())
    }

    /// A server that replies to a request as this function says.
    pub fn with_handler(handler: impl Fn(&StubRequest) -> StubReply + Send + Sync + 'static) -> Self {
        Self::bind("127.0.0.1:0".parse().unwrap(), handler)
    }

    /// As [`StubServer::with_handler`], at an address at which nothing listens.
    pub fn bind(address: SocketAddr, handler: impl Fn(&StubRequest) -> StubReply + Send + Sync + 'static) -> Self {
        let listener = wait_until(|| TcpListener::bind(address).ok());
        let state = Arc::new(StubServerState { handler: Mutex::new(Arc::new(handler)), requests: Mutex::default() });
        let address = listener.local_addr().unwrap();
        let server = Self { address, state: Arc::clone(&state), read: AtomicUsize::new(0) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&state);
                // A client that goes away is no fault of the server.
                thread::spawn(move || stream.ok().and_then(|stream| state.serve_connection(stream)));
            }
        });
        server
    }

    /// `http://HOST:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replies so from now on.
    pub fn set_reply(&self, reply: StubReply) {
        *self.state.handler.lock().unwrap() = Arc::new(move |_| reply.clone());
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<StubRequest> {
        self.state.requests.lock().unwrap().clone()
    }

    /// Waits for the next request that was not returned yet.
    #[track_caller]
    pub fn next_request(&self) -> StubRequest {
        wait_until(|| self.take_request())
    }

    /// The next request that was not returned yet, if there is one.
    pub fn take_request(&self) -> Option<StubRequest> {
        let request = self.state.requests.lock().unwrap().get(self.read.load(Ordering::Relaxed)).cloned()?;
        self.read.fetch_add(1, Ordering::Relaxed);
        Some(request)
    }
}

impl StubServerState {
    /// Serves a connection until the client closes it.
    fn serve_connection(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let request = StubRequest::read(&mut reader)?;
            let handler = Arc::clone(&self.handler.lock().unwrap());
            let reply = handler(&request);
            self.requests.lock().unwrap().push(request);
            let stream = reader.get_mut();
            match reply {
                StubReply::Answer { status, body } => {
                    let length = body.len();
                    let head = format!("HTTP/1.1 {status} Answer\r\ncontent-length: {length}\r\nlocation: /elsewhere");
                    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).ok()?;
                }
                StubReply::Slow(time) => {
                    thread::sleep(time);
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
                }
                StubReply::Silent => return reader.read(&mut [0]).ok().map(drop),
                StubReply::Dribble => {
                    stream.write_all(b"HTTP/1.1 200 OK\r\n").ok()?;
                    loop {
                        stream.write_all(b"x-more: y\r\n").ok()?;
                        thread::sleep(Duration::from_millis(50));
                    }
                }
                StubReply::HangUp => return None,
                StubReply::Garbage => return stream.write_all(b"220 mail.example ready\r\n").ok(),
            }
        }
    }
}
