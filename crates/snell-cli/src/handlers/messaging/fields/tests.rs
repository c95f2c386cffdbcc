use super::*;

#[test]
fn names_of_fields_tell_what_stands_in_them() {
    let people = FieldRole::Recipient { takes_names: true };
    let addresses = FieldRole::Recipient { takes_names: false };
    let cases: &[(FieldRole, &[&str])] = &[
        (
            people,
            &[
                "to",
                "To",
                "cc",
                "bcc",
                "bcc[]",
                "to1",
                "to_2",
                "sendTo",
                "forward_to",
                "copy_to",
                "recipients",
                "hidden_recipients",
                "recipients_csv",
                "additional_recipients",
                "contact",
                "person",
                "message_to",
            ],
        ),
        (
            addresses,
            &[
                "email_to",
                "mail_to",
                "to_addrs",
                "smtp_to",
                "rcpt",
                "rcpt_to_address",
                "blind_copy",
                "attendees",
                "invitees",
                "members",
                "mailing_list",
                "receive_id",
                "msisdn",
                "toemail",
                "mailto",
                "user_id",
                "room",
                "chat_id",
                "phone",
                "customer_phone",
                "audience_id",
                "to_user_id",
                "forward",
            ],
        ),
        (FieldRole::RecipientName, &["to_name", "recipientName", "contact_name"]),
        (
            FieldRole::Sender,
            &[
                "from",
                "fromEmail",
                "sender",
                "reply_to",
                "replyTo",
                "Reply-To",
                "in_reply_to",
                "on_behalf_of",
                "Return-Path",
                "user_google_email",
                "account",
                "List-Unsubscribe",
                "reply_to_message_id",
            ],
        ),
        (
            FieldRole::Data,
            &[
                "blocks",
                "attachments",
                "variables",
                "dynamic_template_data",
                "signature",
                "recipient_variables",
                "quoted",
            ],
        ),
        (FieldRole::Prose, &["body", "text", "message", "html", "subject", "email_body", "smsText"]),
        (FieldRole::Raw, &["raw", "headers", "raw_message", "mimeContent"]),
        (FieldRole::Reference, &["message_id", "thread_ts", "References", "event_id", "timestamp"]),
        (
            FieldRole::Other,
            &[
                "ccnumber",
                "cc_number",
                "to_date",
                "time_to_live",
                "recipient_type",
                "max_recipients",
                "receive_id_type",
                "member_count",
                "params",
                "notify_emails",
                "path_to_file",
            ],
        ),
    ];
    for (expected, names) in cases {
        for name in *names {
            assert_eq!(classify_field(name), *expected, "{name}");
        }
    }
}
