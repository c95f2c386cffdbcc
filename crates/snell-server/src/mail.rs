//! Events that were put on disk for this server while it could not be reached. They are taken from there in their order,
//! by the same rules as those that come by HTTP.

use std::path::Path;
use std::sync::Arc;

use snell_store::outbox::{Answer, Letter, Outbox, is_local};

use crate::app::App;
use crate::error::{Refusal, with_causes};
use crate::hook;

/// What waits for this server.
pub(crate) struct Mail {
    outbox: Outbox,
    /// The port by which it is called.
    port: u16,
    app: Arc<App>,
}

impl Mail {
    pub(crate) fn new(directory: &Path, port: u16, app: Arc<App>) -> Self {
        Self {
            outbox: Outbox::beside(directory),
            port,
            app,
        }
    }

    /// Takes what is there. What cannot be stored now stays. Answers whether it is worth coming again soon: because of that,
    /// or because another one was delivering, who may not reach this server.
    pub(crate) fn take(&self) -> bool {
        if !self.app.settings.enabled {
            return false;
        }
        let wanted = |url: &str| is_local(url, self.port);
        match self.outbox.deliver(&wanted, &mut |letter| self.open(letter)) {
            Ok(report) => {
                if report.taken > 0 {
                    tracing::info!(events = report.taken, "took events that had waited on disk");
                }
                for refused in report.refused {
                    tracing::warn!(
                        event = refused.event,
                        why = refused.answer,
                        "an event that had waited is refused"
                    );
                }
                let waits = || self.outbox.waiting().iter().any(|waiting| wanted(&waiting.url));
                !report.held_up.is_empty() || (report.left_to_another && waits())
            }
            Err(error) => {
                tracing::warn!(error = with_causes(&error), "cannot take what waits on disk");
                false
            }
        }
    }

    fn open(&self, letter: &Letter) -> Answer {
        match hook::take_letter(&self.app, letter.body.clone()) {
            Ok(_) => Answer::Taken,
            Err(Refusal::Busy { why, .. }) => Answer::Later(why),
            Err(refusal) => Answer::Refused(refusal.message()),
        }
    }
}
