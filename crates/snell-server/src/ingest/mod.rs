//! `POST /hook/…`: reads and checks an event, hands it to the writer, and responds when it is stored.

pub(crate) mod body;
mod event_record;
mod fields;
mod job_queue;
mod json_object;
mod otlp;
pub(crate) mod outbox_drain;
pub(crate) mod writer;

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use serde::Serialize;
use serde_json::{Map, Value};
use snell::EventName;
use snell_store::{EventRecord, IngestReceipt};

use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::{HttpError, json_response};
use crate::http::gate::{RequestTransport, SenderIdentity};
use crate::metrics::MetricOutcome;

pub(crate) use otlp::{receive_logs, receive_metrics};

/// The response to an event.
#[derive(Serialize)]
struct IngestResponse {
    status: &'static str,
    #[serde(flatten)]
    receipt: IngestReceipt,
}

/// The route of one event.
pub(crate) fn event_route(event: EventName) -> MethodRouter<SharedAppState> {
    post(async move |State(app): State<SharedAppState>, request: Request| {
        receive_event(&app, Some(event), request).await
    })
}

/// The route of all other events: the body names the event.
pub(crate) fn any_event_route() -> MethodRouter<SharedAppState> {
    post(async |State(app): State<SharedAppState>, request: Request| receive_event(&app, None, request).await)
}

/// Receives an event. Without an event of its route, the body names it.
pub(crate) async fn receive_event(
    app: &AppState,
    event: Option<EventName>,
    request: Request,
) -> Result<Response, HttpError> {
    let mut name = event.unwrap_or_else(|| EventName::Other(String::new()));
    let received = ingest_request(app, &mut name, request).await;
    app.metrics.count_event(&name, classify_outcome(&received));
    Ok(json_response(StatusCode::OK, &IngestResponse { status: "ok", receipt: received? }))
}

fn classify_outcome(received: &Result<IngestReceipt, HttpError>) -> MetricOutcome {
    match received {
        Ok(receipt) if receipt.duplicate => MetricOutcome::Duplicate,
        Ok(_) => MetricOutcome::Stored,
        Err(HttpError::Busy { .. } | HttpError::IngestDisabled) => MetricOutcome::Unavailable,
        Err(HttpError::StoreRejected(_)) => MetricOutcome::Refused,
        Err(_) => MetricOutcome::Invalid,
    }
}

async fn ingest_request(app: &AppState, name: &mut EventName, request: Request) -> Result<IngestReceipt, HttpError> {
    if !app.settings.enabled {
        return Err(HttpError::IngestDisabled);
    }
    let peer = find_remote_peer(&request);
    let identity = request.extensions().get().copied();
    // The body counts toward the memory budget until the event is stored.
    let (text, _permit) = body::read_json_body(request, app.settings.body_timeout, &app.body_budget).await?;
    let fields = json_object::parse_object(&text)?;
    drop(text);
    let is_named = *name != EventName::Other(String::new());
    let mut observation = event_record::build_event_record(is_named.then_some(&*name), fields, peer, app.clock.now())?;
    if !may_claim_local(identity, &observation) {
        event_record::quarantine_local_claims(&mut observation);
    }
    *name = EventName::parse(&observation.event);
    let has_transcript =
        observation.payload.contains_key("transcript_path") || observation.sender.transcript_path.is_some();
    let may_continue = *name == EventName::Stop && has_transcript;
    let receipt = app.writer.record(observation).await?;
    if receipt.duplicate {
        app.hook_activity.touch(name.as_str(), app.clock.now());
    } else if may_continue {
        app.poll_scheduler.record_ended_turn(receipt.agent_id);
    }
    Ok(receipt)
}

/// Records an event of the outbox.
pub(crate) fn ingest_outbox_message(app: &AppState, body: Map<String, Value>) -> Result<IngestReceipt, HttpError> {
    let observation = event_record::build_event_record(None, body, None, app.clock.now())?;
    let name = EventName::parse(&observation.event);
    let received = app.writer.record_blocking(observation);
    app.metrics.count_event(&name, classify_outcome(&received));
    received
}

/// Whether the event may name processes, terminals and files. An event with a token of its own may name those of another
/// machine, but not those of this one.
fn may_claim_local(identity: Option<SenderIdentity>, record: &EventRecord) -> bool {
    match identity {
        Some(SenderIdentity::Verified) => true,
        Some(SenderIdentity::Named) => event_record::names_other_host(record),
        Some(SenderIdentity::Unverified) | None => false,
    }
}

/// The address of the sender, if it is another machine.
fn find_remote_peer(request: &Request) -> Option<IpAddr> {
    match request.extensions().get::<RequestTransport>() {
        Some(RequestTransport::Tcp { peer, .. }) => Some(peer.to_canonical()).filter(|peer| !peer.is_loopback()),
        Some(RequestTransport::UnixSocket) | None => None,
    }
}
