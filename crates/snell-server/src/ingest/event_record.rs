//! Converts a checked body to a record of the store.

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

/// The record of a body. `event` is the event of the route; without it, the body names the event.
pub(super) fn build_event_record(
    event: Option<&EventName>,
    mut payload: Map<String, Value>,
    remote_peer: Option<IpAddr>,
    now: Timestamp,
) -> Result<EventRecord, HttpError> {
    fields::check_fields(&payload)?;
    let event = match event {
        Some(event) => event.as_str().to_owned(),
        None => {
            fields::require_field(&payload, "hook_event_name", "send the name of the event")?;
            let name = text_field(&payload, "hook_event_name").unwrap_or_default();
            EventName::parse(name.trim()).as_str().to_owned()
        }
    };
    let sent_at = text_field(&payload, "timestamp").and_then(rfc3339::parse_timestamp);
    // A time in the future means a wrong clock.
    let past = sent_at.filter(|at: &Timestamp| *at <= now);
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
    if let Some(remote_peer) = remote_peer
        && observation.sender.host.is_none()
        && text_field(&payload, "host").is_none()
    {
        // The sender's processes are not on this machine.
        observation.sender.host = Some(remote_peer.to_string());
    }
    observation.payload = payload;
    Ok(observation)
}

/// Whether an event is of a machine that is known and not this one.
pub(super) fn names_other_host(record: &EventRecord) -> bool {
    static OWN_HOST: LazyLock<String> =
        LazyLock::new(|| rustix::system::uname().nodename().to_string_lossy().into_owned());
    let host = record.sender.host.as_deref().or_else(|| text_field(&record.payload, "host"));
    host.is_some_and(|host| !host.trim().is_empty() && !host.trim().eq_ignore_ascii_case(&OWN_HOST))
}

/// Fields that name processes, terminals and files of this machine, which Snell would inspect.
const LOCAL_CLAIMS: &[&str] =
    &["pid", "pid_started", "host", "tmux_pane", "tmux_session", "transcript_path", "agent_transcript_path"];

/// The field for the claims of an unverified sender, and the host name that such a sender gets.
const UNVERIFIED: &str = "unverified";

/// Moves the claims of an unverified sender about this machine to a field that nothing acts on. Its host becomes
/// another one, so Snell does not read its directory either.
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
        transcript_path: None,
        host: Some(UNVERIFIED.into()),
        ..sender
    };
}

fn text_field<'p>(payload: &'p Map<String, Value>, name: &str) -> Option<&'p str> {
    payload.get(name).and_then(Value::as_str)
}

/// Applies the data that another Snell sends with the event. Invalid parts are ignored.
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
        tracing::debug!("ignoring \"{name}\" in \"snell\": it is invalid");
    }
    read.ok()
}

/// An id for an event without one: the start of this process and a counter.
fn generate_event_id() -> String {
    static STARTED: LazyLock<String> = LazyLock::new(|| {
        let clock = Timestamp::now().as_nanosecond();
        format!("{clock:x}-{:x}", std::process::id())
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-s{:x}", *STARTED, COUNT.fetch_add(1, Ordering::Relaxed))
}
