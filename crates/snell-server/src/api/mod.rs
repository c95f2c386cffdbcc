//! The JSON API: agents, events, hooks, verdicts, requests and tokens.

mod agents;
pub(crate) mod json_page;
mod log;
mod requests;
mod status;
mod tokens;
mod usage;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::http::errors::{HttpError, json_response};

pub(crate) use agents::{get_agent, list_agents, list_turns};
pub(crate) use log::{DECISIONS, list_events, list_guard_verdicts, list_hook_stats, parse_event_filter};
pub(crate) use requests::{answer_request, forget_remembered, get_request, list_remembered, list_requests};
pub(crate) use status::{get_metrics, get_status};
pub(crate) use tokens::{create_token, list_tokens, revoke_token};
pub(crate) use usage::get_usage;

/// The result of an API route.
type ApiResult = Result<Response, HttpError>;

fn respond_json(value: &impl Serialize) -> ApiResult {
    Ok(json_response(StatusCode::OK, value))
}
