//! Targets that get a request: ntfy, Slack, and a webhook of the user's own.

use std::time::Duration;

use serde_json::{Value, json};
use snell::{NtfyTarget, SecretSource, Timestamp, WebhookTarget};
use ureq::Agent;

use super::super::notice::Notice;
use super::super::secret::read_secret;
use super::DeliveryFailure;
use super::signature::sign_request;

/// How long a target may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(8);

/// Statuses of the 4xx range that may go away.
const TEMPORARY_STATUSES: &[u16] = &[408, 425, 429];

/// The priority of ntfy for an agent that waits; others have the default, 3.
const NTFY_HIGH_PRIORITY: u8 = 4;

/// A request. Its address and headers may contain secrets, so it has no `Debug`.
pub(super) struct HttpTarget {
    url: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl HttpTarget {
    /// The request as JSON to the server of a topic, because headers cannot hold all characters of a title.
    pub(super) fn for_ntfy(ntfy: &NtfyTarget, notice: &Notice) -> Result<Self, DeliveryFailure> {
        let address = ntfy.url.trim_end_matches('/');
        let (server, topic) = address.rsplit_once('/').unwrap_or((address, ""));
        if topic.is_empty() || server.ends_with('/') {
            return Err(DeliveryFailure::Permanent("the address of ntfy has no topic".into()));
        }
        let mut body = json!({"topic": topic, "title": notice.title, "message": notice.body});
        if ["needs_user", "request"].contains(&notice.kind) {
            body["priority"] = NTFY_HIGH_PRIORITY.into();
        }
        if let Some(link) = &notice.link {
            body["click"] = Value::from(link.as_str());
        }
        let actions = list_ntfy_actions(notice);
        if !actions.is_empty() {
            body["actions"] = actions.into();
        }
        let mut request = Self::new(format!("{server}/"), notice, body.to_string());
        if let Some(token) = &ntfy.token {
            request.headers.push(("authorization", format!("Bearer {}", load_secret(token)?)));
        }
        Ok(request)
    }

    pub(super) fn for_slack(url: &SecretSource, notice: &Notice) -> Result<Self, DeliveryFailure> {
        let text = format!("*{}*\n{}", escape_slack(&notice.title), escape_slack(&notice.body_with_link()));
        let mut body = json!({ "text": text });
        if notice.request.is_some() {
            body["blocks"] = build_slack_blocks(notice);
        }
        Ok(Self::new(load_secret(url)?, notice, body.to_string()))
    }

    pub(super) fn for_webhook(webhook: &WebhookTarget, notice: &Notice) -> Result<Self, DeliveryFailure> {
        let secret = load_secret(&webhook.secret)?;
        // A notice has only text and numbers, so it always serializes.
        let body = serde_json::to_string(notice).unwrap_or_default();
        let timestamp = Timestamp::now().as_second();
        let signature = sign_request(secret.as_bytes(), timestamp, &body);
        let mut request = Self::new(webhook.url.clone(), notice, body);
        request.headers.push(("x-snell-timestamp", timestamp.to_string()));
        request.headers.push(("x-snell-signature", signature));
        Ok(request)
    }

    fn new(url: String, notice: &Notice, body: String) -> Self {
        Self { url, headers: vec![("x-snell-id", notice.id.clone())], body }
    }

    /// Sends the request. It follows no redirects: they would lead secrets elsewhere.
    pub(super) fn send(self) -> Result<(), DeliveryFailure> {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(REQUEST_TIMEOUT))
            .user_agent(concat!("snell/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let mut call = agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            call = call.header(*name, value);
        }
        let response = call.send(&self.body).map_err(|error| describe_error(&error))?;
        classify_status(response.status().as_u16())
    }
}

/// The buttons of ntfy: each answer is a request of the phone, and the last button opens the page.
fn list_ntfy_actions(notice: &Notice) -> Vec<Value> {
    let Some(request) = &notice.request else {
        return Vec::new();
    };
    let answers = request.answers.iter().map(
        |button| json!({"action": "http", "label": button.label(), "url": button.url, "method": "POST", "clear": true}),
    );
    let page = notice.link.iter().map(|link| json!({"action": "view", "label": "Open", "url": link}));
    answers.chain(page).collect()
}

/// The buttons of Slack are links, because an incoming webhook gets no answers. The texts are plain, so that nothing in them
/// is a link, a name or a channel.
fn build_slack_blocks(notice: &Notice) -> Value {
    let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
    let button = |label: &str, url: &str| json!({"type": "button", "text": plain(label), "url": url});
    let answers = notice.request.iter().flat_map(|request| &request.answers);
    let mut buttons: Vec<_> = answers.map(|answer| button(answer.label(), &answer.url)).collect();
    buttons.extend(notice.link.iter().map(|link| button("Open", link)));
    let texts = [&notice.title, &notice.body].map(|text| json!({"type": "section", "text": plain(text)}));
    let buttons = (!buttons.is_empty()).then(|| json!({"type": "actions", "elements": buttons}));
    texts.into_iter().chain(buttons).collect()
}

fn load_secret(source: &SecretSource) -> Result<String, DeliveryFailure> {
    read_secret(source).map_err(DeliveryFailure::Temporary)
}

fn classify_status(status: u16) -> Result<(), DeliveryFailure> {
    let text = format!("it answered with status {status}");
    match status {
        200..=299 => Ok(()),
        400..=499 if !TEMPORARY_STATUSES.contains(&status) => Err(DeliveryFailure::Permanent(text)),
        _ => Err(DeliveryFailure::Temporary(text)),
    }
}

/// The failure in words. The error itself may contain the address.
fn describe_error(error: &ureq::Error) -> DeliveryFailure {
    match error {
        ureq::Error::Timeout(_) => DeliveryFailure::Temporary("it did not answer in time".into()),
        ureq::Error::Io(error) => DeliveryFailure::Temporary(format!("it cannot be reached ({error})")),
        ureq::Error::HostNotFound => DeliveryFailure::Temporary("its host was not found".into()),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => DeliveryFailure::Permanent("its address is invalid".into()),
        _ => DeliveryFailure::Temporary("it cannot be reached".into()),
    }
}

/// Text in which Slack sees no links, names or channels.
fn escape_slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_may_go_away_is_tried_again() {
        let cases = [
            (200, None),
            (204, None),
            (404, Some(false)),
            (401, Some(false)),
            (302, Some(true)),
            (429, Some(true)),
            (503, Some(true)),
        ];
        for (status, is_temporary) in cases {
            let found = classify_status(status).err().map(|failure| matches!(failure, DeliveryFailure::Temporary(_)));
            assert_eq!(found, is_temporary, "{status}");
        }
    }
}
