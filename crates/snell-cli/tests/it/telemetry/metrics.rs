//! Metrics, and the guard's verdicts as log records.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use snell_test_support::process::Signal;
use snell_test_support::wait::wait_until;

use super::{TelemetrySandbox, list_items, read_attributes};

const FREQUENT: &str = "interval = \"50ms\"";

/// The newest value of each point, as `name {attributes}`; of a histogram, its count.
fn read_points(agents: &TelemetrySandbox) -> BTreeMap<String, String> {
    let metrics = list_items(&agents.collector.requests(), ["resourceMetrics", "scopeMetrics", "metrics"]);
    let mut points = BTreeMap::new();
    for metric in metrics {
        for form in ["sum", "gauge", "histogram"] {
            for point in metric[form]["dataPoints"].as_array().into_iter().flatten() {
                let value = point["asInt"].as_str().or(point["count"].as_str()).unwrap();
                let name = metric["name"].as_str().unwrap();
                points.insert(format!("{name} {:?}", read_attributes(&point["attributes"])), value.to_owned());
            }
        }
    }
    points
}

#[track_caller]
fn wait_for_point(agents: &TelemetrySandbox, name: &str, words: &[&str], value: &str) {
    let has_point = |(key, found): (&String, &String)| {
        key.starts_with(&format!("{name} ")) && words.iter().all(|word| key.contains(word)) && found == value
    };
    wait_until(|| read_points(agents).iter().any(has_point).then_some(()));
}

#[test]
fn counts_go_on_over_restarts() {
    let agents = TelemetrySandbox::new(FREQUENT);
    let server = agents.start_server();
    agents.make_turn("s1");
    wait_for_point(&agents, "snell.tool.calls", &["Bash", "succeeded"], "1");
    wait_for_point(&agents, "snell.agents", &["claude", "\"idle\""], "1");
    server.stop_with_signal(Signal::KILL);
    let _server = agents.start_server();
    agents.make_turn("s2");
    let blocked = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}});
    agents.send_event("s2", "PreToolUse", blocked);
    wait_for_point(&agents, "snell.tool.calls", &["Bash", "succeeded"], "2");
    wait_for_point(&agents, "snell.tool.calls", &["Bash", "blocked"], "1");
    wait_for_point(&agents, "snell.guard.verdicts", &["\"deny\""], "1");
    wait_for_point(&agents, "snell.turn.duration", &["claude"], "2");
    // The start of the counts is the same in all requests.
    let metrics = list_items(&agents.collector.requests(), ["resourceMetrics", "scopeMetrics", "metrics"]);
    let starts: Vec<_> =
        metrics.iter().filter_map(|metric| metric["sum"]["dataPoints"][0]["startTimeUnixNano"].as_str()).collect();
    assert!(starts.len() > 2 && starts.windows(2).all(|pair| pair[0] == pair[1]), "{starts:?}");
}

#[test]
fn hooks_and_waits_are_measured() {
    let hook = "[[hook]]\nevent = \"Stop\"\nrun = \"true\"\n";
    let agents = TelemetrySandbox::new(&format!("{FREQUENT}\n{hook}"));
    let _server = agents.start_server();
    let permission = json!({"message": "permission", "notification_type": "permission_prompt"});
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.send_event("s1", "Notification", permission);
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
    wait_for_point(&agents, "snell.hook.duration", &["Stop", "\"ok\""], "1");
    wait_for_point(&agents, "snell.wait.duration", &["claude"], "1");
}

#[test]
fn a_verdict_of_the_guard_is_a_log_record_with_the_ids_of_its_call() {
    let agents = TelemetrySandbox::new("");
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.send_event("s1", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}));
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
    let _server = agents.start_server();
    let records = agents.wait_for_logs(1);
    let spans = agents.wait_for_spans(2);
    let call = spans.iter().find(|span| span.name == "execute_tool Bash").unwrap();
    let record: &Value = &records[0];
    assert_eq!(record["severityText"], "ERROR");
    assert_eq!(record["eventName"], "snell.guard.verdict");
    assert_eq!((record["traceId"].as_str(), record["spanId"].as_str()), (Some(&*call.trace_id), Some(&*call.span_id)));
    let attributes = read_attributes(&record["attributes"]);
    assert_eq!(attributes["snell.guard.decision"], "deny");
    assert!(!attributes["snell.guard.rule"].is_empty() && !attributes.contains_key("snell.guard.reason"));
}
