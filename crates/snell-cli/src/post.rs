//! Handing letters to their receivers over HTTP.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use snell_server::read_token;
use snell_store::outbox::{Answer, Letter, Receiver};
use ureq::Agent;
use ureq::http::Response;

/// How long a receiver may take where nobody waits.
const PATIENCE: Duration = Duration::from_secs(5);

/// With less time than this left, nothing is begun.
const TOO_LITTLE_TIME: Duration = Duration::from_millis(5);

/// How much of an answer is read. Nobody needs it, but the connection can be used again.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// How much of a refusal is told.
const MAX_TOLD_BYTES: usize = 512;

/// What an answer means for the letter. Whatever stands in no row is no reason to give a letter up.
enum Meaning {
    /// The receiver has it.
    Taken,
    /// The receiver will never take it.
    Never,
    /// It is about the receiver or about us, not about this letter.
    NotNow,
}

/// Answers that speak about the letter itself: it cannot be read (400), contradicts what is there (409), is too large (413),
/// of the wrong kind (415) or makes no sense (422). All others may come from something in front of the receiver, or from a
/// wrong address: a proxy whose server is down, or a path at which nobody listens, answers 404, 405 or 410.
const ABOUT_THE_LETTER: &[u16] = &[400, 409, 413, 415, 422];

fn meaning(status: u16) -> Meaning {
    match status {
        200..=299 => Meaning::Taken,
        _ if ABOUT_THE_LETTER.contains(&status) => Meaning::Never,
        _ => Meaning::NotNow,
    }
}

/// Hands letters over, over connections that are kept open.
#[derive(Debug)]
pub(crate) struct Post {
    agent: Agent,
    /// The receiver that the caller itself sends to: its token is the one that counts now, whatever it was when a letter was
    /// written.
    own: Option<Receiver>,
    deadline: Option<Instant>,
    /// Whether something was left undone because the time was up.
    pub(crate) is_out_of_time: bool,
}

impl Post {
    /// For whoever has time, and sends to this receiver.
    pub(crate) fn patient(own: Option<Receiver>) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // Events go where their user said, and nowhere that an answer or a variable of the environment leads.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("snell/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self {
            agent,
            own,
            deadline: None,
            is_out_of_time: false,
        }
    }

    /// For whoever must be done by then.
    pub(crate) fn until(deadline: Instant, own: Receiver) -> Self {
        Self {
            deadline: Some(deadline),
            ..Self::patient(Some(own))
        }
    }

    /// Lets there be no more time than this, for what comes now.
    pub(crate) fn hurry(&mut self, most: Duration) {
        let soon = Instant::now() + most;
        self.deadline = Some(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
    }

    /// Hands a letter to its receiver.
    pub(crate) fn hand(&mut self, letter: &Letter) -> Answer {
        let left = self
            .deadline
            .map_or(PATIENCE, |deadline| deadline.saturating_duration_since(Instant::now()));
        if left < TOO_LITTLE_TIME {
            self.is_out_of_time = true;
            return Answer::Later("was not asked, because the time was up".into());
        }
        match self.send(letter, left) {
            Ok(answer) => answer,
            Err(why) => Answer::Later(why),
        }
    }

    fn send(&mut self, letter: &Letter, timeout: Duration) -> Result<Answer, String> {
        let (token, lacks) = self.token_for(letter)?;
        let body = serde_json::to_string(&letter.body).map_err(|error| error.to_string())?;
        let mut call = self
            .agent
            .post(letter.address())
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header("content-type", "application/json");
        if let Some(token) = token {
            call = call.header("authorization", format!("Bearer {token}"));
        }
        let mut response = call.send(body).map_err(|error| self.failure(&error))?;
        let status = response.status().as_u16();
        let said = body_of(&mut response);
        Ok(match meaning(status) {
            Meaning::Taken => Answer::Taken,
            Meaning::Never => Answer::Refused(format!("{status}: {said}")),
            Meaning::NotNow => Answer::Later(match lacks {
                Some(lacks) => format!("answered {status}: {said} ({lacks}, so none was shown)"),
                None => format!("answered {status}: {said}"),
            }),
        })
    }

    /// The token to show with a letter, and why there is none if there should be one. What the caller names counts for all
    /// letters to its receiver, and must be there. What a letter names was right when it was written; if it is gone, the
    /// receiver decides whether it is needed, so that one letter does not hold up those that need none.
    fn token_for(&self, letter: &Letter) -> Result<(Option<String>, Option<String>), String> {
        let own = self.own.as_ref().filter(|own| own.url == letter.url);
        if let Some(named) = own.and_then(|own| own.token_file.as_deref()) {
            let token = token(named).map_err(|why| format!("was not asked: {why}"))?;
            return Ok((Some(token), None));
        }
        Ok(match letter.token_file.as_deref().map(token) {
            Some(Ok(token)) => (Some(token), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        })
    }

    fn failure(&mut self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::Timeout(_) => {
                self.is_out_of_time = self.deadline.is_some();
                "did not answer in time".into()
            }
            // Without the kind that it stands under, which says no more.
            ureq::Error::Io(error) => format!("cannot be reached ({error})"),
            error => format!("cannot be reached ({error})"),
        }
    }
}

/// What an answer says, for people.
fn body_of(response: &mut Response<ureq::Body>) -> String {
    let body = response
        .body_mut()
        .with_config()
        .limit(MAX_ANSWER_BYTES)
        .lossy_utf8(true);
    // The status is all that counts.
    let mut said = body.read_to_string().unwrap_or_default();
    said.truncate(said.floor_char_boundary(MAX_TOLD_BYTES));
    said.trim().to_owned()
}

/// The token in this file, if nobody else can read it.
pub(crate) fn token(path: &Path) -> Result<String, String> {
    read_token(path).map_err(|error| match error.source() {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
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
        assert!(taken.iter().all(|status| matches!(meaning(*status), Meaning::Taken)));
        assert!(never.iter().all(|status| matches!(meaning(*status), Meaning::Never)));
        assert!(not_now.iter().all(|status| matches!(meaning(*status), Meaning::NotNow)));
    }
}
