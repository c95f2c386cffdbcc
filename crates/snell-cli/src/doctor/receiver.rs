//! Is the receiver there, and what does it say about itself?

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use snell::receiver_url;
use snell_store::outbox::is_loopback;

use super::{Found, Patient, note, ok, problem, warning};
use crate::around::variable;
use crate::post;

/// Where `snell serve` listens unless told otherwise.
const USUAL: &str = "http://127.0.0.1:7433";

/// For so long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let usual = || variable("SNELL_URL").or_else(|| patient.server.url.clone());
    let scripts = patient.scripts().into_iter().map(|url| url.or_else(usual));
    let mut used: Vec<String> = scripts.map(|url| url.unwrap_or_else(|| USUAL.into())).collect();
    used.extend(patient.server.url.clone());
    used.sort();
    used.dedup();
    if used.is_empty() {
        return vec![match health(USUAL, None) {
            Ok(health) => health.into_finding(),
            Err(Trouble::Refused(why)) => note(format!("one listens on {USUAL}, and refuses: {why}")),
            Err(Trouble::Token) => note(format!(
                "one listens on {USUAL}, and wants a token; nothing here needs it"
            )),
            Err(Trouble::Other(_)) => note(format!("none listens on {USUAL}; nothing here needs one")),
        }];
    }
    used.iter().map(|url| ask(patient, url)).collect()
}

fn ask(patient: &Patient, url: &str) -> Found {
    let url = match receiver_url(url) {
        Ok(url) => url,
        // It may hold a password, so it is not shown.
        Err(fault) => {
            return problem(
                format!("the receiver that is told what happens here {fault}, so `snell notify` tells it nothing"),
                "name another: snell install claude --notify --url http://HOST:PORT",
            );
        }
    };
    let file = token_file(patient, &url);
    let token = match file.as_deref().map(post::token).transpose() {
        Ok(token) => token,
        Err(why) => {
            return warning(
                format!("{url} is told nothing of what happens here, because its token is not used: {why}"),
                "name a file that holds the token and that only you can read: `token_file` in [server]; until then \
                 events wait on disk",
            );
        }
    };
    match health(&url, token.as_deref()) {
        Ok(health) => health.into_finding(),
        Err(Trouble::Refused(why)) => warning(
            format!("{url} refuses the events of this machine: {why}"),
            "do as it says; until then events wait on disk",
        ),
        Err(Trouble::Token) => refused(patient, &url, file.as_deref()),
        Err(Trouble::Other(why)) => warning(
            format!("{url} is told what happens here, and does not answer: {why}"),
            "start it there: snell serve; until then events wait on disk",
        ),
    }
}

/// That a receiver wants another token than it is given, or any.
fn refused(patient: &Patient, url: &str, file: Option<&Path>) -> Found {
    let refuses = format!("{url} is told what happens here, and refuses it, because the token");
    match (file, &patient.server.token_file) {
        (Some(file), _) => {
            let file = file.display();
            warning(
                format!("{refuses} in {file} is wrong"),
                format!("write the token that the receiver was started with into {file}"),
            )
        }
        (None, None) => warning(
            format!("{refuses} is missing"),
            "write the file that holds its token into your snell.toml: `token_file` in [server], beside `url`",
        ),
        (None, Some(_)) => warning(
            format!("{refuses} is missing"),
            "`token_file` in [server] is only for the `url` beside it and for receivers on this machine: write this address \
             there, or name the file with SNELL_TOKEN_FILE",
        ),
    }
}

/// The file that holds the token for a receiver. As for `snell notify`, that of the user's settings is for the receiver that
/// stands beside it, and for one on this machine.
fn token_file(patient: &Patient, url: &str) -> Option<PathBuf> {
    let own = patient.server.token_file.clone();
    let own = own.filter(|_| patient.server.url.as_deref() == Some(url) || is_loopback(url));
    variable("SNELL_TOKEN_FILE").map(PathBuf::from).or(own)
}

/// What is the matter with a receiver.
enum Trouble {
    /// It wants a token.
    Token,
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
    fn into_finding(self) -> Found {
        let Self { summary, access } = self;
        match access.as_deref() {
            Some("token") => ok(format!("{summary}; everyone who shows the token can use it")),
            Some("this_user") => ok(format!("{summary}; other users of this machine are refused")),
            Some("this_user_and_unknown") => warning(
                format!("{summary}; it also serves connections whose user is not known"),
                "remove `unknown_senders = \"accept\"` from [server] in your snell.toml, or use a token: `token_file`",
            ),
            Some("any_user") => warning(
                format!(
                    "{summary}; every user of this machine can use it, because this system does not tell users apart"
                ),
                "use a token: `token_file` in [server] of your snell.toml",
            ),
            _ => ok(summary),
        }
    }
}

/// Asks a receiver how it is.
fn health(url: &str, token: Option<&str>) -> Result<ReceiverHealth, Trouble> {
    let somebody_else = |what: &str| Err(Trouble::Other(format!("{what}, and is no receiver of Snell's")));
    let (code, body) = get(&format!("{url}/healthz"), token)?;
    match code {
        200 if body.trim() == "ok" => {}
        200 => return somebody_else("something else answers there"),
        401 => return Err(Trouble::Token),
        403 => {
            return Err(Trouble::Refused(refusal(
                &serde_json::from_str(&body).unwrap_or_default(),
            )));
        }
        code => return somebody_else(&format!("it answers {code}")),
    }
    let (code, body) = get(&format!("{url}/hook/status"), token)?;
    let status: Value = serde_json::from_str(&body).unwrap_or_default();
    match code {
        200 if status["mode"].is_string() => Ok(ReceiverHealth {
            summary: format!("{url}: {}", in_words(&status)),
            access: status["config"]["access"].as_str().map(str::to_owned),
        }),
        200 => somebody_else("it says nothing about its status"),
        401 => Err(Trouble::Token),
        403 => Err(Trouble::Refused(refusal(&status))),
        code => somebody_else(&format!("it answers {code} when asked for its status")),
    }
}

/// Why a receiver refuses, in its own words.
fn refusal(answer: &Value) -> String {
    answer["message"].as_str().unwrap_or("it answers 403").to_owned()
}

fn in_words(status: &Value) -> String {
    let mode = status["mode"].as_str().unwrap_or("of unknown mode").replace('_', " ");
    let switched_off = if status["enabled"] == Value::Bool(false) {
        ", and takes no events"
    } else {
        ""
    };
    let last = status["last_event_ago"]
        .as_f64()
        .map(|seconds| format!(", last event {seconds:.0}s ago"));
    format!("{mode}{}{switched_off}", last.unwrap_or_default())
}

fn get(url: &str, token: Option<&str>) -> Result<(u16, String), Trouble> {
    let request = ureq::get(url)
        .config()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .max_redirects(0);
    // Nobody stands between a machine and itself.
    let request = if is_loopback(url) { request.proxy(None) } else { request };
    let mut request = request.build();
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let mut response = request.call().map_err(|error| Trouble::Other(error.to_string()))?;
    let code = response.status().as_u16();
    let body = response
        .body_mut()
        .with_config()
        .limit(64 * 1024)
        .lossy_utf8(true)
        .read_to_string();
    Ok((code, body.unwrap_or_default()))
}
