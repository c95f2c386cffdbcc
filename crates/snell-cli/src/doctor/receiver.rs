//! Is the receiver there, and what does it say about itself?

use std::time::Duration;

use serde_json::Value;

use super::{Found, Patient, note, ok, warning};
use crate::around::variable;

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
            Ok(said) => ok(said),
            Err(_) => note(format!("none listens on {USUAL}; nothing here needs one")),
        }];
    }
    let token = patient.server.token_file.as_ref();
    let token = token.and_then(|path| std::fs::read_to_string(path).ok());
    let asked = used
        .iter()
        .map(|url| match health(url, token.as_deref().map(str::trim)) {
            Ok(said) => ok(said),
            Err(why) => warning(
                format!("{url} is told what happens here, and does not answer: {why}"),
                "start it there: snell serve; until then events wait on disk",
            ),
        });
    asked.collect()
}

/// How a receiver is.
fn health(url: &str, token: Option<&str>) -> Result<String, String> {
    let (code, _) = get(&format!("{url}/healthz"), None)?;
    if code != 200 {
        return Err(format!("it answers {code} where a receiver of Snell's answers 200"));
    }
    let (code, body) = get(&format!("{url}/hook/status"), token)?;
    Ok(match code {
        200 => format!("{url}: {}", in_words(&serde_json::from_str(&body).unwrap_or_default())),
        401 | 403 => format!("{url} is there, and says more only to those who have its token"),
        code => format!("{url} is there, and answers {code} when asked for its status"),
    })
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

fn get(url: &str, token: Option<&str>) -> Result<(u16, String), String> {
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
    let mut response = request.call().map_err(|error| error.to_string())?;
    let code = response.status().as_u16();
    let body = response
        .body_mut()
        .with_config()
        .limit(64 * 1024)
        .lossy_utf8(true)
        .read_to_string();
    Ok((code, body.unwrap_or_default()))
}

/// Whether an address leads to this machine.
fn is_loopback(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or_default();
    ["127.", "localhost", "[::1]"].iter().any(|own| host.starts_with(own))
}
