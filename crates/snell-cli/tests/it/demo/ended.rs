//! What becomes of it when somebody ends it.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::Signal;

use super::{Theatre, names};

#[test]
fn a_signal_in_the_middle_leaves_nothing() {
    // Where it is, what ends it, and the exit code.
    let cases = [
        ("Snell's page", Signal::INT, 130),
        ("trust", Signal::TERM, 143),
        ("starts", Signal::HUP, 129),
        ("prompt:", Signal::TERM, 143),
        ("Read", Signal::INT, 130),
        ("Read", Signal::QUIT, 131),
        ("prompt:", Signal::USR1, 138),
        ("starts", Signal::ALARM, 142),
        ("starts", Signal::XCPU, 152),
    ];
    std::thread::scope(|scope| {
        for (sign, signal, code) in cases {
            scope.spawn(move || {
                let theatre = Theatre::new();
                let mut demo = theatre.start(&[]);
                demo.read_until(sign);
                demo.signal(signal);
                let (text, end) = demo.end();
                assert_eq!((end.code, end.stderr.as_str()), (Some(code), ""), "{sign}: {text}");
                assert!(!text.contains("What came of it"), "{sign}: {text}");
                theatre.is_as_before();
            });
        }
    });
}

#[test]
fn a_signal_in_a_hurry_leaves_nothing() {
    for sign in ["starts", "npm install", "package-lock", "asks:"] {
        let theatre = Theatre::new();
        let mut demo = theatre.start(&["--fast"]);
        demo.read_until(sign);
        demo.signal(Signal::TERM);
        let (text, end) = demo.end();
        // Whoever is that fast may have ended before.
        assert!(matches!(end.code, Some(143 | 0)), "{end:?} {text}");
        theatre.is_as_before();
    }
}

#[test]
fn a_reader_who_has_seen_enough_ends_it() {
    for args in [&[][..], &["--keep"], &["--fast", "--keep"]] {
        let theatre = Theatre::new();
        let mut demo = theatre.start(args);
        demo.read_until("Snell's page");
        let end = demo.unheard();
        assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{args:?}");
        theatre.is_as_before();
    }
}

#[test]
fn what_a_killed_one_leaves_is_removed_by_the_next() {
    let theatre = Theatre::new();
    let mut killed = theatre.start(&[]);
    killed.read_until("Read");
    killed.signal(Signal::KILL);
    killed.end();
    let left = names(&theatre.tmp());
    assert_eq!(left.len(), 1, "{left:?}");
    let (text, end) = theatre.start(&["--fast"]).end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    theatre.is_as_before();
}

#[test]
fn what_is_not_a_dead_demo_s_stays() {
    let theatre = Theatre::new();
    let mut living = theatre.start(&["--fast", "--keep"]);
    living.read_until("The page stays");
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("alive.lock"), "").unwrap();
    fs::create_dir(theatre.tmp().join("snell-demo-without-a-sign")).unwrap();
    symlink(elsewhere.path(), theatre.tmp().join("snell-demo-link")).unwrap();
    let linked = theatre.tmp().join("snell-demo-linked-sign");
    fs::create_dir(&linked).unwrap();
    symlink(elsewhere.path().join("alive.lock"), linked.join("alive.lock")).unwrap();
    fs::create_dir(theatre.tmp().join("mine")).unwrap();
    fs::write(theatre.tmp().join("mine/alive.lock"), "").unwrap();
    let before = names(&theatre.tmp());
    assert_eq!(before.len(), 5, "{before:?}");
    let (text, end) = theatre.start(&["--fast"]).end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    assert_eq!(names(&theatre.tmp()), before);
    assert_eq!(names(elsewhere.path()), ["alive.lock"]);
    // The one that lives does not miss anything.
    living.signal(Signal::INT);
    let (text, end) = living.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    assert_eq!(names(&theatre.tmp()).len(), 4);
}
