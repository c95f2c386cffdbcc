//! Every event reaches its receiver once, and in order, whatever happens to those who send it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use snell_test_support::process::{spawn_with_stdin, wait_for_output};
use snell_test_support::wait::wait_until;

use super::receiver::{NotifyReceiver, ReceiverBehavior};
use super::{read_waiting_bodies, send_prompt_notification};
use crate::support::CliSandbox;

/// What arrived of so many numbered prompts must be in order and once.
fn assert_in_order(prompts: &[String]) {
    let numbers: Vec<u32> = prompts.iter().map(|prompt| prompt.parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

#[test]
fn an_event_whose_answer_was_lost_is_sent_again_under_the_same_id() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::HangsUp);
    let sandbox = CliSandbox::new();
    send_prompt_notification(&sandbox, &receiver.url(), "1").assert_warning_contains("so 1 event waits");
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    send_prompt_notification(&sandbox, &receiver.url(), "2").assert_no_warning();
    let ids: Vec<_> = receiver.requests().iter().map(|request| request.json()["event_id"].clone()).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    assert_eq!(receiver.unique_prompts(), ["1", "2"]);
}

#[test]
fn a_clock_that_stands_still_or_goes_back_changes_no_order() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(503));
    let sandbox = CliSandbox::new();
    let times = ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"];
    for (number, time) in times.iter().enumerate() {
        let mut command = sandbox.command(&["notify", "user-prompt-submit", "--url", &receiver.url()]);
        let payload = json!({"session_id": "s1", "prompt": number.to_string()});
        let child = spawn_with_stdin(command.env("SNELL_NOW", time), payload.to_string());
        assert!(child.wait_with_output().unwrap().status.success());
    }
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    send_prompt_notification(&sandbox, &receiver.url(), "4").assert_no_warning();
    assert_eq!(receiver.unique_prompts(), ["0", "1", "2", "3", "4"]);
    let told: Vec<_> = receiver.unique_events().iter().map(|body| body["timestamp"].clone()).collect();
    assert_eq!(told[..4], times.map(Value::from));
}

#[test]
fn twenty_at_once_all_arrive_once() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    let children: Vec<_> = (0..20)
        .map(|number| {
            let payload = json!({"session_id": "s1", "prompt": number.to_string()});
            let mut command = sandbox.command(&["notify", "user-prompt-submit", "--url", &receiver.url()]);
            spawn_with_stdin(&mut command, payload.to_string())
        })
        .collect();
    for child in children {
        let ran = wait_for_output(child);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    }
    // On a machine that is too slow for all of them, the next one delivers the rest.
    send_prompt_notification(&sandbox, &receiver.url(), "20");
    let stored = wait_until(|| Some(receiver.unique_events()).filter(|stored| stored.len() == 21));
    let prompts: BTreeSet<_> = stored.iter().map(|body| body["prompt"].to_string()).collect();
    assert_eq!(prompts.len(), 21);
    wait_until(|| read_waiting_bodies(&sandbox).is_empty().then_some(()));
}

#[test]
fn whoever_is_killed_loses_nothing_that_was_kept_and_changes_no_order() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    let mut kept = BTreeSet::new();
    let mut killed = 0;
    // Any moment is as good as another: some before the event is kept, some before it is sent, some after.
    for number in 0..60_u32 {
        let mut command = sandbox.command(&["notify", "user-prompt-submit", "--url", &receiver.url()]);
        let payload = json!({"session_id": "s1", "prompt": number.to_string()});
        let mut child = spawn_with_stdin(&mut command, payload.to_string());
        std::thread::sleep(Duration::from_micros(u64::from(number * 7919 % 61) * 400));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        kept.extend(read_waiting_bodies(&sandbox).iter().map(|body| body["prompt"].as_str().unwrap().to_owned()));
    }
    assert!(killed > 0, "they were all too quick");
    send_prompt_notification(&sandbox, &receiver.url(), "60").assert_no_warning();
    let prompts = receiver.unique_prompts();
    assert_in_order(&prompts);
    assert_eq!(prompts.last().unwrap(), "60");
    let lost: Vec<_> = kept.iter().filter(|prompt| !prompts.contains(prompt)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(read_waiting_bodies(&sandbox), [] as [Value; 0]);
}

#[test]
fn a_receiver_with_whims_gets_everything_once_and_in_order() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    let moods = [
        ReceiverBehavior::Answers(200),
        ReceiverBehavior::HangsUp,
        ReceiverBehavior::Answers(500),
        ReceiverBehavior::Answers(200),
        ReceiverBehavior::TalksNonsense,
    ];
    for number in 0..20_usize {
        receiver.set_behavior(moods[number * 7 % moods.len()]);
        send_prompt_notification(&sandbox, &receiver.url(), &number.to_string());
    }
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    send_prompt_notification(&sandbox, &receiver.url(), "20").assert_no_warning();
    let expected: Vec<_> = (0..=20).map(|number: u32| number.to_string()).collect();
    assert_eq!(receiver.unique_prompts(), expected);
}
