//! A server of a test's own, and clients that say exactly what they are told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use snell_server::{ServeError, ServeSettings, ServerListener, serve};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// Longer than anything takes, also on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and the directory that it keeps everything in.
pub struct TestApp {
    pub directory: TempDir,
    pub address: SocketAddr,
    settings: ServeSettings,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl TestApp {
    /// The server as it is by default.
    pub fn start() -> Self {
        Self::with_settings(|_| {})
    }

    /// The server with other settings.
    pub fn with_settings(change: impl FnOnce(&mut ServeSettings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = ServeSettings::new(directory.path());
        change(&mut settings);
        Self::in_directory(directory, settings, "127.0.0.1:0")
    }

    /// The server as it is by default, on another address.
    pub fn with_address(address: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = ServeSettings::new(directory.path());
        Self::in_directory(directory, settings, address)
    }

    fn in_directory(directory: TempDir, settings: ServeSettings, address: &str) -> Self {
        let listener = ServerListener::bind(address.parse().unwrap()).unwrap();
        let (ready, is_ready) = channel();
        let address = listener.address();
        let listener = listener.with_ready_callback(move |_| ready.send(()).unwrap());
        let (stop, stopped) = oneshot::channel();
        let of_thread = settings.clone();
        let thread = std::thread::spawn(move || run_server(of_thread, listener, stopped));
        if is_ready.recv_timeout(PATIENCE).is_err() {
            panic!("the server did not start: {:?}", thread.join());
        }
        Self { directory, address, settings, stop: Some(stop), thread: Some(thread) }
    }

    /// Ends the server, and waits until it has.
    pub fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }

    /// Tells the server to end, and does not wait.
    pub fn request_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Ends the server, and starts another one in the same directory.
    pub fn restart(mut self) -> Self {
        self.stop();
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        Self::in_directory(directory, self.settings.clone(), "127.0.0.1:0")
    }

    /// Starts a server that cannot.
    pub fn start_error(settings: ServeSettings, address: &str) -> String {
        let listener = ServerListener::bind(address.parse().unwrap()).unwrap();
        run_server(settings, listener, oneshot::channel().1).unwrap_err().to_string()
    }

    pub fn data_dir(&self) -> &Path {
        self.directory.path()
    }

    pub fn database_path(&self) -> PathBuf {
        self.data_dir().join("snell.db")
    }

    /// A request in the making.
    pub fn request(&self, method: &str, path: &str) -> TestRequest {
        TestRequest {
            address: self.address,
            line: format!("{method} {path} HTTP/1.1"),
            headers: vec![format!("Host: {}", self.address)],
            body: Vec::new(),
        }
    }

    pub fn get(&self, path: &str) -> TestResponse {
        self.request("GET", path).send()
    }

    /// What a page shows, which must be there.
    pub fn get_json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    /// Tells the server an event.
    pub fn post_hook(&self, route: &str, body: &Value) -> TestResponse {
        self.request("POST", &format!("/hook/{route}")).json(&body.to_string()).send()
    }

    /// Tells the server an event that it must take, and answers what it says.
    pub fn send_event(&self, route: &str, body: &Value) -> Value {
        let answer = self.post_hook(route, body);
        assert_eq!(answer.status, 200, "{route}: {}", answer.body);
        answer.json()
    }

    /// Begins a session, in a directory of its own.
    pub fn begin_session(&self, session: &str) -> Value {
        let cwd = self.data_dir().join("projects").join(session);
        self.send_event("session-start", &json!({"session_id": session, "cwd": cwd}))
    }

    /// Listens to the stream; the query begins with a question mark.
    pub fn open_stream(&self, query: &str) -> SseClient {
        self.open_stream_after(query, None)
    }

    /// Listens to the stream as somebody who has seen everything up to a change.
    pub fn open_stream_after(&self, query: &str, seen: Option<&str>) -> SseClient {
        let mut request = self.request("GET", &format!("/api/events/stream{query}")).without_chunking();
        if let Some(seen) = seen {
            request = request.header(&format!("Last-Event-ID: {seen}"));
        }
        SseClient::open(&request)
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

fn run_server(
    settings: ServeSettings,
    listener: ServerListener,
    stopped: oneshot::Receiver<()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(serve(settings, listener, stopped))
}

/// A request in the making.
pub struct TestRequest {
    address: SocketAddr,
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl TestRequest {
    pub fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }

    /// Asks for an answer in one piece, without chunks, which come with the next version of the protocol.
    pub fn without_chunking(mut self) -> Self {
        self.line = self.line.replace("HTTP/1.1", "HTTP/1.0");
        self
    }

    /// Another name of the server than its own.
    pub fn host(mut self, host: &str) -> Self {
        self.headers[0] = format!("Host: {host}");
        self
    }

    pub fn without_host(mut self) -> Self {
        self.headers.remove(0);
        self
    }

    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.headers.push(format!("Content-Length: {}", body.len()));
        self
    }

    pub fn json(self, body: &str) -> Self {
        self.header("Content-Type: application/json").body(body.as_bytes())
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n{}\r\n\r\n", self.line, self.headers.join("\r\n")).into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    pub fn send(self) -> TestResponse {
        let request = self.header("Connection: close");
        let mut stream = TcpStream::connect(request.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        exchange_request(&mut stream, &request)
    }

    /// Sends it through the unix socket of this directory.
    pub fn send_over_unix_socket(self, directory: &Path) -> TestResponse {
        let request = self.header("Connection: close");
        let mut stream = UnixStream::connect(directory.join("snell.sock")).unwrap();
        exchange_request(&mut stream, &request)
    }
}

fn exchange_request(stream: &mut (impl Read + Write), request: &TestRequest) -> TestResponse {
    stream.write_all(&request.bytes()).unwrap();
    let mut told = Vec::new();
    stream.read_to_end(&mut told).unwrap();
    TestResponse::parse(&told)
}

/// What the server answered.
#[derive(Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl TestResponse {
    pub fn parse(told: &[u8]) -> Self {
        let told = String::from_utf8_lossy(told);
        let (head, body) = told.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {told:?}"));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_owned(), value.to_owned())
        };
        Self { status, headers: lines.map(header).collect(), body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(other, _)| other == name);
        header.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The message of a refusal.
    pub fn message(&self) -> String {
        let told = self.json();
        assert_eq!(told["status"], "error", "{told}");
        told["message"].as_str().unwrap().to_owned()
    }
}

/// Somebody who listens.
pub struct SseClient {
    pub head: TestResponse,
    reader: BufReader<TcpStream>,
}

/// Something that was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct SseEvent {
    pub id: i64,
    pub event: String,
    pub data: Value,
}

impl SseClient {
    fn open(request: &TestRequest) -> Self {
        let mut stream = TcpStream::connect(request.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&request.bytes()).unwrap();
        Self::from_connection(stream)
    }

    /// Reads the head of what comes on a connection.
    pub fn from_connection(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "no answer");
        }
        Self { head: TestResponse::parse(head.as_bytes()), reader }
    }

    /// The lines up to the next empty one; nothing if the stream has ended.
    pub fn read_block(&mut self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 {
                assert!(lines.is_empty(), "it ended in the middle: {lines:?}");
                return None;
            }
            match line.trim_end_matches('\n') {
                "" => return Some(lines),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// The number by which to come back, as the stream tells it first to whoever is new.
    pub fn read_greeting(&mut self) -> Option<i64> {
        let lines = self.read_block().unwrap();
        assert_eq!(lines[..2], [": connected", "retry: 2000"]);
        let id = lines.get(2).map(|line| line.strip_prefix("id: ").unwrap());
        id.map(|id| id.parse().unwrap())
    }

    /// The next event, without comments and greetings; nothing if the stream has ended.
    pub fn read_event(&mut self) -> Option<SseEvent> {
        loop {
            let lines = self.read_block()?;
            let field = |name: &str| {
                let line = lines.iter().find_map(|line| line.strip_prefix(name));
                line.map(str::to_owned)
            };
            if let Some(data) = field("data: ") {
                return Some(SseEvent {
                    id: field("id: ").unwrap().parse().unwrap(),
                    event: field("event: ").unwrap(),
                    data: serde_json::from_str(&data).unwrap(),
                });
            }
        }
    }

    pub fn next_event(&mut self) -> SseEvent {
        self.read_event().expect("the stream has ended")
    }

    /// Everything up to the first event that is so.
    pub fn read_until(&mut self, is_last: impl Fn(&SseEvent) -> bool) -> Vec<SseEvent> {
        let mut all = Vec::new();
        loop {
            all.push(self.next_event());
            if is_last(&all[all.len() - 1]) {
                return all;
            }
        }
    }
}
