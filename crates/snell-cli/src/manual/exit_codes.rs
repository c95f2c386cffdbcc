//! The exit codes of each command, for its help and its man page.

/// The commands of a row, and the meaning of the codes 0, 1 and 2. `commands.md` has the short form.
const EXIT_CODES: &[(&str, [&str; 3])] = &[
    ("run", ["go on (allow or ask)", "Snell itself failed, was ended by a signal, or bad usage", "blocked"]),
    (
        "hook",
        [
            "whatever happens to Snell itself",
            "bad usage",
            "blocked, asked about or changed, and that could not be told on standard output",
        ],
    ),
    ("guard check, of one call", ["go on (allow or ask)", "Snell itself failed, or bad usage", "denied"]),
    (
        "guard check, of calls on standard input",
        ["every line was judged, whatever came of it", "a line was no call, Snell itself failed, or bad usage", NEVER],
    ),
    ("notify", ["whatever happens, bad usage included", NEVER, NEVER]),
    ("install, uninstall", ["done, or nothing to do", "nothing was changed, or bad usage", NEVER]),
    ("doctor", ["nothing is wrong", "something needs attention, or bad usage", NEVER]),
    ("lint", ["no errors; there may be warnings", "errors, or bad usage", NEVER]),
    ("status", ["all is well", "something needs attention, or bad usage", NEVER]),
    ("statusline", ["whatever happens", "bad usage", NEVER]),
    ("demo", ["it was played, or nobody read it any more", "it could not be played, or bad usage", NEVER]),
    ("docs", ["it was shown", "there is no such page, or nothing was found; bad usage", NEVER]),
    (OTHERS, ["done", "Snell itself failed, or bad usage", NEVER]),
];

/// The row that counts for all commands which have none of their own.
const OTHERS: &str = "the others";

/// What stands where a command never ends with that code.
const NEVER: &str = "–";

/// What is told about a command's exit codes.
pub(super) fn describe_exit_codes(command: &str) -> String {
    let own: Vec<_> =
        EXIT_CODES.iter().filter_map(|(commands, codes)| Some((match_commands(commands, command)?, codes))).collect();
    let others = || EXIT_CODES.iter().filter(|(commands, _)| *commands == OTHERS);
    let own = if own.is_empty() { others().map(|(_, codes)| ("", codes)).collect() } else { own };
    let told = own.into_iter().map(|(when, codes)| {
        let codes = codes.iter().enumerate().filter(|(_, meaning)| **meaning != NEVER);
        let lines = codes.map(|(code, meaning)| format!("\n  {code}  {meaning}"));
        format!("Exit codes{when}:{}", lines.collect::<String>())
    });
    told.collect::<Vec<_>>().join("\n\n")
}

/// Whether a row is about a command; then, about which of its ways to be called: `check, of one call`.
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
    fn a_command_has_the_codes_of_its_row_or_those_of_all_others() {
        let cases = [
            ("run", "Exit codes:\n  0  go on (allow or ask)\n  1  ", "\n  2  blocked"),
            ("notify", "Exit codes:\n  0  whatever happens", "bad usage included"),
            ("uninstall", "Exit codes:\n  0  done, or nothing to do\n", "nothing was changed, or bad usage"),
            ("guard check", "Exit codes of one call:\n  0  ", "Exit codes of calls on standard input:\n  0  "),
            ("agents", "Exit codes:\n  0  done\n  1  ", "Snell itself failed, or bad usage"),
        ];
        for (command, begins, has) in cases {
            let codes = describe_exit_codes(command);
            assert!(codes.starts_with(begins) && codes.contains(has), "{command}: {codes}");
        }
        assert!(!describe_exit_codes("notify").contains("\n  1"));
    }
}
