//! The table of secrets that are known by their own looks.
//!
//! Masking and the guard read the same rows: a row of [`FORMS`] begins a word, a row of [`MARKED_FORMS`] has its mark
//! anywhere, and a row of [`HASHES`] is a hash of a password. The tests of both users try an example of every row.

pub(crate) mod credential_files;
pub(crate) mod password_hashes;
pub(crate) mod private_keys;
pub(crate) mod tokens;

use std::ops::Range;

use crate::scan::SecretScanner;
use crate::scan::char_runs::CharClass;

/// The hosts that a secret is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretIssuer {
    /// Hosts that have one of these parts in their name. `|` separates the parts.
    Host(&'static str),
    /// Any host can have issued it.
    AnyHost,
    /// No host issues it: it belongs on one machine.
    NoHost,
}

/// A form of secrets: a text that only they have, and the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretForm {
    pub(crate) name: &'static str,
    /// The first characters, or the mark within.
    pub(crate) prefix: &'static str,
    pub(crate) issuer: SecretIssuer,
    pub(crate) body: FormBody,
}

impl SecretForm {
    /// Whether the prefix is so distinctive that it needs no boundary before it: it ends with a mark and is no word.
    const fn is_distinctive(&self) -> bool {
        let prefix = self.prefix.as_bytes();
        let is_long = prefix.len() >= 4 && matches!(prefix[prefix.len() - 1], b'-' | b'_');
        is_long && matches!(self.body, FormBody::Run(_)) && !self.begins_with_word()
    }

    /// `secret_` and `key-` end many names.
    const fn begins_with_word(&self) -> bool {
        matches!(self.prefix.as_bytes(), b"secret_" | b"key-")
    }

    /// Whether it may stand after the `_` of a name.
    pub(crate) fn can_follow_underscore(&self) -> bool {
        let is_token = matches!(self.body, FormBody::Run(_)) || self.prefix == JSON_WEB_TOKEN;
        is_token && !self.begins_with_word()
    }
}

/// The first characters of a JSON web token.
const JSON_WEB_TOKEN: &str = "eyJ";

/// The rest of a secret.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FormBody {
    Run(RunBody),
    /// A function that finds the secret, and an example of it.
    Rule(FormRule, RuleExample),
}

/// Characters of one kind after the prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunBody {
    pub(crate) chars: CharClass,
    pub(crate) min: usize,
    /// A longer run is something else.
    pub(crate) max: usize,
    pub(crate) needs: RequiredChars,
    pub(crate) prefix_is: PrefixMasking,
}

/// Finds the secret whose prefix or mark is at a place.
pub(crate) type FormRule = fn(&mut SecretScanner<'_>, usize) -> Option<Range<usize>>;

/// A text with `{}` in the place of the secret, and the recipe of the secret, see [`crate::examples`].
pub(crate) type RuleExample = (&'static str, &'static str);

/// Characters that must be after the prefix, to tell a secret from words joined by hyphens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredChars {
    Nothing,
    Digit,
    /// Letters of both cases.
    BothCases,
    /// Letters of both cases and a digit.
    BothCasesAndDigit,
}

/// Whether the prefix is masked with the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrefixMasking {
    Masked,
    /// It is an address that says what was called.
    Kept,
}

/// A hash of a password, as `/etc/shadow` and `htpasswd` have it: `$id$salt$digest`.
#[derive(Debug)]
pub(crate) struct HashForm {
    pub(crate) id: &'static str,
    /// The length of the last field in characters.
    pub(crate) digest: usize,
}

/// The name of all [`HASHES`], and their issuer.
pub(crate) const HASH_NAME_AND_ISSUER: (&str, SecretIssuer) = ("password hash", NoHost);

const fn form(name: &'static str, prefix: &'static str, issuer: SecretIssuer, body: FormBody) -> SecretForm {
    SecretForm { name, prefix, issuer, body }
}

const fn rule(find: FormRule, text: &'static str, recipe: &'static str) -> FormBody {
    FormBody::Rule(find, (text, recipe))
}

use SecretIssuer::{AnyHost, Host, NoHost};

const AZURE: SecretIssuer = Host("azure|visualstudio");

/// The rule of an old token of Azure DevOps, which has no mark of its own, only words near it.
const AZURE_DEVOPS: FormBody = rule(
    tokens::find_old_azure_devops_token,
    "az devops login, vsts pat AZURE, my.visualstudio.com: {}",
    "abcdefg2|hijklmn3|opqrstu4|vwxyzab5|cdefghi6|jklmnop7|qrst",
);

const PEM: &str = "-----BEGIN |RSA PRIVATE| KEY-----\n|~64|\n|~20|==\n-----END |RSA PRIVATE| KEY-----";
const ENCODED_PEM: &str = "LS0tLS1CRUdJ|TiBSU0EgUFJJVkFURSBLRVktLS0tLQpN|~80";
const ENCODED_PEM_AFTER_LINE: &str = "Ci0tLS0tQkVH|SU4gUFJJVkFURSBLRVktLS0tLQpN|~80";

const ENCODED_PEM_AFTER_TEXT: &str = "YWItLS0tLUJF|R0lOIFJTQSBQUklWQVRFIEtFWS0tLS0tCk0=|~80";
const TWICE_ENCODED_PEM: &str =
    "TFMwdExTMUNS|VWRKVGlCU1UwRWdVRkpKVmtGVVJTQkxSVmt0TFMwdExRcE5TVWxGWVRGQ1l6SkVaVE5tUnpSb1NXbzFTMncyYlU0";

// `RUN_FORMS` and `HASHES`: the rows of `data/forms.toml`.
include!(concat!(env!("OUT_DIR"), "/forms.rs"));

/// The forms that begin a word and need a rule.
#[rustfmt::skip]
const RULE_FORMS: &[SecretForm] = &[
    form("password hash",        "pbkdf2_sha",                   NoHost,                      rule(password_hashes::find_named_hash, "{}", "pbkdf2_sha|256$600000$|~22|$|~43")),
    form("password hash",        "pbkdf2:sha",                   NoHost,                      rule(password_hashes::find_named_hash, "{}", "pbkdf2:sha|256:600000$|~16|$|#64")),
    form("password hash",        "scrypt:",                      NoHost,                      rule(password_hashes::find_named_hash, "{}", "scrypt:|32768:8:1$|~16|$|#64")),
    form("password hash",        "scrypt$",                      NoHost,                      rule(password_hashes::find_named_hash, "{}", "scrypt$|~22|$16384$8$1$|~43")),
    form("password hash",        "argon2$argon2",                NoHost,                      rule(password_hashes::find_named_hash, "{}", "argon2$argon2|id$v=19$m=102400,t=2,p=8$|~22|$|~43")),
    form("JSON web token",       JSON_WEB_TOKEN,                 AnyHost,                     rule(tokens::find_json_web_token, "{}", "eyJ|~33|.|eyJ|~60|.|~43")),
    form("private key",          "TFMwdExTMUNSVWRKVG",           NoHost,                      rule(private_keys::find_encoded_pem_key, "{}", TWICE_ENCODED_PEM)),
    form("cookie",               "TRUE",                         NoHost,                      rule(credential_files::find_cookie_jar_value, "x.org\tFALSE\t/\tTRUE\t0\tsid\t{}", "s%3A|~32")),
    form("cookie",               "FALSE",                        NoHost,                      rule(credential_files::find_cookie_jar_value, "x.org\tTRUE\t/\tFALSE\t0\tsid\t{}", "~32")),
    form("private key",          "Private-Lines: ",              NoHost,                      rule(private_keys::find_putty_key, "Private-Lines: 2\n{}", "~64|\n|~40")),
    form("password",             "password",                     NoHost,                      rule(credential_files::find_netrc_password, "machine x.org login me password {}", "hunt|er2")),
    form("password",             "passwd",                       NoHost,                      rule(credential_files::find_netrc_password, "machine x.org login me passwd {}", "hunt|er2")),
    form("Azure DevOps token",   "vsts",                         AZURE,                       AZURE_DEVOPS),
    form("Azure DevOps token",   "pat ",                         AZURE,                       AZURE_DEVOPS),
];

const ALL_FORMS: [SecretForm; RUN_FORMS.len() + RULE_FORMS.len()] = {
    let mut all = [RUN_FORMS[0]; RUN_FORMS.len() + RULE_FORMS.len()];
    let mut at = 1;
    while at < all.len() {
        all[at] = if at < RUN_FORMS.len() { RUN_FORMS[at] } else { RULE_FORMS[at - RUN_FORMS.len()] };
        at += 1;
    }
    all
};

/// All forms that begin a word. Where one prefix begins with another, the longer one stands first.
pub(crate) const FORMS: &[SecretForm] = &ALL_FORMS;

/// The forms that have a mark anywhere, by which they are found. Those whose marks begin with one byte stand together.
#[rustfmt::skip]
pub(crate) const MARKED_FORMS: &[SecretForm] = &[
    form("Telegram token",     ":",                 Host("telegram"),  rule(tokens::find_telegram_token, "bot{}/getMe", "123456789|:AA|~33")),
    form("password",           ":",                 NoHost,            rule(credential_files::find_pgpass_password, "db.example.com:5432:app:me:{}", "hunt|er2")),
    form("password hash",      ":",                 NoHost,            rule(password_hashes::find_shadow_hash, "me:{}:12000:0:99999:7:::", "~13")),
    form("private key",        ":",                 NoHost,            rule(private_keys::find_jwk_member, "{\"kty\":\"EC\",\"d\":\"{}\"}", "~43")),
    form("Terraform token",    ".atlasv1.",         Host("terraform"), rule(tokens::find_atlas_token, "{}", "~14|.atlas|v1.|~60")),
    form("Azure DevOps token", ".visualstudio.com", AZURE,             AZURE_DEVOPS),
    form("Discord token",      ".",                 Host("discord"),   rule(tokens::find_discord_token, "Bot {}", "MTIzNDU2Nzg5|MDEyMzQ1Njc4|.GaBcD1.|~38")),
    form("Azure DevOps token", "zure",              AZURE,             AZURE_DEVOPS),
    form("Azure DevOps token", "z devops",          AZURE,             AZURE_DEVOPS),
    form("Azure DevOps token", "ZURE",              AZURE,             AZURE_DEVOPS),
    form("Azure DevOps token", "ZDO",               AZURE,             rule(tokens::find_azdo_token, "{}", "~76|AZ|DO|~4")),
    form("private key",        private_keys::ENCODED_PEM_MARKS[0], NoHost,     rule(private_keys::find_encoded_pem_key, "client-key-data: {}", ENCODED_PEM)),
    form("private key",        private_keys::ENCODED_PEM_MARKS[1], NoHost,     rule(private_keys::find_encoded_pem_key, "{}", ENCODED_PEM_AFTER_LINE)),
    form("private key",        private_keys::ENCODED_PEM_MARKS[2], NoHost,     rule(private_keys::find_encoded_pem_key, "{}", ENCODED_PEM_AFTER_TEXT)),
    form("private key",        "=",                 NoHost,            rule(private_keys::find_jwk_member, "kty = \"EC\"\nd = \"{}\"", "~43")),
    form("private key",        "----",              NoHost,            rule(private_keys::find_pem_key, "{}", PEM)),
];

/// For each byte, the forms whose prefix has it at one place, a bit for each.
const fn index_prefix_byte(place: usize) -> [u128; 256] {
    assert!(FORMS.len() <= 128, "a form is a bit of a u128");
    let mut table = [0; 256];
    let mut at = 0;
    while at < FORMS.len() {
        table[FORMS[at].prefix.as_bytes()[place] as usize] |= 1 << at;
        at += 1;
    }
    table
}

/// For each byte, the rows of [`MARKED_FORMS`] whose mark begins with it.
static MARKED_BY_FIRST: [(usize, usize); 256] = {
    let mut table = [(0, 0); 256];
    let mut at = 0;
    while at < MARKED_FORMS.len() {
        let rows = &mut table[MARKED_FORMS[at].prefix.as_bytes()[0] as usize];
        if rows.1 == 0 {
            rows.0 = at;
        }
        assert!(rows.1 == 0 || rows.1 == at, "rows of one byte stand together");
        rows.1 = at + 1;
        at += 1;
    }
    table
};

/// The forms whose mark can be where `text` begins.
pub(crate) fn find_marked_forms(text: &[u8]) -> impl Iterator<Item = &'static SecretForm> {
    let (start, end) = text.first().map_or((0, 0), |first| MARKED_BY_FIRST[usize::from(*first)]);
    let rows = MARKED_FORMS[start..end].iter();
    rows.filter(move |form| text.starts_with(form.prefix.as_bytes()))
}

pub(crate) static BY_FIRST: [u128; 256] = index_prefix_byte(0);
static BY_SECOND: [u128; 256] = index_prefix_byte(1);

/// For each byte, the distinctive forms that have it before the mark at the end of their prefix.
static BEFORE_MARK: [u128; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < FORMS.len() {
        let prefix = FORMS[at].prefix.as_bytes();
        if FORMS[at].is_distinctive() {
            table[prefix[prefix.len() - 2] as usize] |= 1 << at;
        }
        at += 1;
    }
    table
};

/// The distinctive forms whose prefix `text` ends with.
pub(crate) fn find_prefix_at_end(text: &[u8]) -> impl Iterator<Item = &'static SecretForm> {
    let left = match text {
        [.., before, _] => BEFORE_MARK[usize::from(*before)],
        _ => 0,
    };
    forms_from_bits(left).filter(move |form| text.ends_with(form.prefix.as_bytes()))
}

/// The forms whose prefix `text` begins with, in order. Two bytes tell for nearly every word that there is none.
pub(crate) fn find_prefix_at_start(text: &[u8]) -> impl Iterator<Item = &'static SecretForm> {
    let left = match text {
        [first, second, ..] => BY_FIRST[usize::from(*first)] & BY_SECOND[usize::from(*second)],
        _ => 0,
    };
    forms_from_bits(left).filter(move |form| text.starts_with(form.prefix.as_bytes()))
}

/// The forms that are a bit of `left`.
fn forms_from_bits(mut left: u128) -> impl Iterator<Item = &'static SecretForm> {
    std::iter::from_fn(move || {
        let at = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        FORMS.get(at)
    })
}
