//! `POST /hook/…`: an agent tells what happened. The body is read, checked, handed to the writer, and acknowledged once it
//! is stored.

mod body;
mod fields;
mod observe;
mod parse;

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use serde::Serialize;
use serde_json::{Map, Value};
use snell::EventName;
use snell_store::{Correlation, Receipt, State as AgentState};

use crate::app::{App, Shared};
use crate::error::{Refusal, json};
use crate::gate::{SenderIdentity, Via};
use crate::metrics::Outcome;

/// What an agent is answered.
#[derive(Serialize)]
struct Answer {
    status: &'static str,
    agent_id: i64,
    project_id: i64,
    state: AgentState,
    state_changed: bool,
    is_new_agent: bool,
    correlation_method: Correlation,
    duplicate: bool,
}

impl From<Receipt> for Answer {
    fn from(receipt: Receipt) -> Self {
        Self {
            status: "ok",
            agent_id: receipt.agent_id,
            project_id: receipt.project_id,
            state: receipt.state,
            state_changed: receipt.state_changed,
            is_new_agent: receipt.is_new_agent,
            correlation_method: receipt.correlation_method,
            duplicate: receipt.duplicate,
        }
    }
}

/// The route of one event.
pub(crate) fn of(event: EventName) -> MethodRouter<Shared> {
    post(async move |State(app): State<Shared>, request: Request| receive(&app, Some(event), request).await)
}

/// The route of every event that has none of its own: its name stands in the body.
pub(crate) fn of_any() -> MethodRouter<Shared> {
    post(async |State(app): State<Shared>, request: Request| receive(&app, None, request).await)
}

async fn receive(app: &App, event: Option<EventName>, request: Request) -> Result<Response, Refusal> {
    let mut name = event.unwrap_or_else(|| EventName::Other(String::new()));
    let received = take(app, &mut name, request).await;
    app.metrics.received(&name, outcome(&received));
    Ok(json(StatusCode::OK, &Answer::from(received?)))
}

fn outcome(received: &Result<Receipt, Refusal>) -> Outcome {
    match received {
        Ok(receipt) if receipt.duplicate => Outcome::Duplicate,
        Ok(_) => Outcome::Stored,
        Err(Refusal::Busy { .. } | Refusal::SwitchedOff) => Outcome::Unavailable,
        Err(Refusal::NotTaken(_)) => Outcome::Refused,
        Err(_) => Outcome::Invalid,
    }
}

async fn take(app: &App, name: &mut EventName, request: Request) -> Result<Receipt, Refusal> {
    if !app.settings.enabled {
        return Err(Refusal::SwitchedOff);
    }
    let peer = stranger(&request);
    let identity = request.extensions().get().copied();
    // Its room is taken until it is stored.
    let (text, _room) = body::read(request, app.settings.body_timeout, &app.room).await?;
    let fields = parse::object(&text)?;
    drop(text);
    let is_named = *name != EventName::Other(String::new());
    let mut observation = observe::observation(is_named.then_some(&*name), fields, peer, app.clock.now())?;
    if identity != Some(SenderIdentity::Verified) {
        observe::set_local_claims_aside(&mut observation);
    }
    *name = EventName::parse(&observation.event);
    let may_say_more = *name == EventName::Stop && observation.payload.contains_key("transcript_path");
    let receipt = app.writer.record(observation).await?;
    if receipt.duplicate {
        app.pulse.feel_again(name.as_str(), app.clock.now());
    } else if may_say_more {
        app.hybrid.has_ended(receipt.agent_id);
    }
    Ok(receipt)
}

/// Records an event that waited on disk, as if it came now.
pub(crate) fn take_letter(app: &App, body: Map<String, Value>) -> Result<Receipt, Refusal> {
    let observation = observe::observation(None, body, None, app.clock.now())?;
    let name = EventName::parse(&observation.event);
    let received = app.writer.record_now(observation);
    app.metrics.received(&name, outcome(&received));
    received
}

/// Who sent it, if that is another machine.
fn stranger(request: &Request) -> Option<IpAddr> {
    match request.extensions().get::<Via>() {
        Some(Via::Tcp { peer, .. }) => Some(peer.to_canonical()).filter(|peer| !peer.is_loopback()),
        Some(Via::Socket) | None => None,
    }
}
