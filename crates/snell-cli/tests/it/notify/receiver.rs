//! A receiver that keeps the events it is sent.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use snell_test_support::stub_server::{StubReply, StubRequest, StubServer};

/// How a receiver treats a request that it has read.
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

impl ReceiverBehavior {
    fn to_reply(self) -> StubReply {
        match self {
            Self::Answers(status) => StubReply::answer(status, format!("{{\"status\":\"told {status}\"}}")),
            Self::IsSlow => StubReply::Slow(Duration::from_millis(300)),
            Self::IsSilent => StubReply::Silent,
            Self::Dribbles => StubReply::Dribble,
            Self::HangsUp => StubReply::HangUp,
            Self::TalksNonsense => StubReply::Garbage,
        }
    }
}

/// A receiver on a port of its own.
pub struct NotifyReceiver(StubServer);

impl NotifyReceiver {
    pub fn with_behavior(behavior: ReceiverBehavior) -> Self {
        Self(StubServer::with_reply(behavior.to_reply()))
    }

    pub fn new() -> Self {
        Self::with_behavior(ReceiverBehavior::Answers(200))
    }

    /// A receiver at an address at which nobody is.
    pub fn bind(address: SocketAddr, behavior: ReceiverBehavior) -> Self {
        Self(StubServer::bind(address, move |_| behavior.to_reply()))
    }

    pub fn url(&self) -> String {
        self.0.url()
    }

    pub fn set_behavior(&self, behavior: ReceiverBehavior) {
        self.0.set_reply(behavior.to_reply());
    }

    pub fn requests(&self) -> Vec<StubRequest> {
        self.0.requests()
    }

    /// The events that a server would store: each once, by its id, in the order in which they came.
    pub fn unique_events(&self) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let bodies = self.requests().into_iter().map(|request| request.json());
        bodies.filter(|body| seen.insert(body["event_id"].as_str().unwrap().to_owned())).collect()
    }

    /// The prompts of these events.
    pub fn unique_prompts(&self) -> Vec<String> {
        let stored = self.unique_events();
        stored.iter().map(|body| body["prompt"].as_str().unwrap().to_owned()).collect()
    }
}
