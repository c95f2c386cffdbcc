//! Secrets in what is sent: private keys and tokens of known forms, in texts that others will see.

use super::desk::Desk;
use super::request::Request;
use super::tables::{servers, verbs};

const RULE: &str = "secret.send-token";

/// More letters of one call are not read.
const MAX_READ: usize = 1 << 20;

/// Verbs of tools that show a text to others, whatever their server is called.
const SENDS: &[&str] = &[
    "post", "send", "publish", "share", "tweet", "reply", "comment", "message", "email", "gist", "paste", "notify",
    "webhook",
];
/// What is there to keep secrets, and may be given them.
const KEEPS: &[&str] = &[
    "secret",
    "secrets",
    "variable",
    "variables",
    "env",
    "credential",
    "credentials",
    "password",
    "key",
    "token",
];

/// How tokens begin, how many letters follow at least, and which.
const TOKENS: &[(&str, usize, Letters)] = &[
    ("ghp_", 36, Letters::Plain),
    ("gho_", 36, Letters::Plain),
    ("ghu_", 36, Letters::Plain),
    ("ghs_", 36, Letters::Plain),
    ("ghr_", 36, Letters::Plain),
    ("github_pat_", 40, Letters::Word),
    ("glpat-", 20, Letters::Word),
    ("xoxb-", 20, Letters::Word),
    ("xoxp-", 20, Letters::Word),
    ("xoxa-", 20, Letters::Word),
    ("xoxs-", 20, Letters::Word),
    ("xapp-1-", 20, Letters::Word),
    ("sk-ant-", 24, Letters::Word),
    ("sk-proj-", 24, Letters::Word),
    ("sk_live_", 20, Letters::Plain),
    ("rk_live_", 20, Letters::Plain),
    ("npm_", 36, Letters::Plain),
    ("pypi-AgE", 40, Letters::Word),
    ("dop_v1_", 60, Letters::Plain),
    ("hf_", 34, Letters::Plain),
    ("hvs.", 24, Letters::Word),
    ("shpat_", 32, Letters::Plain),
    ("lin_api_", 32, Letters::Plain),
    ("ntn_", 40, Letters::Plain),
    ("dapi", 32, Letters::Hex),
    ("glsa_", 32, Letters::Word),
    ("sntrys_", 32, Letters::Word),
    ("tskey-auth-", 20, Letters::Word),
    ("whsec_", 28, Letters::Plain),
    ("dckr_pat_", 24, Letters::Word),
    ("AGE-SECRET-KEY-1", 40, Letters::Plain),
    ("SG.", 60, Letters::Dotted),
    ("ya29.", 40, Letters::Word),
];

/// Which letters a token is made of.
#[derive(Clone, Copy)]
enum Letters {
    /// Letters and digits.
    Plain,
    /// And `_` and `-`.
    Word,
    /// And dots.
    Dotted,
    /// Digits to the base of sixteen.
    Hex,
}

impl Letters {
    fn has(self, c: char) -> bool {
        match self {
            Self::Plain => c.is_ascii_alphanumeric(),
            Self::Word => c.is_ascii_alphanumeric() || "_-".contains(c),
            Self::Dotted => c.is_ascii_alphanumeric() || "_-.".contains(c),
            Self::Hex => c.is_ascii_hexdigit(),
        }
    }
}

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let public = request.serves(servers::PUBLIC) || request.does(SENDS);
    let only_reads = request
        .tool()
        .first()
        .is_some_and(|word| verbs::READS.contains(&word.as_str()));
    if !public || only_reads || request.does(KEEPS) {
        return false;
    }
    let mut left = MAX_READ;
    for leaf in &request.leaves {
        let text = beginning(leaf.text, left);
        if holds_key(text) || holds_token(text) || holds_pair(text) {
            desk.mark(RULE);
            return true;
        }
        left -= text.len();
    }
    false
}

/// At most so many bytes of a text.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// A private key with its body: the line that one begins with is only a mention.
fn holds_key(text: &str) -> bool {
    const HEAD: &str = "PRIVATE KEY";
    const MIN_BODY: usize = 16;
    text.match_indices(HEAD).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let begins = before.rfind("-----BEGIN").is_some_and(|begin| at - begin < 40);
        let body = text.get(at + HEAD.len()..).unwrap_or_default();
        let body = body.trim_start_matches(" BLOCK").trim_start_matches('-');
        let body = body.trim_start_matches("\\n").trim_start();
        let run = body
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b))
            .count();
        begins && run >= MIN_BODY && is_random(body.get(..run).unwrap_or_default())
    })
}

fn holds_token(text: &str) -> bool {
    TOKENS.iter().any(|(start, length, letters)| {
        text.match_indices(start).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let rest = text.get(at + start.len()..).unwrap_or_default();
            let end = rest.find(|c| !letters.has(c)).unwrap_or(rest.len());
            let token = rest.get(..end).unwrap_or_default();
            !before.is_some_and(|c| c.is_ascii_alphanumeric()) && token.len() >= *length && is_random(token)
        })
    })
}

/// A key of AWS with its secret. The key's name alone opens nothing.
fn holds_pair(text: &str) -> bool {
    const SECRET: usize = 40;
    let named = ["AKIA", "ASIA"].iter().any(|start| {
        text.match_indices(start).any(|(at, _)| {
            let rest = text.get(at + 4..at + 20).unwrap_or_default();
            rest.len() == 16
                && rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
                && !rest.ends_with("EXAMPLE")
        })
    });
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/".contains(c);
    named
        && text
            .split(|c| !is_base64(c))
            .any(|run| run.len() == SECRET && is_random(run) && !run.ends_with("EXAMPLEKEY"))
}

/// Not what stands in examples: `xxxxxxxx`, `your-token-here`, `1234…`.
fn is_random(token: &str) -> bool {
    const MIN_KINDS: u32 = 8;
    let mut kinds = 0_u128;
    for byte in token.bytes().filter(u8::is_ascii) {
        kinds |= 1 << byte;
    }
    let small = token.to_ascii_lowercase();
    let placeholder = [
        "example",
        "xxxx",
        "your",
        "placeholder",
        "redacted",
        "abcdefgh",
        "123456789",
        "token",
        "fake",
    ];
    kinds.count_ones() >= MIN_KINDS && !placeholder.iter().any(|word| small.contains(word))
}
