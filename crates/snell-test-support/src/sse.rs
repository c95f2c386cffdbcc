//! A client of the stream of changes (server-sent events).

use std::io::{self, BufRead, BufReader};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::Value;

use crate::http::{HttpRequest, HttpResponse};
use crate::wait::WAIT_TIMEOUT;

/// A client that reads a stream.
#[derive(Debug)]
pub struct SseClient {
    /// The response without a body.
    pub head: HttpResponse,
    reader: BufReader<TcpStream>,
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct SseEvent {
    /// The number of the change.
    pub id: i64,
    /// The name of the event.
    pub event: String,
    /// The data.
    pub data: Value,
}

impl SseClient {
    /// Sends a request for a stream.
    #[track_caller]
    pub fn open(request: &HttpRequest) -> Self {
        Self::try_open(request).unwrap()
    }

    /// As [`SseClient::open`], at a server that may end at any time.
    pub fn try_open(request: &HttpRequest) -> io::Result<Self> {
        Self::from_connection(request.connect()?)
    }

    /// Reads the head of a response.
    pub fn from_connection(stream: TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Self { head: HttpResponse::parse(head.as_bytes()), reader })
    }

    /// The lines up to the next empty one; `None` if the stream has ended.
    #[track_caller]
    pub fn read_block(&mut self) -> Option<Vec<String>> {
        self.try_read_block().unwrap()
    }

    /// As [`SseClient::read_block`]. A block without an end is an error.
    fn try_read_block(&mut self) -> io::Result<Option<Vec<String>>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let length = self.reader.read_line(&mut line)?;
            if length == 0 && lines.is_empty() {
                return Ok(None);
            }
            match line.strip_suffix('\n') {
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some("") => return Ok(Some(lines)),
                Some(line) => lines.push(line.to_owned()),
            }
        }
    }

    /// The number from which a client that reconnects goes on, as the first block of a stream names it.
    #[track_caller]
    pub fn read_greeting(&mut self) -> Option<i64> {
        let lines = self.read_block().unwrap();
        assert_eq!(lines[..2], [": connected", "retry: 2000"]);
        let id = lines.get(2).map(|line| line.strip_prefix("id: ").unwrap());
        id.map(|id| id.parse().unwrap())
    }

    /// The next event, without comments and greetings; `None` if the stream has ended.
    #[track_caller]
    pub fn read_event(&mut self) -> Option<SseEvent> {
        self.try_read_event().unwrap()
    }

    /// As [`SseClient::read_event`]. An event without an end is an error.
    pub fn try_read_event(&mut self) -> io::Result<Option<SseEvent>> {
        let started = Instant::now();
        // Comments that keep the connection alive would let it wait for ever.
        while started.elapsed() < WAIT_TIMEOUT {
            let Some(lines) = self.try_read_block()? else {
                return Ok(None);
            };
            let field = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                return Ok(Some(SseEvent {
                    id: field("id: ").unwrap().parse().unwrap(),
                    event: field("event: ").unwrap().to_owned(),
                    data: serde_json::from_str(data).unwrap(),
                }));
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// The next event, which must come.
    #[track_caller]
    pub fn next_event(&mut self) -> SseEvent {
        self.read_event().expect("the stream has ended")
    }

    /// The data of the next event of this name; others are passed over.
    #[track_caller]
    pub fn next_data_of(&mut self, event: &str) -> Value {
        self.find_event(|next| next.event == event).data
    }

    /// The first event that matches; others are passed over.
    #[track_caller]
    pub fn find_event(&mut self, matches: impl Fn(&SseEvent) -> bool) -> SseEvent {
        self.read_until(matches).pop().unwrap()
    }

    /// All events up to the first one that matches.
    #[track_caller]
    pub fn read_until(&mut self, is_last: impl Fn(&SseEvent) -> bool) -> Vec<SseEvent> {
        let mut events = Vec::new();
        loop {
            events.push(self.next_event());
            if is_last(&events[events.len() - 1]) {
                return events;
            }
        }
    }
}
