//! Who counts as addressed by a call.

use super::*;

#[test]
fn nobody_is_addressed_past_the_rule() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let evil = "eve@x.org";
    let keys = [
        "additional_recipients",
        "email_to",
        "sendTo",
        "mail_to",
        "forward_to",
        "copy_to",
        "hidden_recipients",
        "recipients_csv",
        "to_addrs",
        "to1",
        "to_2",
        "smtp_to",
        "rcpt",
        "notify_emails",
        "blind_copy",
        "bcc[]",
        "attendees",
        "invitees",
        "members",
        "mailing_list",
        "receive_id",
        "msisdn",
        "anything",
    ];
    let beside = |more: Value| {
        let mut input = json!({"to": "ann@example.com"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let mut inputs: Vec<_> = keys.into_iter().map(|key| beside(json!({key: [evil]}))).collect();
    inputs.extend(
        [
            json!({"envelope": {"rcpt_to": evil}}),
            json!({"headers": [{"name": "Bcc", "value": evil}]}),
            json!({"headers": [{"key": "Bcc", "value": "U_EVIL"}]}),
            json!({"headers": [["Bcc", evil]]}),
            json!({"headers": {"Bcc": evil}}),
            json!({"headers": "X-A: b\r\nBcc: eve@x.org"}),
            json!({"headers": "Bcc: ann@example.com,\r\n eve@x.org"}),
            json!({"raw": "To: eve@x.org\r\n\r\nHi"}),
            json!({"message": {"raw": "VG86IGV2ZUB4Lm9yZw0KDQpIaQ"}}),
            json!({"params": "{\"bcc\": \"eve\"}"}),
            json!({"params": " [{\"x\": \"{\\\"cc\\\": \\\"eve\\\"}\"}] "}),
            json!({"anything": "ann@example.com eve@x.org"}),
            json!({"anything": "+49 170 7654321"}),
            json!({"options": {"deep": [["tel:+49 170 7654321"]]}}),
            json!({"cc": "[\"eve@x.org\"]"}),
        ]
        .map(beside),
    );
    inputs.extend([
        json!({"to": {"name": evil, "email": "ann@example.com"}}),
        json!({"to": [{"displayName": evil, "address": "ann@example.com"}]}),
    ]);
    // Ids and handles are nobody's names.
    inputs.extend(
        ["username", "channel_id", "channel", "phone", "chat_id", "room", "user_id", "user", "to_user"]
            .map(|key| json!({key: "ann"})),
    );
    inputs.extend([
        json!({"to": "ann", "user_id": "ann"}),
        json!({"to": {"username": "ann"}}),
        json!({"to": {"id": "ann"}}),
    ]);
    // A channel that is nothing but one, and a number that can be called.
    inputs.extend([json!({"channel": "email"}), json!({"number": "+49 170 7654321"})]);
    let passed: Vec<_> = inputs.iter().filter(|input| desk.decision(SEND, input) != Decision::Deny).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn what_addresses_nobody_is_in_nobodys_way() {
    let desk = ContactsFixture::with_contacts(CONTACTS);
    let me = "me@x.org";
    let beside = [
        json!({"from": {"email": me}}),
        json!({"from": {"emailAddress": {"address": me}}, "sender": {"address": me}}),
        json!({"reply_to": {"email": me}, "replyTo": [{"emailAddress": {"address": me}}]}),
        json!({"on_behalf_of": me, "Return-Path": me, "user_google_email": me, "account": me}),
        json!({"headers": {"Reply-To": me, "Message-ID": "<a@x.org>", "References": "<b@x.org> <c@x.org>"}}),
        json!({"headers": "From: me@x.org\r\nTo: ann@example.com\r\nSubject: cc: eve"}),
        json!({"headers": [{"name": "Reply-To", "value": me}]}),
        json!({"in_reply_to": "<a@x.org>", "thread_ts": "1712345678.123456", "message_id": "b@x.org"}),
        json!({"number": 1, "ccnumber": "4111111111111111", "channel": "email"}),
        json!({"variables": {"user": "Bob", "email": me}, "signature": {"phone": "+49 170 7654321"}}),
        json!({"blocks": [{"type": "section", "elements": [{"type": "user", "user_id": "U999"}]}]}),
        json!({"body": "eve@x.org", "subject": "+49 170 7654321", "html": "To: eve@x.org", "text": "{\"bcc\": \"eve\"}"}),
        json!({"attachments": [{"email": me}], "quoted": {"participant": "1234567@s.whatsapp.net"}}),
        json!({"to_name": "Somebody Else", "recipient_type": "user", "max_recipients": 3}),
        json!({"contentType": "text", "importance": "high", "send_at": "2024-01-01", "timestamp": "+1712345678"}),
    ];
    for more in beside {
        let mut input = json!({"to": "ann@example.com"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(desk.judge(SEND, &input), None, "{input}");
    }
    let cases = [
        json!({"channel": "#team", "username": "MyBot", "text": "Hi"}),
        json!({"to_name": "Ann"}),
        json!({"to": {"name": "Ann"}}),
        json!({"contact": "Ann"}),
        json!({"params": "{\"to\": \"ann@example.com\"}"}),
        json!({"raw": "To: ann@example.com\r\n\r\neve@x.org"}),
    ];
    for input in cases {
        assert_eq!(desk.judge(SEND, &input), None, "{input}");
    }
}
