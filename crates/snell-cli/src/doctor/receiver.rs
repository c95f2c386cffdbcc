//! Checks the receiver and its status.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use snell::normalize_receiver_url;
use snell_store::queue::outbox::is_loopback_url;

use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding, warning_finding};
use crate::env::read_variable;
use crate::record::http_delivery;

/// The default address of `snell serve`.
const DEFAULT_URL: &str = "http://127.0.0.1:7433";

/// How long to wait for an answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn check_receivers(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let usual = || read_variable("SNELL_URL").or_else(|| subject.server.url.clone());
    let scripts = subject.script_receivers().into_iter().map(|url| url.or_else(usual));
    let mut used: Vec<String> = scripts.map(|url| url.unwrap_or_else(|| DEFAULT_URL.into())).collect();
    used.extend(subject.server.url.clone());
    used.sort();
    used.dedup();
    if used.is_empty() {
        return vec![match query_health(DEFAULT_URL, None) {
            Ok(health) => health.into_finding(),
            Err(ReceiverCheckError::Refused(why)) => {
                note_finding(format!("a receiver listens on {DEFAULT_URL}, and refuses connections: {why}"))
            }
            Err(ReceiverCheckError::TokenRequired) => {
                note_finding(format!("a receiver on {DEFAULT_URL} needs a token; your settings send no events to it"))
            }
            Err(ReceiverCheckError::Other(_)) => note_finding(format!(
                "no receiver listens on {DEFAULT_URL}; none is needed, because your settings send no events"
            )),
        }];
    }
    used.iter().map(|url| check_receiver(subject, url)).collect()
}

fn check_receiver(subject: &DoctorSubject, url: &str) -> DoctorFinding {
    let url = match normalize_receiver_url(url) {
        Ok(url) => url,
        // The URL is not shown, because it may contain a password.
        Err(fault) => {
            return problem_finding(
                format!("the address of the receiver {fault}, so `snell notify` sends nothing"),
                "set another address: snell install claude --notify --url http://HOST:PORT",
            );
        }
    };
    let file = find_token_file(subject, &url);
    let token = match file.as_deref().map(http_delivery::load_token).transpose() {
        Ok(token) => token,
        Err(why) => {
            return warning_finding(
                format!("{url} gets no events, because its token cannot be used: {why}"),
                "set `token_file` in [server] to a file with the token that only you can read; until then events wait on disk",
            );
        }
    };
    match query_health(&url, token.as_deref()) {
        Ok(health) => health.into_finding(),
        Err(ReceiverCheckError::Refused(why)) => warning_finding(
            format!("{url} refuses the events of this machine: {why}"),
            "do what the receiver's message says; until then events wait on disk",
        ),
        Err(ReceiverCheckError::TokenRequired) => describe_token_refusal(subject, &url, file.as_deref()),
        Err(ReceiverCheckError::Other(why)) => warning_finding(
            format!("{url} should get the events of this machine, and does not answer: {why}"),
            "start it there with `snell serve`; until then events wait on disk",
        ),
    }
}

/// The finding if a receiver needs a token, or another one.
fn describe_token_refusal(subject: &DoctorSubject, url: &str, file: Option<&Path>) -> DoctorFinding {
    let refuses = format!("{url} refuses the events of this machine, because the token");
    match (file, &subject.server.token_file) {
        (Some(file), _) => {
            let file = file.display();
            warning_finding(
                format!("{refuses} in {file} is wrong"),
                format!("write the token of the receiver into {file}"),
            )
        }
        (None, None) => warning_finding(
            format!("{refuses} is missing"),
            "set `token_file` beside `url` in [server] of your snell.toml to the file with the receiver's token",
        ),
        (None, Some(_)) => warning_finding(
            format!("{refuses} is missing"),
            "set `url` beside `token_file` in [server] to this address, or pass the file in SNELL_TOKEN_FILE",
        ),
    }
}

/// The token file for a receiver. As in `snell notify`, the one in the user's settings is used for the configured receiver, and
/// for one on this machine.
fn find_token_file(subject: &DoctorSubject, url: &str) -> Option<PathBuf> {
    let own = subject.server.token_file.clone();
    let own = own.filter(|_| subject.server.url.as_deref() == Some(url) || is_loopback_url(url));
    read_variable("SNELL_TOKEN_FILE").map(PathBuf::from).or(own)
}

/// Why a receiver cannot be used.
enum ReceiverCheckError {
    /// It needs a token.
    TokenRequired,
    /// It does not serve this user; its own message.
    Refused(String),
    Other(String),
}

/// The status of a receiver.
struct ReceiverHealth {
    summary: String,
    /// Who can use it over TCP; nothing for an older receiver.
    access: Option<String>,
}

impl ReceiverHealth {
    fn into_finding(self) -> DoctorFinding {
        let Self { summary, access } = self;
        match access.as_deref() {
            Some("token") => ok_finding(format!("{summary}; clients need a token")),
            Some("this_user") => ok_finding(format!("{summary}; other users of this machine are refused")),
            Some("this_user_and_unknown") => warning_finding(
                format!("{summary}; it also accepts connections of unknown users"),
                "remove `unknown_senders = \"accept\"` from [server] in your snell.toml, or use a token: `token_file`",
            ),
            Some("any_user") => warning_finding(
                format!(
                    "{summary}; every user of this machine can use it, because this operating system does not report which user made a connection"
                ),
                "use a token: set `token_file` in [server] of your snell.toml",
            ),
            _ => ok_finding(summary),
        }
    }
}

/// Whether `snell serve` answers at this address, with a token or without.
pub(crate) fn is_snell_receiver(url: &str) -> bool {
    let is_healthy = matches!(http_get(&format!("{url}/healthz"), None), Ok((200, body)) if body.trim() == "ok");
    is_healthy && !matches!(query_health(url, None), Err(ReceiverCheckError::Other(_)))
}

/// Queries the status of a receiver.
fn query_health(url: &str, token: Option<&str>) -> Result<ReceiverHealth, ReceiverCheckError> {
    let not_snell = |what: &str| Err(ReceiverCheckError::Other(format!("{what}, so it is not a receiver of Snell")));
    match http_get(&format!("{url}/healthz"), token)? {
        (200, body) if body.trim() == "ok" => {}
        (200, _) => return not_snell("its answer differs from that of `snell serve`"),
        (code, _) => return not_snell(&format!("it answers {code}")),
    }
    let (code, body) = http_get(&format!("{url}/hook/status"), token)?;
    let status: Value = serde_json::from_str(&body).unwrap_or_default();
    match code {
        200 if status["mode"].is_string() => Ok(ReceiverHealth {
            summary: format!("{url}: {}", describe_status(&status)),
            access: status["config"]["access"].as_str().map(str::to_owned),
        }),
        200 => not_snell("it does not report its status"),
        code => not_snell(&format!("it answers {code} to a request for its status")),
    }
}

fn describe_status(status: &Value) -> String {
    let mode = status["mode"].as_str().unwrap_or("of unknown mode").replace('_', " ");
    let switched_off = if status["enabled"] == Value::Bool(false) { ", does not accept events" } else { "" };
    let last = status["last_event_ago"].as_f64().map(|seconds| format!(", last event {seconds:.0}s ago"));
    format!("{mode}{}{switched_off}", last.unwrap_or_default())
}

fn http_get(url: &str, token: Option<&str>) -> Result<(u16, String), ReceiverCheckError> {
    let request =
        ureq::get(url).config().timeout_global(Some(REQUEST_TIMEOUT)).http_status_as_error(false).max_redirects(0);
    // No proxy for an address on this machine.
    let request = if is_loopback_url(url) { request.proxy(None) } else { request };
    let mut request = request.build();
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let mut response = request.call().map_err(|error| ReceiverCheckError::Other(error.to_string()))?;
    let code = response.status().as_u16();
    let body = response.body_mut().with_config().limit(64 * 1024).lossy_utf8(true).read_to_string();
    let body = body.unwrap_or_default();
    match code {
        401 => Err(ReceiverCheckError::TokenRequired),
        403 => {
            let answer: Value = serde_json::from_str(&body).unwrap_or_default();
            Err(ReceiverCheckError::Refused(answer["message"].as_str().unwrap_or("it answers 403").to_owned()))
        }
        _ => Ok((code, body)),
    }
}
