//! An observation that is ready to be stored. Everything that can be done before a transaction begins has been done.

use serde_json::Value;
use snell::{Event, Timestamp};

use crate::error::Result;
use crate::ingest;
use crate::model::as_kept;
use crate::observation::{Judgement, Observation, Sender};

/// An observation that is fit to be kept, understood, and written out.
#[derive(Clone, Debug)]
pub struct Prepared {
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
    pub(crate) sender: Sender,
    pub(crate) judgement: Option<Judgement>,
}

impl Prepared {
    /// Masks, cuts, decodes and writes out.
    ///
    /// # Errors
    ///
    /// When nothing names the event.
    pub fn of(observation: Observation) -> Result<Self> {
        let observation = observation.fit_to_keep();
        let payload = Value::Object(observation.payload);
        let text = payload.to_string();
        let fields = match payload {
            Value::Object(fields) => fields,
            _ => serde_json::Map::new(),
        };
        let (event, _) = Event::from_object(Some(&observation.event), fields)?;
        Ok(Self {
            event_id: observation.event_id,
            at: as_kept(observation.at),
            delayed: observation.delayed,
            name: observation.event,
            sender: ingest::sender_of(observation.sender, &event),
            tool_summary: ingest::tools::summary(&event),
            event,
            payload: text,
            judgement: observation.judgement,
        })
    }

    /// What it was made of, as far as it is kept.
    pub(crate) fn to_observation(&self) -> Observation {
        Observation {
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
