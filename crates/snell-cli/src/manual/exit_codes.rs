//! The exit codes of each command, for its help and its man page.

/// The commands of a row, and the meaning of the codes 0, 1 and 2. `commands.md` has the short form.
const EXIT_CODES: &[(&str, [&str; 3])] = &[
    ("run", ["allowed, or the user must be asked", "failure, signal, or wrong usage", "blocked"]),
    (
        "hook",
        [
            "success; also if Snell itself failed",
            "wrong usage",
            "blocked, because the answer could not be written to standard output",
        ],
    ),
    ("guard check, of one call", ["allowed, or the user must be asked", "failure, or wrong usage", "denied"]),
    (
        "guard check, of calls on standard input",
        ["all calls were judged", "failure, wrong usage, or a line that is not a valid call", NEVER],
    ),
    ("notify", ["always, even for wrong usage", NEVER, NEVER]),
    ("init, install, uninstall", ["success, or nothing to do", "no change, or wrong usage", NEVER]),
    ("doctor", ["no problems and no warnings", "problems or warnings, or wrong usage", NEVER]),
    ("lint", ["no errors (warnings are possible)", "errors, or wrong usage", NEVER]),
    ("service status", ["the service runs", "it does not run, or wrong usage", NEVER]),
    ("config set, config unset", ["success, or nothing to do", "no change, or wrong usage", NEVER]),
    ("config edit", ["no errors (warnings are possible)", "errors, or wrong usage", NEVER]),
    ("status", ["no problems", "problems, or wrong usage", NEVER]),
    ("statusline", ["always", "wrong usage", NEVER]),
    ("demo", ["success, or the output was closed", "failure, or wrong usage", NEVER]),
    ("docs", ["success", "unknown topic, nothing found, or wrong usage", NEVER]),
    (OTHERS, ["success", "failure, or wrong usage", NEVER]),
];

/// The row of all commands without their own row.
const OTHERS: &str = "the others";

/// The meaning of a code that the command never returns.
const NEVER: &str = "–";

/// The paragraphs about the exit codes of a command.
pub(super) fn describe_exit_codes(command: &str) -> String {
    let own: Vec<_> =
        EXIT_CODES.iter().filter_map(|(commands, codes)| Some((match_commands(commands, command)?, codes))).collect();
    let others = || EXIT_CODES.iter().filter(|(commands, _)| *commands == OTHERS);
    let own = if own.is_empty() { others().map(|(_, codes)| ("", codes)).collect() } else { own };
    let paragraphs = own.into_iter().map(|(when, codes)| {
        let codes = codes.iter().enumerate().filter(|(_, meaning)| **meaning != NEVER);
        let lines = codes.map(|(code, meaning)| format!("\n  {code}  {meaning}"));
        format!("Exit codes{when}:{}", lines.collect::<String>())
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Whether a row is about a command, and the form of the call: `of one call` for `guard check, of one call`.
fn match_commands<'r>(commands: &'r str, command: &str) -> Option<&'r str> {
    if let Some(when) = commands.strip_prefix(command)
        && (when.is_empty() || when.starts_with(", of "))
    {
        return Some(when.trim_start_matches(','));
    }
    commands.split(", ").any(|named| named == command).then_some("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_codes_of_its_row_or_of_the_last_row() {
        let cases = [
            ("run", "Exit codes:\n  0  allowed, or the user must be asked\n  1  ", "\n  2  blocked"),
            ("notify", "Exit codes:\n  0  always", "even for wrong usage"),
            ("uninstall", "Exit codes:\n  0  success, or nothing to do\n", "no change, or wrong usage"),
            ("guard check", "Exit codes of one call:\n  0  ", "Exit codes of calls on standard input:\n  0  "),
            ("agents", "Exit codes:\n  0  success\n  1  ", "failure, or wrong usage"),
        ];
        for (command, begins, has) in cases {
            let codes = describe_exit_codes(command);
            assert!(codes.starts_with(begins) && codes.contains(has), "{command}: {codes}");
        }
        assert!(!describe_exit_codes("notify").contains("\n  1"));
    }
}
