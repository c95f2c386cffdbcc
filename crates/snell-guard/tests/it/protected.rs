//! Places that the user has named, and the many programs that write and read: what is to be done about each command.
//!
//! `infra/prod` must not be changed, `~/vault` must not even be read.

use serde_json::json;
use snell_guard::{Call, Guarded, Judgement, Policy, Protected, Verdict, judge};

use crate::corpus::world;

/// What the user has named.
fn policy() -> Policy {
    let place = |path: &str, from: Guarded| Protected {
        path: path.to_owned(),
        from,
    };
    Policy {
        protected: vec![
            place("/home/ann/work/app/infra/prod", Guarded::Change),
            place("/home/ann/vault", Guarded::Look),
        ],
        ..Policy::default()
    }
}

fn judged(command: &str) -> Judgement {
    let input = json!({ "command": command });
    let call = Call {
        tool: "Bash",
        input: &input,
    };
    judge(&call, &policy(), &world())
}

#[test]
fn named_places_are_kept_from_all_programs_that_would_change_or_read_them() {
    let mut faults = Vec::new();
    for row in include_str!("protected.txt").lines() {
        let (expected, command) = row.split_once(' ').unwrap();
        let found = judged(&command.replace("\\n", "\n"));
        if found.decision.name() != expected {
            faults.push(format!("{} ({:?}): {row}", found.decision.name(), found.rule));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn more_words_than_are_looked_at_are_asked_about() {
    let found = judged(&format!("some-tool {}", "a/=".repeat(100_000)));
    assert_eq!((found.decision, found.rule), (Verdict::Ask, Some("guard.limit")));
    let found = judged(&format!("some-tool {} ~/vault/x", "a/=".repeat(100)));
    assert_eq!((found.decision, found.rule), (Verdict::Deny, Some("protected.look")));
}
