//! The state of the server: `GET /hook/status` and `GET /metrics`.

use std::time::Duration;

use axum::extract::{RawQuery, State};
use serde::Serialize;
use serde_json::Number;
use snell::Timestamp;

use super::{ApiResult, respond_json};
use crate::app_state::SharedAppState;
use crate::http::query_params::QueryParams;
use crate::http::routes::response_with_type;

#[derive(Serialize)]
struct ReceiverStatusBody {
    enabled: bool,
    mode: &'static str,
    last_event_at: Option<Timestamp>,
    last_event_ago: Option<Number>,
    last_event_type: Option<String>,
    events_received: u64,
    polling_interval: Number,
    config: StatusConfigBody,
}

/// The settings.
#[derive(Serialize)]
struct StatusConfigBody {
    poll_active: Number,
    poll_silent: Number,
    silent_after: Number,
    heartbeat: Number,
    max_stream_clients: usize,
    access: &'static str,
}

/// `GET /hook/status`
pub(crate) async fn get_status(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    QueryParams::parse(query.as_deref(), &[])?;
    let (activity, now) = (app.hook_activity.clone(), app.clock.now());
    let activity = app.store_pool.with_store(move |store| activity.refresh(store, now)).await?;
    let schedule = app.poll_scheduler.schedule;
    respond_json(&ReceiverStatusBody {
        enabled: app.settings.enabled,
        mode: activity.mode.as_str(),
        last_event_ago: activity.last_at.map(|at| to_json_seconds(now.duration_since(at).unsigned_abs())),
        last_event_at: activity.last_at,
        last_event_type: activity.last_event,
        events_received: activity.received,
        polling_interval: to_json_seconds(schedule.poll_interval(activity.mode)),
        config: StatusConfigBody {
            poll_active: to_json_seconds(schedule.poll_active),
            poll_silent: to_json_seconds(schedule.poll_silent),
            silent_after: to_json_seconds(schedule.silent_after),
            heartbeat: to_json_seconds(app.settings.heartbeat),
            max_stream_clients: app.settings.max_stream_clients,
            access: app.settings.access_label(),
        },
    })
}

/// A duration in seconds, without a fraction if it has none.
fn to_json_seconds(duration: Duration) -> Number {
    let whole = Number::from(duration.as_secs());
    match duration.subsec_nanos() {
        0 => whole,
        _ => Number::from_f64(duration.as_secs_f64()).unwrap_or(whole),
    }
}

/// `GET /metrics`
pub(crate) async fn get_metrics(State(app): State<SharedAppState>) -> ApiResult {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(response_with_type(kind, app.metrics.encode_text()))
}
