//! What each contract's matchers can say.

use serde_json::{Value, json};

use super::formats::{Written, project};
use crate::support::Sandbox;

/// A way to say which calls are meant, with a call that it means and one that it does not.
pub struct Grammar {
    pub says: &'static str,
    matcher: &'static str,
    rule: Option<&'static str>,
    meant: (&'static str, &'static str),
    other: (&'static str, &'static str),
}

const EDIT: (&str, &str) = ("Edit", r#"{"file_path":"a.txt"}"#);
const READ: (&str, &str) = ("Read", r#"{"file_path":"a.txt"}"#);

pub const GRAMMARS: &[Grammar] = &[
    Grammar {
        says: "a name",
        matcher: "Edit",
        rule: None,
        meant: EDIT,
        other: READ,
    },
    Grammar {
        says: "one of several names",
        matcher: "Edit|Write",
        rule: None,
        meant: EDIT,
        other: READ,
    },
    Grammar {
        says: "wildcards",
        matcher: "*dit",
        rule: None,
        meant: EDIT,
        other: READ,
    },
    Grammar {
        says: "regular expressions",
        matcher: "^(Ed|Wr)it",
        rule: None,
        meant: EDIT,
        other: READ,
    },
    Grammar {
        says: "names whatever their case",
        matcher: "eDIT",
        rule: None,
        meant: EDIT,
        other: READ,
    },
    Grammar {
        says: "classes of tools",
        matcher: "shell",
        rule: None,
        meant: ("run_shell_command", r#"{"command":"ls"}"#),
        other: READ,
    },
    Grammar {
        says: "what a call is about",
        matcher: "Bash(git:*)",
        rule: Some("Bash(git *)"),
        meant: ("Bash", r#"{"command":"git push"}"#),
        other: ("Bash", r#"{"command":"ls"}"#),
    },
];

/// Whether a contract's hooks can be told this way which calls are meant: by the matcher, or by a rule beside it.
pub fn knows(contract: &str, grammar: &Grammar) -> bool {
    let matcher = Written {
        matcher: Some(grammar.matcher),
        ..Written::default()
    };
    let rule = Written {
        rule: grammar.rule,
        ..Written::default()
    };
    let tells_apart = |hook: &Written<'_>| {
        let sandbox = project(contract, &["PreToolUse"], hook);
        fires(&sandbox, grammar.meant) && !fires(&sandbox, grammar.other)
    };
    tells_apart(&matcher) || (grammar.rule.is_some() && tells_apart(&rule))
}

fn fires(sandbox: &Sandbox, (tool, input): (&str, &str)) -> bool {
    let told = sandbox
        .snell(
            &["explain", "PreToolUse", "--tool", tool, "--input", input, "--json"],
            "",
        )
        .json();
    told.as_array().unwrap().iter().any(|hook| hook["fires"] == true)
}

/// In which unit a contract's timeouts are written.
pub fn unit(contract: &str) -> String {
    let read = |timeout: Value| {
        let hook = Written {
            timeout: Some(timeout),
            ..Written::default()
        };
        let listed = project(contract, &["PreToolUse"], &hook)
            .snell(&["list", "--json"], "")
            .json();
        listed[0]["timeout_ms"].clone()
    };
    match (read(json!(7)), read(json!("7s"))) {
        (number, _) if number == 7000 => "seconds",
        (number, _) if number == 7 => "milliseconds",
        (_, text) if text == 7000 => "text with its unit",
        _ => super::NOTHING,
    }
    .to_owned()
}
