//! `notify-headspace.sh`: the script of a machine that only forwards events.

use std::path::Path;

/// The name of the script.
pub(crate) const SCRIPT_NAME: &str = "notify-headspace.sh";

/// Its directory in that of the agent.
pub(crate) const SCRIPT_DIR: &str = "hooks";

const TEMPLATE: &str = include_str!("notify-headspace.sh");

/// Identifies a script of Snell, of any version.
const SCRIPT_MARKER: &str = "# Made by `snell install";

/// The marker is in one of the first lines.
const MAX_MARKER_LINES: usize = 10;

/// Whether Snell wrote this script. Other scripts have the same name.
pub(crate) fn is_own_script(script: &str) -> bool {
    script.lines().take(MAX_MARKER_LINES).any(|line| line.starts_with(SCRIPT_MARKER))
}

/// Whether a script of Snell is unchanged.
pub(crate) fn is_unmodified_script(script: &str) -> bool {
    let read = |name| read_assignment(script, name);
    let [Some(snell), Some(curl), Some(url)] = ["snell", "curl", "url"].map(read) else {
        return false;
    };
    render_script(&snell, Some(Path::new(&curl)), Some(&url)) == script
}

/// Whether the script takes this argument as an event.
pub(crate) fn is_event_argument(argument: &str) -> bool {
    !argument.is_empty() && argument.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// The script for this program, with `curl` and a receiver if given.
pub(crate) fn render_script(snell: &str, curl: Option<&Path>, url: Option<&str>) -> String {
    let curl = curl.and_then(Path::to_str).unwrap_or_default();
    let lines = TEMPLATE.lines().map(|line| match line {
        "snell=@SNELL@" => format!("snell={}\n", shell_quote(snell)),
        "curl=@CURL@" => format!("curl={}\n", shell_quote(curl)),
        "url=@URL@" => format!("url={}\n", shell_quote(url.unwrap_or_default())),
        line => format!("{line}\n"),
    });
    lines.collect()
}

/// The value of `snell`, `curl` or `url` in a script of Snell.
pub(crate) fn read_assignment(script: &str, name: &str) -> Option<String> {
    let mut lines = script.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix("='"))?;
    Some(value.strip_suffix('\'')?.replace("'\\''", "'"))
}

/// The script with another receiver.
pub(crate) fn replace_url(script: &str, url: &str) -> String {
    let lines = script.lines().map(|line| match line.strip_prefix("url=") {
        Some(_) => format!("url={}\n", shell_quote(url)),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A text as one shell word.
pub(crate) fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_in_a_script_is_found_again_whatever_it_is_called() {
        for program in ["/usr/bin/snell", "/@URL@/snell", "/a b/it's/snell", "/ü/\"snell\"", "/$HOME/`x`/snell"] {
            assert_eq!(read_assignment(&render_script(program, None, None), "snell").as_deref(), Some(program));
        }
        assert_eq!(read_assignment("#!/bin/sh\nexit 0\n", "snell"), None);
    }

    #[test]
    fn a_script_of_ours_is_known_and_so_is_whether_somebody_has_changed_it() {
        let ours = render_script("/it's/snell", None, Some("http://tower:7433"));
        let changed = format!("{ours}# mine\n");
        let older = "#!/bin/sh\n# Made by `snell install claude --notify` long ago.\nsnell='/bin/snell'\n";
        let far_below = format!("#!/bin/sh\n{}{SCRIPT_MARKER} once`\n", "#\n".repeat(MAX_MARKER_LINES));
        let cases = [
            (ours.as_str(), true, true),
            (&changed, true, false),
            (older, true, false),
            ("#!/bin/sh\n# tells claude-headspace\n", false, false),
            (&far_below, false, false),
            ("", false, false),
        ];
        for (script, is_known, is_whole) in cases {
            assert_eq!((is_own_script(script), is_unmodified_script(script)), (is_known, is_whole), "{script}");
        }
    }
}
