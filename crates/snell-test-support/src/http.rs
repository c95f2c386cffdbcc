//! An HTTP client that sends exactly what a test says.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::process::spawn_with_stdin;
use crate::skip::RootUser;
use crate::wait::WAIT_TIMEOUT;

/// A request in the making.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    address: String,
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl HttpRequest {
    /// A request to `HOST:PORT`, without a body.
    pub fn new(address: impl fmt::Display, method: &str, path: &str) -> Self {
        Self {
            address: address.to_string(),
            line: format!("{method} {path} HTTP/1.1"),
            headers: vec![format!("Host: {address}")],
            body: Vec::new(),
        }
    }

    /// An event for `POST /hook/ROUTE`.
    pub fn for_hook(address: impl fmt::Display, route: &str, event: &Value) -> Self {
        Self::new(address, "POST", &format!("/hook/{route}")).json(&event.to_string())
    }

    /// Adds a header: `Name: value`.
    #[must_use]
    pub fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }

    /// Asks for a response without chunks, which HTTP/1.0 does not have.
    #[must_use]
    pub fn without_chunking(mut self) -> Self {
        self.line = self.line.replace("HTTP/1.1", "HTTP/1.0");
        self
    }

    /// Replaces the name of the server.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self.headers[0] = format!("Host: {host}");
        self
    }

    /// Removes the name of the server.
    #[must_use]
    pub fn without_host(mut self) -> Self {
        self.headers.remove(0);
        self
    }

    /// Sets the body and its length.
    #[must_use]
    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header(&format!("Content-Length: {}", body.len()))
    }

    /// Sets a body of JSON text.
    #[must_use]
    pub fn json(self, body: &str) -> Self {
        self.header("Content-Type: application/json").body(body.as_bytes())
    }

    /// The request as it is sent.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n{}\r\n\r\n", self.line, self.headers.join("\r\n")).into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it, and leaves the connection open.
    pub(crate) fn connect(&self) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(WAIT_TIMEOUT))?;
        stream.write_all(&self.bytes())?;
        Ok(stream)
    }

    /// Sends it and reads the response.
    #[track_caller]
    pub fn send(self) -> HttpResponse {
        let mut bytes = Vec::new();
        self.header("Connection: close").connect().unwrap().read_to_end(&mut bytes).unwrap();
        HttpResponse::parse(&bytes)
    }

    /// As [`HttpRequest::send`], to a server that may end at any time. An incomplete response is an error.
    pub fn try_send(self) -> io::Result<HttpResponse> {
        let mut bytes = Vec::new();
        self.header("Connection: close").connect()?.read_to_end(&mut bytes)?;
        HttpResponse::parse_complete(&bytes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// As [`HttpRequest::send`], over a unix socket.
    #[track_caller]
    pub fn send_over_unix_socket(self, socket: &Path) -> HttpResponse {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(&self.header("Connection: close").bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        HttpResponse::parse(&bytes)
    }

    /// As [`HttpRequest::send`], as another user of the machine and to this host and port.
    #[track_caller]
    pub fn send_as_user(self, root: RootUser, uid: u32, host: &str, port: u16) -> HttpResponse {
        let request = self.header("Connection: close");
        let script = format!("exec 3<>/dev/tcp/{host}/{port}; cat >&3; cat <&3");
        HttpResponse::parse(&run_bash_as_user(root, uid, &script, &request.bytes()).stdout)
    }
}

/// Runs a line of bash as another user of the machine.
#[track_caller]
pub fn run_bash_as_user(_: RootUser, uid: u32, script: &str, stdin: &[u8]) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", script]).uid(uid).gid(uid).current_dir("/");
    spawn_with_stdin(&mut command, stdin).wait_with_output().unwrap()
}

/// A response.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl HttpResponse {
    /// Reads a response.
    #[track_caller]
    pub fn parse(bytes: &[u8]) -> Self {
        Self::try_parse(bytes).unwrap_or_else(|| panic!("no response: {:?}", String::from_utf8_lossy(bytes)))
    }

    /// Reads a response that is as long as it says.
    fn parse_complete(bytes: &[u8]) -> Option<Self> {
        let response = Self::try_parse(bytes)?;
        let length: usize = response.header("content-length")?.parse().ok()?;
        (response.body.len() == length).then_some(response)
    }

    fn try_parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines.map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())));
        Some(Self { status, headers: headers.collect::<Option<_>>()?, body: body.to_owned() })
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body as JSON of a response with status 200.
    #[track_caller]
    pub fn expect_json(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// The message of an error.
    #[track_caller]
    pub fn message(&self) -> String {
        let error = self.json();
        assert_eq!(error["status"], "error", "{error}");
        error["message"].as_str().unwrap().to_owned()
    }
}

/// An address of the loopback interface at which nothing listens.
pub fn find_unused_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
