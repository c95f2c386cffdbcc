//! Variables of the environment whose names say that they are secret, and secrets that are written out and whose form
//! says what they are.

use std::collections::BTreeSet;

/// Words that say so wherever they stand.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "PGPASSWORD",
];

/// Words that make a key a secret one: `API_KEY`.
const OF_A_KEY: &[&str] = &[
    "ACCESS",
    "ACCOUNT",
    "ADMIN",
    "API",
    "APP",
    "AUTH",
    "CLIENT",
    "DEPLOY",
    "ENCRYPTION",
    "MASTER",
    "PRIVATE",
    "SECRET",
    "SERVICE",
    "SIGNING",
    "SSH",
];

/// Words at the end of what is only about a secret: where it lies, how long it is.
const ABOUT: &[&str] = &[
    "ALGORITHM",
    "ARN",
    "AUDIENCE",
    "BUDGET",
    "COUNT",
    "DIR",
    "ENABLED",
    "ENDPOINT",
    "EXPIRATION",
    "EXPIRES",
    "EXPIRY",
    "FILE",
    "FORMAT",
    "HELPER",
    "ID",
    "ISSUER",
    "LEN",
    "LENGTH",
    "LIMIT",
    "MAX",
    "MIN",
    "NAME",
    "PATH",
    "PREFIX",
    "REGION",
    "REQUIRED",
    "SIZE",
    "TTL",
    "TYPE",
    "URI",
    "URL",
    "USAGE",
    "VERSION",
];

/// First words of names, and what the addresses of those who gave the secret out have in them.
const ISSUERS: &[(&str, &str)] = &[
    ("ANTHROPIC", "anthropic"),
    ("AWS", "amazonaws"),
    ("CARGO", "crates.io"),
    ("CLOUDFLARE", "cloudflare"),
    ("DIGITALOCEAN", "digitalocean"),
    ("DOCKER", "docker"),
    ("GEMINI", "googleapis"),
    ("GH", "github"),
    ("GITHUB", "github"),
    ("GITLAB", "gitlab"),
    ("HEROKU", "heroku"),
    ("HF", "huggingface"),
    ("NPM", "npm"),
    ("OPENAI", "openai"),
    ("PYPI", "pypi"),
    ("SENTRY", "sentry"),
    ("SLACK", "slack"),
    ("STRIPE", "stripe"),
    ("TWINE", "pypi"),
    ("VERCEL", "vercel"),
];

/// A form of secrets.
struct Form {
    begins: &'static str,
    /// So many characters follow, at least.
    length: usize,
    /// What the addresses of those who gave it out have in them.
    issuer: &'static str,
}

const fn form(begins: &'static str, length: usize, issuer: &'static str) -> Form {
    Form { begins, length, issuer }
}

/// How secrets look that are written out.
const FORMS: &[Form] = &[
    form("AIza", 30, "google"),
    form("AKIA", 16, "aws"),
    form("ASIA", 16, "aws"),
    form("SG.", 40, "sendgrid"),
    form("dop_v1_", 40, "digitalocean"),
    form("gho_", 30, "github"),
    form("ghp_", 30, "github"),
    form("ghr_", 30, "github"),
    form("ghs_", 30, "github"),
    form("ghu_", 30, "github"),
    form("github_pat_", 30, "github"),
    form("glpat-", 20, "gitlab"),
    form("hf_", 30, "huggingface"),
    form("npm_", 30, "npm"),
    form("pypi-", 60, "pypi"),
    form("rk_live_", 20, "stripe"),
    form("shpat_", 30, "shopify"),
    form("sk-ant-", 20, "anthropic"),
    form("sk-proj-", 20, "openai"),
    form("sk-svcacct-", 20, "openai"),
    form("sk_live_", 20, "stripe"),
    form("xapp-", 20, "slack"),
    form("xoxa-", 20, "slack"),
    form("xoxb-", 20, "slack"),
    form("xoxp-", 20, "slack"),
];

/// Fewer different characters are those of a placeholder: `ghp_xxxxxxxx…`.
const MIN_DIFFERENT: usize = 8;

/// Who gave out the secret that is written out in a text, if there is one.
pub(crate) fn written_out(text: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut words = text.split(|c: char| !is_part(c));
    words.find_map(|word| {
        let fits = |form: &&Form| {
            let rest = word.strip_prefix(form.begins).unwrap_or_default();
            let different: BTreeSet<u8> = rest.bytes().take(form.length).collect();
            rest.len() >= form.length && different.len() >= MIN_DIFFERENT
        };
        FORMS.iter().find(fits).map(|form| form.issuer)
    })
}

/// Whether a variable of this name holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let mut last = "";
    let mut secret = false;
    for word in name.split('_') {
        secret |= SECRET.contains(&word) || (word == "KEY" && OF_A_KEY.contains(&last));
        last = word;
    }
    secret && !ABOUT.contains(&last)
}

/// Whether a pattern with which lines are picked names what is secret: `TOKEN`, `_KEY=`, `pass`.
pub(crate) fn names_secrets(pattern: &str) -> bool {
    const PARTS: &[&str] = &[
        "KEY", "KEYS", "PASS", "PASSW", "PWD", "TOKENS", "CRED", "CREDS", "AUTH", "API",
    ];
    let upper = pattern.to_ascii_uppercase();
    let mut words = upper.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| SECRET.contains(&word) || PARTS.contains(&word))
}

/// What the addresses of whoever gave a secret out have in them; empty if that is not known.
pub(crate) fn issuer(name: &str) -> &'static str {
    let first = name.split('_').next().unwrap_or_default();
    ISSUERS
        .iter()
        .find(|(word, _)| *word == first)
        .map_or("", |(_, issuer)| issuer)
}

/// Whether a secret has no business at this address: it says whose it is, and is not of whoever gave the secret out.
pub(crate) fn is_foreign(issuer: &str, address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else {
        return false;
    };
    let Some((host, _)) = rest.split_once(['/', '?', '#']) else {
        return false;
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let own = ["localhost", "127.", "192.168.", "10.", "[::1]"];
    !issuer.is_empty() && host.contains('.') && !host.contains(issuer) && !own.iter().any(|own| host.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whether_they_are_secret() {
        for (name, expected) in [
            ("GITHUB_TOKEN", true),
            ("TOKEN", true),
            ("AWS_SECRET_ACCESS_KEY", true),
            ("DATABASE_PASSWORD", true),
            ("PGPASSWORD", true),
            ("OPENAI_API_KEY", true),
            ("SSH_PRIVATE_KEY", true),
            ("SECRET_KEY_BASE", true),
            ("GOOGLE_APPLICATION_CREDENTIALS", true),
            ("CLIENT_SECRET", true),
            ("TOKENIZERS_PARALLELISM", false),
            ("MAX_TOKENS", false),
            ("KEYBOARD", false),
            ("CACHE_KEY", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("TOKEN_URL", false),
            ("POSTGRES_PASSWORD_FILE", false),
            ("SECRET_NAME", false),
            ("PWD", false),
            ("SSH_AUTH_SOCK", false),
            ("PATH", false),
        ] {
            assert_eq!(is_secret(name), expected, "{name}");
        }
    }

    #[test]
    fn a_secret_that_is_written_out_is_known_by_its_form() {
        for (text, expected) in [
            (
                "Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789",
                Some("github"),
            ),
            (
                "https://example.com/?k=sk-ant-api03-abcdefghijklmnopqrst",
                Some("anthropic"),
            ),
            ("{\"key\": \"AKIA1234567890ABCDEF\"}", Some("aws")),
            ("token=xoxb-1234567890-abcdefghijk", Some("slack")),
            ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", None),
            ("ghp_short", None),
            ("the prefix ghp_ of tokens", None),
            ("AKIAHARA", None),
            ("", None),
        ] {
            assert_eq!(written_out(text), expected, "{text}");
        }
    }

    #[test]
    fn a_secret_is_foreign_where_somebody_else_lives() {
        for (name, address, expected) in [
            ("GITHUB_TOKEN", "https://example.com/?t=", true),
            ("GITHUB_TOKEN", "https://api.github.com/user?t=", false),
            ("GITHUB_TOKEN", "http://localhost:3000/?t=", false),
            ("GITHUB_TOKEN", "https://", false),
            ("OWM_API_KEY", "https://api.openweathermap.org/?appid=", false),
            ("TELEGRAM_TOKEN", "https://api.telegram.org/bot", false),
        ] {
            assert_eq!(is_foreign(issuer(name), address), expected, "{name} {address}");
        }
    }
}
