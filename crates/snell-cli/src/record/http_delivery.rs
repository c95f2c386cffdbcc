//! Delivers messages of the outbox over HTTP.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use snell::UserMessage;
use snell_server::read_token_file;
use snell_store::queue::outbox::{DeliveryAnswer, OutboxMessage, OutboxReceiver};
use ureq::Agent;
use ureq::http::Response;

/// How long a receiver may take if no agent waits.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// With less time left, no request is started.
const MIN_TIME_LEFT: Duration = Duration::from_millis(5);

/// How much of an answer is read, so that the connection can be reused.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// How much of a refusal is shown.
const MAX_EXCERPT_BYTES: usize = 512;

/// Statuses that are about the message itself: it is invalid (400), conflicts (409), is too large (413), has the wrong type (415)
/// or wrong content (422). All others may come from a proxy, or from a wrong address: a proxy whose server is down, or a path
/// without a server, answers 404, 405 or 410.
const PERMANENT_FAILURES: &[u16] = &[400, 409, 413, 415, 422];

fn classify_answer(status: u16, excerpt: &str, missing_token: Option<&str>) -> DeliveryAnswer {
    match status {
        200..=299 => DeliveryAnswer::Accepted,
        _ if PERMANENT_FAILURES.contains(&status) => DeliveryAnswer::Refused(format!("{status}: {excerpt}")),
        _ => DeliveryAnswer::Later(match missing_token {
            Some(lacks) => format!("answered {status}: {excerpt} (Snell sent no token: {lacks})"),
            None => format!("answered {status}: {excerpt}"),
        }),
    }
}

/// Delivers messages over persistent connections.
#[derive(Debug)]
pub(crate) struct OutboxHttpClient {
    agent: Agent,
    /// The caller's own receiver: its current token is used, not the one from when a message was written.
    own_receiver: Option<OutboxReceiver>,
    deadline: Option<Instant>,
    /// Whether a message was not sent because there was no time left.
    pub(crate) is_out_of_time: bool,
}

impl OutboxHttpClient {
    /// For a process without a deadline that sends to this receiver.
    pub(crate) fn without_deadline(own_receiver: Option<OutboxReceiver>) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // Events go only to the configured receiver: no redirects, and no proxy from the environment.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("snell/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { agent, own_receiver, deadline: None, is_out_of_time: false }
    }

    /// For a process with a deadline.
    pub(crate) fn with_deadline(deadline: Instant, own: OutboxReceiver) -> Self {
        Self { deadline: Some(deadline), ..Self::without_deadline(Some(own)) }
    }

    /// Limits the time for the next messages.
    pub(crate) fn limit_time(&mut self, most: Duration) {
        let soon = Instant::now() + most;
        self.deadline = Some(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
    }

    /// Delivers a message.
    pub(crate) fn deliver(&mut self, message: &OutboxMessage) -> DeliveryAnswer {
        let left =
            self.deadline.map_or(DELIVERY_TIMEOUT, |deadline| deadline.saturating_duration_since(Instant::now()));
        if left < MIN_TIME_LEFT {
            self.is_out_of_time = true;
            return DeliveryAnswer::Later("was not contacted, because the time limit was reached".into());
        }
        match self.send(message, left) {
            Ok(answer) => answer,
            Err(why) => DeliveryAnswer::Later(why),
        }
    }

    fn send(&mut self, message: &OutboxMessage, timeout: Duration) -> Result<DeliveryAnswer, String> {
        let (token, lacks) = self.select_token(message)?;
        let body = serde_json::to_string(&message.body).map_err(|error| error.to_string())?;
        let mut call = self
            .agent
            .post(message.request_url())
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header("content-type", "application/json");
        if let Some(token) = token {
            call = call.header("authorization", format!("Bearer {token}"));
        }
        let mut response = call.send(body).map_err(|error| self.describe_failure(&error))?;
        let status = response.status().as_u16();
        let excerpt = read_body_excerpt(&mut response);
        Ok(classify_answer(status, &excerpt, lacks.as_deref()))
    }

    /// The token to send with a message, and why it is missing if there should be one. The caller's token is used for all messages to
    /// its receiver, and must exist. A message's own token was valid when it was written; if its file is gone, the message is sent
    /// without one, so that it does not hold up messages that need none.
    fn select_token(&self, message: &OutboxMessage) -> Result<(Option<String>, Option<String>), String> {
        let own = self.own_receiver.as_ref().filter(|own| own.url == message.url);
        if let Some(named) = own.and_then(|own| own.token_file.as_deref()) {
            let token = load_token(named).map_err(|why| format!("was not called: {why}"))?;
            return Ok((Some(token), None));
        }
        Ok(match message.token_file.as_deref().map(load_token) {
            Some(Ok(token)) => (Some(token), None),
            Some(Err(why)) => (None, Some(why.to_string())),
            None => (None, None),
        })
    }

    fn describe_failure(&mut self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::Timeout(_) => {
                self.is_out_of_time = self.deadline.is_some();
                "did not answer in time".into()
            }
            // The error kind adds nothing.
            ureq::Error::Io(error) => format!("cannot be reached ({error})"),
            error => format!("cannot be reached ({error})"),
        }
    }
}

/// The text of an answer, for people.
fn read_body_excerpt(response: &mut Response<ureq::Body>) -> String {
    let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).lossy_utf8(true);
    // Only the status matters.
    let mut text = body.read_to_string().unwrap_or_default();
    text.truncate(text.floor_char_boundary(MAX_EXCERPT_BYTES));
    text.trim().to_owned()
}

/// The token in this file, if no other user can read it.
pub(crate) fn load_token(path: &Path) -> Result<String, UserMessage> {
    read_token_file(path).map_err(|error| {
        let text = error.source().map_or_else(|| error.to_string(), |source| format!("{error} ({source})"));
        UserMessage { text, hint: error.hint() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_given_up_only_for_what_is_wrong_with_it() {
        let taken = [200, 201, 202, 204];
        let never = [400, 409, 413, 415, 422];
        let not_now = [
            100, 301, 302, 307, 308, 401, 403, 404, 405, 407, 408, 410, 411, 414, 421, 423, 425, 429, 431, 451, 500,
            502, 503, 504, 599,
        ];
        assert!(taken.iter().all(|status| matches!(classify_answer(*status, "", None), DeliveryAnswer::Accepted)));
        assert!(never.iter().all(|status| matches!(classify_answer(*status, "", None), DeliveryAnswer::Refused(_))));
        assert!(not_now.iter().all(|status| matches!(classify_answer(*status, "", None), DeliveryAnswer::Later(_))));
    }
}
