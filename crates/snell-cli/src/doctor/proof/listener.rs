//! A receiver that waits for one event, for the proof that it arrives.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// More is no event.
const MAX_BYTES: usize = 1024 * 1024;

/// How long a client may take over anything.
const PATIENCE: Duration = Duration::from_secs(5);

/// A receiver that waits for one event.
#[derive(Debug)]
pub(super) struct Listener {
    address: SocketAddr,
    received: mpsc::Receiver<Request>,
}

/// What arrived.
#[derive(Debug)]
pub(super) struct Request {
    /// The method and the path: `POST /hook/stop`.
    pub(super) line: String,
    pub(super) body: Value,
}

impl Listener {
    pub(super) fn open() -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = socket.local_addr()?;
        let (sender, received) = mpsc::channel();
        // It is left behind when nobody waits any more, and ends with the program.
        thread::spawn(move || {
            for stream in socket.incoming().flatten() {
                if let Some(request) = receive(stream)
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

    /// What arrived first, if anything does.
    pub(super) fn wait(&self) -> Option<Request> {
        self.received.recv_timeout(PATIENCE).ok()
    }
}

/// Takes one request, and says that all is well.
fn receive(stream: TcpStream) -> Option<Request> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut length = 0;
    loop {
        let header = line(&mut reader)?;
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; Some(length).filter(|length| *length <= MAX_BYTES)?];
    reader.read_exact(&mut body).ok()?;
    let answer = "{\"status\":\"ok\"}";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(
        reader.get_mut(),
        "{head}\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    )
    .ok()?;
    Some(Request {
        line: first
            .rsplit_once(' ')
            .map_or(first.as_str(), |(line, _)| line)
            .to_owned(),
        body: serde_json::from_slice(&body).ok()?,
    })
}

fn line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    reader.by_ref().take(8 * 1024).read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| line.trim_end().to_owned())
}
