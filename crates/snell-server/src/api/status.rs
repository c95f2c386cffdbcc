//! How the server is: `GET /hook/status` and `GET /metrics`.

use std::time::Duration;

use axum::extract::{RawQuery, State};
use serde::Serialize;
use serde_json::Number;
use snell::Timestamp;

use super::{Answer, shown};
use crate::app::Shared;
use crate::query::Query;
use crate::routes::typed;

#[derive(Serialize)]
struct Status {
    enabled: bool,
    mode: &'static str,
    last_event_at: Option<Timestamp>,
    last_event_ago: Option<Number>,
    last_event_type: Option<String>,
    events_received: u64,
    polling_interval: Number,
    config: Config,
}

/// What the user has set.
#[derive(Serialize)]
struct Config {
    poll_active: Number,
    poll_silent: Number,
    silent_after: Number,
    heartbeat: Number,
    max_stream_clients: usize,
    access: &'static str,
}

/// `GET /hook/status`
pub(crate) async fn status(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    Query::read(query.as_deref(), &[])?;
    let (pulse, now) = (app.pulse.clone(), app.clock.now());
    let beat = app.readers.ask(move |store| pulse.feel(store, now)).await?;
    let rhythm = app.hybrid.rhythm;
    shown(&Status {
        enabled: app.settings.enabled,
        mode: beat.mode.as_str(),
        last_event_ago: beat.last_at.map(|at| seconds(now.duration_since(at).unsigned_abs())),
        last_event_at: beat.last_at,
        last_event_type: beat.last_event,
        events_received: beat.received,
        polling_interval: seconds(rhythm.interval(beat.mode)),
        config: Config {
            poll_active: seconds(rhythm.poll_active),
            poll_silent: seconds(rhythm.poll_silent),
            silent_after: seconds(rhythm.silent_after),
            heartbeat: seconds(app.settings.heartbeat),
            max_stream_clients: app.settings.max_stream_clients,
            access: app.settings.access(),
        },
    })
}

/// A duration in seconds, without a fraction if it has none.
fn seconds(duration: Duration) -> Number {
    let whole = Number::from(duration.as_secs());
    match duration.subsec_nanos() {
        0 => whole,
        _ => Number::from_f64(duration.as_secs_f64()).unwrap_or(whole),
    }
}

/// `GET /metrics`
pub(crate) async fn metrics(State(app): State<Shared>) -> Answer {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(typed(kind, app.metrics.text()))
}
