use super::*;

#[test]
fn names_have_words_however_they_are_written() {
    let cases = [
        ("sendSMSTo", "send sms to"),
        ("send-sms_to", "send sms to"),
        ("SEND_SMS_TO", "send sms to"),
        ("V2010--CreateMessage", "v2010 create message"),
        ("sendmail", "send mail"),
        ("postmark", "postmark"),
        ("__", ""),
    ];
    for (name, expected) in cases {
        assert_eq!(split_words(name).join(" "), expected, "{name}");
    }
}
