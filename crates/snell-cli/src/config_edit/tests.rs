use super::*;

/// A text, a path, a value, and the text after it is set.
const SET_CASES: &[(&str, &str, &str, &str)] = &[
    ("", "profile", "'x'", "profile = 'x'\n"),
    ("# mine\n", "profile", "'x'", "# mine\nprofile = 'x'\n"),
    ("# mine", "profile", "'x'", "# mine\nprofile = 'x'\n"),
    ("profile = 'a' # why\n", "profile", "'x'", "profile = 'x' # why\n"),
    ("keep = \"30d\" # k\n\n[guard]\n", "profile", "'x'", "keep = \"30d\" # k\nprofile = 'x'\n\n[guard]\n"),
    ("keep = \"30d\"", "profile", "'x'", "keep = \"30d\"\nprofile = 'x'\n"),
    ("borrow = [\n 'a', # one\n]\n[guard]\n", "profile", "'x'", "borrow = [\n 'a', # one\n]\nprofile = 'x'\n[guard]\n"),
    ("[guard]\npreset = 'a'\n", "profile", "'x'", "profile = 'x'\n\n[guard]\npreset = 'a'\n"),
    ("# about the guard\n[guard]\n", "profile", "'x'", "profile = 'x'\n\n# about the guard\n[guard]\n"),
    ("# my file\n\n[guard]\n", "profile", "'x'", "# my file\n\nprofile = 'x'\n\n[guard]\n"),
    ("[guard]\r\na = 1\r\n", "profile", "'x'", "profile = 'x'\r\n\r\n[guard]\r\na = 1\r\n"),
    ("[[hook]]\nevent = 'Stop'\n", "profile", "'x'", "profile = 'x'\n\n[[hook]]\nevent = 'Stop'\n"),
    ("", "guard.preset", "'x'", "[guard]\npreset = 'x'\n"),
    ("keep = '1d'\n", "guard.preset", "'x'", "keep = '1d'\n\n[guard]\npreset = 'x'\n"),
    ("[guard]\n", "guard.preset", "'x'", "[guard]\npreset = 'x'\n"),
    ("[guard] # g\n# c\n[a]\n", "guard.preset", "'x'", "[guard] # g\npreset = 'x'\n# c\n[a]\n"),
    ("[guard]\n  a = 1\n\n[b]\n", "guard.preset", "'x'", "[guard]\n  a = 1\n  preset = 'x'\n\n[b]\n"),
    ("[guard.rules]\na = 'off'\n", "guard.preset", "'x'", "[guard.rules]\na = 'off'\n\n[guard]\npreset = 'x'\n"),
    ("[guard]\na = 1\n", "guard.rules.b", "'x'", "[guard]\na = 1\n\n[guard.rules]\nb = 'x'\n"),
    ("guard.a = 1\nkeep = '1d'\n", "guard.preset", "'x'", "guard.a = 1\nguard.preset = 'x'\nkeep = '1d'\n"),
    ("[guard]\nrules.a = 1\n[c]\n", "guard.rules.b", "'x'", "[guard]\nrules.a = 1\nrules.b = 'x'\n[c]\n"),
    ("guard = { a = 1 } # g\n", "guard.preset", "'x'", "guard = { a = 1, preset = 'x' } # g\n"),
    ("guard = {}\n", "guard.preset", "'x'", "guard = { preset = 'x' }\n"),
    ("guard = {a = 1}\n", "guard.rules.b", "'x'", "guard = {a = 1, rules.b = 'x'}\n"),
    ("[comms]\n", "comms.a b", "1", "[comms]\n\"a b\" = 1\n"),
    ("a = '''\n[guard]\n'''\n", "guard.preset", "'x'", "a = '''\n[guard]\n'''\n\n[guard]\npreset = 'x'\n"),
];

fn split_path(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

#[test]
fn one_key_is_set_and_every_other_byte_stays() {
    for (text, path, value, expected) in SET_CASES {
        let edited = set_key(text, &split_path(path), value).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(edited, *expected, "{path} in {text:?}");
        assert_eq!(find_value(&edited, &split_path(path)).unwrap(), Some(*value), "{text}");
        // Setting it again changes nothing.
        assert_eq!(set_key(&edited, &split_path(path), value).unwrap(), edited);
    }
}

#[test]
fn a_key_that_was_added_is_removed_without_a_trace() {
    for (text, path, _, edited) in SET_CASES {
        let was_there = find_value(text, &split_path(path)).unwrap().is_some();
        // Blank lines, a last line break and the blanks of `{}` may stay.
        let squeeze = |text: &str| {
            let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
            lines.join("\n").replace("{ }", "{}")
        };
        // An empty table that was there goes too.
        let is_empty_table = text.starts_with('[') && !text.contains('=');
        if !was_there && !is_empty_table {
            let removed = remove_key(edited, &split_path(path)).unwrap().unwrap();
            assert_eq!(squeeze(&removed), squeeze(text), "{path} in {edited:?}");
        }
    }
}

#[test]
fn a_removed_key_takes_only_its_line() {
    let cases = [
        ("profile = 'a' # why\nkeep = '1d'\n", "profile", Some("keep = '1d'\n")),
        ("a = 1\nb = [\n 1,\n]\nc = 2\n", "b", Some("a = 1\nc = 2\n")),
        ("[guard]\npreset = 'a'\n", "guard.preset", Some("")),
        ("a = 1\n\n[guard]\npreset = 'a'\n\n[b]\nc = 1\n", "guard.preset", Some("a = 1\n\n[b]\nc = 1\n")),
        ("[guard]\n# mine\npreset = 'a'\n", "guard.preset", Some("[guard]\n# mine\n")),
        ("# mine\n[guard]\npreset = 'a'\n", "guard.preset", Some("# mine\n[guard]\n")),
        ("[guard] # mine\npreset = 'a'\n", "guard.preset", Some("[guard] # mine\n")),
        ("[guard]\npreset = 'a'\n# mine\n", "guard.preset", Some("[guard]\n# mine\n")),
        ("g = { a = 1, b = 2, c = 3 }\n", "g.b", Some("g = { a = 1, c = 3 }\n")),
        ("g = { a = 1, b = 2 }\n", "g.a", Some("g = { b = 2 }\n")),
        ("g = { a = 1 }\n", "g.a", Some("g = {}\n")),
        ("a = 1\n", "b", None),
        ("[guard]\na = 1\n", "guard.b", None),
    ];
    for (text, path, expected) in cases {
        let removed = remove_key(text, &split_path(path)).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(removed.as_deref(), expected, "{path} in {text:?}");
    }
}

#[test]
fn an_edit_that_would_do_harm_is_refused_with_its_place() {
    let cases = [
        ("a = \n", "profile", 4, "is not valid TOML"),
        ("[profile]\na = 1\n", "profile", 0, "\"profile\" is a table"),
        ("[[hook]]\n", "hook", 0, "\"hook\" is a table"),
        ("[[hook]]\n", "hook.a", 0, "\"hook\" is a table"),
        ("guard = 1\n", "guard.preset", 8, "\"guard\" is not a table"),
    ];
    for (text, path, at, message) in cases {
        let fault = set_key(text, &split_path(path), "'x'").unwrap_err();
        assert!(fault.message.contains(message), "{text}: {}", fault.message);
        assert_eq!(fault.at, at, "{text}");
    }
    // A value that is not one.
    assert!(set_key("a = 1\n", &["b"], "1\nc = 2").is_err());
    assert!(set_key("a = 1\n", &["b"], "nonsense").is_err());
}
