//! Stores the outbox events for this server that senders could not deliver. They are stored in order, by the rules of
//! HTTP events.

use std::path::Path;
use std::sync::Arc;

use snell_store::queue::outbox::{DeliveryAnswer, Outbox, OutboxMessage, is_local_server_url};

use crate::app_state::AppState;
use crate::http::errors::{HttpError, format_error_chain};
use crate::ingest;

/// The outbox messages for this server.
pub(crate) struct OutboxDrain {
    outbox: Outbox,
    /// The port of this server.
    port: u16,
    app: Arc<AppState>,
}

impl OutboxDrain {
    pub(crate) fn new(directory: &Path, port: u16, app: Arc<AppState>) -> Self {
        Self { outbox: Outbox::in_data_dir(directory), port, app }
    }

    /// Stores the messages. Those that cannot be stored now stay. Returns whether to try again soon: because some
    /// stayed, or because another process was delivering, which may not reach this server.
    pub(crate) fn drain_messages(&self) -> bool {
        if !self.app.settings.enabled {
            return false;
        }
        let wanted = |url: &str| is_local_server_url(url, self.port);
        match self.outbox.deliver_waiting(&wanted, &mut |message| self.ingest_message(message)) {
            Ok(report) => {
                if report.delivered > 0 {
                    tracing::info!(events = report.delivered, "stored events from the outbox");
                }
                for refused in report.refused {
                    tracing::warn!(event = refused.event, why = refused.answer, "refused an event from the outbox");
                }
                let waits = || self.outbox.list_backlogs().iter().any(|waiting| wanted(&waiting.url));
                !report.stalled.is_empty() || (report.left_to_another && waits())
            }
            Err(error) => {
                tracing::warn!(error = format_error_chain(&error), "cannot deliver the outbox");
                false
            }
        }
    }

    fn ingest_message(&self, message: &OutboxMessage) -> DeliveryAnswer {
        match ingest::ingest_outbox_message(&self.app, message.body.clone()) {
            Ok(_) => DeliveryAnswer::Accepted,
            Err(HttpError::Busy { why, .. }) => DeliveryAnswer::Later(why),
            Err(refusal) => DeliveryAnswer::Refused(refusal.message().to_string()),
        }
    }
}
