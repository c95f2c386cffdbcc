//! One pass over a text that finds the secrets in it.
//!
//! Most bytes cannot start a secret and are skipped. The others go to the rule that they start. A rule reads a constant
//! number of bytes before and after that byte, or a run that is kept, so the pass is linear for every text.

pub(crate) mod char_runs;

use std::ops::Range;

use crate::context;
use crate::forms::password_hashes;
use crate::forms::private_keys::JwkContext;
use crate::forms::{
    self, FormBody, HASH_NAME_AND_ISSUER, MARKED_FORMS, PrefixMasking, RequiredChars, RunBody, SecretForm, SecretIssuer,
};
use crate::scan::char_runs::{CharClass, CharRuns};

/// A secret: its place in the text, and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The name of its form.
    pub name: &'static str,
    /// The hosts that it is for.
    pub issuer: SecretIssuer,
}

impl FoundSecret {
    pub(crate) fn new(place: Range<usize>, name: &'static str, issuer: SecretIssuer) -> Self {
        Self { start: place.start, end: place.end, name, issuer }
    }
}

/// The signs of a secret that a scanner uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretScanMode {
    /// Its own form.
    Form,
    /// Its own form, and the name, the option or the address before it.
    FormAndContext,
}

/// How much of a run is searched for the characters that it must have.
const MAX_NEEDS_BYTES: usize = 256;

/// The minimum number of characters after a prefix that is not a separate word.
const MIN_GLUED_BODY: usize = 20;

/// The longest name directly before a secret.
const MAX_GLUED_NAME: usize = 32;

/// `=` in quoted-printable text.
const QUOTED_EQUALS: &str = "=3D";

/// The kinds of a byte, each a bit of [`BYTE_KINDS`].
const IN_WORD: u8 = 1;
/// It may start a word.
const BEGINS_WORD: u8 = 2;
/// It belongs to a rule that checks the text before it itself.
const ANYWHERE: u8 = 4;

const BYTE_KINDS_TABLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            table[at] |= IN_WORD;
        }
        if forms::BY_FIRST[at] != 0 || matches!(byte, b'B' | b'b' | b'c' | b'k' | b'p' | b'P' | b'$') {
            table[at] |= BEGINS_WORD;
        }
        if matches!(byte, b'-' | b'_' | b':' | b'=' | b'.' | b'L' | b'Z' | b'z') {
            table[at] |= ANYWHERE;
        }
        at += 1;
    }
    table
};

static BYTE_KINDS: [u8; 256] = BYTE_KINDS_TABLE;

fn has_byte_kind(byte: u8, kind: u8) -> bool {
    BYTE_KINDS[usize::from(byte)] & kind != 0
}

/// A text that is searched for secrets.
#[derive(Debug)]
pub struct SecretScanner<'a> {
    pub(crate) text: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) runs: CharRuns<'a>,
    /// The end of the last secret. No rule reads back beyond it, because a second pass could not either.
    pub(crate) begin: usize,
    /// The position of the last `curl`.
    pub(crate) curl_at: Option<usize>,
    /// The position of the last other program with an option for cookies, and the option.
    pub(crate) cookie_program: Option<(usize, u8)>,
    /// The position of the last `pgpass`.
    pub(crate) pgpass_at: Option<usize>,
    pub(crate) jwk: JwkContext,
    /// Up to here, PEM in Base64 has no private key.
    pub(crate) public_pem_end: usize,
    /// Up to here, the text was searched for tokens of Azure DevOps.
    pub(crate) azure_end: usize,
    mode: SecretScanMode,
    /// Whether words may start after escapes. Most texts have no escapes, and are scanned several times as fast.
    has_escapes: bool,
    at: usize,
}

impl<'a> SecretScanner<'a> {
    /// Searches for secrets by their form, and by the name, the option or the address before them.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            runs: CharRuns::new(text.as_bytes()),
            begin: 0,
            curl_at: None,
            cookie_program: None,
            pgpass_at: None,
            jwk: JwkContext::default(),
            public_pem_end: 0,
            azure_end: 0,
            mode: SecretScanMode::FormAndContext,
            // Without an early end, which would need a check at each byte.
            has_escapes: text.bytes().fold(false, |any, byte| any | matches!(byte, b'\\' | b'%' | 0x1b))
                || text.contains(QUOTED_EQUALS),
            at: 0,
        }
    }

    /// Searches for secrets by their form alone.
    pub fn with_forms_only(text: &'a str) -> Self {
        Self { mode: SecretScanMode::Form, ..Self::new(text) }
    }

    /// The number of bytes that rules read, beside the pass itself.
    pub fn steps(&self) -> usize {
        self.runs.steps
    }

    /// The next byte that may start a secret. Every byte of every event passes through here.
    fn find_candidate(&self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        let distance = if self.has_escapes {
            let (mut places, at) = (rest.iter().enumerate(), self.at);
            places.position(|(distance, byte)| {
                has_byte_kind(*byte, ANYWHERE) || (has_byte_kind(*byte, BEGINS_WORD) && self.begins_word(at + distance))
            })
        } else {
            let before = self.bytes[self.begin..self.at].last();
            let mut is_in_word = before.is_some_and(|before| has_byte_kind(*before, IN_WORD));
            rest.iter().position(|byte| {
                let begins = if is_in_word { ANYWHERE } else { ANYWHERE | BEGINS_WORD };
                is_in_word = has_byte_kind(*byte, IN_WORD);
                has_byte_kind(*byte, begins)
            })
        };
        distance.map(|distance| self.at + distance)
    }

    fn match_anywhere(&mut self, at: usize) -> Option<FoundSecret> {
        let byte = self.bytes[at];
        if let Some(found) = forms::find_marked_forms(&self.bytes[at..]).find_map(|form| self.match_form(form, at)) {
            return Some(found);
        }
        if matches!(byte, b'-' | b'_')
            && let Some(found) = self.find_glued_form(at)
        {
            return Some(found);
        }
        match byte {
            _ if self.mode == SecretScanMode::Form => None,
            b'-' => context::find_option_secret(self, at),
            b':' => context::find_url_password(self, at).or_else(|| context::find_assigned_secret(self, at)),
            b'=' => context::find_assigned_secret(self, at),
            _ => None,
        }
    }

    fn match_word_start(&mut self, at: usize) -> Option<FoundSecret> {
        let rest = &self.bytes[at..];
        if let Some(found) = forms::find_prefix_at_start(rest).find_map(|form| self.match_form(form, at)) {
            return Some(found);
        }
        match rest {
            [b'$', ..] => {
                return password_hashes::find_password_hash(self, at)
                    .map(|place| FoundSecret::new(place, HASH_NAME_AND_ISSUER.0, HASH_NAME_AND_ISSUER.1));
            }
            [b'B' | b'b', b'e', b'a', b'r', b'e', b'r', b' ', ..] if self.mode == SecretScanMode::FormAndContext => {
                return context::find_bearer_token(self, at);
            }
            [b'c', b'u', b'r', b'l', ..] => self.curl_at = Some(at),
            [b'p', b'g', b'p', b'a', b's', b's', ..] | [b'P', b'G', b'P', b'A', b'S', b'S', b'F', ..] => {
                self.pgpass_at = Some(at);
            }
            [b'k', b't', b'y', ..] => self.remember_jwk(at),
            [b'a' | b'f' | b'g' | b'h' | b'w', ..] => {
                let mut programs = context::COOKIE_PROGRAMS.iter();
                if let Some((_, option)) = programs.find(|(program, _)| rest.starts_with(program.as_bytes())) {
                    self.cookie_program = Some((at, *option));
                }
            }
            _ => {}
        }
        None
    }

    /// Whether a word can start at `at`: not inside another one, but after an escape such as `
    /// `, `%20` or a colour.
    pub(crate) fn begins_word(&self, at: usize) -> bool {
        let before = &self.bytes[self.begin..at];
        match before {
            [] | [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
            [.., b'\\', b'x', high, low] if [high, low].iter().all(|digit| digit.is_ascii_hexdigit()) => true,
            [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => true,
            [.., 0x1b, b'(' | b')', _] => true,
            [.., last] if !has_byte_kind(*last, IN_WORD) => true,
            _ => before.ends_with(QUOTED_EQUALS.as_bytes()) || ends_with_terminal_sequence(before),
        }
    }

    /// A secret whose prefix ends with `mark`, a `_` or `-`, or follows a `_`, directly after a name: `key_ghp_…`,
    /// `KEYghp_…`.
    fn find_glued_form(&mut self, mark: usize) -> Option<FoundSecret> {
        let body = self.bytes.get(mark + 1..mark + 1 + MIN_GLUED_BODY)?;
        if !body.iter().all(|byte| CharClass::Base64.contains(*byte) || *byte == b'.') {
            return None;
        }
        let before = &self.bytes[self.begin..=mark];
        let ending = forms::find_prefix_at_end(before).find_map(|form| {
            let start = mark + 1 - form.prefix.len();
            let found = self.match_form(form, start).filter(|_| self.follows_name(start));
            found.filter(|found| found.end > mark + MIN_GLUED_BODY)
        });
        if ending.is_some() || self.bytes[mark] != b'_' || !self.follows_name(mark + 1) {
            return ending;
        }
        let name = before.iter().rev().take_while(|byte| CharClass::Url.contains(**byte));
        let (lower, upper) = name.fold((false, false), |(lower, upper), byte| {
            (lower | byte.is_ascii_lowercase(), upper | byte.is_ascii_uppercase())
        });
        if lower && upper {
            return None;
        }
        let rest = &self.bytes[mark + 1..];
        forms::find_prefix_at_start(rest)
            .filter(|form| form.can_follow_underscore())
            .find_map(|form| self.match_form(form, mark + 1))
    }

    /// Whether there are few letters, digits, `_` and `-` before `at`. Many of them are Base64.
    fn follows_name(&self, at: usize) -> bool {
        let before = self.bytes[self.begin..at].iter().rev().take(MAX_GLUED_NAME + 1);
        before.take_while(|byte| CharClass::Url.contains(**byte)).count() <= MAX_GLUED_NAME
    }

    /// The start of the text from `start` after the last letters of an escape: `
    /// localhost`.
    pub(crate) fn skip_escape(&self, start: usize) -> usize {
        const MAX_ESCAPE_BYTES: usize = 6;
        let is_after_escape = |at: &usize| has_byte_kind(self.bytes[at - 1], IN_WORD) && self.begins_word(*at);
        let last = self.bytes.len().min(start + MAX_ESCAPE_BYTES);
        (start + 1..=last).rev().find(is_after_escape).unwrap_or(start)
    }

    /// Whether a secret of a known form starts at `at`.
    pub(crate) fn begins_form(&mut self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        forms::find_prefix_at_start(rest).any(|form| self.match_form(form, at).is_some())
    }

    fn match_form(&mut self, form: &SecretForm, at: usize) -> Option<FoundSecret> {
        let place = match &form.body {
            FormBody::Run(body) => self.match_run(at, at + form.prefix.len(), *body),
            FormBody::Rule(find, _) => find(self, at),
        };
        place.map(|place| FoundSecret::new(place, form.name, form.issuer))
    }

    fn match_run(&mut self, at: usize, from: usize, body: RunBody) -> Option<Range<usize>> {
        let mut end = self.find_trimmed_end(body.chars, from);
        let fits = (body.min..=body.max).contains(&(end - from));
        let is_cut = self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        let has_needed = self.has_required_chars(body.needs, from..end)
            || body.needs == RequiredChars::Digit && self.has_random_letters(from..end)
            || body.chars == CharClass::Upper && self.has_many_letters(from..end);
        if !fits || is_cut || !has_needed {
            return None;
        }
        if body.max == usize::MAX {
            end = self.find_trimmed_end(CharClass::Url, end);
        }
        match body.prefix_is {
            PrefixMasking::Masked => Some(at..end),
            PrefixMasking::Kept => Some(from..end),
        }
    }

    /// The end of a run without the full stop of a sentence.
    fn find_trimmed_end(&mut self, chars: CharClass, from: usize) -> usize {
        let end = self.runs.find_run_end(chars, from);
        let stops = self.bytes[from..end].iter().rev().take_while(|byte| **byte == b'.').take(3);
        end - stops.count()
    }

    pub(crate) fn has_required_chars(&self, needs: RequiredChars, place: Range<usize>) -> bool {
        let seen = &self.bytes[place.start..place.end.min(place.start + MAX_NEEDS_BYTES)];
        let has = |is: fn(&u8) -> bool| seen.iter().any(is);
        let has_both_cases = || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        match needs {
            RequiredChars::Nothing => true,
            RequiredChars::Digit => has(u8::is_ascii_digit),
            RequiredChars::BothCases => has_both_cases(),
            RequiredChars::BothCasesAndDigit => has_both_cases() && has(u8::is_ascii_digit),
        }
    }
}

impl SecretScanner<'_> {
    /// Whether the letters of a run are random: it has capitals in places where joined words have none.
    fn has_random_letters(&self, place: Range<usize>) -> bool {
        let seen = &self.bytes[place.start..place.end.min(place.start + MAX_NEEDS_BYTES)];
        let count = |is_pair: fn(&[u8]) -> bool| seen.windows(2).filter(|pair| is_pair(pair)).count();
        let rises = count(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        let capitals = count(|pair| pair.iter().all(u8::is_ascii_uppercase));
        seen.len() >= MIN_GLUED_BODY && rises >= 2 && capitals >= 1 && rises + capitals >= 5
    }

    /// Whether a run has many different letters, unlike `XXXX` and most words.
    fn has_many_letters(&self, place: Range<usize>) -> bool {
        const MIN_LETTERS: u32 = 9;
        let seen = &self.bytes[place.start..place.end.min(place.start + MAX_NEEDS_BYTES)];
        let letters = seen.iter().filter(|byte| byte.is_ascii_uppercase());
        let set = letters.fold(0_u32, |set, letter| set | 1 << (letter - b'A'));
        set.count_ones() >= MIN_LETTERS
    }
}

impl Iterator for SecretScanner<'_> {
    type Item = FoundSecret;

    fn next(&mut self) -> Option<FoundSecret> {
        while let Some(at) = self.find_candidate() {
            self.at = at + 1;
            let found = if has_byte_kind(self.bytes[at], ANYWHERE) {
                self.match_anywhere(at)
            } else {
                self.match_word_start(at)
            };
            if let Some(found) = found {
                self.at = found.end;
                self.begin = found.end;
                return Some(found);
            }
        }
        None
    }
}

/// Whether a text ends with a sequence that controls a terminal, such as a colour, written out or escaped.
fn ends_with_terminal_sequence(text: &[u8]) -> bool {
    const MAX_PARAMETER_BYTES: usize = 20;
    const ESCAPES: [&[u8]; 8] = [b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033", b"\\e", b"\\E"];
    let Some((last, before)) = text.split_last() else {
        return false;
    };
    let parameters = before.iter().rev().take(MAX_PARAMETER_BYTES);
    let length = parameters.take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b'?')).count();
    let before = before[..before.len() - length].strip_suffix(b"[");
    last.is_ascii_alphabetic() && before.is_some_and(|before| ESCAPES.iter().any(|escape| before.ends_with(escape)))
}

/// Every form has a byte at which the scanner stops.
const _: () = {
    let mut at = 0;
    while at < MARKED_FORMS.len() {
        assert!(BYTE_KINDS_TABLE[MARKED_FORMS[at].prefix.as_bytes()[0] as usize] & ANYWHERE != 0);
        at += 1;
    }
};
