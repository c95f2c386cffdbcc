//! What each contract's matchers can say.

use serde_json::{Value, json};

use super::formats::{HookSpec, create_project};
use crate::support::CliSandbox;

/// A way to say which calls are meant, with a call that it means and one that it does not.
pub struct MatcherGrammar {
    pub says: &'static str,
    matcher: &'static str,
    rule: Option<&'static str>,
    meant: (&'static str, &'static str),
    other: (&'static str, &'static str),
}

const EDIT: (&str, &str) = ("Edit", r#"{"file_path":"a.txt"}"#);
const READ: (&str, &str) = ("Read", r#"{"file_path":"a.txt"}"#);

pub const GRAMMARS: &[MatcherGrammar] = &[
    MatcherGrammar { says: "name", matcher: "Edit", rule: None, meant: EDIT, other: READ },
    MatcherGrammar { says: "list of names", matcher: "Edit|Write", rule: None, meant: EDIT, other: READ },
    MatcherGrammar { says: "wildcards", matcher: "*dit", rule: None, meant: EDIT, other: READ },
    MatcherGrammar { says: "regular expressions", matcher: "^(Ed|Wr)it", rule: None, meant: EDIT, other: READ },
    MatcherGrammar { says: "any case", matcher: "eDIT", rule: None, meant: EDIT, other: READ },
    MatcherGrammar {
        says: "tool class",
        matcher: "shell",
        rule: None,
        meant: ("run_shell_command", r#"{"command":"ls"}"#),
        other: READ,
    },
    MatcherGrammar {
        says: "argument of the call",
        matcher: "Bash(git:*)",
        rule: Some("Bash(git *)"),
        meant: ("Bash", r#"{"command":"git push"}"#),
        other: ("Bash", r#"{"command":"ls"}"#),
    },
];

/// Whether a contract's hooks can be told this way which calls are meant: by the matcher, or by a rule beside it.
pub fn supports_grammar(contract: &str, grammar: &MatcherGrammar) -> bool {
    let matcher = HookSpec { matcher: Some(grammar.matcher), ..HookSpec::default() };
    let rule = HookSpec { rule: grammar.rule, ..HookSpec::default() };
    let tells_apart = |hook: &HookSpec<'_>| {
        let sandbox = create_project(contract, &["PreToolUse"], hook);
        is_hook_fired(&sandbox, grammar.meant) && !is_hook_fired(&sandbox, grammar.other)
    };
    tells_apart(&matcher) || (grammar.rule.is_some() && tells_apart(&rule))
}

fn is_hook_fired(sandbox: &CliSandbox, (tool, input): (&str, &str)) -> bool {
    let told = sandbox.run_snell(&["explain", "PreToolUse", "--tool", tool, "--input", input, "--json"], "").json();
    told.as_array().unwrap().iter().any(|hook| hook["fires"] == true)
}

/// In which unit a contract's timeouts are written.
pub fn detect_timeout_unit(contract: &str) -> String {
    let read = |timeout: Value| {
        let hook = HookSpec { timeout: Some(timeout), ..HookSpec::default() };
        let listed = create_project(contract, &["PreToolUse"], &hook).run_snell(&["list", "--json"], "").json();
        listed[0]["timeout_ms"].clone()
    };
    match (read(json!(7)), read(json!("7s"))) {
        (number, _) if number == 7000 => "seconds",
        (number, _) if number == 7 => "milliseconds",
        (_, text) if text == 7000 => "written out, `10s`",
        _ => super::NOTHING,
    }
    .to_owned()
}
