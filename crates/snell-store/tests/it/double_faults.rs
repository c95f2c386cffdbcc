//! Two faults at once: an incomplete line, a log that is removed while it is open, a FIFO in a queue.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use snell_store::queue::outbox::{DeliveryAnswer, Outbox, OutboxMessage, OutboxReceiver};
use snell_store::{DataDirReport, EventRecorder, EventSpool, LogFilter, PendingClaim, PendingQueue, Store};
use snell_test_support::wait::wait_until;

use crate::support::{build_event, build_prompt};

fn find_spool_file(directory: &Path) -> PathBuf {
    let mut files = fs::read_dir(directory.join("handed")).unwrap().flatten();
    files.next().unwrap().path()
}

/// Appends an event with this text.
fn append_event(directory: &Path, text: &str) {
    let observation = build_prompt("s", text).into_record_in(directory);
    EventSpool::in_data_dir(directory).append(&observation.into()).unwrap();
}

/// Drains the spool, and returns the texts of its events and the number of warnings. A process that another test starts
/// may hold a lock for a moment, so this tries until the spool is empty.
fn drain_spool(directory: &Path) -> (Vec<String>, usize) {
    let spool = EventSpool::in_data_dir(directory);
    let (mut texts, mut warnings) = (Vec::new(), 0);
    wait_until(|| {
        let remarks = spool.drain(&mut |observations| {
            let text = |one: snell_store::MaskedRecord| one.payload["prompt"].as_str().unwrap().to_owned();
            texts.extend(observations.into_iter().map(text));
            Ok(())
        });
        warnings += remarks.unwrap().len();
        spool.is_empty().then_some(())
    });
    (texts, warnings)
}

#[test]
fn a_line_that_is_cut_anywhere_loses_only_itself_and_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    append_event(directory, "first");
    append_event(directory, "second");
    let path = find_spool_file(directory);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<_> = (0..whole.len()).filter(|at| whole[*at..].starts_with(b"}\n")).collect();
    assert_eq!(ends.len(), 2);
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        append_event(directory, "next");
        let mut expected: Vec<_> = ["first", "second"].into_iter().zip(&ends).collect();
        expected.retain(|(_, end)| cut > **end);
        let mut expected: Vec<_> = expected.into_iter().map(|(text, _)| text).collect();
        expected.push("next");
        let begun = whole[..cut].iter().filter(|byte| **byte == b'\n').count().div_ceil(2);
        let is_cut = !whole[..cut].ends_with(b"\n") && begun >= expected.len();
        let (texts, remarks) = drain_spool(directory);
        assert_eq!(
            (texts, remarks),
            (expected.iter().map(|text| (*text).to_owned()).collect(), usize::from(is_cut)),
            "{cut}"
        );
        assert!(EventSpool::in_data_dir(directory).is_empty(), "{cut}");
    }
    let kept = fs::read_dir(directory.join("unreadable")).unwrap().count();
    assert_eq!(DataDirReport::inspect(directory).unreadable_events.len(), kept);
    assert!(kept > 100, "{kept}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn each_cut_loses_at_most_one_event(cuts in proptest::collection::vec(0_u64..600, 1..8)) {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let mut last_end = 0;
        for (number, cut) in cuts.iter().enumerate() {
            append_event(directory, &number.to_string());
            let file = File::options().write(true).open(find_spool_file(directory)).unwrap();
            let length = file.metadata().unwrap().len();
            // Cut only the last event, which was being written.
            file.set_len(length - cut.min(&(length - last_end))).unwrap();
            last_end = file.metadata().unwrap().len();
        }
        append_event(directory, "last");
        let (texts, _) = drain_spool(directory);
        let is_cut = |cut: &u64| *cut > 1;
        let kept: Vec<_> = cuts.iter().enumerate().filter(|(_, cut)| !is_cut(cut)).map(|(at, _)| at.to_string()).collect();
        prop_assert_eq!(texts.last().map(String::as_str), Some("last"));
        prop_assert_eq!(&texts[..texts.len() - 1], &kept[..]);
    }
}

#[test]
fn removing_open_files_loses_nothing() {
    type LogFileRemoval = fn(&Path);
    let ways: [(&str, LogFileRemoval); 4] = [
        ("the log", |directory| fs::remove_file(directory.join("snell.db-wal")).unwrap()),
        ("the log and its index", |directory| {
            fs::remove_file(directory.join("snell.db-wal")).unwrap();
            fs::remove_file(directory.join("snell.db-shm")).unwrap();
        }),
        ("the log is renamed", |directory| {
            fs::rename(directory.join("snell.db-wal"), directory.join("elsewhere")).unwrap();
        }),
        ("the log is replaced", |directory| {
            fs::remove_file(directory.join("snell.db-wal")).unwrap();
            File::create(directory.join("snell.db-wal")).unwrap();
        }),
    ];
    for (what, remove) in ways {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let mut recorder = EventRecorder::new(directory).with_copies();
        let mut warnings = Vec::new();
        for round in 0..20 {
            for event in 0..3 {
                let observation = build_prompt(&format!("s{round}"), &event.to_string()).into_record_in(directory);
                assert_eq!(recorder.record_events(vec![observation]).len(), 1, "{what}");
            }
            warnings.extend(recorder.take_warnings());
            remove(directory);
        }
        recorder.reopen_if_replaced().unwrap();
        warnings.extend(recorder.take_warnings());
        assert_eq!(warnings.len(), 20, "{what}: {warnings:?}");
        assert!(warnings.iter().all(|remark| remark.ends_with("nothing is lost")), "{what}: {warnings:?}");
        // As after a kill.
        recorder.abandon_store();
        assert_eq!(count_stored_events(directory), 60, "{what}");
    }
}

fn count_stored_events(directory: &Path) -> usize {
    let all = LogFilter { limit: u32::MAX, ..LogFilter::default() };
    let mut store = Store::open(&directory.join("snell.db")).unwrap().store;
    store.query_log(&all).unwrap().len()
}

/// Something else than a regular file, and a function that creates it.
type SpecialFileCase = (&'static str, fn(&Path));

/// Everything that can be in the place of a file.
const KINDS: [SpecialFileCase; 6] = [
    ("a FIFO", |path| {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }),
    ("a directory", |path| fs::create_dir(path).unwrap()),
    ("a link to /dev/zero", |path| symlink("/dev/zero", path).unwrap()),
    ("a link to /dev/full", |path| symlink("/dev/full", path).unwrap()),
    ("a dangling link", |path| symlink("/nowhere/at/all", path).unwrap()),
    ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
];

#[test]
fn a_special_file_among_pending_events_is_set_aside_and_blocks_no_other() {
    for (what, make) in KINDS {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let notes = PendingQueue::in_data_dir(directory);
        notes.push(&build_event("Stop", "s").into_record_in(directory).into(), PendingClaim::Anyone).unwrap();
        make(&directory.join("pending/00000000000000000000-0-0-0.json"));
        let mut recorder = EventRecorder::new(directory);
        recorder.drain_all().unwrap();
        let remarks = recorder.take_warnings();
        assert!(remarks.len() == 1 && remarks[0].contains("/unreadable/0000"), "{what}: {remarks:?}");
        assert_eq!((count_stored_events(directory), notes.is_empty()), (1, true), "{what}");
        assert_eq!(DataDirReport::inspect(directory).unreadable_events.len(), 1, "{what}");
    }
}

#[test]
fn a_special_file_in_the_spool_is_set_aside_and_blocks_no_other() {
    for (what, make) in KINDS {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        append_event(directory, "one");
        let own = find_spool_file(directory);
        let other = own.with_file_name(if own.ends_with("0.jsonl") { "1.jsonl" } else { "0.jsonl" });
        make(&other);
        let mut recorder = EventRecorder::new(directory);
        recorder.drain_all().unwrap();
        let remarks = recorder.take_warnings();
        assert!(remarks.len() == 1 && remarks[0].contains(other.to_str().unwrap()), "{what}: {remarks:?}");
        assert_eq!((count_stored_events(directory), recorder.spool().is_empty()), (1, true), "{what}");
    }
}

#[test]
fn a_special_file_in_the_outbox_is_set_aside_and_blocks_no_other() {
    for (what, make) in KINDS {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let outbox = Outbox::in_data_dir(directory);
        let receiver = OutboxReceiver { url: "http://here.example".into(), token_file: None };
        outbox
            .push(&OutboxMessage::from_record(build_event("Stop", "s").into_record_in(directory).into(), &receiver))
            .unwrap();
        let letter = fs::read_dir(directory.join("outbox")).unwrap().flatten();
        let letter = letter.map(|entry| entry.file_name().into_string().unwrap());
        let letter = letter.into_iter().find(|name| name.ends_with(".json")).unwrap();
        make(&directory.join("outbox").join(format!("{:020}{}", 1, &letter[20..])));
        let report = outbox.deliver_waiting(&|_| true, &mut |_| DeliveryAnswer::Accepted).unwrap();
        assert_eq!((report.delivered, report.stalled.len()), (1, 0), "{what}");
        assert_eq!(DataDirReport::inspect(directory).unreadable_events.len(), 1, "{what}");
    }
}
