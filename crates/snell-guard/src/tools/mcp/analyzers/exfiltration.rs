//! Secrets in texts that others will see: private keys, and tokens of known forms.

use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::{nouns, servers, verbs};

const RULE: &str = "secret.send-token";

/// How many bytes of one call are scanned.
const MAX_SCANNED_BYTES: usize = 1 << 20;

/// The prefixes of tokens, the least number of characters after them, and their alphabet.
const TOKEN_FORMATS: &[(&[&str], usize, TokenAlphabet)] = &[
    (&["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"], 36, TokenAlphabet::Plain),
    (&["github_pat_", "pypi-AgE", "ya29."], 40, TokenAlphabet::Word),
    (&["glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxs-", "xapp-1-", "tskey-auth-"], 20, TokenAlphabet::Word),
    (&["sk-ant-", "sk-proj-", "hvs.", "dckr_pat_"], 24, TokenAlphabet::Word),
    (&["sk_live_", "rk_live_"], 20, TokenAlphabet::Plain),
    (&["dop_v1_"], 60, TokenAlphabet::Plain),
    (&["hf_"], 34, TokenAlphabet::Plain),
    (&["shpat_", "lin_api_"], 32, TokenAlphabet::Plain),
    (&["ntn_", "AGE-SECRET-KEY-1"], 40, TokenAlphabet::Plain),
    (&["dapi"], 32, TokenAlphabet::Hex),
    (&["glsa_", "sntrys_"], 32, TokenAlphabet::Word),
    (&["whsec_"], 28, TokenAlphabet::Plain),
    (&["SG."], 60, TokenAlphabet::Dotted),
];

/// The alphabet of a token.
#[derive(Clone, Copy)]
enum TokenAlphabet {
    /// Letters and digits.
    Plain,
    /// Also `_` and `-`.
    Word,
    /// Also dots.
    Dotted,
    /// Hexadecimal digits.
    Hex,
}

impl TokenAlphabet {
    fn contains(self, c: char) -> bool {
        match self {
            Self::Plain => c.is_ascii_alphanumeric(),
            Self::Word => c.is_ascii_alphanumeric() || "_-".contains(c),
            Self::Dotted => c.is_ascii_alphanumeric() || "_-.".contains(c),
            Self::Hex => c.is_ascii_hexdigit(),
        }
    }
}

pub(in crate::tools::mcp) fn analyze_exfiltration(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let public = request.has_server_word(servers::PUBLIC) || request.has_action_word(verbs::SHOWS_TO_OTHERS);
    let only_reads = request.tool_words().first().is_some_and(|word| verbs::READS.contains(&word.as_str()));
    if !public || only_reads || request.has_action_word(nouns::SECRET_STORAGE) {
        return false;
    }
    let mut left = MAX_SCANNED_BYTES;
    for leaf in &request.leaves {
        let text = leaf.text.get(..leaf.text.floor_char_boundary(left)).unwrap_or_default();
        if has_private_key(text) || has_token(text) || has_aws_key_pair(text) {
            sink.mark_rule(RULE);
            return true;
        }
        left -= text.len();
    }
    false
}

/// Whether there is a private key with its body: its first line alone is only a mention.
fn has_private_key(text: &str) -> bool {
    const KEY_HEADER: &str = "PRIVATE KEY";
    const MIN_BODY: usize = 16;
    text.match_indices(KEY_HEADER).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let begins = before.rfind("-----BEGIN").is_some_and(|begin| at - begin < 40);
        let body = text.get(at + KEY_HEADER.len()..).unwrap_or_default();
        let body = body.trim_start_matches(" BLOCK").trim_start_matches('-');
        let body = body.trim_start_matches("\\n").trim_start();
        let run = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b)).count();
        begins && run >= MIN_BODY && is_random_token(body.get(..run).unwrap_or_default())
    })
}

fn has_token(text: &str) -> bool {
    TOKEN_FORMATS.iter().any(|(prefixes, length, letters)| {
        let mut starts = prefixes.iter().flat_map(|prefix| text.match_indices(prefix));
        starts.any(|(at, start)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let rest = text.get(at + start.len()..).unwrap_or_default();
            let end = rest.find(|c| !letters.contains(c)).unwrap_or(rest.len());
            let token = rest.get(..end).unwrap_or_default();
            !before.is_some_and(|c| c.is_ascii_alphanumeric()) && token.len() >= *length && is_random_token(token)
        })
    })
}

/// Whether there is an AWS key with its secret. The key's id alone is harmless.
fn has_aws_key_pair(text: &str) -> bool {
    const SECRET_LEN: usize = 40;
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
            .any(|run| run.len() == SECRET_LEN && is_random_token(run) && !run.ends_with("EXAMPLEKEY"))
}

/// Whether it is not a placeholder: `xxxxxxxx`, `your-token-here`, `1234…`.
fn is_random_token(token: &str) -> bool {
    const MIN_DISTINCT_BYTES: u32 = 8;
    let mut kinds = 0_u128;
    for byte in token.bytes().filter(u8::is_ascii) {
        kinds |= 1 << byte;
    }
    let small = token.to_ascii_lowercase();
    let placeholder = ["example", "xxxx", "your", "placeholder", "redacted", "abcdefgh", "123456789", "token", "fake"];
    kinds.count_ones() >= MIN_DISTINCT_BYTES && !placeholder.iter().any(|word| small.contains(word))
}
