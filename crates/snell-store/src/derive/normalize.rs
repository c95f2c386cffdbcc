//! An observation that is ready to be stored. Everything that can be done before a transaction begins has been done.

use serde_json::Value;
use snell::{AgentProduct, Event, Timestamp};

use crate::db::model::to_stored_precision;
use crate::derive;
use crate::error::Result;
use crate::record::event_record::{DecisionRecord, EventRecord, EventSender};

/// An observation that is fit to be kept, understood, and written out.
#[derive(Clone, Debug)]
pub struct NormalizedEvent {
    pub(crate) event_id: String,
    pub(crate) at: Timestamp,
    pub(crate) delayed: bool,
    /// The event's canonical name.
    pub(crate) name: String,
    pub(crate) event: Event,
    /// What the call of a tool is about.
    pub(crate) tool_summary: Option<String>,
    /// What the agent sent, as it is kept.
    pub(crate) payload: String,
    /// Who sent it, also as the payload tells it.
    pub(crate) sender: EventSender,
    pub(crate) judgement: Option<DecisionRecord>,
}

impl NormalizedEvent {
    /// Masks, cuts, decodes and writes out.
    ///
    /// # Errors
    ///
    /// When nothing names the event.
    pub fn from_record(observation: EventRecord) -> Result<Self> {
        let observation = observation.into_sanitized();
        let payload = Value::Object(observation.payload);
        let text = payload.to_string();
        let fields = match payload {
            Value::Object(fields) => fields,
            _ => serde_json::Map::new(),
        };
        let product = AgentProduct::for_recorded_name(observation.sender.product.as_deref());
        let event = product.decode(Some(&observation.event), fields)?;
        Ok(Self {
            event_id: observation.event_id,
            at: to_stored_precision(observation.at),
            delayed: observation.delayed,
            name: observation.event,
            sender: derive::complete_sender(observation.sender, &event),
            tool_summary: derive::tool_calls::summarize_tool_call(product, &event),
            event,
            payload: text,
            judgement: observation.judgement,
        })
    }

    /// The product whose conventions apply to it.
    pub(crate) fn product(&self) -> &'static AgentProduct {
        AgentProduct::for_recorded_name(self.sender.product.as_deref())
    }

    /// The record from which it was made, as far as it is kept.
    pub(crate) fn to_event_record(&self) -> EventRecord {
        EventRecord {
            event_id: self.event_id.clone(),
            at: self.at,
            delayed: self.delayed,
            event: self.name.clone(),
            payload: self.event.raw.clone(),
            sender: self.sender.clone(),
            judgement: self.judgement.clone(),
        }
    }
}
