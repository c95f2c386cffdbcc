//! An event that is ready to be stored: all work that needs no transaction is done.

use serde_json::Value;
use snell::{AgentProduct, Event, Timestamp};

use crate::db::model::to_stored_precision;
use crate::derive;
use crate::error::Result;
use crate::record::event_record::{DecisionRecord, EventRecord, EventSender};
use crate::record::masked_record::MaskedRecord;

/// An event that is masked, decoded and serialised.
#[derive(Clone, Debug)]
pub struct NormalizedEvent {
    pub(crate) event_id: String,
    pub(crate) at: Timestamp,
    pub(crate) delayed: bool,
    /// The event's canonical name.
    pub(crate) name: String,
    pub(crate) event: Event,
    /// The summary of the tool call, or of the result of a background task.
    pub(crate) tool_summary: Option<String>,
    /// The agent's payload, as it is stored.
    pub(crate) payload: String,
    /// The sender, completed from the payload.
    pub(crate) sender: EventSender,
    pub(crate) judgement: Option<DecisionRecord>,
}

impl NormalizedEvent {
    /// Decodes a record, and serialises its payload.
    ///
    /// # Errors
    ///
    /// When the event has no name.
    pub fn from_record(record: MaskedRecord) -> Result<Self> {
        let record = record.into_inner();
        let payload = Value::Object(record.payload);
        let text = payload.to_string();
        let fields = match payload {
            Value::Object(fields) => fields,
            _ => serde_json::Map::new(),
        };
        let product = AgentProduct::for_recorded_name(record.sender.product.as_deref());
        let event = product.decode(Some(&record.event), fields)?;
        Ok(Self {
            event_id: record.event_id,
            at: to_stored_precision(record.at),
            delayed: record.delayed,
            name: record.event,
            sender: derive::complete_sender(record.sender, &event),
            tool_summary: derive::summarize_event(product, &event),
            event,
            payload: text,
            judgement: record.judgement,
        })
    }

    /// The product whose conventions apply to it.
    pub(crate) fn product(&self) -> &'static AgentProduct {
        AgentProduct::for_recorded_name(self.sender.product.as_deref())
    }

    /// The record that it was made of, as far as it is stored.
    pub(crate) fn to_masked_record(&self) -> MaskedRecord {
        MaskedRecord::from_masked_parts(EventRecord {
            event_id: self.event_id.clone(),
            at: self.at,
            delayed: self.delayed,
            event: self.name.clone(),
            payload: self.event.raw.clone(),
            sender: self.sender.clone(),
            judgement: self.judgement.clone(),
        })
    }
}
