//! Faults that meet another fault: a line that was not finished, a log that is removed while it is open, a FIFO in a queue.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use snell_store::outbox::{Answer, Letter, Outbox, Receiver};
use snell_store::{LogFilter, Notes, Premises, Recorder, Spool, Store, WaitsFor};

use crate::support::{prompt, sent};

fn spool_file(directory: &Path) -> PathBuf {
    let mut files = fs::read_dir(directory.join("handed")).unwrap().flatten();
    files.next().unwrap().path()
}

/// Appends an event with this text.
fn append(directory: &Path, text: &str) {
    let observation = prompt("s", text).observed_in(directory);
    Spool::beside(directory).append(&observation).unwrap();
}

/// Empties the spool, and answers the texts of its events, and how many remarks there were.
fn empty(directory: &Path) -> (Vec<String>, usize) {
    let mut texts = Vec::new();
    let remarks = Spool::beside(directory).empty(&mut |observations| {
        let text = |one: snell_store::Observation| one.payload["prompt"].as_str().unwrap().to_owned();
        texts.extend(observations.into_iter().map(text));
        Ok(())
    });
    (texts, remarks.unwrap().len())
}

#[test]
fn a_line_that_is_cut_anywhere_costs_that_line_only_and_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    append(directory, "first");
    append(directory, "second");
    let path = spool_file(directory);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<_> = (0..whole.len()).filter(|at| whole[*at..].starts_with(b"}\n")).collect();
    assert_eq!(ends.len(), 2);
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        append(directory, "next");
        let mut expected: Vec<_> = ["first", "second"].into_iter().zip(&ends).collect();
        expected.retain(|(_, end)| cut > **end);
        let mut expected: Vec<_> = expected.into_iter().map(|(text, _)| text).collect();
        expected.push("next");
        let begun = whole[..cut].iter().filter(|byte| **byte == b'\n').count().div_ceil(2);
        let is_cut = !whole[..cut].ends_with(b"\n") && begun >= expected.len();
        let (texts, remarks) = empty(directory);
        assert_eq!(
            (texts, remarks),
            (
                expected.iter().map(|text| (*text).to_owned()).collect(),
                usize::from(is_cut)
            ),
            "{cut}"
        );
        assert!(Spool::beside(directory).is_empty(), "{cut}");
    }
    let kept = fs::read_dir(directory.join("unreadable")).unwrap().count();
    assert_eq!(Premises::look(directory).unreadable_notes.len(), kept);
    assert!(kept > 100, "{kept}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn each_cut_costs_at_most_one_event(cuts in proptest::collection::vec(0_u64..600, 1..8)) {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let mut last_end = 0;
        for (number, cut) in cuts.iter().enumerate() {
            append(directory, &number.to_string());
            let file = File::options().write(true).open(spool_file(directory)).unwrap();
            let length = file.metadata().unwrap().len();
            // No more than the event that was being written is cut.
            file.set_len(length - cut.min(&(length - last_end))).unwrap();
            last_end = file.metadata().unwrap().len();
        }
        append(directory, "last");
        let (texts, _) = empty(directory);
        let is_cut = |cut: &u64| *cut > 1;
        let kept: Vec<_> = cuts.iter().enumerate().filter(|(_, cut)| !is_cut(cut)).map(|(at, _)| at.to_string()).collect();
        prop_assert_eq!(texts.last().map(String::as_str), Some("last"));
        prop_assert_eq!(&texts[..texts.len() - 1], &kept[..]);
    }
}

#[test]
fn files_that_are_removed_while_they_are_open_cost_nothing() {
    type Removal = fn(&Path);
    let ways: [(&str, Removal); 4] = [
        ("the log", |directory| {
            fs::remove_file(directory.join("snell.db-wal")).unwrap()
        }),
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
        let mut recorder = Recorder::new(directory).keep_copies();
        let mut said = Vec::new();
        for round in 0..20 {
            for event in 0..3 {
                let observation = prompt(&format!("s{round}"), &event.to_string()).observed_in(directory);
                assert_eq!(recorder.record(vec![observation]).len(), 1, "{what}");
            }
            said.extend(recorder.take_remarks());
            remove(directory);
        }
        recorder.keep_in_place().unwrap();
        said.extend(recorder.take_remarks());
        assert_eq!(said.len(), 20, "{what}: {said:?}");
        assert!(
            said.iter().all(|remark| remark.ends_with("nothing is lost")),
            "{what}: {said:?}"
        );
        // As if it had been killed.
        recorder.leave();
        assert_eq!(stored(directory), 60, "{what}");
    }
}

fn stored(directory: &Path) -> usize {
    let all = LogFilter {
        limit: u32::MAX,
        ..LogFilter::default()
    };
    let mut store = Store::open(&directory.join("snell.db")).unwrap().store;
    store.log(&all).unwrap().len()
}

/// Something else than a file, and how it is made.
type Kind = (&'static str, fn(&Path));

/// Everything that can lie in the place of a file.
const KINDS: [Kind; 6] = [
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
fn something_else_among_notes_is_put_aside_and_holds_up_no_other() {
    for (what, make) in KINDS {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let notes = Notes::beside(directory);
        notes
            .write(&sent("Stop", "s").observed_in(directory), WaitsFor::Anybody)
            .unwrap();
        make(&directory.join("pending/00000000000000000000-0-0-0.json"));
        let mut recorder = Recorder::new(directory);
        recorder.take_in_all().unwrap();
        let remarks = recorder.take_remarks();
        assert!(
            remarks.len() == 1 && remarks[0].contains("/unreadable/0000"),
            "{what}: {remarks:?}"
        );
        assert_eq!((stored(directory), notes.is_empty()), (1, true), "{what}");
        assert_eq!(Premises::look(directory).unreadable_notes.len(), 1, "{what}");
    }
}

#[test]
fn something_else_in_the_spool_is_put_aside_and_holds_up_no_other() {
    for (what, make) in KINDS {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        append(directory, "one");
        let own = spool_file(directory);
        let other = own.with_file_name(if own.ends_with("0.jsonl") { "1.jsonl" } else { "0.jsonl" });
        make(&other);
        let mut recorder = Recorder::new(directory);
        recorder.take_in_all().unwrap();
        let remarks = recorder.take_remarks();
        assert!(
            remarks.len() == 1 && remarks[0].contains(other.to_str().unwrap()),
            "{what}: {remarks:?}"
        );
        assert_eq!((stored(directory), recorder.spool().is_empty()), (1, true), "{what}");
    }
}

#[test]
fn something_else_among_letters_is_put_aside_and_holds_up_no_other() {
    for (what, make) in KINDS {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let outbox = Outbox::beside(directory);
        let receiver = Receiver {
            url: "http://here.example".into(),
            token_file: None,
        };
        outbox
            .put(&Letter::of(sent("Stop", "s").observed_in(directory), &receiver))
            .unwrap();
        let letter = fs::read_dir(directory.join("outbox")).unwrap().flatten();
        let letter = letter.map(|entry| entry.file_name().into_string().unwrap());
        let letter = letter.into_iter().find(|name| name.ends_with(".json")).unwrap();
        make(&directory.join("outbox").join(format!("{:020}{}", 1, &letter[20..])));
        let report = outbox.deliver(&|_| true, &mut |_| Answer::Taken).unwrap();
        assert_eq!((report.taken, report.held_up.len()), (1, 0), "{what}");
        assert_eq!(Premises::look(directory).unreadable_notes.len(), 1, "{what}");
    }
}
