//! The host of an address, and patterns for hosts.

use url::Url;

/// The host of an address, as a browser reads it. `None` if the address is invalid.
fn parse_host(address: &str) -> Option<String> {
    let address = address.trim();
    let has_scheme = address.split_once(':').is_some_and(|(scheme, rest)| {
        // `localhost:8080` is a host and a port.
        let is_port = rest.starts_with(|c: char| c.is_ascii_digit());
        !is_port && !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let url = if has_scheme { Url::parse(address) } else { Url::parse(&format!("https://{address}")) };
    let host = url.ok()?.host_str()?.to_owned();
    Some(host.strip_suffix('.').unwrap_or(&host).to_owned())
}

/// Whether `pattern` matches the host of an address. An invalid address may lead anywhere, so it matches.
pub(crate) fn address_matches(pattern: &str, address: &str) -> bool {
    parse_host(address).is_none_or(|host| host_matches(pattern, &host))
}

/// Whether `pattern` matches `host`. `*.x.com` matches `x.com` and its subdomains.
fn host_matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim().to_lowercase();
    match pattern.strip_prefix("*.") {
        Some(domain) => host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => pattern == "*" || pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_a_browser_would() {
        let cases = [
            ("https://x.com/path", Some("x.com")),
            ("https://X.Com:8080?q", Some("x.com")),
            ("https://x.com@evil.com/", Some("evil.com")),
            ("https://evil.com\\@x.com", Some("evil.com")),
            ("https://x.com.", Some("x.com")),
            ("http://[::1]:80/", Some("[::1]")),
            ("x.com/path", Some("x.com")),
            ("https://evil.com#@x.com", Some("evil.com")),
            ("https:/evil.com/", Some("evil.com")),
            ("https:///evil.com/", Some("evil.com")),
            ("https:evil.com", Some("evil.com")),
            ("https://ev%69l.com/", Some("evil.com")),
            ("https://\u{ff45}vil.com/", Some("evil.com")),
            ("evil.com/?u=https://good.com", Some("evil.com")),
            ("localhost:8080/x", Some("localhost")),
            ("", None),
        ];
        for (url, expected) in cases {
            assert_eq!(parse_host(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_starred_domain_covers_itself_and_what_is_below_it() {
        let cases = [
            ("x.com", "x.com", true),
            ("x.com", "a.x.com", false),
            ("*.x.com", "a.x.com", true),
            ("*.x.com", "a.b.x.com", true),
            ("*.x.com", "x.com", true),
            ("*.x.com", "evilx.com", false),
            ("*.X.com", "a.x.com", true),
        ];
        for (pattern, host, expected) in cases {
            assert_eq!(host_matches(pattern, host), expected, "{pattern} on {host}");
        }
    }
}
