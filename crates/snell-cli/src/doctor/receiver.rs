//! Is the receiver there, and what does it say about itself?

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use snell::normalize_receiver_url;
use snell_store::queue::outbox::is_loopback_url;

use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding, warning_finding};
use crate::env::read_variable;
use crate::record::http_delivery;

/// Where `snell serve` listens unless told otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:7433";

/// For so long an answer is waited for.
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
                note_finding(format!("one listens on {DEFAULT_URL}, and refuses: {why}"))
            }
            Err(ReceiverCheckError::TokenRequired) => {
                note_finding(format!("one listens on {DEFAULT_URL}, and wants a token; nothing here needs it"))
            }
            Err(ReceiverCheckError::Other(_)) => {
                note_finding(format!("none listens on {DEFAULT_URL}; nothing here needs one"))
            }
        }];
    }
    used.iter().map(|url| check_receiver(subject, url)).collect()
}

fn check_receiver(subject: &DoctorSubject, url: &str) -> DoctorFinding {
    let url = match normalize_receiver_url(url) {
        Ok(url) => url,
        // It may hold a password, so it is not shown.
        Err(fault) => {
            return problem_finding(
                format!("the receiver that is told what happens here {fault}, so `snell notify` tells it nothing"),
                "name another: snell install claude --notify --url http://HOST:PORT",
            );
        }
    };
    let file = find_token_file(subject, &url);
    let token = match file.as_deref().map(http_delivery::load_token).transpose() {
        Ok(token) => token,
        Err(why) => {
            return warning_finding(
                format!("{url} is told nothing of what happens here, because its token is not used: {why}"),
                "name a file that holds the token and that only you can read: `token_file` in [server]; until then \
                 events wait on disk",
            );
        }
    };
    match query_health(&url, token.as_deref()) {
        Ok(health) => health.into_finding(),
        Err(ReceiverCheckError::Refused(why)) => warning_finding(
            format!("{url} refuses the events of this machine: {why}"),
            "do as it says; until then events wait on disk",
        ),
        Err(ReceiverCheckError::TokenRequired) => describe_token_refusal(subject, &url, file.as_deref()),
        Err(ReceiverCheckError::Other(why)) => warning_finding(
            format!("{url} is told what happens here, and does not answer: {why}"),
            "start it there: snell serve; until then events wait on disk",
        ),
    }
}

/// That a receiver wants another token than it is given, or any.
fn describe_token_refusal(subject: &DoctorSubject, url: &str, file: Option<&Path>) -> DoctorFinding {
    let refuses = format!("{url} is told what happens here, and refuses it, because the token");
    match (file, &subject.server.token_file) {
        (Some(file), _) => {
            let file = file.display();
            warning_finding(
                format!("{refuses} in {file} is wrong"),
                format!("write the token that the receiver was started with into {file}"),
            )
        }
        (None, None) => warning_finding(
            format!("{refuses} is missing"),
            "write the file that holds its token into your snell.toml: `token_file` in [server], beside `url`",
        ),
        (None, Some(_)) => warning_finding(
            format!("{refuses} is missing"),
            "`token_file` in [server] is only for the `url` beside it and for receivers on this machine: write this address \
             there, or name the file with SNELL_TOKEN_FILE",
        ),
    }
}

/// The file that holds the token for a receiver. As for `snell notify`, that of the user's settings is for the receiver that
/// stands beside it, and for one on this machine.
fn find_token_file(subject: &DoctorSubject, url: &str) -> Option<PathBuf> {
    let own = subject.server.token_file.clone();
    let own = own.filter(|_| subject.server.url.as_deref() == Some(url) || is_loopback_url(url));
    read_variable("SNELL_TOKEN_FILE").map(PathBuf::from).or(own)
}

/// What is the matter with a receiver.
enum ReceiverCheckError {
    /// It wants a token.
    TokenRequired,
    /// It does not serve this user; its own words.
    Refused(String),
    Other(String),
}

/// What a receiver says about itself.
struct ReceiverHealth {
    summary: String,
    /// Who can use it over TCP; nothing if it is older than that question.
    access: Option<String>,
}

impl ReceiverHealth {
    fn into_finding(self) -> DoctorFinding {
        let Self { summary, access } = self;
        match access.as_deref() {
            Some("token") => ok_finding(format!("{summary}; everyone who shows the token can use it")),
            Some("this_user") => ok_finding(format!("{summary}; other users of this machine are refused")),
            Some("this_user_and_unknown") => warning_finding(
                format!("{summary}; it also serves connections whose user is not known"),
                "remove `unknown_senders = \"accept\"` from [server] in your snell.toml, or use a token: `token_file`",
            ),
            Some("any_user") => warning_finding(
                format!(
                    "{summary}; every user of this machine can use it, because this system does not tell users apart"
                ),
                "use a token: `token_file` in [server] of your snell.toml",
            ),
            _ => ok_finding(summary),
        }
    }
}

/// Asks a receiver how it is.
fn query_health(url: &str, token: Option<&str>) -> Result<ReceiverHealth, ReceiverCheckError> {
    let somebody_else = |what: &str| Err(ReceiverCheckError::Other(format!("{what}, and is no receiver of Snell's")));
    match http_get(&format!("{url}/healthz"), token)? {
        (200, body) if body.trim() == "ok" => {}
        (200, _) => return somebody_else("something else answers there"),
        (code, _) => return somebody_else(&format!("it answers {code}")),
    }
    let (code, body) = http_get(&format!("{url}/hook/status"), token)?;
    let status: Value = serde_json::from_str(&body).unwrap_or_default();
    match code {
        200 if status["mode"].is_string() => Ok(ReceiverHealth {
            summary: format!("{url}: {}", describe_status(&status)),
            access: status["config"]["access"].as_str().map(str::to_owned),
        }),
        200 => somebody_else("it says nothing about its status"),
        code => somebody_else(&format!("it answers {code} when asked for its status")),
    }
}

fn describe_status(status: &Value) -> String {
    let mode = status["mode"].as_str().unwrap_or("of unknown mode").replace('_', " ");
    let switched_off = if status["enabled"] == Value::Bool(false) { ", and takes no events" } else { "" };
    let last = status["last_event_ago"].as_f64().map(|seconds| format!(", last event {seconds:.0}s ago"));
    format!("{mode}{}{switched_off}", last.unwrap_or_default())
}

fn http_get(url: &str, token: Option<&str>) -> Result<(u16, String), ReceiverCheckError> {
    let request =
        ureq::get(url).config().timeout_global(Some(REQUEST_TIMEOUT)).http_status_as_error(false).max_redirects(0);
    // Nobody stands between a machine and itself.
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
