//! Requests to a collector.

use std::time::Duration;

use serde_json::Value;
use snell::{SecretSource, TelemetrySettings, TelemetrySignal, Timestamp};
use snell_server::read_header_file;
use snell_store::format_error_chain;
use snell_store::record::redaction;
use ureq::Agent;
use ureq::http::Response;

use super::request::refused_count_name;
use crate::dispatch::secret::read_secret;
use crate::output;

/// How long a request may take. A claim lasts longer.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(8);

/// How much of a reply is read, and how much of it is shown.
const MAX_REPLY_BYTES: u64 = 64 * 1024;
const MAX_SHOWN_CELLS: usize = 200;

/// The longest pause that a collector can ask for.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);

/// A collector's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CollectorAnswer {
    /// It took the items, except for so many.
    Accepted { refused: i64, problem: Option<String> },
    /// It can never take these items.
    Refused(String),
    /// The request is too large.
    TooLarge,
    /// It may take them later, after this pause if it named one.
    Later(String, Option<Duration>),
}

/// Sends a request. It follows no redirects, and uses no proxy from the environment: both would lead secrets elsewhere.
pub(crate) fn post_telemetry(settings: &TelemetrySettings, signal: TelemetrySignal, body: &str) -> CollectorAnswer {
    match send_request(settings, signal, body) {
        Ok(mut response) => read_answer(signal, &mut response),
        Err(why) => CollectorAnswer::Later(why, None),
    }
}

fn send_request(
    settings: &TelemetrySettings,
    signal: TelemetrySignal,
    body: &str,
) -> Result<Response<ureq::Body>, String> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(REQUEST_TIMEOUT))
        .user_agent(concat!("snell/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent();
    let endpoint = settings.endpoint.as_deref().unwrap_or_default();
    let mut call = agent.post(format!("{endpoint}/v1/{}", signal.as_str())).header("content-type", "application/json");
    for (name, value) in &settings.headers {
        call = call.header(name, read_header_value(value).map_err(|why| format!("header {name}: {why}"))?);
    }
    call.send(body).map_err(|error| describe_error(&error))
}

/// The value of a header. The error does not contain it.
fn read_header_value(source: &SecretSource) -> Result<String, String> {
    match source {
        SecretSource::File(path) => read_header_file(path).map_err(|error| format_error_chain(&error)),
        other => read_secret(other),
    }
}

/// The failure in words. The error itself may contain the address.
fn describe_error(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".into(),
        ureq::Error::Io(error) => format!("it cannot be reached ({error})"),
        ureq::Error::HostNotFound => "its host was not found".into(),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => "its address or a header is invalid".into(),
        _ => "it cannot be reached".into(),
    }
}

fn read_answer(signal: TelemetrySignal, response: &mut Response<ureq::Body>) -> CollectorAnswer {
    let status = response.status().as_u16();
    let pause = response.headers().get("retry-after").and_then(|value| parse_retry_after(value.to_str().ok()?));
    let body = response.body_mut().with_config().limit(MAX_REPLY_BYTES).lossy_utf8(true).read_to_string();
    classify_answer(signal, status, pause, &body.unwrap_or_default())
}

/// A pause in seconds, or until a date.
fn parse_retry_after(text: &str) -> Option<Duration> {
    let pause = match text.trim().parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
            Duration::try_from(date.timestamp().duration_since(Timestamp::now())).unwrap_or_default()
        }
    };
    Some(pause.min(MAX_PAUSE))
}

/// Only a status about the content means that the items can never be taken. All others may come from a proxy, a wrong address
/// or a missing permission, and the items wait.
fn classify_answer(signal: TelemetrySignal, status: u16, pause: Option<Duration>, body: &str) -> CollectorAnswer {
    let reply: Value = serde_json::from_str(body).unwrap_or_default();
    let message = |text: &Value| text.as_str().map(show_text).filter(|text| !text.is_empty());
    match status {
        200..=299 => {
            let partial = &reply["partialSuccess"];
            let count = &partial[refused_count_name(signal)];
            // A 64-bit integer is a string, but numbers are valid too.
            let refused = count.as_i64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0).max(0);
            CollectorAnswer::Accepted { refused, problem: message(&partial["errorMessage"]) }
        }
        413 => CollectorAnswer::TooLarge,
        400 | 415 | 422 => {
            let detail = message(&reply["message"]).map(|text| format!(" ({text})")).unwrap_or_default();
            CollectorAnswer::Refused(format!("it answered with status {status}{detail}"))
        }
        _ => CollectorAnswer::Later(format!("it answered with status {status}"), pause),
    }
}

fn show_text(text: &str) -> String {
    output::escape_invisible(&output::shorten_to_one_line(&redaction::mask_secrets(text), MAX_SHOWN_CELLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_about_the_content_gives_items_up() {
        let is_kept =
            |status| matches!(classify_answer(TelemetrySignal::Traces, status, None, ""), CollectorAnswer::Later(..));
        assert!([301, 401, 403, 404, 405, 407, 408, 429, 500, 502, 503, 504].into_iter().all(is_kept));
        assert!(![200, 202, 204, 400, 413, 415, 422].into_iter().any(is_kept));
    }

    #[test]
    fn a_partial_success_names_what_was_refused() {
        let cases = [
            ("{}", 0, None),
            ("", 0, None),
            (r#"{"partialSuccess":null}"#, 0, None),
            (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, 3, Some("too old")),
            (r#"{"partialSuccess":{"rejectedSpans":3}}"#, 3, None),
            (r#"{"partialSuccess":{"errorMessage":"slow down"}}"#, 0, Some("slow down")),
        ];
        for (body, refused, problem) in cases {
            let expected = CollectorAnswer::Accepted { refused, problem: problem.map(str::to_owned) };
            assert_eq!(classify_answer(TelemetrySignal::Traces, 200, None, body), expected, "{body}");
        }
    }

    #[test]
    fn a_collector_can_ask_for_a_pause() {
        assert_eq!(parse_retry_after("7"), Some(Duration::from_secs(7)));
        assert_eq!(parse_retry_after("999999"), Some(MAX_PAUSE));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(parse_retry_after("soon"), None);
    }
}
