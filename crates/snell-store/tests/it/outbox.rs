//! The outbox: events that wait on disk for remote receivers.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;
use snell_store::DecisionRecord;
use snell_store::daemon::{ForwarderSettings, run_forwarder};
use snell_store::queue::outbox::{DeliveryAnswer, DeliveryReport, Outbox, OutboxMessage, OutboxReceiver};
use snell_test_support::files::{list_paths_ending, set_file_mode};
use tempfile::TempDir;

use crate::support::build_event;

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const HERE: &str = "http://here.example";
const THERE: &str = "http://there.example";

fn build_receiver(url: &str) -> OutboxReceiver {
    OutboxReceiver { url: url.into(), token_file: None }
}

/// A message with this session.
fn build_message(url: &str, session: &str) -> OutboxMessage {
    let observation = build_event("Stop", session).into_record_in(Path::new("/"));
    OutboxMessage::from_record(observation.into(), &build_receiver(url))
}

fn read_message_session(letter: &OutboxMessage) -> String {
    letter.body["session_id"].as_str().unwrap().to_owned()
}

fn create_outbox() -> (TempDir, Outbox) {
    let root = tempfile::tempdir().unwrap();
    let outbox = Outbox::in_data_dir(root.path());
    (root, outbox)
}

/// The files of messages, in order.
fn list_message_files(root: &Path) -> Vec<PathBuf> {
    list_paths_ending(&root.join("outbox"), ".json")
}

/// Delivers everything, and returns what was sent.
fn deliver_all(outbox: &Outbox) -> Vec<String> {
    let mut handed = Vec::new();
    let hand = &mut |letter: &OutboxMessage| {
        handed.push(read_message_session(letter));
        DeliveryAnswer::Accepted
    };
    outbox.deliver_waiting(&|_| true, hand).unwrap();
    handed
}

#[test]
fn a_message_is_private_masked_and_has_all_data_for_its_delivery() {
    let (root, outbox) = create_outbox();
    let mut observation = build_event("PreToolUse", "one")
        .with_field("tool_input", format!("curl -H 'Authorization: token {SECRET}'"))
        .into_record_in(Path::new("/"));
    observation.judgement =
        Some(DecisionRecord { reason: Some(format!("it shows {SECRET}")), ..DecisionRecord::default() });
    let receiver = OutboxReceiver { url: HERE.into(), token_file: Some("/home/me/token".into()) };
    outbox.push(&OutboxMessage::from_record_with_decision(observation.clone().into(), &receiver)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root.path().join("outbox")), 0o700);
    let [file] = list_message_files(root.path()).try_into().unwrap();
    assert_eq!(mode(&file), 0o600);
    let text = fs::read_to_string(file).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["url"], HERE);
    assert_eq!(written["route"], "/hook/pre-tool-use");
    assert_eq!(written["token_file"], "/home/me/token");
    assert_eq!(written["body"]["event_id"], json!(observation.event_id));
    assert_eq!(written["body"]["timestamp"], json!(observation.at));
    assert_eq!(written["body"]["snell"]["sender"], json!(observation.sender));
    assert_eq!(written["body"]["snell"]["judgement"]["took_us"], 0);
}

#[test]
fn an_answer_affects_a_message_and_the_ones_behind_it() {
    let refused = || DeliveryAnswer::Refused("400: no".into());
    let later = || DeliveryAnswer::Later("is down".into());
    // Columns: the receiver's first answers, the messages that were sent, those that wait, and how many were refused.
    type DeliveryCase = (Vec<DeliveryAnswer>, &'static [&'static str], &'static [&'static str], usize);
    let rows: Vec<DeliveryCase> = vec![
        (vec![], &["1", "2", "3"], &[], 0),
        (vec![DeliveryAnswer::Accepted, refused()], &["1", "2", "3"], &[], 1),
        (vec![refused(), refused(), refused()], &["1", "2", "3"], &[], 3),
        (vec![later()], &["1"], &["1", "2", "3"], 0),
        (vec![DeliveryAnswer::Accepted, later()], &["1", "2"], &["2", "3"], 0),
        (vec![refused(), later()], &["1", "2"], &["2", "3"], 1),
    ];
    for (answers, handed_over, waiting, refusals) in rows {
        let (_root, outbox) = create_outbox();
        for number in ["1", "2", "3"] {
            outbox.push(&build_message(HERE, number)).unwrap();
        }
        let mut handed = Vec::new();
        let mut remaining_answers = answers.clone().into_iter();
        let hand = &mut |letter: &OutboxMessage| {
            handed.push(read_message_session(letter));
            remaining_answers.next().unwrap_or(DeliveryAnswer::Accepted)
        };
        let report = outbox.deliver_waiting(&|_| true, hand).unwrap();
        assert_eq!(handed, handed_over, "{answers:?}");
        assert_eq!((report.refused.len(), outbox.list_refused().len()), (refusals, refusals), "{answers:?}");
        assert_eq!(outbox.list_backlogs().first().map_or(0, |waiting| waiting.waiting), waiting.len());
        assert_eq!(deliver_all(&outbox), waiting, "{answers:?}");
        for path in outbox.list_refused() {
            let kept: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            assert_eq!((&kept["answer"], &kept["url"]), (&json!("400: no"), &json!(HERE)));
        }
    }
}

#[test]
fn refused_messages_are_moved_to_the_end_in_their_order() {
    let (root, outbox) = create_outbox();
    assert_eq!(outbox.requeue_refused().unwrap().0, 0);
    assert!(!root.path().join("outbox").exists());
    for (url, name) in [(HERE, "1"), (THERE, "2"), (HERE, "3")] {
        outbox.push(&build_message(url, name)).unwrap();
    }
    outbox.deliver_waiting(&|_| true, &mut |_| DeliveryAnswer::Refused("no".into())).unwrap();
    outbox.push(&build_message(HERE, "4")).unwrap();
    assert_eq!(outbox.list_refused().len(), 3);
    assert_eq!(outbox.requeue_refused().unwrap().0, 3);
    assert_eq!((outbox.list_refused().len(), outbox.requeue_refused().unwrap().0), (0, 0));
    let waiting: Vec<_> = outbox.list_backlogs().into_iter().map(|waiting| waiting.waiting).collect();
    assert_eq!(waiting, [3, 1]);
    assert_eq!(deliver_all(&outbox), ["4", "1", "2", "3"]);
}

#[test]
fn a_receiver_that_is_down_does_not_block_another() {
    let (_root, outbox) = create_outbox();
    for number in 1..=3 {
        outbox.push(&build_message(HERE, &format!("here {number}"))).unwrap();
        outbox.push(&build_message(THERE, &format!("there {number}"))).unwrap();
    }
    let mut handed = Vec::new();
    let hand = &mut |letter: &OutboxMessage| {
        handed.push(read_message_session(letter));
        if letter.url == HERE { DeliveryAnswer::Later("is down".into()) } else { DeliveryAnswer::Accepted }
    };
    let report = outbox.deliver_waiting(&|_| true, hand).unwrap();
    assert_eq!(handed, ["here 1", "there 1", "there 2", "there 3"]);
    assert_eq!((report.delivered, report.stalled.len()), (3, 1));
    assert_eq!((report.stalled[0].url.as_str(), report.stalled[0].why.as_str()), (HERE, "is down"));
    let [waiting] = outbox.list_backlogs().try_into().unwrap();
    assert_eq!((waiting.url.as_str(), waiting.waiting), (HERE, 3));
    // A server that takes its own messages leaves the others.
    outbox.push(&build_message(THERE, "there 4")).unwrap();
    let mut own = Vec::new();
    let hand = &mut |letter: &OutboxMessage| {
        own.push(read_message_session(letter));
        DeliveryAnswer::Accepted
    };
    outbox.deliver_waiting(&|url| url == HERE, hand).unwrap();
    assert_eq!(own, ["here 1", "here 2", "here 3"]);
    assert_eq!(deliver_all(&outbox), ["there 4"]);
}

#[test]
fn a_process_without_the_lock_leaves_its_message_to_the_holder() {
    let (_root, outbox) = create_outbox();
    outbox.push(&build_message(HERE, "first")).unwrap();
    let mut handed = Vec::new();
    let other = Outbox::clone(&outbox);
    let hand = &mut |letter: &OutboxMessage| {
        handed.push(read_message_session(letter));
        if read_message_session(letter) == "first" {
            // Another process adds a message during this delivery.
            other.push(&self::build_message(HERE, "second")).unwrap();
            let report = other.deliver_waiting(&|_| true, &mut |_| panic!("it is not its turn")).unwrap();
            assert!(report.left_to_another);
        }
        DeliveryAnswer::Accepted
    };
    let report = outbox.deliver_waiting(&|_| true, hand).unwrap();
    assert_eq!((report.delivered, report.left_to_another), (2, false));
    assert_eq!(handed, ["first", "second"]);
}

/// Several threads add a message and deliver at the same time, again and again. Each round must deliver everything
/// without another process. `deliver` is called by each thread after its message is added.
fn deliver_concurrently(deliver: impl Fn(&Outbox, &mut dyn FnMut(&OutboxMessage) -> DeliveryAnswer) + Sync) {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 500;
    let (_root, outbox) = create_outbox();
    let delivered = Mutex::new(Vec::new());
    let hand = |letter: &OutboxMessage| {
        delivered.lock().unwrap().push(read_message_session(letter));
        DeliveryAnswer::Accepted
    };
    let barrier = Barrier::new(WRITERS);
    let left_behind = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (outbox, barrier, left_behind, deliver) = (&outbox, &barrier, &left_behind, &deliver);
            scope.spawn(move || {
                let template = build_message(HERE, "");
                for round in 0..ROUNDS {
                    let mut letter = template.clone();
                    letter.body.insert("session_id".into(), format!("{writer}-{round}").into());
                    barrier.wait();
                    outbox.push(&letter).unwrap();
                    deliver(outbox, &mut { hand });
                    if barrier.wait().is_leader() {
                        left_behind.fetch_add(outbox.list_backlogs().len(), Ordering::Relaxed);
                    }
                    barrier.wait();
                }
            });
        }
    });
    assert_eq!(left_behind.into_inner(), 0, "rounds in which something was left behind");
    let delivered = delivered.into_inner().unwrap();
    assert_eq!(delivered.len(), WRITERS * ROUNDS);
    for writer in 0..WRITERS {
        let expected: Vec<_> = (0..ROUNDS).map(|round| format!("{writer}-{round}")).collect();
        let prefix = format!("{writer}-");
        let got: Vec<_> = delivered.iter().filter(|session| session.starts_with(&prefix)).collect();
        assert_eq!(got, expected.iter().collect::<Vec<_>>());
    }
}

#[test]
fn many_processes_at_once_deliver_everything_once_and_in_order() {
    deliver_concurrently(|outbox, hand| {
        outbox.deliver_waiting(&|_| true, hand).unwrap();
    });
}

#[test]
fn messages_that_come_while_a_forwarder_exits_are_delivered() {
    let brief = ForwarderSettings { linger: Duration::ZERO, ..HURRY };
    deliver_concurrently(|outbox, hand| {
        // As a hook, which starts a forwarder if no process holds the lock.
        if let Some(turn) = outbox.try_lock_delivery().unwrap() {
            run_forwarder(outbox, turn, brief, hand).unwrap();
        }
    });
}

/// One operation on an outbox.
#[derive(Clone, Debug)]
enum OutboxStep {
    Put(usize),
    /// The answers of each receiver before it accepts everything.
    Deliver([Vec<u8>; 2]),
}

fn any_outbox_step() -> impl Strategy<Value = OutboxStep> {
    let answers = || proptest::collection::vec(0_u8..3, 0..4);
    prop_oneof![
        2 => (0_usize..2).prop_map(OutboxStep::Put),
        1 => [answers(), answers()].prop_map(OutboxStep::Deliver),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn each_receiver_always_gets_its_messages_in_order(steps in proptest::collection::vec(any_outbox_step(), 1..24)) {
        let (_root, outbox) = create_outbox();
        let urls = [HERE, THERE];
        let mut expected: [VecDeque<String>; 2] = Default::default();
        let mut refused = 0;
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                OutboxStep::Put(receiver) => {
                    outbox.push(&build_message(urls[receiver], &number.to_string())).unwrap();
                    expected[receiver].push_back(number.to_string());
                }
                OutboxStep::Deliver(answers) => {
                    let mut left = answers.map(VecDeque::from);
                    let mut handed: BTreeMap<usize, Vec<(String, DeliveryAnswer)>> = BTreeMap::new();
                    let hand = &mut |letter: &OutboxMessage| {
                        let receiver = usize::from(letter.url == THERE);
                        let answer = match left[receiver].pop_front() {
                            Some(1) => DeliveryAnswer::Refused("no".into()),
                            Some(2) => DeliveryAnswer::Later("down".into()),
                            _ => DeliveryAnswer::Accepted,
                        };
                        handed.entry(receiver).or_default().push((read_message_session(letter), answer.clone()));
                        answer
                    };
                    outbox.deliver_waiting(&|_| true, hand).unwrap();
                    for (receiver, handed) in handed {
                        for (session, answer) in handed {
                            prop_assert_eq!(Some(&session), expected[receiver].front());
                            match answer {
                                DeliveryAnswer::Later(_) => break,
                                DeliveryAnswer::Refused(_) => refused += 1,
                                DeliveryAnswer::Accepted => {}
                            }
                            expected[receiver].pop_front();
                        }
                    }
                }
            }
            let waiting: usize = outbox.list_backlogs().iter().map(|waiting| waiting.waiting).sum();
            prop_assert_eq!(waiting, expected.iter().map(VecDeque::len).sum::<usize>());
            prop_assert_eq!(outbox.list_refused().len(), refused);
        }
    }
}

#[test]
fn a_full_outbox_removes_the_oldest_and_reports_it() {
    let (root, outbox) = create_outbox();
    outbox.push(&build_message(HERE, "newest so far")).unwrap();
    let [first] = list_message_files(root.path()).try_into().unwrap();
    let (_, rest) = first.file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
    // Earlier messages, as if added one by one.
    for number in 1..10_000 {
        fs::hard_link(&first, first.with_file_name(format!("{number:020}-{rest}"))).unwrap();
    }
    fs::remove_file(root.path().join("outbox/order")).unwrap();
    // The first of these fills it exactly, and the second exceeds the limit.
    assert_eq!(outbox.push(&build_message(HERE, "last but one")).unwrap().dropped, 157);
    assert_eq!(outbox.push(&build_message(HERE, "last")).unwrap().dropped, 0);
    let left = list_message_files(root.path());
    assert_eq!(left.len(), 10_001 - 157 + 1);
    assert!(left[0].file_name().unwrap().to_str().unwrap().starts_with(&format!("{:020}-", 158)));
    let handed = deliver_all(&outbox);
    assert_eq!(handed.len(), left.len());
    assert_eq!(handed[handed.len() - 3..], ["newest so far", "last but one", "last"]);
}

#[test]
fn an_outbox_with_too_many_bytes_is_full_too() {
    let (root, outbox) = create_outbox();
    let mut dropped = 0;
    let mut large = build_message(HERE, "");
    large.body.insert("tool_input".into(), "x".repeat(900_000).into());
    for number in 0..80 {
        large.body.insert("session_id".into(), number.to_string().into());
        dropped += outbox.push(&large).unwrap().dropped;
        let bytes: u64 = list_message_files(root.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(bytes <= 64 * 1024 * 1024, "{bytes}");
    }
    assert!(dropped > 0);
    let expected: Vec<_> = (dropped..80).map(|number| number.to_string()).collect();
    assert_eq!(deliver_all(&outbox), expected);
}

#[test]
fn unreadable_messages_are_set_aside_and_incomplete_ones_removed() {
    let (root, outbox) = create_outbox();
    for number in ["1", "2", "3", "4"] {
        outbox.push(&build_message(HERE, number)).unwrap();
    }
    let files = list_message_files(root.path());
    fs::write(&files[0], "").unwrap();
    fs::write(&files[2], "{\"url\": \"http://").unwrap();
    let directory = root.path().join("outbox");
    // Of a process that ended long ago, of one that has just ended, and of a live one.
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    for (name, is_old) in [("999999999-0.part", true), ("999999998-0.part", false)] {
        let file = File::create(directory.join(name)).unwrap();
        if is_old {
            file.set_modified(hour_ago).unwrap();
        }
    }
    fs::write(directory.join("order"), "0 0").unwrap();
    assert_eq!(deliver_all(&outbox), ["2", "4"]);
    let aside = fs::read_dir(root.path().join("unreadable")).unwrap().count();
    assert_eq!(aside, 2);
    assert!(!directory.join("999999999-0.part").exists());
    assert!(directory.join("999999998-0.part").exists());
    assert_eq!(outbox.list_backlogs(), []);
}

#[test]
fn a_public_outbox_is_made_private_and_a_missing_one_is_empty() {
    let (root, outbox) = create_outbox();
    let nothing = outbox.deliver_waiting(&|_| true, &mut |_| panic!("there is nothing")).unwrap();
    assert_eq!((nothing.delivered, outbox.list_backlogs().len()), (0, 0));
    assert!(!root.path().join("outbox").exists());
    fs::create_dir(root.path().join("outbox")).unwrap();
    set_file_mode(root.path().join("outbox"), 0o777);
    outbox.push(&build_message(HERE, "1")).unwrap();
    let mode = fs::metadata(root.path().join("outbox")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_failed_write_is_an_error_and_leaves_no_file() {
    let (root, outbox) = create_outbox();
    fs::write(root.path().join("outbox"), "a file").unwrap();
    assert!(outbox.push(&build_message(HERE, "1")).is_err());
    assert!(outbox.deliver_waiting(&|_| true, &mut |_| DeliveryAnswer::Accepted).is_err());
}

/// A forwarder with short times.
const HURRY: ForwarderSettings = ForwarderSettings {
    linger: Duration::from_millis(50),
    give_up_after: Duration::from_millis(300),
    first_pause: Duration::from_millis(5),
    longest_pause: Duration::from_millis(40),
    longest_life: Duration::from_secs(60),
};

#[test]
fn an_idle_forwarder_delivers_new_messages() {
    let (_root, outbox) = create_outbox();
    outbox.push(&build_message(HERE, "0")).unwrap();
    let patient = ForwarderSettings { linger: Duration::from_secs(2), ..HURRY };
    let delivered = Mutex::new(Vec::new());
    let hand = |letter: &OutboxMessage| {
        delivered.lock().unwrap().push(read_message_session(letter));
        DeliveryAnswer::Accepted
    };
    std::thread::scope(|scope| {
        let turn = outbox.try_lock_delivery().unwrap().unwrap();
        let forwarder = scope.spawn(|| run_forwarder(&outbox, turn, patient, &mut { hand }));
        for number in 1..5 {
            while delivered.lock().unwrap().len() < number {
                std::thread::yield_now();
            }
            // It is idle by now.
            outbox.push(&build_message(HERE, &number.to_string())).unwrap();
        }
        forwarder.join().unwrap().unwrap();
    });
    assert_eq!(*delivered.lock().unwrap(), ["0", "1", "2", "3", "4"]);
    assert!(outbox.try_lock_delivery().unwrap().is_some(), "the turn was given back");
}

#[test]
fn a_forwarder_tries_again_and_gives_up_after_a_while() {
    let (_root, outbox) = create_outbox();
    outbox.push(&build_message(HERE, "here")).unwrap();
    outbox.push(&build_message(THERE, "there")).unwrap();
    let mut tries = BTreeMap::new();
    let hand = &mut |letter: &OutboxMessage| {
        let tries = tries.entry(letter.url.clone()).or_insert(0);
        *tries += 1;
        // One receiver stays down, the other comes back.
        if letter.url == HERE || *tries < 3 {
            DeliveryAnswer::Later("is down".into())
        } else {
            DeliveryAnswer::Accepted
        }
    };
    let started = Instant::now();
    let turn = outbox.try_lock_delivery().unwrap().unwrap();
    run_forwarder(&outbox, turn, HURRY, hand).unwrap();
    assert!(started.elapsed() >= HURRY.give_up_after);
    assert_eq!(tries[THERE], 3);
    assert!((3..100).contains(&tries[HERE]), "{tries:?}");
    let [waiting] = outbox.list_backlogs().try_into().unwrap();
    assert_eq!((waiting.url.as_str(), waiting.waiting), (HERE, 1));
}

#[test]
fn the_delivery_lock_can_be_handed_on() {
    let (root, outbox) = create_outbox();
    outbox.push(&build_message(HERE, "1")).unwrap();
    let lock = root.path().join("outbox/lock");
    let first = outbox.try_lock_delivery().unwrap().unwrap();
    assert!(outbox.try_lock_delivery().unwrap().is_none());
    assert!(outbox.adopt_lock(File::open(&lock).unwrap()).unwrap().is_none());
    drop(first);
    let other = File::open("/dev/null").unwrap();
    assert!(outbox.adopt_lock(other).unwrap().is_none());
    let mut turn = outbox.adopt_lock(File::open(&lock).unwrap()).unwrap().unwrap();
    assert!(outbox.try_lock_delivery().unwrap().is_none());
    let report = turn.deliver_waiting(&|_| true, &mut |_| DeliveryAnswer::Accepted);
    assert_eq!((report.delivered, report == DeliveryReport::default()), (1, false));
}

#[test]
fn messages_of_an_older_version_are_delivered_in_their_order_before_new_ones() {
    let (root, outbox) = create_outbox();
    let directory = root.path().join("outbox");
    fs::create_dir(&directory).unwrap();
    for (number, session) in [(1_772_366_400_000_000_002_u64, "2"), (1_772_366_400_000_000_001, "1")] {
        let text = json!({
            "url": HERE, "route": "/hook/stop", "at": "2026-03-01T12:00:00Z", "event": "Stop",
            "body": {"session_id": session, "hook_event_name": "Stop", "event_id": session},
        });
        let text = text.to_string();
        fs::write(directory.join(format!("{number:020}-4194000-{}-cfd22fb7ac0ac9dd.json", text.len())), text).unwrap();
    }
    fs::write(directory.join("order"), format!("{:020} {:010} {:012}\n", 1_772_366_400_000_000_002_u64, 2, 300))
        .unwrap();
    fs::write(directory.join("4194000-0.part"), "{\"ev").unwrap();
    outbox.push(&build_message(HERE, "3")).unwrap();
    assert_eq!(deliver_all(&outbox), ["1", "2", "3"]);
    assert_eq!(list_message_files(root.path()), Vec::<PathBuf>::new());
}
