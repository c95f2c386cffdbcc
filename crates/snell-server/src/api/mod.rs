//! What can be asked about what happened: pages of JSON.

mod agents;
mod log;
mod status;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::error::{Refusal, json};

pub(crate) use agents::{agent, agents, turns};
pub(crate) use log::{DECISIONS, event_filter, events, guard, hooks};
pub(crate) use status::{metrics, status};

/// What a question is answered with.
type Answer = Result<Response, Refusal>;

fn shown(value: &impl Serialize) -> Answer {
    Ok(json(StatusCode::OK, value))
}
