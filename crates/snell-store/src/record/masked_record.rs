//! A record that may be written: secrets are masked, and long texts are truncated.

use std::ops::Deref;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use snell::{Decision, Timestamp};

use crate::record::event_record::{DecisionRecord, EventRecord, EventSender, HookRunRecord};
use crate::record::redaction;
use crate::record::text_limits::{sanitize_text, truncate_json_strings, truncate_with_notice};

/// The longest text of one field. Agents read and write files of any size.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Longer names are truncated.
const MAX_NAME_BYTES: usize = 1024;

/// Longer outputs of hooks are truncated.
const MAX_OUTPUT_BYTES: usize = 16 * 1024;

/// A record whose secrets are masked and whose long texts are truncated. Only this form is written to disk, sent to
/// another process or stored. It is made once per event: everything that is added later is masked when it is added.
///
/// Its JSON has `"masked": true`. A record without that comes from an older version, and is masked when it is read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "RecordWire")]
pub struct MaskedRecord(EventRecord);

/// A record as it is parsed.
#[derive(Deserialize)]
struct RecordWire {
    event_id: String,
    at: Timestamp,
    #[serde(default)]
    delayed: bool,
    event: String,
    payload: Map<String, Value>,
    #[serde(default)]
    sender: EventSender,
    #[serde(default)]
    judgement: Option<DecisionRecord>,
    #[serde(default)]
    masked: bool,
}

impl From<RecordWire> for MaskedRecord {
    fn from(wire: RecordWire) -> Self {
        let RecordWire { event_id, at, delayed, event, payload, sender, judgement, masked } = wire;
        let record = EventRecord { event_id, at, delayed, event, payload, sender, judgement };
        if masked { Self(record) } else { record.into() }
    }
}

impl Serialize for MaskedRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct MarkedRecord<'a> {
            #[serde(flatten)]
            record: &'a EventRecord,
            masked: bool,
        }
        MarkedRecord { record: &self.0, masked: true }.serialize(serializer)
    }
}

impl Deref for MaskedRecord {
    type Target = EventRecord;

    fn deref(&self) -> &EventRecord {
        &self.0
    }
}

impl From<EventRecord> for MaskedRecord {
    fn from(mut record: EventRecord) -> Self {
        let mut payload = Value::Object(std::mem::take(&mut record.payload));
        mask_value(&mut payload);
        if let Value::Object(payload) = payload {
            record.payload = payload;
        }
        record.event = sanitize_text(&record.event, MAX_NAME_BYTES);
        record.event_id = truncate_with_notice(&record.event_id, MAX_NAME_BYTES).into_owned();
        let sender = &mut record.sender;
        for name in [
            &mut sender.product,
            &mut sender.host,
            &mut sender.launcher_session_id,
            &mut sender.headspace_session_id,
            &mut sender.tmux_pane,
            &mut sender.tmux_session,
            &mut sender.tmux_server,
            &mut sender.role,
            &mut sender.mode,
            &mut sender.mission_execution_id,
        ] {
            mask_text(name, MAX_NAME_BYTES);
        }
        record.judgement = record.judgement.map(mask_decision);
        Self(record)
    }
}

impl MaskedRecord {
    /// A record made of parts of a masked one.
    pub(crate) fn from_masked_parts(record: EventRecord) -> Self {
        Self(record)
    }

    /// The record itself. Its parts stay masked.
    pub(crate) fn into_inner(self) -> EventRecord {
        self.0
    }

    /// Sets the decision.
    pub fn set_decision(&mut self, decision: DecisionRecord) {
        self.0.judgement = Some(mask_decision(decision));
    }

    /// Marks it as late: newer events may be stored before it.
    pub fn mark_delayed(&mut self) {
        self.0.delayed = true;
    }

    /// Marks its session as one in which a user can answer, because Snell asks the user.
    pub fn mark_attended(&mut self) {
        self.0.sender.unattended = false;
    }

    /// Replaces the decision by a refusal: see [`DecisionRecord::override_with_refusal`].
    pub fn override_with_refusal(&mut self, reason: &str) {
        if let Some(decision) = &mut self.0.judgement {
            decision.override_with_refusal(&sanitize_text(reason, MAX_TEXT_BYTES));
        }
    }
}

/// Masks and truncates a decision.
fn mask_decision(mut decision: DecisionRecord) -> DecisionRecord {
    mask_text(&mut decision.reason, MAX_TEXT_BYTES);
    [&mut decision.changed_input, &mut decision.changed_output].into_iter().flatten().for_each(mask_value);
    for text in &mut decision.told {
        *text = sanitize_text(text, MAX_OUTPUT_BYTES);
    }
    decision.runs.iter_mut().for_each(mask_hook_run);
    for verdict in &mut decision.guard {
        // Only a stricter decision than the actual one is stored.
        if verdict.would < Decision::Ask {
            verdict.would = Decision::None;
        }
        verdict.reason = sanitize_text(&verdict.reason, MAX_TEXT_BYTES);
        mask_text(&mut verdict.advice, MAX_TEXT_BYTES);
    }
    decision
}

/// Masks and truncates a hook run.
pub(super) fn mask_hook_run(run: &mut HookRunRecord) {
    for text in [&mut run.command, &mut run.stdout, &mut run.stderr] {
        *text = sanitize_text(text, MAX_OUTPUT_BYTES);
    }
    mask_text(&mut run.why, MAX_OUTPUT_BYTES);
}

fn mask_text(text: &mut Option<String>, most: usize) {
    *text = text.take().map(|text| sanitize_text(&text, most));
}

fn mask_value(value: &mut Value) {
    redaction::mask_json(value);
    truncate_json_strings(value, MAX_TEXT_BYTES);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    #[test]
    fn a_record_without_the_masked_mark_is_masked() {
        let wire = |masked: Value| json!({"event_id": "e", "at": "2026-03-01T12:00:00Z", "event": "Stop", "payload": {"a": SECRET}, "masked": masked});
        let mut old = wire(Value::Null);
        old.as_object_mut().unwrap().remove("masked");
        for (text, is_trusted) in [(old, false), (wire(false.into()), false), (wire(true.into()), true)] {
            let record: MaskedRecord = serde_json::from_value(text).unwrap();
            assert_eq!(record.payload["a"] == SECRET, is_trusted);
            let again: MaskedRecord = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
            assert_eq!(again, record);
        }
    }

    #[test]
    fn a_decision_is_masked_when_it_is_added() {
        let record: EventRecord = serde_json::from_value(
            json!({"event_id": "e", "at": "2026-03-01T12:00:00Z", "event": "Stop", "payload": {}}),
        )
        .unwrap();
        let mut record = MaskedRecord::from(record);
        record.set_decision(DecisionRecord { told: vec![SECRET.into()], ..DecisionRecord::default() });
        record.override_with_refusal(SECRET);
        assert!(!serde_json::to_string(&record).unwrap().contains(SECRET));
    }

    #[test]
    fn words_of_other_versions_are_read_and_known_words_are_unchanged() {
        let cases = [
            (json!({"decision": "block", "took_us": 1}), Decision::Deny, Some("block")),
            (json!({"decision": "ask", "took_us": 1}), Decision::Ask, Some("ask")),
            (json!({"decision": null, "took_us": 1}), Decision::None, None),
            (json!({"took_us": 1}), Decision::None, None),
            (json!({"decision": "shrug", "took_us": 1}), Decision::None, None),
        ];
        for (text, decision, word) in cases {
            let record: DecisionRecord = serde_json::from_value(text).unwrap();
            assert_eq!(record.decision, decision);
            assert_eq!(serde_json::to_value(&record).unwrap().get("decision").and_then(Value::as_str), word);
        }
        let run: HookRunRecord = serde_json::from_value(json!({"status": "timed_out"})).unwrap();
        assert_eq!(serde_json::to_value(&run).unwrap()["status"], "timed_out");
        let run: HookRunRecord = serde_json::from_value(json!({"status": "vanished"})).unwrap();
        assert_eq!((run.status, run.status_word()), (None, ""));
    }
}
