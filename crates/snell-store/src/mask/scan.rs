//! One pass over a text that finds the secrets in it.
//!
//! Most bytes can begin nothing and are passed over. The others are handed to the rule they begin; what a rule looks at
//! before and after that byte is either bounded by a constant or a run that is remembered, so the pass is linear
//! whatever the text.

use super::context;
use super::forms::{self, Form, Needs, Prefix};
use super::runs::{Chars, Runs};

/// A secret: its place in the text, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: &'static str,
}

/// How much of a run is looked at for the characters it must have.
const MAX_NEEDS_BYTES: usize = 256;

/// What a byte can be, each a bit of [`KINDS`].
const IN_WORD: u8 = 1;
/// It may begin what is a word of its own.
const BEGINS_WORD: u8 = 2;
/// It belongs to something whose rule looks at what stands before by itself.
const ANYWHERE: u8 = 4;

static KINDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            table[at] |= IN_WORD;
        }
        if forms::BY_FIRST[at] != 0 || matches!(byte, b'e' | b'B' | b'b' | b'p' | b'c') {
            table[at] |= BEGINS_WORD;
        }
        if matches!(byte, b'-' | b':' | b'=' | b'.') {
            table[at] |= ANYWHERE;
        }
        at += 1;
    }
    table
};

fn is(byte: u8, kind: u8) -> bool {
    KINDS[usize::from(byte)] & kind != 0
}

/// A text under way.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) runs: Runs<'a>,
    /// Where the last secret ended. Nothing looks back beyond it, since a second pass could not either.
    pub(super) begin: usize,
    /// Where `curl` was last named.
    pub(super) curl_at: Option<usize>,
    /// Whether words may begin after escapes. In most texts there is none, and those are read several times as fast.
    has_escapes: bool,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            runs: Runs::new(text.as_bytes()),
            begin: 0,
            curl_at: None,
            // Without an early end, which would have to be asked for at each byte.
            has_escapes: text
                .bytes()
                .fold(false, |any, byte| any | matches!(byte, b'\\' | b'%' | 0x1b)),
            at: 0,
        }
    }

    /// The next secret.
    pub(super) fn next(&mut self) -> Option<Found> {
        while let Some(at) = self.candidate() {
            self.at = at + 1;
            let found = if is(self.bytes[at], ANYWHERE) {
                self.anywhere(at)
            } else {
                self.word(at)
            };
            if let Some(found) = found {
                self.at = found.end;
                self.begin = found.end;
                return Some(found);
            }
        }
        None
    }

    /// The next byte at which something may be found. Every byte of every event passes through here.
    fn candidate(&self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        let distance = if self.has_escapes {
            let (mut places, at) = (rest.iter().enumerate(), self.at);
            places.position(|(distance, byte)| {
                is(*byte, ANYWHERE) || (is(*byte, BEGINS_WORD) && self.begins_word(at + distance))
            })
        } else {
            let before = self.bytes[self.begin..self.at].last();
            let mut is_in_word = before.is_some_and(|before| is(*before, IN_WORD));
            rest.iter().position(|byte| {
                let begins = if is_in_word { ANYWHERE } else { ANYWHERE | BEGINS_WORD };
                is_in_word = is(*byte, IN_WORD);
                is(*byte, begins)
            })
        };
        distance.map(|distance| self.at + distance)
    }

    fn anywhere(&mut self, at: usize) -> Option<Found> {
        match self.bytes[at] {
            b'-' => context::at_dash(self, at),
            b':' => context::url_password(self, at)
                .or_else(|| self.telegram_token(at))
                .or_else(|| context::assignment(self, at)),
            b'=' => context::assignment(self, at),
            b'.' => self.atlas_token(at),
            _ => None,
        }
    }

    fn word(&mut self, at: usize) -> Option<Found> {
        let rest = &self.bytes[at..];
        if let Some(found) = forms::beginning(rest).find_map(|form| self.form(form, at)) {
            return Some(found);
        }
        match rest {
            [b'e', b'y', b'J', ..] => self.json_web_token(at),
            [b'B' | b'b', b'e', b'a', b'r', b'e', b'r', b' ', ..] => context::bearer(self, at),
            [b'p', b'a', b's', b's', b'w', b'o', b'r', b'd', ..] => context::netrc_password(self, at),
            [b'c', b'u', b'r', b'l', ..] => {
                self.curl_at = Some(at);
                None
            }
            _ => None,
        }
    }

    /// Whether a word can begin at `at`: not within another one, but after an escape such as `\n`, `%20` or a colour.
    fn begins_word(&self, at: usize) -> bool {
        let before = &self.bytes[self.begin..at];
        match before {
            [] | [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
            [.., b'0'..=b'9' | b'[' | b';', b'm'] => before[before.len().saturating_sub(12)..].contains(&0x1b),
            [.., last] => !is(*last, IN_WORD),
        }
    }

    /// Whether a secret of a known form begins at `at`.
    pub(super) fn begins_form(&mut self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        forms::beginning(rest).any(|form| self.form(form, at).is_some())
    }

    fn form(&mut self, form: &Form, at: usize) -> Option<Found> {
        let body = at + form.prefix.len();
        let mut end = self.trimmed_end(form.chars, body);
        let fits = (form.min..=form.max).contains(&(end - body));
        let is_cut = self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if !fits || is_cut || !self.has_needed(form.needs, body, end) {
            return None;
        }
        if form.max == usize::MAX {
            end = self.trimmed_end(Chars::Url, end);
        }
        let start = match form.prefix_is {
            Prefix::Masked => at,
            Prefix::Kept => body,
        };
        Some(Found {
            start,
            end,
            name: form.name,
        })
    }

    /// The end of a run without the full stop of a sentence.
    fn trimmed_end(&mut self, chars: Chars, from: usize) -> usize {
        let end = self.runs.end(chars, from);
        let stops = self.bytes[from..end]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'.')
            .take(3);
        end - stops.count()
    }

    fn has_needed(&self, needs: Needs, start: usize, end: usize) -> bool {
        let seen = &self.bytes[start..end.min(start + MAX_NEEDS_BYTES)];
        match needs {
            Needs::Nothing => true,
            Needs::Digit => seen.iter().any(u8::is_ascii_digit),
            Needs::BothCases => seen.iter().any(u8::is_ascii_uppercase) && seen.iter().any(u8::is_ascii_lowercase),
        }
    }

    /// Three parts of Base64 with dots between them, the first being an object of JSON. The last part is missing where
    /// nothing is signed or the text was cut; then the second one must be an object too.
    fn json_web_token(&mut self, at: usize) -> Option<Found> {
        let mut end = self.runs.end(Chars::Url, at);
        if end - at < 12 {
            return None;
        }
        let mut parts = Vec::new();
        while self.bytes.get(end) == Some(&b'.') && parts.len() < 5 {
            let next = self.runs.end(Chars::Url, end + 1);
            if next == end + 1 {
                break;
            }
            parts.push(end + 1..next);
            end = next;
        }
        let second = parts.first()?;
        let of_object = second.len() >= 12 && self.bytes[second.clone()].starts_with(b"eyJ");
        let encrypted = second.len() >= 8 && parts.get(1).is_some_and(|third| third.len() >= 16);
        (of_object || encrypted).then_some(Found {
            start: at,
            end,
            name: "JSON web token",
        })
    }

    /// A bot's number, a colon, and 35 characters.
    fn telegram_token(&mut self, colon: usize) -> Option<Found> {
        let before = &self.bytes[self.begin..colon];
        let digits = before
            .iter()
            .rev()
            .take(11)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let start = colon - digits;
        let is_number =
            (8..=10).contains(&digits) && (self.begins_word(start) || self.bytes[self.begin..start].ends_with(b"bot"));
        if !is_number {
            return None;
        }
        let end = self.runs.end(Chars::Url, colon + 1);
        let fits = end - colon - 1 == 35
            && self.has_needed(Needs::BothCases, colon + 1, end)
            && self.has_needed(Needs::Digit, colon + 1, end);
        fits.then_some(Found {
            start,
            end,
            name: "Telegram token",
        })
    }

    /// 14 characters, `.atlasv1.`, and many more.
    fn atlas_token(&mut self, dot: usize) -> Option<Found> {
        const MARK: &[u8] = b".atlasv1.";
        const ID_BYTES: usize = 14;
        if !self.bytes[dot..].starts_with(MARK) {
            return None;
        }
        let start = dot.checked_sub(ID_BYTES).filter(|start| *start >= self.begin)?;
        let is_id = self.bytes[start..dot].iter().all(u8::is_ascii_alphanumeric);
        let body = dot + MARK.len();
        let end = self.runs.end(Chars::Url, body);
        (is_id && end - body >= 40).then_some(Found {
            start,
            end,
            name: "Terraform token",
        })
    }
}
