//! What becomes of it when somebody ends it.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::Signal;

use super::{DemoSandbox, list_names};

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
                let theatre = DemoSandbox::new();
                let mut demo = theatre.spawn_demo(&[]);
                demo.read_until(sign);
                demo.send_signal(signal);
                let (text, end) = demo.read_to_end();
                assert_eq!((end.code, end.stderr.as_str()), (Some(code), ""), "{sign}: {text}");
                assert!(!text.contains("Results"), "{sign}: {text}");
                theatre.assert_nothing_left();
            });
        }
    });
}

#[test]
fn a_signal_in_a_hurry_leaves_nothing() {
    for sign in ["starts", "npm install", "package-lock", "asks:"] {
        let theatre = DemoSandbox::new();
        let mut demo = theatre.spawn_demo(&["--fast"]);
        demo.read_until(sign);
        demo.send_signal(Signal::TERM);
        let (text, end) = demo.read_to_end();
        // Whoever is that fast may have ended before.
        assert!(matches!(end.code, Some(143 | 0)), "{end:?} {text}");
        theatre.assert_nothing_left();
    }
}

#[test]
fn a_reader_who_has_seen_enough_ends_it() {
    for args in [&[][..], &["--keep"], &["--fast", "--keep"]] {
        let theatre = DemoSandbox::new();
        let mut demo = theatre.spawn_demo(args);
        demo.read_until("Snell's page");
        let end = demo.close_and_wait();
        assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{args:?}");
        theatre.assert_nothing_left();
    }
}

#[test]
fn what_a_killed_one_leaves_is_removed_by_the_next() {
    let theatre = DemoSandbox::new();
    let mut killed = theatre.spawn_demo(&[]);
    killed.read_until("Read");
    killed.send_signal(Signal::KILL);
    killed.read_to_end();
    let left = list_names(&theatre.temp_dir());
    assert_eq!(left.len(), 1, "{left:?}");
    let (text, end) = theatre.spawn_demo(&["--fast"]).read_to_end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    theatre.assert_nothing_left();
}

#[test]
fn what_is_not_a_dead_demo_s_stays() {
    let theatre = DemoSandbox::new();
    let mut living = theatre.spawn_demo(&["--fast", "--keep"]);
    living.read_until("The page stays");
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("alive.lock"), "").unwrap();
    fs::create_dir(theatre.temp_dir().join("snell-demo-without-a-sign")).unwrap();
    symlink(elsewhere.path(), theatre.temp_dir().join("snell-demo-link")).unwrap();
    let linked = theatre.temp_dir().join("snell-demo-linked-sign");
    fs::create_dir(&linked).unwrap();
    symlink(elsewhere.path().join("alive.lock"), linked.join("alive.lock")).unwrap();
    fs::create_dir(theatre.temp_dir().join("mine")).unwrap();
    fs::write(theatre.temp_dir().join("mine/alive.lock"), "").unwrap();
    let before = list_names(&theatre.temp_dir());
    assert_eq!(before.len(), 5, "{before:?}");
    let (text, end) = theatre.spawn_demo(&["--fast"]).read_to_end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    assert_eq!(list_names(&theatre.temp_dir()), before);
    assert_eq!(list_names(elsewhere.path()), ["alive.lock"]);
    // The one that lives does not miss anything.
    living.send_signal(Signal::INT);
    let (text, end) = living.read_to_end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    assert_eq!(list_names(&theatre.temp_dir()).len(), 4);
}
