//! One event as it goes to a receiver.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use snell::{EventName, Timestamp};

use super::{coerce, truncate};
use crate::record::event_record::EventRecord;
use crate::record::masked_record::MaskedRecord;

/// The address of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxReceiver {
    /// Its URL, without a slash at the end.
    pub url: String,
    /// The file with its token.
    pub token_file: Option<PathBuf>,
}

/// An event for a receiver, with all data for its delivery except for the token, which stays in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutboxMessage {
    /// The receiver's address.
    pub url: String,
    /// The path of the request.
    pub route: String,
    /// The file with the token, read at the time of delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// When the event happened.
    pub at: Timestamp,
    /// The event's name, for people.
    pub event: String,
    /// The body of the request.
    pub body: Map<String, Value>,
}

/// The events that have a route of their own.
const ROUTES: &[(EventName, &str)] = &[
    (EventName::SessionStart, "/hook/session-start"),
    (EventName::SessionEnd, "/hook/session-end"),
    (EventName::UserPromptSubmit, "/hook/user-prompt-submit"),
    (EventName::Stop, "/hook/stop"),
    (EventName::Notification, "/hook/notification"),
    (EventName::PreToolUse, "/hook/pre-tool-use"),
    (EventName::PostToolUse, "/hook/post-tool-use"),
    (EventName::PermissionRequest, "/hook/permission-request"),
];

/// The route of all other events.
const DEFAULT_ROUTE: &str = "/hook/event";

impl OutboxMessage {
    /// A message with the payload and the sender of an event.
    pub fn from_record(record: MaskedRecord, to: &OutboxReceiver) -> Self {
        Self::new(record.into_inner(), to, None)
    }

    /// The same, with Snell's own data and its decision under `snell`.
    pub fn from_record_with_decision(record: MaskedRecord, to: &OutboxReceiver) -> Self {
        let mut record = record.into_inner();
        // Worker ids are valid only in this database.
        if let Some(decision) = &mut record.judgement {
            decision.reminded.workers.clear();
        }
        let known = json!({"sender": record.sender, "judgement": record.judgement});
        Self::new(record, to, Some(known))
    }

    fn new(record: EventRecord, to: &OutboxReceiver, known: Option<Value>) -> Self {
        let name = EventName::parse(&record.event);
        let mut body = record.payload;
        coerce::coerce_fields(&mut body);
        let own_name = body.get("hook_event_name").and_then(Value::as_str);
        if own_name.map(EventName::parse).as_ref() != Some(&name) {
            body.insert("hook_event_name".into(), name.as_str().into());
        }
        let sender = &record.sender;
        let text = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Value::from);
        let has_directory = has_value(&body, "cwd") || has_value(&body, "working_directory");
        let cwd = sender.cwd.as_ref().filter(|_| !has_directory);
        let additions = [
            ("session_id", text(&sender.launcher_session_id)),
            ("cwd", cwd.map(|cwd| cwd.to_string_lossy().into())),
            ("tmux_pane", text(&sender.tmux_pane)),
            ("tmux_session", text(&sender.tmux_session)),
            ("headspace_session_id", text(&sender.headspace_session_id)),
            ("pid", sender.process.map(|process| process.pid.into())),
            ("host", text(&sender.host)),
            ("platform", text(&sender.product)),
            ("timestamp", Some(record.at.to_string().into())),
        ];
        for (field, value) in additions {
            // The payload's own value takes precedence.
            if let Some(value) = value.filter(|_| !has_value(&body, field)) {
                body.insert(field.into(), value);
            }
        }
        body.insert("event_id".into(), record.event_id.into());
        body.extend(known.map(|known| ("snell".to_owned(), known)));
        // Added fields may be too long as well.
        coerce::coerce_fields(&mut body);
        Self {
            url: to.url.clone(),
            route: find_route(&name).to_owned(),
            token_file: to.token_file.clone(),
            at: record.at,
            event: record.event,
            body: truncate::truncate_body(body),
        }
    }

    /// The address that it is sent to.
    pub fn request_url(&self) -> String {
        format!("{}{}", self.url, self.route)
    }
}

fn find_route(name: &EventName) -> &'static str {
    let row = ROUTES.iter().find(|(event, _)| event == name);
    row.map_or(DEFAULT_ROUTE, |(_, route)| route)
}

/// Whether a converted payload has a value under this name.
fn has_value(body: &Map<String, Value>, field: &str) -> bool {
    match body.get(field) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

/// Whether a URL is that of a server on this machine and port, without a proxy in front of it.
pub fn is_local_server_url(url: &str, port: u16) -> bool {
    let there = url.strip_prefix("http://").and_then(split_host_and_port);
    there.is_some_and(|(host, own_port)| is_loopback_host(host) && own_port.unwrap_or(80) == port)
}

/// Whether a URL is on this machine.
pub fn is_loopback_url(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    split_host_and_port(authority).is_some_and(|(host, _)| is_loopback_host(host))
}

/// The two parts of `HOST:PORT`; the port may be missing. Anything else is refused.
fn split_host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if authority.contains(['/', '@', '?', '#']) {
        return None;
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => Some((host, Some(port.parse().ok()?))),
        _ => Some((authority, None)),
    }
}

fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::model::ProcessIdentity;

    fn build_record(event: &str, payload: Value) -> EventRecord {
        let Value::Object(payload) = payload else {
            panic!("a payload is an object");
        };
        let (event, _) = snell::Event::from_object(Some(event), payload).unwrap();
        EventRecord::new(&event, "2026-03-01T12:00:00Z".parse().unwrap())
    }

    fn build_receiver() -> OutboxReceiver {
        OutboxReceiver { url: "http://box.example".into(), token_file: None }
    }

    #[test]
    fn eight_events_have_their_own_route_and_all_others_share_one() {
        for (event, route) in ROUTES {
            assert_eq!(EventName::parse_known(route.strip_prefix("/hook/").unwrap()).as_ref(), Some(event));
        }
        for (name, route) in [
            ("session-start", "/hook/session-start"),
            ("AfterTool", "/hook/post-tool-use"),
            ("SubagentStop", "/hook/event"),
            ("TeammateIdle", "/hook/event"),
            ("../../etc/passwd", "/hook/event"),
        ] {
            let letter = OutboxMessage::from_record(build_record(name, json!({})).into(), &build_receiver());
            assert_eq!(letter.route, route, "{name}");
            assert_eq!(letter.body["hook_event_name"], EventName::parse(name).as_str(), "{name}");
        }
    }

    #[test]
    fn fields_of_the_payload_stay_and_missing_ones_are_added() {
        let mut observation = build_record(
            "Stop",
            json!({"cwd": "/told", "host": "", "tmux_pane": null, "pid": 5, "hook_event_name": "AfterAgent"}),
        );
        observation.event_id = "one".into();
        let sender = &mut observation.sender;
        sender.cwd = Some("/seen".into());
        sender.host = Some("box".into());
        sender.product = Some("claude".into());
        sender.tmux_pane = Some("%3".into());
        sender.tmux_session = Some(String::new());
        sender.launcher_session_id = Some("launched".into());
        sender.process = Some(ProcessIdentity { pid: 7, started: None });
        let letter = OutboxMessage::from_record(observation.into(), &build_receiver());
        let expected = json!({
            "cwd": "/told", "host": "box", "tmux_pane": "%3", "pid": 5, "hook_event_name": "AfterAgent",
            "session_id": "launched", "platform": "claude", "timestamp": "2026-03-01T12:00:00Z", "event_id": "one",
        });
        assert_eq!(Value::Object(letter.body), expected);
    }

    #[test]
    fn values_of_the_wrong_type_are_replaced() {
        let payload = json!({"session_id": 5, "pid": "x", "host": ["box"], "timestamp": 1_700_000_000, "cwd": {}});
        let mut observation = build_record("Stop", payload);
        let sender = &mut observation.sender;
        sender.launcher_session_id = Some("launched".into());
        sender.process = Some(ProcessIdentity { pid: 7, started: None });
        sender.host = Some("box".into());
        sender.cwd = Some("/seen".into());
        let body = OutboxMessage::from_record(observation.into(), &build_receiver()).body;
        let values = ["session_id", "pid", "host", "timestamp", "cwd"].map(|field| body[field].clone());
        assert_eq!(json!(values), json!(["launched", 7, "box", "2026-03-01T12:00:00Z", "/seen"]));
    }

    #[test]
    fn a_loopback_address_is_found_in_every_form() {
        let cases = [
            ("http://127.0.0.1:1", true),
            ("https://localhost/snell", true),
            ("http://[::1]/snell", true),
            ("http://box.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://127.0.0.1@evil.example", false),
            ("http://evil.example/127.0.0.1", false),
        ];
        for (url, expected) in cases {
            assert_eq!(is_loopback_url(url), expected, "{url}");
        }
    }

    #[test]
    fn a_local_server_recognises_its_own_address() {
        let cases = [
            ("http://127.0.0.1:7433", true),
            ("http://127.8.0.1:7433", true),
            ("http://[::1]:7433", true),
            ("http://localhost:7433", true),
            ("http://127.0.0.1:7434", false),
            ("http://127.0.0.1", false),
            ("https://127.0.0.1:7433", false),
            ("http://127.0.0.1:7433/elsewhere", false),
            ("http://box.example:7433", false),
            ("http://localhost.evil.example:7433", false),
        ];
        for (url, expected) in cases {
            assert_eq!(is_local_server_url(url, 7433), expected, "{url}");
        }
        assert!(is_local_server_url("http://localhost", 80) && is_local_server_url("http://[::1]", 80));
    }
}
