use super::*;
use proptest::prelude::*;
use serde_json::json;

fn find_written(input: &Value, further: &[&str]) -> Vec<String> {
    let further: Vec<_> = further.iter().map(|name| (*name).to_owned()).collect();
    let found = find_recipients(input, &further);
    assert!(!found.is_cut, "{input}");
    found.list.into_iter().map(|recipient| recipient.written).collect()
}

#[test]
fn recipients_are_found_wherever_they_stand() {
    let cases: &[(Value, &[&str])] = &[
        (json!({"to": "ann@example.com", "subject": "Hi"}), &["ann@example.com"]),
        (json!({"to": "a@x.org, \"B, C\" <b@x.org>"}), &["a@x.org", "b@x.org"]),
        (
            json!({"to": ["a@x.org"], "cc": "b@x.org", "bcc": ["c@x.org", "d@x.org"]}),
            &["a@x.org", "b@x.org", "c@x.org", "d@x.org"],
        ),
        (json!({"to": "a@x.org", "cc": "A@X.org"}), &["a@x.org"]),
        (json!({"TO": "a@x.org"}), &["a@x.org"]),
        (json!({"to-email": "a@x.org"}), &["a@x.org"]),
        (json!({"toRecipients": [{"emailAddress": {"address": "a@x.org", "name": "A"}}]}), &["a@x.org"]),
        (
            json!({"body": {"message": {"to_recipients": [{"email": "a@x.org"}], "ccRecipients": ["b@x.org"]}}}),
            &["a@x.org", "b@x.org"],
        ),
        (json!({"personalizations": [{"to": [{"email": "a@x.org", "type": "to"}]}]}), &["a@x.org"]),
        (json!({"to": {"ann@example.com": "Ann"}}), &["ann@example.com"]),
        (json!({"to": {"a@x.org": "b@x.org"}}), &["a@x.org", "b@x.org"]),
        (json!({"emails": [{"from": "me@x.org", "to": "a@x.org", "subject": "Hi"}]}), &["a@x.org"]),
        (json!({"to": {"name": "Ann"}}), &["Ann"]),
        (json!({"to": {"anything": "eve"}}), &["eve"]),
        (json!({"channel": "#team", "text": "to: eve@x.org"}), &["#team"]),
        (json!({"channel_id": "C012", "thread_ts": "1.2"}), &["C012"]),
        (json!({"channel": {"id": "C012", "name": "team"}}), &["C012"]),
        (json!({"chat_id": -1_001_234_567}), &["-1001234567"]),
        (json!({"chat_jid": "491701234567@s.whatsapp.net"}), &["491701234567@s.whatsapp.net"]),
        (json!({"phone_number": "+49 170 1234567"}), &["+49 170 1234567"]),
        (json!({"userId": "me", "to": "a@x.org"}), &["a@x.org"]),
        (json!({"to": "me"}), &["me"]),
        (json!({"user_google_email": "me@x.org", "to": "a@x.org"}), &["a@x.org"]),
        (json!({"from": "me@x.org", "reply_to": "me@x.org"}), &[]),
        (json!({"thread_id": "t1", "message_id": "m1", "body": "x"}), &[]),
        (json!({"to": "", "cc": [], "bcc": null, "user": true}), &[]),
        (json!({"to": "[\"a@x.org\"]"}), &["a@x.org"]),
        (json!({"to": "[Team] a"}), &["[Team] a"]),
        (json!("ann@example.com"), &["ann@example.com"]),
        (json!(null), &[]),
    ];
    for (input, expected) in cases {
        assert_eq!(find_written(input, &[]), *expected, "{input}");
    }
}

#[test]
fn the_user_names_further_fields() {
    let input = json!({"args": {"Thread-Id": "t1"}, "to": "a@x.org"});
    assert_eq!(find_written(&input, &["thread_id"]), ["t1", "a@x.org"]);
}

#[test]
fn what_cannot_be_looked_through_is_said() {
    let many: Vec<_> = (0..100_000).map(|number| format!("a{number}@x.org")).collect();
    let deep = (0..100).fold(json!("a@x.org"), |inner, _| json!([inner]));
    let long = many.join(",");
    let same = vec!["a@x.org"; 100_000];
    let cases = [
        json!({"to": many}),
        json!({"to": long}),
        json!({"to": same.join(",")}),
        json!({"to": deep}),
        json!({"other": deep}),
        json!({"other": many}),
    ];
    for input in cases {
        let found = find_recipients(&input, &[]);
        assert!(found.is_cut);
        assert!(found.list.len() <= MAX_PARTS);
    }
}

proptest! {
    #[test]
    fn whoever_is_added_is_found(
        known in prop::collection::vec("[a-z]{1,4}@x\\.org", 0..4),
        field in prop::sample::select(vec!["to", "cc", "bcc", "recipients", "user_id", "chat-id", "emailAddress"]),
        listed in any::<bool>(),
    ) {
        let added = if listed { json!(["eve@y.org"]) } else { json!("Eve <eve@y.org>") };
        let input = json!({"to": known, "inner": {field: added}});
        prop_assert!(find_written(&input, &[]).contains(&"eve@y.org".to_owned()));
    }
}
