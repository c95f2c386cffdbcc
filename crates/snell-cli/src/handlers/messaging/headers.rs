//! The headers of a message: `To: ann@example.com`.

/// One header, unfolded into one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MessageHeader {
    pub(super) name: String,
    pub(super) value: String,
}

/// Only this much of a text is decoded: headers are at its beginning.
const MAX_ENCODED_BYTES: usize = 64 * 1024;

/// The headers of a whole message, which may be in base64.
pub(super) fn parse_raw_headers(text: &str) -> Vec<MessageHeader> {
    let headers = parse_headers(text);
    if headers.is_empty() { parse_headers(&decode_base64(text).unwrap_or_default()) } else { headers }
}

/// The headers at the beginning of a text, up to the first empty line.
pub(super) fn parse_headers(text: &str) -> Vec<MessageHeader> {
    let mut headers: Vec<MessageHeader> = Vec::new();
    for line in text.trim_start().lines().take_while(|line| !line.trim().is_empty()) {
        let goes_on = line.starts_with([' ', '\t']);
        match (headers.last_mut(), line.split_once(':')) {
            (Some(last), _) if goes_on => last.value.push_str(line),
            (_, Some((name, value))) if is_header_name(name.trim()) => {
                headers.push(MessageHeader { name: name.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => {}
        }
    }
    headers
}

fn is_header_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Decodes base64 of either alphabet.
fn decode_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace()).take(MAX_ENCODED_BYTES) {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.extend(u8::try_from(bits >> held & 0xFF));
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_before_the_first_empty_line() {
        type HeaderPairs = &'static [(&'static str, &'static str)];
        let cases: &[(&str, bool, HeaderPairs)] = &[
            ("Bcc: eve@x.org", false, &[("Bcc", "eve@x.org")]),
            (
                "To: a@x.org,\r\n b@x.org\r\nSubject: Hi\r\n\r\nCc: c@x.org",
                false,
                &[("To", "a@x.org, b@x.org"), ("Subject", "Hi")],
            ),
            ("VG86IGV2ZUB4Lm9yZw0KDQpIaQ==", true, &[("To", "eve@x.org")]),
            ("VG86IGV2ZUB4Lm9yZw0KDQpIaQ", true, &[("To", "eve@x.org")]),
            ("VG86IGV2ZUB4Lm9yZw0KDQpIaQ", false, &[]),
            ("no fields, but words: some", false, &[]),
            ("", true, &[]),
        ];
        for (text, is_raw, expected) in cases {
            let headers = if *is_raw { parse_raw_headers(text) } else { parse_headers(text) };
            let found: Vec<_> = headers.iter().map(|field| (field.name.as_str(), field.value.as_str())).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
