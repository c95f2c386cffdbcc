//! Settings that stand beside hooks: the default counts.

use super::ConfigFaultRow;

pub(super) const FAULTS: &[ConfigFaultRow] = &[
    (
        "snell:an-unknown-contract-to-borrow.toml",
        1,
        &[
            "1:11: error: \"borrow\" names \"wavee\" (did you mean \"wave\"?), whose files cannot be borrowed; write \
             one of wave, microai, claude, whale",
            "1:29: error: \"borrow\" names \"snell\", whose files cannot be borrowed; write one of wave, microai, \
             claude, whale",
            r#"1:38: error: "borrow" must be a string, not a number"#,
        ],
    ),
    ("snell:a-borrow-that-is-a-string.toml", 0, &[r#"1:10: error: "borrow" must be an array, not a string"#]),
    (
        "snell:a-keep-without-a-unit.toml",
        0,
        &["1:8: error: \"keep\" must be a duration with its unit; write \"30d\", \"2w\" or \"forever\" (the default \
             of 30d counts)"],
    ),
    (
        "snell:a-negative-keep.toml",
        0,
        &["1:8: error: \"keep\" must be more than 0; write \"30d\", \"2w\" or \"forever\" (the default of 30d counts)"],
    ),
    (
        "snell:a-keep-of-nothing.toml",
        0,
        &["1:8: error: \"keep\" must be more than 0; write \"30d\", \"2w\" or \"forever\" (the default of 30d counts)"],
    ),
    (
        "snell:a-misspelled-handler.toml",
        0,
        &[
            r#"2:1: warning: unknown key "trak" in [handlers] (did you mean "track"?); it has no effect"#,
            r#"3:9: error: "track" must be true or false, not a string"#,
        ],
    ),
    ("snell:handlers-that-are-a-list.toml", 0, &["1:12: error: [handlers] must be a table, not an array"]),
    ("snell:a-server-that-is-a-string.toml", 0, &["1:10: error: [server] must be a table, not a string"]),
    (
        "snell:a-server-without-a-port.toml",
        0,
        &["2:8: error: \"addr\" must be IP:PORT or HOST:PORT, not \"127.0.0.1\"; write \"127.0.0.1:7433\" (the \
             default)"],
    ),
    (
        "snell:a-receiver-without-a-scheme.toml",
        0,
        &["2:7: error: \"url\" does not begin with http:// or https://; write \"https://HOST\" or \
             \"http://HOST:PORT\" (it does not count)"],
    ),
    (
        "snell:a-receiver-with-a-password.toml",
        0,
        &["2:7: error: \"url\" holds a user's name or password, which belongs into token_file; write \
             \"https://HOST\" or \"http://HOST:PORT\" (it does not count)"],
    ),
    (
        "snell:a-receiver-with-a-query.toml",
        0,
        &["2:7: error: \"url\" has a part after its path (? or #); write \"https://HOST\" or \"http://HOST:PORT\" \
             (it does not count)"],
    ),
    (
        "snell:a-database-of-no-kind.toml",
        0,
        &["2:6: error: \"db\" must be sqlite:PATH; write \"sqlite:/home/me/snell.db\", or remove it"],
    ),
    (
        "snell:a-database-that-is-not-built-in.toml",
        0,
        &["2:6: warning: \"db\" names PostgreSQL, which is not built in, so `snell serve` does not start; write \
             \"sqlite:/home/me/snell.db\""],
    ),
    (
        "snell:a-polling-without-a-unit.toml",
        0,
        &[
            r#"2:15: error: "poll_active" must be a duration with its unit; write "60s" (the default)"#,
            r#"3:15: error: "poll_silent" must be a duration with its unit; write "2s" (the default)"#,
            r#"4:16: error: "silent_after" must be a duration with its unit; write "300s" (the default)"#,
        ],
    ),
    (
        "snell:a-host-with-a-scheme.toml",
        0,
        &[
            "2:16: error: \"allow_hosts\" names \"http://box.example\", which is no host; write \"box.example\" or \
             \"box.example:7433\"",
            r#"2:53: error: "allow_hosts" must be a string, not a number"#,
        ],
    ),
    (
        "snell:no-stream-clients.toml",
        0,
        &["2:22: error: \"max_stream_clients\" must be a whole number above 0; write 1000 (the default)"],
    ),
    (
        "snell:a-misspelled-key-of-the-server.toml",
        0,
        &[
            r#"2:1: warning: unknown key "adr" in [server] (did you mean "addr"?); it has no effect"#,
            r#"3:11: error: "enabled" must be true or false, not a string"#,
            r#"4:14: error: "token_file" is empty; write the path of the file that holds the token"#,
        ],
    ),
    ("snell:a-context-that-is-a-list.toml", 0, &["1:11: error: [context] must be a table, not an array"]),
    (
        "snell:a-misspelled-key-of-the-context.toml",
        0,
        &[
            r#"2:1: warning: unknown key "cores" in [context] (did you mean "core"?); it has no effect"#,
            r#"3:12: error: "max_file" must be a size with its unit; write "64KiB" (which counts now)"#,
        ],
    ),
    (
        "snell:core-files-that-are-no-paths.toml",
        0,
        &[
            "2:29: error: an entry of \"core\" has no \"path\"; write {path = \"notes/PLAN.md\", about = \"the plan\"}",
            "2:51: error: an entry of \"core\" must be a path, not a number; write \"notes/PLAN.md\" or {path = \
             \"notes/PLAN.md\", about = \"the plan\"}",
            r#"2:54: error: "core" holds an empty path; write "~/notes" or the like"#,
            "2:74: warning: unknown key \"abuot\" in an entry of \"core\" (did you mean \"about\"?); it has no effect",
            r#"3:9: error: "allow" must be an array, not a string"#,
        ],
    ),
    (
        "snell:sizes-that-cannot-count.toml",
        0,
        &[
            r#"2:12: error: "max_file" must be a size with its unit; write "64KiB" (which counts now)"#,
            r#"3:11: warning: "max_all" is more than the 16MiB that are possible; 16MiB counts"#,
        ],
    ),
    (
        "snell:a-setting-below-a-hook.toml",
        1,
        &[r#"4:1: error: "keep" is no key of a [[hook]]; write it above the first [[hook]] of the file"#],
    ),
];
