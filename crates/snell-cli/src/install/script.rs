//! `notify-headspace.sh`: the script of a machine that only forwards.

use std::path::Path;

/// What the script is called.
pub(crate) const NAME: &str = "notify-headspace.sh";

const TEMPLATE: &str = include_str!("notify-headspace.sh");

/// The script for this program, this `curl` where there is one, and this receiver where one was named.
pub(crate) fn text(snell: &str, curl: Option<&Path>, url: Option<&str>) -> String {
    let curl = curl.and_then(Path::to_str).unwrap_or_default();
    let lines = TEMPLATE.lines().map(|line| match line {
        "snell=@SNELL@" => format!("snell={}\n", quoted(snell)),
        "curl=@CURL@" => format!("curl={}\n", quoted(curl)),
        "url=@URL@" => format!("url={}\n", quoted(url.unwrap_or_default())),
        line => format!("{line}\n"),
    });
    lines.collect()
}

/// What a script of ours says about something: `snell`, `curl` or `url`.
pub(crate) fn assigned(script: &str, name: &str) -> Option<String> {
    let mut lines = script.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix("='"))?;
    Some(value.strip_suffix('\'')?.replace("'\\''", "'"))
}

/// A script of ours that forwards to whomever the environment names.
pub(crate) fn without_url(script: &str) -> String {
    let lines = script.lines().map(|line| match line.strip_prefix("url=") {
        Some(_) => "url=''\n".to_owned(),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A text as one word of shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The address of a receiver, if it can be one. A slash at its end is not a part of it.
pub(crate) fn receiver(url: &str) -> Result<&str, String> {
    let rest = ["http://", "https://"]
        .into_iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let host = rest.and_then(|rest| rest.split('/').next());
    let is_plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#'));
    if host.is_none_or(str::is_empty) || !is_plain {
        return Err("write http:// or https:// and a host, such as http://127.0.0.1:7433".into());
    }
    Ok(url.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_an_address_and_nothing_more() {
        let cases = [
            ("http://127.0.0.1:7433", Some("http://127.0.0.1:7433")),
            ("https://hooks.example/snell/", Some("https://hooks.example/snell")),
            ("127.0.0.1:7433", None),
            ("ftp://host", None),
            ("http://", None),
            ("http:///hook", None),
            ("http://host?x=1", None),
            ("http://host#x", None),
            ("http://a b", None),
            ("http://a\n", None),
        ];
        for (url, expected) in cases {
            assert_eq!(receiver(url).ok(), expected, "{url}");
        }
    }

    #[test]
    fn the_program_in_a_script_is_found_again_whatever_it_is_called() {
        for program in [
            "/usr/bin/snell",
            "/@URL@/snell",
            "/a b/it's/snell",
            "/ü/\"snell\"",
            "/$HOME/`x`/snell",
        ] {
            assert_eq!(assigned(&text(program, None, None), "snell").as_deref(), Some(program));
        }
        assert_eq!(assigned("#!/bin/sh\nexit 0\n", "snell"), None);
    }
}
