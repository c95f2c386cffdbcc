//! A test receiver that waits for one event.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A larger body is not an event.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long a client may take.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);

/// A test receiver that waits for one event.
#[derive(Debug)]
pub(super) struct SelfTestReceiver {
    address: SocketAddr,
    received: mpsc::Receiver<SelfTestRequest>,
}

/// A received request.
#[derive(Debug)]
pub(super) struct SelfTestRequest {
    /// The method and the path: `POST /hook/stop`.
    pub(super) line: String,
    pub(super) body: Value,
}

impl SelfTestReceiver {
    pub(super) fn open() -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = socket.local_addr()?;
        let (sender, received) = mpsc::channel();
        // The thread ends with the program.
        thread::spawn(move || {
            for stream in socket.incoming().flatten() {
                if let Some(request) = read_request(stream)
                    && sender.send(request).is_err()
                {
                    break;
                }
            }
        });
        Ok(Self { address, received })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The first request, if one arrives.
    pub(super) fn wait_for_request(&self) -> Option<SelfTestRequest> {
        self.received.recv_timeout(CLIENT_TIMEOUT).ok()
    }
}

/// Reads one request, and answers 200.
fn read_request(stream: TcpStream) -> Option<SelfTestRequest> {
    stream.set_read_timeout(Some(CLIENT_TIMEOUT)).ok()?;
    let mut reader = BufReader::new(stream);
    let first = read_header_line(&mut reader)?;
    let mut length = 0;
    loop {
        let header = read_header_line(&mut reader)?;
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; Some(length).filter(|length| *length <= MAX_BODY_BYTES)?];
    reader.read_exact(&mut body).ok()?;
    let answer = "{\"status\":\"ok\"}";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(reader.get_mut(), "{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).ok()?;
    Some(SelfTestRequest {
        line: first.rsplit_once(' ').map_or(first.as_str(), |(line, _)| line).to_owned(),
        body: serde_json::from_slice(&body).ok()?,
    })
}

fn read_header_line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    reader.by_ref().take(8 * 1024).read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| line.trim_end().to_owned())
}
