//! `snell` without arguments, called by an agent. Some agents read Claude Code's settings and drop the arguments of a command,
//! so this means `snell hook`.

use std::io::{self, BufRead, IsTerminal};
use std::time::{Duration, Instant};

use crate::process::stdin::wait_for_stdin;

/// Agents write the payload immediately. A script that leaves its standard input open and writes nothing gets the help after
/// this time.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether standard input begins like a hook payload. It consumes nothing of the payload.
pub(super) fn has_payload_on_stdin() -> bool {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return false;
    }
    let deadline = Instant::now() + FIRST_BYTE_TIMEOUT;
    while wait_for_stdin(Some(deadline)).unwrap_or(false) {
        let Ok(bytes) = stdin.fill_buf() else {
            return false;
        };
        let text = strip_padding(bytes);
        let padding = bytes.len() - text.len();
        if bytes.is_empty() || !text.is_empty() {
            let is_payload = is_payload_start(text);
            stdin.consume(padding);
            return is_payload;
        }
        stdin.consume(padding);
    }
    false
}

/// A payload is an object with members. A broken or oversized one is a payload too, and must be judged.
fn is_payload_start(text: &[u8]) -> bool {
    let members = text.strip_prefix(b"{").map(strip_padding);
    members.is_some_and(|members| matches!(members.first(), None | Some(b'"')))
}

/// The bytes without the padding before a payload: blanks, other control characters, a byte order mark.
fn strip_padding(bytes: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| *byte <= b' ' || BYTE_ORDER_MARK.contains(byte);
    let padding = bytes.iter().take_while(|byte| is_padding(byte)).count();
    bytes.get(padding..).unwrap_or_default()
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_members_is_a_payload() {
        let cases: &[(&[u8], bool)] = &[
            (b"{\"sessionId\":\"s\"", true),
            (b"{ \n\"a\"", true),
            (b"{", true),
            (b"{\x0b\"a\"", true),
            (b"{}", false),
            (b"{ }", false),
            (b"[]", false),
            (b"", false),
            (b"hello", false),
            (b"\"text\"", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_payload_start(text), *expected, "{}", text.escape_ascii());
        }
    }
}
