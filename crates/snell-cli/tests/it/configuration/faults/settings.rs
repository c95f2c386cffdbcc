//! Settings that stand beside hooks: the default counts.

use super::ConfigFaultRow;

pub(super) const FAULTS: &[ConfigFaultRow] = &[
    (
        "snell:an-unknown-contract-to-borrow.toml",
        1,
        &[
            "1:11: error: \"borrow\" has \"wavee\", whose hook files cannot be borrowed (hint: did you \
             mean \"wave\"?)",
            "1:29: error: \"borrow\" has \"snell\", whose hook files cannot be borrowed (hint: use one of \
             wave, microai, claude, whale, codex, gemini, qwen, copilot, cursor, cline, kimi, grok, vibe, windsurf, droid)",
            r#"1:38: error: "borrow" must be a string, not a number"#,
        ],
    ),
    ("snell:a-borrow-that-is-a-string.toml", 0, &[r#"1:10: error: "borrow" must be an array, not a string"#]),
    (
        "snell:a-keep-without-a-unit.toml",
        0,
        &["1:8: error: \"keep\" must be a duration with a unit (using the default, 30d) (hint: write \
             \"30d\", \"2w\" or \"forever\")"],
    ),
    (
        "snell:a-negative-keep.toml",
        0,
        &["1:8: error: \"keep\" must be more than 0 (using the default, 30d) (hint: write \"30d\", \
             \"2w\" or \"forever\")"],
    ),
    (
        "snell:a-keep-of-nothing.toml",
        0,
        &["1:8: error: \"keep\" must be more than 0 (using the default, 30d) (hint: write \"30d\", \
             \"2w\" or \"forever\")"],
    ),
    (
        "snell:a-misspelled-handler.toml",
        0,
        &[
            r#"2:1: warning: unknown key "trak" in [handlers] (hint: did you mean "track"?)"#,
            r#"3:9: error: "track" must be true or false, not a string"#,
        ],
    ),
    ("snell:handlers-that-are-a-list.toml", 0, &["1:12: error: [handlers] must be a table, not an array"]),
    ("snell:a-server-that-is-a-string.toml", 0, &["1:10: error: [server] must be a table, not a string"]),
    (
        "snell:a-server-without-a-port.toml",
        0,
        &["2:8: error: \"addr\" must be IP:PORT or HOST:PORT, not \"127.0.0.1\" (hint: write an address \
             such as \"127.0.0.1:7433\")"],
    ),
    (
        "snell:a-receiver-without-a-scheme.toml",
        0,
        &["2:7: error: \"url\" must start with http:// or https:// (hint: write \"https://HOST\" or \
             \"http://HOST:PORT\")"],
    ),
    (
        "snell:a-receiver-with-a-password.toml",
        0,
        &["2:7: error: \"url\" must not contain a user name or password (use token_file) (hint: write \
             \"https://HOST\" or \"http://HOST:PORT\")"],
    ),
    (
        "snell:a-receiver-with-a-query.toml",
        0,
        &["2:7: error: \"url\" must not have a query or fragment (? or #) (hint: write \"https://HOST\" \
             or \"http://HOST:PORT\")"],
    ),
    (
        "snell:a-database-of-no-kind.toml",
        0,
        &[
            r#"2:6: error: "db" must be sqlite:PATH or postgres://USER@HOST/NAME (hint: write "sqlite:/home/me/snell.db", or remove "db")"#,
        ],
    ),
    (
        "snell:a-polling-without-a-unit.toml",
        0,
        &[
            r#"2:15: error: "poll_active" must be a duration with a unit (hint: write a value such as "60s")"#,
            r#"3:15: error: "poll_silent" must be a duration with a unit (hint: write a value such as "2s")"#,
            r#"4:16: error: "silent_after" must be a duration with a unit (hint: write a value such as "300s")"#,
        ],
    ),
    (
        "snell:a-host-with-a-scheme.toml",
        0,
        &[
            "2:16: error: \"allow_hosts\" has the invalid host \"http://box.example\" (hint: write a host \
             such as \"box.example\" or \"box.example:7433\")",
            r#"2:53: error: "allow_hosts" must be a string, not a number"#,
        ],
    ),
    (
        "snell:no-stream-clients.toml",
        0,
        &["2:22: error: \"max_stream_clients\" must be a whole number above 0 (hint: write a number \
             such as 1000)"],
    ),
    (
        "snell:a-misspelled-key-of-the-server.toml",
        0,
        &[
            r#"2:1: warning: unknown key "adr" in [server] (hint: did you mean "addr"?)"#,
            r#"3:11: error: "enabled" must be true or false, not a string"#,
            r#"4:14: error: "token_file" is empty (hint: write the path of the file with the token)"#,
        ],
    ),
    ("snell:a-context-that-is-a-list.toml", 0, &["1:11: error: [context] must be a table, not an array"]),
    (
        "snell:a-misspelled-key-of-the-context.toml",
        0,
        &[
            r#"2:1: warning: unknown key "cores" in [context] (hint: did you mean "core"?)"#,
            "3:12: error: \"max_file\" must be a size with a unit (using the default) (hint: write \
             a value such as \"64KiB\")",
        ],
    ),
    (
        "snell:core-files-that-are-no-paths.toml",
        0,
        &[
            "2:29: error: an entry of \"core\" has no \"path\" (hint: write {path = \"notes/PLAN.md\", \
             about = \"the plan\"})",
            "2:51: error: an entry of \"core\" must be a path, not a number (hint: write \
             \"notes/PLAN.md\" or {path = \"notes/PLAN.md\", about = \"the plan\"})",
            r#"2:54: error: "core" has an empty path (hint: write a path such as "~/notes")"#,
            r#"2:74: warning: unknown key "abuot" in an entry of "core" (hint: did you mean "about"?)"#,
            r#"3:9: error: "allow" must be an array, not a string"#,
        ],
    ),
    (
        "snell:sizes-that-cannot-count.toml",
        0,
        &[
            "2:12: error: \"max_file\" must be a size with a unit (using the default) (hint: write \
             a value such as \"64KiB\")",
            r#"3:11: warning: "max_all" is too large (using the limit, 16MiB)"#,
        ],
    ),
    (
        "snell:a-setting-below-a-hook.toml",
        1,
        &[r#"4:1: error: "keep" is not a key of [[hook]] (hint: move it above the first [[hook]] of the file)"#],
    ),
    (
        "snell:a-wait-longer-than-agents-wait.toml",
        0,
        &[r#"3:8: warning: "wait" is 590 s, because agents end hooks that run longer (hint: write "590s" or less)"#],
    ),
];
