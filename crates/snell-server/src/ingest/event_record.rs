//! A body that was checked, as what the store records.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use snell::{EventName, Timestamp};
use snell_store::{EventRecord, EventSender};

use super::fields;
use crate::http::errors::HttpError;
use crate::http::rfc3339;

/// What is recorded of a body. `event` is what its route says; else the body names it.
pub(super) fn build_event_record(
    event: Option<&EventName>,
    mut payload: Map<String, Value>,
    stranger: Option<IpAddr>,
    now: Timestamp,
) -> Result<EventRecord, HttpError> {
    fields::check_fields(&payload)?;
    let event = match event {
        Some(event) => event.as_str().to_owned(),
        None => {
            fields::require_field(&payload, "hook_event_name", "it names the event")?;
            let told = text_field(&payload, "hook_event_name").unwrap_or_default();
            EventName::parse(told.trim()).as_str().to_owned()
        }
    };
    let told_at = text_field(&payload, "timestamp").and_then(rfc3339::parse_timestamp);
    // What is told of the future is a wrong clock.
    let past = told_at.filter(|told: &Timestamp| *told <= now);
    let mut observation = EventRecord {
        event_id: text_field(&payload, "event_id").map_or_else(generate_event_id, str::to_owned),
        at: past.unwrap_or(now),
        delayed: past.is_some(),
        event,
        sender: Default::default(),
        judgement: None,
        payload: Map::new(),
    };
    if let Some(own) = payload.shift_remove("snell") {
        apply_snell_fields(&mut observation, own);
    }
    if let Some(stranger) = stranger
        && observation.sender.host.is_none()
        && text_field(&payload, "host").is_none()
    {
        // Its processes are none of this machine's.
        observation.sender.host = Some(stranger.to_string());
    }
    observation.payload = payload;
    Ok(observation)
}

/// Fields of a payload that name processes, terminals and files of this machine, and so make Snell look at them.
const LOCAL_CLAIMS: &[&str] =
    &["pid", "pid_started", "host", "tmux_pane", "tmux_session", "transcript_path", "agent_transcript_path"];

/// The field that keeps the claims of an unverified sender, and the host that such a sender counts as running on.
const UNVERIFIED: &str = "unverified";

/// Keeps what an unverified sender claims about this machine where nothing acts on it. Its host counts as another one, so
/// its directory is not looked at either.
pub(super) fn quarantine_local_claims(record: &mut EventRecord) {
    let payload = &mut record.payload;
    let claims: Map<_, _> = LOCAL_CLAIMS.iter().filter_map(|name| payload.shift_remove_entry(*name)).collect();
    if !claims.is_empty() {
        payload.insert(UNVERIFIED.into(), Value::Object(claims));
    }
    let sender = std::mem::take(&mut record.sender);
    record.sender = EventSender {
        process: None,
        process_is_told: false,
        tmux_pane: None,
        tmux_session: None,
        tmux_server: None,
        host: Some(UNVERIFIED.into()),
        ..sender
    };
}

fn text_field<'p>(payload: &'p Map<String, Value>, name: &str) -> Option<&'p str> {
    payload.get(name).and_then(Value::as_str)
}

/// What another Snell knows of the event beside its payload. What cannot be understood does not count.
fn apply_snell_fields(record: &mut EventRecord, mut own: Value) {
    if let Some(sender) = take_field(&mut own, "sender") {
        record.sender = sender;
    }
    record.judgement = take_field(&mut own, "judgement");
}

fn take_field<T: DeserializeOwned>(own: &mut Value, name: &str) -> Option<T> {
    let part = own.get_mut(name).map(Value::take).filter(|part| !part.is_null())?;
    let read = serde_json::from_value(part);
    if read.is_err() {
        tracing::debug!("\"{name}\" in \"snell\" cannot be understood; it is ignored");
    }
    read.ok()
}

/// An id for an event that has none: when this process began, and how many came before.
fn generate_event_id() -> String {
    static BEGAN: LazyLock<String> = LazyLock::new(|| {
        let clock = Timestamp::now().as_nanosecond();
        format!("{clock:x}-{:x}", std::process::id())
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-s{:x}", *BEGAN, COUNT.fetch_add(1, Ordering::Relaxed))
}
