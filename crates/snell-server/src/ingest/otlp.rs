//! `POST /v1/logs` and `/v1/metrics`: tokens that agents export with OpenTelemetry, as OTLP/JSON.

use axum::extract::{Request, State};
use axum::http::header::CONTENT_ENCODING;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use snell::UserMessage;
use snell_store::usage::ExportedUsage;

use super::body;
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::{HttpError, json_response};

/// Reads the requests of a body.
type ReadExport = fn(&[u8]) -> serde_json::Result<ExportedUsage>;

/// `POST /v1/logs`
pub(crate) async fn receive_logs(State(app): State<SharedAppState>, request: Request) -> Result<Response, HttpError> {
    receive_export(&app, request, ExportedUsage::from_logs).await
}

/// `POST /v1/metrics`
pub(crate) async fn receive_metrics(
    State(app): State<SharedAppState>,
    request: Request,
) -> Result<Response, HttpError> {
    receive_export(&app, request, ExportedUsage::from_metrics).await
}

async fn receive_export(app: &AppState, request: Request, read: ReadExport) -> Result<Response, HttpError> {
    if !app.settings.enabled {
        return Err(HttpError::IngestDisabled);
    }
    check_encoding(request.headers())?;
    let (text, _permit) = body::read_body(request, app.settings.body_timeout, &app.body_budget).await?;
    let exported =
        read(&text).map_err(|error| HttpError::bad_request(format!("the body is not OTLP/JSON: {error}")))?;
    app.store_pool.with_store(|store| store.save_exported_usage(exported)).await?;
    Ok(json_response(StatusCode::OK, &json!({})))
}

/// Exporters send protobuf by default.
fn check_encoding(headers: &HeaderMap) -> Result<(), HttpError> {
    if !body::is_json(headers) {
        let message = UserMessage::new("only OTLP/JSON is supported, not protobuf");
        let hint = "set OTEL_EXPORTER_OTLP_PROTOCOL=http/json for the agent";
        return Err(HttpError::UnsupportedBody(message.with_hint(hint)));
    }
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let message = UserMessage::new("compressed bodies are not supported");
        return Err(HttpError::UnsupportedBody(message.with_hint("unset OTEL_EXPORTER_OTLP_COMPRESSION")));
    }
    Ok(())
}
