//! Documents as a whole: they cannot be parsed, or have another shape.

use super::ConfigFaultRow;

pub(super) const FAULTS: &[ConfigFaultRow] = &[
    // A document that cannot be parsed is left out whole.
    ("claude:an-empty-file.json", 0, &["1:1: error: is empty instead of a JSON object such as {}"]),
    ("claude:an-unclosed-object.json", 0, &["1:1: error: is not valid JSON: unterminated object"]),
    ("claude:a-missing-comma.json", 0, &["2:15: error: is not valid JSON: expected comma"]),
    ("claude:single-quotes.json", 0, &["1:2: error: is not valid JSON: single-quoted strings are not allowed"]),
    ("snell:an-unclosed-string.toml", 0, &[r#"2:20: error: is not valid TOML: invalid basic string, expected `"`"#]),
    ("snell:a-key-written-twice.toml", 0, &["4:1: error: is not valid TOML: duplicate key"]),
    (
        "snell:a-table-written-twice.toml",
        0,
        &["6:2: error: is not valid TOML: duplicate table [guard]; it already stands in line 2 (hint: put its keys \
           below the first one, or remove it and run `snell config set guard.KEY VALUE`)"],
    ),
    // A document of another shape.
    ("wave:an-array-instead-of-settings.json", 0, &["1:1: error: a settings file must be an object, not an array"]),
    (
        "whale:an-object-instead-of-an-array.whale.json",
        0,
        &["1:1: error: a whale hook file must be an array, not an object"],
    ),
    ("claude:hooks-as-an-array.json", 0, &[r#"1:11: error: "hooks" must be an object, not an array"#]),
    ("claude:an-event-without-an-array.json", 1, &[r#"3:13: error: "Stop" must be an array, not an object"#]),
    (
        "claude:an-entry-that-is-a-number.json",
        1,
        &[
            "3:14: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", or the \
             path of a script, not a number",
            "3:17: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", or the \
             path of a script, not null",
            "3:23: error: an entry for \"Stop\" must be a group with \"hooks\", a hook with \"command\", or the \
             path of a script, not an object without \"hooks\" or \"command\"",
        ],
    ),
    ("claude:a-hook-that-is-a-string.json", 0, &["1:32: error: a hook must be an object, not a string"]),
    (
        "snell:single-brackets.toml",
        0,
        &[r#"1:1: error: "hook" must be a list of tables (hint: write [[hook]] with two brackets)"#],
    ),
    (
        "snell:hooks-instead-of-hook.toml",
        1,
        &[r#"1:1: error: "hooks" is not a key of snell.toml (hint: write [[hook]])"#],
    ),
    ("snell:hook-as-a-number.toml", 0, &[r#"1:8: error: "hook" must be an array, not a number"#]),
    (
        "wave:no-hooks-in-a-group.json",
        0,
        &["1:21: error: an entry for \"Stop\" has no hooks (hint: add {\"type\": \"command\", \
             \"command\": \"…\"} to \"hooks\")"],
    ),
];
