//! What a contacts file says, and what is said of one that says nothing.

use super::*;

#[test]
fn what_grants_nothing_in_the_contacts_file_is_named() {
    let cases = [
        ("contacts.toml", "[[contact]]\nemail = \"*\"", "~/contacts.toml:2:9: \"email\" has a pattern"),
        ("contacts.toml", "[[contact]]\nemail = \"*@*.com\"", "~/contacts.toml:2:9: \"email\" has a pattern"),
        ("contacts.toml", "[[contact]]\nemail = [\"a*@example.com\"]", "~/contacts.toml:2:10: \"email\" has a pattern"),
        (
            "contacts.toml",
            "[[contact]]\nemail = { work = \"ann@example.com\" }",
            "~/contacts.toml:2:9: \"email\" must be an address",
        ),
        (
            "contacts.toml",
            "[[contact]]\nemail = [[\"ann@example.com\"]]",
            "~/contacts.toml:2:10: \"email\" must be an address",
        ),
        (
            "contacts.toml",
            "contact = [\"ann@example.com\"]",
            "~/contacts.toml:1:12: a contact must be an object, not a string",
        ),
        ("contacts.toml", "[[contact]]\nemail = \"\"", "~/contacts.toml:2:9: \"email\" is empty"),
        ("contacts.toml", "[[contact]]\ntags = []", "a contact must have a name or an address"),
        (
            "contacts.toml",
            "email = \"ann@example.com\"\n",
            "~/contacts.toml:1:9: \"email\" must be inside a contact (hint: write [[contact]]",
        ),
        (
            "contacts.toml",
            "email = \"ann@example.com\"\n[[contact]]\nemail = \"bob@example.com\"",
            "~/contacts.toml:1:9: \"email\" must be inside a contact",
        ),
        (
            "contacts.json",
            "{\"people\": [{\"email\": \"ann@example.com\"}]}",
            "~/contacts.json:1:13: \"people\" must be an address",
        ),
        (
            "contacts.json",
            "[{\"email\": \"bob@example.com\", \"tags\": [], \"tags\": [\"claude_direct\"]}]",
            "\"tags\" is written twice",
        ),
    ];
    for (name, text, expected) in cases {
        let desk = ContactsFixture::with_file_name(name, text);
        let reason = desk.reason(SEND, &json!({"to": "ann@example.com"}));
        assert!(reason.contains(expected), "{expected} is not in {reason}");
    }
}

#[test]
fn a_key_that_is_there_twice_grants_nothing() {
    let tags = ["\"tags\": [\"claude_direct\"]", "\"tags\": []"];
    for tags in [[tags[0], tags[1]], [tags[1], tags[0]]] {
        let text = format!("[{{\"email\": \"ann@example.com\", {}}}]", tags.join(", "));
        let desk = ContactsFixture::with_file_name("contacts.json", &text);
        assert_eq!(desk.decision(SEND, &json!({"to": "ann@example.com"})), Decision::Deny, "{text}");
    }
}

#[test]
fn what_is_told_of_a_missing_file_is_a_whole_file() {
    for name in ["contacts.toml", "contacts.json"] {
        let desk = ContactsFixture::with_file_name(name, "");
        std::fs::remove_file(&desk.file).unwrap();
        let input = json!({"to": ["dan@example.com", "eve@example.com"]});
        let reason = desk.reason(SEND, &input);
        let told = reason.split_once(" with:\n").unwrap().1.split_once("\n(").unwrap().0;
        std::fs::write(&desk.file, told).unwrap();
        assert_eq!(desk.judge(SEND, &input), None, "{told}");
    }
}

#[test]
fn contacts_are_where_the_settings_say() {
    let mut desk = ContactsFixture::with_contacts("");
    let other = desk.directory.path().join("others.toml");
    std::fs::write(&other, CONTACTS).unwrap();
    let input = json!({"to": "ann@example.com"});
    assert_eq!(desk.decision(SEND, &input), Decision::Deny);
    desk.settings.contacts = Some(other);
    assert_eq!(desk.decision(SEND, &input), Decision::None);
}

#[test]
fn contacts_are_never_looked_for_where_the_agent_works() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let input = json!({"to": "ann@example.com"});
    let call = MessageCall { tool: SEND, input: &input, mode: &SessionMode::Interactive };
    let cases = [
        (None, "there is no home directory"),
        (
            Some("~/contacts.toml"),
            "~/contacts.toml is relative, because the home directory is unknown (hint: write an absolute path)",
        ),
    ];
    for (named, fault) in cases {
        let mut settings = desk.settings.clone();
        settings.contacts = named.map(PathBuf::from);
        let objection = judge_call(&call, &settings, None).unwrap();
        assert_eq!(objection.decision, Decision::Deny);
        assert!(objection.reason.contains(fault), "{}", objection.reason);
    }
}

#[test]
fn contacts_may_be_json() {
    let ann = r#"{"name": "Ann", "email": "ann@example.com", "tags": ["claude_direct"]}"#;
    let files = [
        format!("[{ann}]"),
        format!("{{\"contacts\": [{ann}]}}"),
        format!("// mine\n{{\"contact\": [{ann},]}}"),
        ann.to_owned(),
    ];
    for file in files {
        let desk = ContactsFixture::with_file_name("Contacts.JSON", &file);
        assert_eq!(desk.decision(SEND, &json!({"to": "ann@example.com"})), Decision::None, "{file}");
        let reason = desk.reason(SEND, &json!({"to": "dan@example.com"}));
        let entry = r#"{"email": "dan@example.com", "tags": ["claude_direct"]}"#;
        assert!(reason.contains(entry), "{reason}");
    }
}

#[test]
fn what_is_told_to_be_written_allows_it() {
    for name in ["contacts.toml", "contacts.json"] {
        let recipients = [
            "dan@example.com",
            "+49 170 7654321",
            "#new",
            "@dan",
            "-100123",
            "Dän \"D\" \\ O'Neil",
            "a\u{200b}b",
            "d\u{e4}n\u{1f600}@example.com",
        ];
        for recipient in recipients {
            let desk = ContactsFixture::with_file_name(name, if name.ends_with("json") { "[]" } else { "" });
            let input = json!({"to": [recipient]});
            let reason = desk.reason(SEND, &input);
            let told = reason.split_once("contacts.").unwrap().1;
            let told: Vec<_> =
                told.lines().filter(|line| line.starts_with(['[', '{']) || line.contains(" = ")).collect();
            let text = if name.ends_with("json") { format!("[{}]", told.join("\n")) } else { told.join("\n") };
            std::fs::write(&desk.file, &text).unwrap();
            assert_eq!(desk.judge(SEND, &input), None, "{recipient}: {text}");
        }
    }
}

#[test]
fn a_contacts_file_that_cannot_be_used_denies_and_says_where() {
    let large = " ".repeat(4 * 1024 * 1024 + 1);
    let cases = [
        ("contacts.toml", "[[contact]]\nname = = 3", "~/contacts.toml:2:8: is not valid TOML"),
        ("contacts.json", "[\n{]", "~/contacts.json:2:2: is not valid JSON"),
        ("contacts.json", "", "~/contacts.json:1:1: is empty"),
        ("contacts.json", "3", "~/contacts.json:1:1: the file must be a list of contacts, not a number"),
        ("contacts.toml", "\n[contact]\nname = \"Ann\"\n", "must be a list, not an object (hint: write [[contact]]"),
        ("contacts.toml", &large, "cannot read ~/contacts.toml: it is too large (4194305 bytes"),
    ];
    for (name, text, expected) in cases {
        let desk = ContactsFixture::with_file_name(name, text);
        for tool in [SEND, DRAFT] {
            assert_eq!(desk.decision(tool, &json!({"to": "ann@example.com"})), Decision::Deny);
            let reason = desk.reason(tool, &json!({"to": "ann@example.com"}));
            assert!(reason.contains(expected), "{expected} is not in {reason}");
            assert!(reason.contains("[comms] contacts"), "{reason}");
        }
    }
}

#[test]
fn a_contacts_file_that_is_none_denies() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let input = json!({"to": "ann@example.com"});
    std::fs::remove_file(&desk.file).unwrap();
    std::fs::create_dir(&desk.file).unwrap();
    assert!(desk.reason(SEND, &input).contains("cannot read ~/contacts.toml: it is a directory, not a regular file"));
    std::fs::remove_dir(&desk.file).unwrap();
    std::os::unix::fs::symlink(&desk.file, &desk.file).unwrap();
    assert!(desk.reason(SEND, &input).contains("cannot read ~/contacts.toml: "));
    std::fs::remove_file(&desk.file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &desk.file).unwrap();
    assert!(desk.reason(SEND, &input).contains("it is a character device, not a regular file"));
    std::fs::remove_file(&desk.file).unwrap();
    std::fs::write(&desk.file, b"a = 1\nb = \"\xff\"\n").unwrap();
    assert!(desk.reason(SEND, &input).contains("~/contacts.toml:2:6: not UTF-8"));
}

#[test]
fn a_broken_entry_grants_nothing_and_costs_no_other() {
    let broken = [
        "email = \"dan@example.com\"\ntags = 3",
        "email = \"dan@example.com\"\ntags = [\"claude_direct\", 3]",
        "email = \"dan@example.com\"\nname = 3\ntags = [\"claude_direct\"]",
        "email = [\"dan@example.com\", {}]\ntags = [\"claude_direct\"]",
        "slack.id = \"dan@example.com\"\ntags = [\"claude_direct\"]",
        "email = \"dan@example.com\"\nbirthday = 1990-01-01\ntags = [\"claude_direct\"]",
    ];
    for broken in broken {
        let desk = ContactsFixture::with_contacts(&format!("[[contact]]\n{broken}\n{CONTACTS}"));
        assert_eq!(desk.decision(SEND, &json!({"to": "dan@example.com"})), Decision::Deny, "{broken}");
        assert_eq!(desk.decision(SEND, &json!({"to": "ann@example.com"})), Decision::None, "{broken}");
    }
    let desk = ContactsFixture::with_contacts("[[contact]]\nname = \"Dan\"\nemail = \"dan@example.com\"\ntags = 3\n");
    let reason = desk.reason(SEND, &json!({"to": "dan@example.com"}));
    assert!(reason.contains("(Dan, ~/contacts.toml:4:8: \"tags\" must be a list of strings, not a number"), "{reason}");
    let desk = ContactsFixture::with_contacts("contact = [3, {email = \"ann@example.com\", tags = \"claude_direct\"}]");
    assert_eq!(desk.decision(SEND, &json!({"to": "ann@example.com"})), Decision::None);
}

#[test]
fn of_several_entries_the_nearest_and_then_the_strictest_counts() {
    let entry = |address: &str, tags: &str| format!("[[contact]]\nemail = \"{address}\"\ntags = [{tags}]\n");
    let direct = |address| entry(address, "\"claude_direct\"");
    let draft = |address| entry(address, "\"claude_draft\"");
    let untagged = |address| entry(address, "");
    let broken = "[[contact]]\nemail = \"dan@example.com\"\ntags = 3\n".to_owned();
    let cases = [
        (vec![direct("dan@example.com"), draft("dan@example.com")], Decision::Ask),
        (vec![draft("DAN@example.com"), untagged("dan@example.com")], Decision::Deny),
        (vec![direct("*@example.com")], Decision::None),
        (vec![direct("*@sub.example.com")], Decision::Deny),
        (vec![direct("*@com")], Decision::Deny),
        (vec![direct("*@*")], Decision::Deny),
        (vec![direct("*")], Decision::Deny),
        (vec![direct("*@example.com"), untagged("dan@example.com")], Decision::Deny),
        (vec![untagged("*@example.com"), direct("dan@example.com")], Decision::None),
        (vec![direct("*@example.com"), draft("*@EXAMPLE.com")], Decision::Ask),
        (vec![direct("*@example.com"), broken], Decision::Deny),
    ];
    for (entries, expected) in cases {
        let text = entries.concat();
        let desk = ContactsFixture::with_contacts(&text);
        assert_eq!(desk.decision(SEND, &json!({"to": "dan@example.com"})), expected, "{text}");
    }
}
