//! Variables of the environment whose names say that they are secret.

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
