//! HTTP hooks.

use std::sync::OnceLock;
use std::time::Instant;

use ureq::Agent;

use super::HookHttpRequest;
use crate::outcome::{Outcome, RunEnd};

/// The maximum size of a response, as for a process's output.
const MAX_BODY_BYTES: u64 = 1024 * 1024;

/// Sends the request on its own thread, because the client blocks, and waits for the response or the deadline.
pub(super) async fn send_request(request: HookHttpRequest) -> Outcome {
    let started = Instant::now();
    let timeout = request.timeout;
    let answer = tokio::task::spawn_blocking(move || post_request(&request));
    match tokio::time::timeout(timeout, answer).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => Outcome::not_started(error.to_string(), started.elapsed()),
        Err(_) => Outcome { end: RunEnd::TimedOut(timeout), ..Outcome::not_started("", started.elapsed()) },
    }
}

fn post_request(request: &HookHttpRequest) -> Outcome {
    let started = Instant::now();
    let mut call = shared_http_agent()
        .post(&request.url)
        .config()
        .timeout_global(Some(request.timeout))
        .build()
        .header("content-type", "application/json");
    for (name, value) in &request.headers {
        call = call.header(name, value);
    }
    let answer = call.send(request.body.as_bytes()).and_then(|mut response| {
        let body = response.body_mut().with_config().limit(MAX_BODY_BYTES).lossy_utf8(true).read_to_string()?;
        Ok((response.status().as_u16(), body))
    });
    match answer {
        Ok((status, stdout)) => {
            Outcome { end: RunEnd::Answered(status), stdout, ..Outcome::not_started("", started.elapsed()) }
        }
        Err(error) => outcome_from_error(&error, request, started),
    }
}

fn outcome_from_error(error: &ureq::Error, request: &HookHttpRequest, started: Instant) -> Outcome {
    match error {
        ureq::Error::Timeout(_) => {
            Outcome { end: RunEnd::TimedOut(request.timeout), ..Outcome::not_started("", started.elapsed()) }
        }
        other => Outcome::not_started(format!("{}: {other}", request.url), started.elapsed()),
    }
}

fn shared_http_agent() -> &'static Agent {
    static HTTP_AGENT: OnceLock<Agent> = OnceLock::new();
    HTTP_AGENT.get_or_init(|| {
        Agent::config_builder()
            .http_status_as_error(false)
            // Do not follow redirects: a request goes only to the address in the file.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("snell/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent()
    })
}
