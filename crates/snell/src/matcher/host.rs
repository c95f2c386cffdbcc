//! The host that an address leads to, and the patterns that name hosts.

/// The host of an address, in lower case, as a browser would read it.
pub(crate) fn host_of(url: &str) -> Option<String> {
    // Browsers drop these characters and read a backslash as a slash; a matcher must not be told another story.
    let url: String = url
        .trim()
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .map(|c| if c == '\\' { '/' } else { c })
        .collect();
    let after_scheme = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let host = if host_and_port.starts_with('[') {
        host_and_port.split_inclusive(']').next().unwrap_or_default()
    } else {
        host_and_port.split(':').next().unwrap_or_default()
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Whether `host` is named by `pattern`: itself, or for `*.x.com` also `x.com` and everything below it.
pub(crate) fn host_matches(pattern: &str, host: &str) -> bool {
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
            ("", None),
        ];
        for (url, expected) in cases {
            assert_eq!(host_of(url).as_deref(), expected, "{url}");
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
