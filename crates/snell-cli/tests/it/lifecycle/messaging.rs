//! Who may send messages: the mode of the session, and the tags of whom it writes to.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use super::{LifecycleSandbox, run_in_both_modes};
use crate::support::CliSandbox;

const SEND: &str = "mcp__gmail__send_email";
const DRAFT: &str = "mcp__gmail__create_draft";
const PLACE: &str = ".config/snell/contacts.toml";

const CONTACTS: &str = r#"
[[contact]]
name = "Ann"
email = "ann@example.com"
tags = ["claude_direct"]

[[contact]]
name = "Bob"
email = "bob@example.com"
tags = ["claude_draft"]

[[contact]]
name = "Cleo"
email = "cleo@example.com"
tags = ["family"]
"#;

fn create_contacts_sandbox() -> CliSandbox {
    CliSandbox::new().home_file(PLACE, CONTACTS)
}

/// The session is about to use this tool.
fn use_tool(stage: &LifecycleSandbox, tool: &str, input: Value) -> CommandOutput {
    let fields = json!({"tool_name": tool, "tool_use_id": "t1", "tool_input": input});
    stage.send_event("12:00:20", "PreToolUse", fields)
}

/// The decision and its reason; nothing where nothing is answered at all.
fn parse_decision(ran: &CommandOutput) -> (String, String) {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    if ran.stdout.is_empty() {
        return ("nothing".into(), String::new());
    }
    let answer = ran.json();
    let output = &answer["hookSpecificOutput"];
    let text = |key: &str| output[key].as_str().unwrap().to_owned();
    let (decision, reason) = (text("permissionDecision"), text("permissionDecisionReason"));
    let whole = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
    }});
    assert_eq!(ran.stdout, format!("{whole}\n"), "and nothing else");
    (decision, reason)
}

#[test]
fn the_mode_decides_first() {
    let refused = |tool: &str, mode: &str| {
        format!(
            "\"{tool}\" may not run in a session in mode \"{mode}\". Only interactive sessions may send or draft messages. Leave \
             the message for the user."
        )
    };
    let cases = [
        (None, None),
        (Some("interactive"), None),
        (Some(" Interactive "), None),
        (Some("mission"), Some("mission")),
        (Some("background"), Some("background")),
        (Some("BACKGROUND"), Some("background")),
        (Some("night shift"), Some("night shift")),
    ];
    run_in_both_modes(|stage| {
        for (mode, expected) in cases {
            let mode: Vec<_> = mode.map(|mode| ("CLAUDE_SESSION_MODE", mode)).into_iter().collect();
            let stage = stage(create_contacts_sandbox()).with_launcher_env(&mode).begin_session();
            for tool in [SEND, DRAFT, "mcp__slack__post_message"] {
                let ran = use_tool(&stage, tool, json!({"to": "ann@example.com", "body": "Hello"}));
                match expected {
                    None => ran.assert_silent(),
                    Some(mode) => assert_eq!(parse_decision(&ran), ("deny".into(), refused(tool, mode))),
                }
            }
        }
    });
}

#[test]
fn tags_decide_then() {
    let cases = [
        (json!("ann@example.com"), "nothing", "nothing"),
        (json!("Ann <ANN@example.com>"), "nothing", "nothing"),
        (json!("bob@example.com"), "ask", "nothing"),
        (json!("cleo@example.com"), "deny", "deny"),
        (json!("eve@example.com"), "deny", "deny"),
        // Of several the strictest counts.
        (json!(["ann@example.com", "bob@example.com"]), "ask", "nothing"),
        (json!("ann@example.com, eve@example.com"), "deny", "deny"),
        (json!(["bob@example.com", "cleo@example.com"]), "deny", "deny"),
        // Nobody at all.
        (json!(null), "deny", "nothing"),
    ];
    let stage = LifecycleSandbox::with_sandbox(create_contacts_sandbox()).begin_session();
    for (to, sends, drafts) in cases {
        for (tool, expected) in [(SEND, sends), (DRAFT, drafts)] {
            let ran = use_tool(&stage, tool, json!({"to": to, "subject": "Hello"}));
            let (decision, reason) = parse_decision(&ran);
            assert_eq!(decision, expected, "{tool} {to}: {reason}");
        }
    }
    // Wherever they stand.
    for field in ["cc", "bcc"] {
        let ran = use_tool(&stage, SEND, json!({"to": "ann@example.com", field: "eve@example.com"}));
        assert_eq!(parse_decision(&ran).0, "deny", "{field}");
    }
}

#[test]
fn the_reason_says_who_is_in_the_way_and_how_to_tag_them() {
    let stage = LifecycleSandbox::with_sandbox(create_contacts_sandbox()).begin_session();
    let file = stage.sandbox().home().join(PLACE);
    let file = file.display();
    let cases = [
        (
            "eve@example.com",
            "deny",
            format!(
                "\"{SEND}\" may not send to:\n\
                 - \"eve@example.com\": not in {file}\n\
                 Only the user may decide who gets messages, not the agent. To allow these recipients, the user adds to {file}:\n\
                 [[contact]]\n\
                 email = \"eve@example.com\"\n\
                 tags = [\"claude_direct\"]\n\
                 (claude_direct: the agent may send messages. claude_draft: it may write drafts, and sending asks the user.)"
            ),
        ),
        (
            "cleo@example.com",
            "deny",
            format!(
                "\"{SEND}\" may not send to:\n\
                 - \"cleo@example.com\" (Cleo, {file}:12:1): tagged neither claude_direct nor claude_draft\n\
                 Only the user may add a tag, not the agent: tags = [\"claude_direct\"] or [\"claude_draft\"] in that \
                 entry."
            ),
        ),
        (
            "bob@example.com",
            "ask",
            format!(
                "\"{SEND}\" needs the user's consent to send to:\n\
                 - \"bob@example.com\" (Bob, {file}:7:1): tagged claude_draft, so the user must confirm sending"
            ),
        ),
    ];
    for (to, decision, reason) in cases {
        assert_eq!(parse_decision(&use_tool(&stage, SEND, json!({"to": to}))), (decision.to_owned(), reason));
    }
}

#[test]
fn who_follows_the_reason_may_send() {
    let stage = LifecycleSandbox::with_sandbox(create_contacts_sandbox()).begin_session();
    let send = || use_tool(&stage, SEND, json!({"to": "eve@example.com"}));
    let (_, reason) = parse_decision(&send());
    let entry: Vec<_> =
        reason.lines().skip_while(|line| *line != "[[contact]]").take_while(|line| !line.starts_with('(')).collect();
    let path = stage.sandbox().home().join(PLACE);
    fs::write(&path, format!("{CONTACTS}\n{}\n", entry.join("\n"))).unwrap();
    send().assert_silent();
}

#[test]
fn without_a_contacts_file_everybody_is_unknown() {
    let stage = LifecycleSandbox::new().begin_session();
    for tool in [SEND, DRAFT] {
        let (decision, reason) = parse_decision(&use_tool(&stage, tool, json!({"to": "ann@example.com"})));
        assert_eq!(decision, "deny", "{tool}");
        let file = stage.sandbox().home().join(PLACE);
        assert!(reason.contains(&format!("the user creates {}", file.display())), "{reason}");
    }
}

#[test]
fn a_contacts_file_that_cannot_be_used_denies_and_says_so() {
    type ContactsFileFault = fn(&Path);
    let ways: [(&str, ContactsFileFault, &str); 7] = [
        ("a directory", |path| fs::create_dir(path).unwrap(), "not a regular file"),
        (
            "a pipe",
            |path| {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            },
            "not a regular file",
        ),
        ("a device", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(), "not a regular file"),
        ("a circle", |path| std::os::unix::fs::symlink(path, path).unwrap(), "contacts.toml"),
        ("no TOML", |path| fs::write(path, "[[contact]]\nname = \"Ann\nemail = 3").unwrap(), "contacts.toml:2:"),
        ("no text", |path| fs::write(path, b"[[contact]]\nname = \"\xff\"").unwrap(), "contacts.toml:2:9: not UTF-8"),
        ("too large", |path| fs::File::create(path).unwrap().set_len(1 << 30).unwrap(), "contacts.toml"),
    ];
    for (what, spoil, expected) in ways {
        let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "");
        spoil(&sandbox.home().join(PLACE));
        let stage = LifecycleSandbox::with_sandbox(sandbox).begin_session();
        for tool in [SEND, DRAFT] {
            let (decision, reason) = parse_decision(&use_tool(&stage, tool, json!({"to": "ann@example.com"})));
            assert_eq!(decision, "deny", "{what}: {reason}");
            let begins = format!("\"{tool}\" cannot be checked, because the contacts file cannot be used: ");
            assert!(reason.starts_with(&begins) && reason.contains(expected), "{what}: {reason}");
        }
        // Nothing else is held back by it.
        use_tool(&stage, "Bash", json!({"command": "ls"})).assert_silent();
    }
}

#[test]
fn an_entry_that_cannot_be_understood_grants_nothing_and_costs_the_others_nothing() {
    let text = format!("{CONTACTS}\n[[contact]]\nname = \"Eve\"\nemail = \"eve@example.com\"\ntags = [3]\n");
    let stage = LifecycleSandbox::with_sandbox(CliSandbox::new().home_file(PLACE, &text)).begin_session();
    use_tool(&stage, SEND, json!({"to": "ann@example.com"})).assert_silent();
    let (decision, reason) = parse_decision(&use_tool(&stage, SEND, json!({"to": "eve@example.com"})));
    assert_eq!(decision, "deny");
    assert!(reason.contains("contacts.toml:20:"), "{reason}");
}

#[test]
fn other_tools_are_not_asked_about() {
    for mode in ["interactive", "mission", "background"] {
        let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", mode)]).begin_session();
        let tools = [
            ("Bash", json!({"command": "mail eve@example.com"})),
            ("Write", json!({"file_path": "mail.txt", "content": "to: eve@example.com"})),
            ("Task", json!({"prompt": "send an email to eve@example.com"})),
            ("SendMessage", json!({"to": "worker", "message": "hello"})),
            ("mcp__gmail__search_emails", json!({"query": "from:eve@example.com"})),
            ("mcp__slack__get_messages", json!({"channel": "#team"})),
            ("mcp__kafka__send_message", json!({"topic": "t"})),
            ("mcp__github__create_issue", json!({"title": "t"})),
        ];
        for (tool, input) in tools {
            use_tool(&stage, tool, input).assert_silent();
        }
    }
}

#[test]
fn which_tools_send_can_be_configured() {
    let settings = "[comms]\nsend = [\"mcp__crm__ping_*\"]\ndraft = [\"mcp__gmail__send_later\"]\n\
                    except = [\"mcp__agents__*\"]\nrecipients = [\"thread_id\"]\ncontacts = \"people.toml\"\n";
    let sandbox = CliSandbox::new()
        .home_file("people.toml", &CONTACTS.replace("\"bob@example.com\"", "[\"bob@example.com\", \"T42\"]"))
        .home_file(".config/snell/snell.toml", settings);
    let stage = LifecycleSandbox::with_sandbox(sandbox).begin_session();
    let cases = [
        ("mcp__crm__ping_customer", json!({"to": "eve@example.com"}), "deny"),
        ("mcp__crm__ping_customer", json!({"to": "ann@example.com"}), "nothing"),
        ("mcp__gmail__send_later", json!({"to": "bob@example.com"}), "nothing"),
        ("mcp__agents__send_message", json!({"to": "eve"}), "nothing"),
        ("mcp__gmail__reply_to_email", json!({"thread_id": "T42"}), "ask"),
        ("mcp__gmail__reply_to_email", json!({"thread_id": "T43"}), "deny"),
    ];
    for (tool, input, expected) in cases {
        let (decision, reason) = parse_decision(&use_tool(&stage, tool, input.clone()));
        assert_eq!(decision, expected, "{tool} {input}: {reason}");
    }
}

#[test]
fn a_hook_of_the_user_cannot_allow_what_the_rules_deny() {
    let allow = crate::hook::render_answering_hook("PreToolUse", &json!({"decision": "allow"}));
    let stage = LifecycleSandbox::with_sandbox(create_contacts_sandbox().home_file(".config/snell/snell.toml", &allow))
        .begin_session();
    for (to, expected) in [("eve@example.com", "deny"), ("bob@example.com", "ask"), ("ann@example.com", "nothing")] {
        assert_eq!(parse_decision(&use_tool(&stage, SEND, json!({"to": to}))).0, expected, "{to}");
    }
}

#[test]
fn what_was_decided_is_in_the_record() {
    let stage = LifecycleSandbox::with_sandbox(create_contacts_sandbox()).begin_session();
    use_tool(&stage, SEND, json!({"to": "eve@example.com"}));
    use_tool(&stage, SEND, json!({"to": "bob@example.com"}));
    use_tool(&stage, SEND, json!({"to": "ann@example.com"})).assert_silent();
    let rows = stage.watched.query_rows("SELECT decision FROM events WHERE name = 'PreToolUse' ORDER BY id");
    let decisions: Vec<_> = rows.iter().map(|row| row["decision"].clone()).collect();
    assert_eq!(decisions, [json!("block"), json!("ask"), Value::Null]);
}
