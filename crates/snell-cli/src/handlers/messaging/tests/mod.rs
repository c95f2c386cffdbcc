mod contacts_file;
mod recipients;

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;

const CONTACTS: &str = r##"
[[contact]]
name = "Ann"
email = "Ann@example.com"
phone = "+49 170 1234567"
slack = ["U012AB3CD", "#team"]
tags = ["claude_direct", "family"]

[[contact]]
name = "Bob"
email = ["bob@example.com", "Robert <bob@example.org>"]
telegram = 123456789
tags = ["claude_draft"]

[[contact]]
name = "Cleo"
email = "cleo@example.com"
note = "eve@example.net"
"##;

/// A contacts file and those who are asked about.
struct ContactsFixture {
    directory: TempDir,
    file: PathBuf,
    settings: CommsSettings,
}

impl ContactsFixture {
    fn with_contacts(contacts: &str) -> Self {
        Self::with_file_name("contacts.toml", contacts)
    }

    fn with_file_name(name: &str, contacts: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join(name);
        std::fs::write(&file, contacts).unwrap();
        Self { directory, file, settings: CommsSettings::default() }
    }

    fn judge_in_mode(&self, mode: Option<&str>, tool: &str, input: &Value) -> Option<MessageObjection> {
        let mode = &SessionMode::from_name(mode);
        judge_call(&MessageCall { tool, input, mode }, &self.settings, Some(&self.file))
    }

    fn judge(&self, tool: &str, input: &Value) -> Option<MessageObjection> {
        self.judge_in_mode(None, tool, input)
    }

    fn decision(&self, tool: &str, input: &Value) -> Decision {
        self.judge(tool, input).map_or(Decision::None, |objection| objection.decision)
    }

    /// What is told of a message that is not simply sent.
    fn reason(&self, tool: &str, input: &Value) -> String {
        let reason = self.judge(tool, input).unwrap().reason;
        reason.replace(self.directory.path().to_str().unwrap(), "~")
    }
}

const SEND: &str = "mcp__gmail__send_email";
const DRAFT: &str = "mcp__gmail__create_draft";

#[test]
fn tags_and_recipients_decide() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let (none, ask, deny) = (Decision::None, Decision::Ask, Decision::Deny);
    let cases = [
        (json!({"to": "ann@example.com"}), none, none),
        (json!({"to": "Ann <ANN@EXAMPLE.COM>"}), none, none),
        (json!({"to": "mailto:ann@example.com"}), none, none),
        (json!({"phone": "0049 170 1234567"}), none, none),
        (json!({"chat_jid": "491701234567@s.whatsapp.net"}), none, none),
        (json!({"channel": "team"}), none, none),
        (json!({"channel": "#team"}), none, none),
        (json!({"channel": "@team"}), deny, deny),
        (json!({"user_id": "u012ab3cd"}), none, none),
        (json!({"to": "ann"}), none, none),
        (json!({"to": "ANN"}), none, none),
        (json!({"to": "@ann"}), deny, deny),
        (json!({"to": "\u{410}nn"}), deny, deny),
        (json!({"to": "ann+list@example.com"}), deny, deny),
        (json!({"to": "ann@sub.example.com"}), deny, deny),
        (json!({"to": "bob@example.com"}), ask, none),
        (json!({"to": "bob@example.org"}), ask, none),
        (json!({"chat_id": 123_456_789}), ask, none),
        (json!({"to": "cleo@example.com"}), deny, deny),
        (json!({"to": "eve@example.net"}), deny, deny),
        (json!({"to": ["ann@example.com", "bob@example.com"]}), ask, none),
        (json!({"to": "ann@example.com", "bcc": "eve@example.net"}), deny, deny),
        (json!({"to": "ann@example.com", "cc": ["bob@example.com", "cleo@example.com"]}), deny, deny),
        (json!({"thread_id": "t1", "body": "x"}), deny, none),
        (json!({}), deny, none),
        (json!(null), deny, none),
    ];
    for (input, sends, drafts) in cases {
        assert_eq!(desk.decision(SEND, &input), sends, "sending {input}");
        assert_eq!(desk.decision(DRAFT, &input), drafts, "drafting {input}");
        assert_eq!(desk.decision("mcp__gmail__read_email", &input), none, "reading with {input}");
    }
}

#[test]
fn only_interactive_sessions_may_send_or_draft() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let input = json!({"to": "ann@example.com"});
    for mode in ["mission", "background", "Mission ", "somehow"] {
        for tool in [SEND, DRAFT] {
            let objection = desk.judge_in_mode(Some(mode), tool, &input).unwrap();
            assert_eq!(objection.decision, Decision::Deny, "{mode}");
            let mode = format!("mode \"{}\"", mode.trim().to_lowercase());
            assert!(objection.reason.contains(&mode), "{}", objection.reason);
        }
        assert_eq!(desk.judge_in_mode(Some(mode), "Bash", &input), None);
    }
    for mode in [None, Some(""), Some(" Interactive ")] {
        assert_eq!(desk.judge_in_mode(mode, SEND, &input), None, "{mode:?}");
    }
}

#[test]
fn a_mode_that_may_not_send_needs_no_contacts() {
    let desk = ContactsFixture::with_contacts("broken [");
    let objection = desk.judge_in_mode(Some("mission"), SEND, &json!({"to": "a@x.org"})).unwrap();
    assert!(objection.reason.contains("Only interactive sessions"), "{}", objection.reason);
}

#[test]
fn an_unknown_recipient_is_told_how_to_be_tagged() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    insta::assert_snapshot!(desk.reason(SEND, &json!({"to": "dan@example.com", "cc": "+49 170 7654321"})), @r###"
    "mcp__gmail__send_email" may not send to:
    - "dan@example.com": not in ~/contacts.toml
    - "+49 170 7654321": not in ~/contacts.toml
    Only the user may decide who gets messages, not the agent. To allow these recipients, the user adds to ~/contacts.toml:
    [[contact]]
    email = "dan@example.com"
    tags = ["claude_direct"]
    [[contact]]
    phone = "+49 170 7654321"
    tags = ["claude_direct"]
    (claude_direct: the agent may send messages. claude_draft: it may write drafts, and sending asks the user.)
    "###);
}

#[test]
fn a_missing_contacts_file_has_nobody_and_says_how_to_make_it() {
    let desk = ContactsFixture::with_contacts("");
    std::fs::remove_file(&desk.file).unwrap();
    insta::assert_snapshot!(desk.reason(DRAFT, &json!({"channel": "#team"})), @r###"
    "mcp__gmail__create_draft" may not draft for:
    - "#team": not in ~/contacts.toml
    Only the user may decide who gets messages, not the agent. To allow these recipients, the user creates ~/contacts.toml with:
    [[contact]]
    channel = "#team"
    tags = ["claude_direct"]
    (claude_direct: the agent may send messages. claude_draft: it may write drafts, and sending asks the user.)
    "###);
}

#[test]
fn everybody_who_is_in_the_way_is_named() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let input = json!({"to": "ann@example.com", "cc": ["bob@example.com", "cleo@example.com"], "bcc": "eve@x.org"});
    insta::assert_snapshot!(desk.reason(SEND, &input), @r###"
    "mcp__gmail__send_email" may not send to:
    - "bob@example.com" (Bob, ~/contacts.toml:9:1): tagged claude_draft, so the user must confirm sending
    - "cleo@example.com" (Cleo, ~/contacts.toml:15:1): tagged neither claude_direct nor claude_draft
    - "eve@x.org": not in ~/contacts.toml
    Only the user may add a tag, not the agent: tags = ["claude_direct"] or ["claude_draft"] in that entry.
    Only the user may decide who gets messages, not the agent. To allow these recipients, the user adds to ~/contacts.toml:
    [[contact]]
    email = "eve@x.org"
    tags = ["claude_direct"]
    (claude_direct: the agent may send messages. claude_draft: it may write drafts, and sending asks the user.)
    "###);
    insta::assert_snapshot!(desk.reason(SEND, &json!({"to": "bob@example.com"})), @r###"
    "mcp__gmail__send_email" needs the user's consent to send to:
    - "bob@example.com" (Bob, ~/contacts.toml:9:1): tagged claude_draft, so the user must confirm sending
    "###);
}

#[test]
fn a_tool_that_shows_no_recipient_is_told_how_to_be_configured() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    insta::assert_snapshot!(desk.reason("mcp__gmail__reply_all", &json!({"thread_id": "t1", "body": "Yes"})), @r###"
    The input of "mcp__gmail__reply_all" names no recipient. It has "thread_id", "body". Snell looked for to, cc, bcc, recipient(s), email, address, channel, chat, conversation, user, phone, number, room, group and their like. If the tool has a field for the recipient, fill it in. Otherwise the user (not the agent) can name that field in snell.toml: [comms] recipients = ["FIELD"]. If the tool sends nothing to people: [comms] except = ["mcp__gmail__reply_all"].
    "###);
}

#[test]
fn a_field_that_the_user_names_is_looked_at() {
    let mut desk = ContactsFixture::with_contacts("[[contact]]\nthread = \"t1\"\ntags = [\"claude_direct\"]\n");
    desk.settings.recipients = vec!["thread_id".into()];
    let decisions = ["t1", "t2"].map(|thread| desk.decision(SEND, &json!({"threadId": thread})));
    assert_eq!(decisions, [Decision::None, Decision::Deny]);
}

#[test]
fn what_others_wrote_is_repeated_within_limits() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let many: Vec<_> = (0..300).map(|number| format!("a{number}@x.org")).collect();
    let cases = [
        json!({"to": "x".repeat(1_000_000)}),
        json!({"to": many}),
        json!({"to": "eve@x.org\u{202e}\u{7}\u{1b}[2J"}),
        json!({"to": "a@x.org".repeat(1000), "cc": "\u{430}nn@example.com"}),
    ];
    for input in cases {
        let reason = desk.reason(SEND, &input);
        assert!(reason.len() < 6000, "{}", reason.len());
        assert!(reason.chars().all(|c| c == '\n' || !c.is_control()), "{reason}");
        assert!(!reason.contains(['\u{202e}', '\u{430}']) || reason.contains("\\u{"), "{reason}");
    }
}

#[test]
fn an_input_that_cannot_be_looked_through_is_denied() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let many = vec!["ann@example.com"; 20_001];
    let reason = desk.reason(SEND, &json!({"to": many}));
    assert!(reason.contains("The limits are 20000 values and addresses, 64 levels"), "{reason}");
    let long = format!("[{}]", " ".repeat(1024 * 1024));
    assert!(desk.reason(SEND, &json!({"to": "ann@example.com", "params": long})).contains("bytes of JSON"));
    let most: Vec<_> = (0..19_990).map(|number| format!("a{number}@x.org")).collect();
    let desk = ContactsFixture::with_contacts("[[contact]]\nemail = \"*@x.org\"\ntags = [\"claude_direct\"]\n");
    assert_eq!(desk.judge(SEND, &json!({"to": most})), None);
    assert_eq!(desk.judge(SEND, &json!({"to": most.join(", ")})), None);
}

#[test]
fn a_call_that_sends_nothing_looks_at_no_file() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    std::fs::remove_file(&desk.file).unwrap();
    std::os::unix::fs::symlink(&desk.file, &desk.file).unwrap();
    let input = json!({"to": "ann@example.com"});
    for tool in ["Bash", "Read", "mcp__gmail__search_emails"] {
        assert_eq!(desk.judge(tool, &input), None, "{tool}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_unknown_recipient_never_makes_it_more_permitted(
        known in prop::collection::vec(
            prop::sample::select(vec!["ann@example.com", "bob@example.com", "cleo@example.com", "#team", "x@y.z"]),
            0..4,
        ),
        field in prop::sample::select(vec!["cc", "bcc", "recipients", "chat_id", "user_ids"]),
        stranger in r#"[a-z@<>", ;.]{0,12}eve@x\.org[a-z<>", ;]{0,6}"#,
        drafts in any::<bool>(),
    ) {
        let desk = ContactsFixture::with_contacts(CONTACTS);
        let tool = if drafts { DRAFT } else { SEND };
        let before = desk.decision(tool, &json!({"to": known}));
        let after = desk.decision(tool, &json!({"to": known, field: stranger}));
        prop_assert_eq!(after, Decision::Deny);
        prop_assert!(after >= before);
    }

    #[test]
    fn no_contacts_file_panics(text in r#"(\[\[contact\]\]\n)?[a-z="@\[\]{},#\n 0-9]{0,80}"#) {
        for name in ["contacts.toml", "contacts.json"] {
            let desk = ContactsFixture::with_file_name(name, &text);
            desk.judge(SEND, &json!({"to": "ann@example.com"}));
        }
    }
}
