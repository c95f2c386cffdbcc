//! What becomes of it when somebody ends it.

use rustix::process::Signal;

use super::Theatre;

#[test]
fn a_signal_in_the_middle_leaves_nothing() {
    // Where it is, what ends it, and the exit code.
    let cases = [
        ("Snell's page", Signal::INT, 130),
        ("trust", Signal::TERM, 143),
        ("starts", Signal::HUP, 129),
        ("prompt:", Signal::TERM, 143),
        ("Read", Signal::INT, 130),
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
