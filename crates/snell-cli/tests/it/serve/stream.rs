//! Somebody who listens to the stream.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::Value;

use super::PATIENCE;

/// Somebody who listens.
pub struct EventStreamClient(BufReader<TcpStream>);

/// Something that was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamedEvent {
    pub id: i64,
    pub event: String,
    pub data: Value,
}

impl EventStreamClient {
    /// Listens as somebody who has seen everything up to a change, or who wants to hear what comes.
    pub fn open(address: &str, query: &str, seen: Option<i64>) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let seen = seen.map_or(String::new(), |seen| format!("Last-Event-ID: {seen}\r\n"));
        // Without chunks, which come with the next version of the protocol.
        let request = format!("GET /api/events/stream{query} HTTP/1.0\r\nHost: {address}\r\n{seen}\r\n");
        stream.write_all(request.as_bytes())?;
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        Ok(Self(reader))
    }

    /// The next event, without comments; nothing if the stream has ended. What it broke off in the middle of was not heard.
    pub fn read_event(&mut self) -> io::Result<Option<StreamedEvent>> {
        let began = Instant::now();
        // The signs of life that come while nothing happens would let it wait for ever.
        while began.elapsed() < PATIENCE {
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if self.0.read_line(&mut line)? == 0 || !line.ends_with('\n') {
                    return Ok(None);
                }
                match line.trim_end() {
                    "" => break,
                    line => lines.push(line.to_owned()),
                }
            }
            let field = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                return Ok(Some(StreamedEvent {
                    id: field("id: ").unwrap().parse().unwrap(),
                    event: field("event: ").unwrap().to_owned(),
                    data: serde_json::from_str(data).unwrap(),
                }));
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// The next event, which must come.
    pub fn next_event(&mut self) -> StreamedEvent {
        self.read_event().unwrap().expect("the stream has ended")
    }

    /// The data of the next event of this kind; others are passed over.
    pub fn next_data_of(&mut self, event: &str) -> Value {
        self.find_event(|heard| heard.event == event).data
    }

    /// The first event that is so; others are passed over.
    pub fn find_event(&mut self, is_it: impl Fn(&StreamedEvent) -> bool) -> StreamedEvent {
        loop {
            let heard = self.next_event();
            if is_it(&heard) {
                return heard;
            }
        }
    }
}
