//! Literal secrets in a command, and the hosts that may receive them. `snell-secrets` has their forms and the names of
//! secret variables.

use std::collections::BTreeSet;

use snell_secrets::{FoundSecret, SecretIssuer, SecretScanner};

/// A text with fewer distinct characters is a placeholder: `ghp_xxxxxxxx…`.
const MIN_DISTINCT_BYTES: usize = 8;

/// The issuers of the literal secrets in a text.
pub(crate) fn find_secret_issuers(text: &str) -> BTreeSet<SecretIssuer> {
    let is_varied = |found: &FoundSecret| {
        let different: BTreeSet<u8> = text[found.start..found.end].bytes().collect();
        different.len() >= MIN_DISTINCT_BYTES.min((found.end - found.start) / 2)
    };
    let found = SecretScanner::with_forms_only(text).filter(is_varied);
    found.map(|found| found.issuer).collect()
}

/// Whether a URL names a host that did not issue the secret.
pub(crate) fn is_foreign_address(issuer: SecretIssuer, address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else {
        return false;
    };
    let Some((host, _)) = rest.split_once(['/', '?', '#']) else {
        return false;
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let own = ["localhost", "127.", "192.168.", "10.", "[::1]"];
    let is_issuer = match issuer {
        SecretIssuer::Host(parts) => parts.split('|').any(|part| host.contains(part)),
        SecretIssuer::AnyHost => true,
        SecretIssuer::NoHost => false,
    };
    host.contains('.') && !is_issuer && !own.iter().any(|own| host.starts_with(own))
}

/// The issuer whose hosts have this part in their names. An empty part means that no host is known.
pub(crate) fn issuer_from_host_part(part: &'static str) -> SecretIssuer {
    match part {
        "" => SecretIssuer::AnyHost,
        part => SecretIssuer::Host(part),
    }
}

#[cfg(test)]
mod tests {
    use snell_secrets::examples::secret_examples;

    use super::*;

    #[test]
    fn every_form_of_the_table_is_recognised() {
        for example in secret_examples() {
            let issuers = find_secret_issuers(&example.text);
            assert!(issuers.contains(&example.issuer), "{example:?}: {issuers:?}");
        }
    }

    #[test]
    fn a_secret_that_is_written_out_is_known_by_its_form() {
        for (text, expected) in [
            ("Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789", Some("github")),
            ("https://example.com/?k=sk-ant-api03-abcdefghijklmnopqrst", Some("anthropic")),
            ("{\"key\": \"AKIA1234567890ABCDEF\"}", Some("aws")),
            ("token=xoxb-1234567890-abcdefghijk", Some("slack")),
            ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", None),
            ("ghp_0000000000000000000000000000000000001", None),
            ("ghp_short", None),
            ("the prefix ghp_ of tokens", None),
            ("AKIAHARA", None),
            ("password=hunter2hunter2", None),
            ("", None),
        ] {
            let expected: BTreeSet<_> = expected.map(SecretIssuer::Host).into_iter().collect();
            assert_eq!(find_secret_issuers(text), expected, "{text}");
        }
    }

    #[test]
    fn a_secret_is_foreign_at_a_host_that_has_not_issued_it() {
        for (name, address, expected) in [
            ("GITHUB_TOKEN", "https://example.com/?t=", true),
            ("GITHUB_TOKEN", "https://api.github.com/user?t=", false),
            ("GITHUB_TOKEN", "http://localhost:3000/?t=", false),
            ("GITHUB_TOKEN", "https://", false),
            ("OWM_API_KEY", "https://api.openweathermap.org/?appid=", false),
            ("TELEGRAM_TOKEN", "https://api.telegram.org/bot", false),
        ] {
            let issuer = issuer_from_host_part(snell_secrets::variable_issuer(name));
            assert_eq!(is_foreign_address(issuer, address), expected, "{name} {address}");
        }
        assert!(is_foreign_address(SecretIssuer::NoHost, "https://example.com/"));
        assert!(!is_foreign_address(SecretIssuer::NoHost, "http://127.0.0.1:80/"));
    }
}
