//! The exit codes of each command, from the table that stands in the documentation.

use super::doc_tables;
use crate::commands::docs;

/// Where the table stands.
const PAGE: &str = "commands";
const HEADING: &str = "Exit codes";

/// How the row begins that counts for all commands which have none of their own.
const OTHERS: &str = "the others";

/// What stands where a command never ends with that code.
const NEVER: &str = "–";

/// What is told about a command's exit codes.
pub(super) fn describe_exit_codes(command: &str) -> String {
    let rows = doc_tables::find_table_rows(docs::page_text(PAGE), HEADING);
    let own: Vec<_> = rows.iter().filter_map(|row| Some((match_command_cell(row.first()?, command)?, row))).collect();
    let others = || rows.iter().filter(|row| row.first().is_some_and(|of| of == OTHERS));
    let own = if own.is_empty() { others().map(|row| ("", row)).collect() } else { own };
    let told = own.into_iter().map(|(when, row)| {
        let codes = row.iter().skip(1).enumerate().filter(|(_, meaning)| *meaning != NEVER);
        let lines = codes.map(|(code, meaning)| format!("\n  {code}  {meaning}"));
        format!("Exit codes{when}:{}", lines.collect::<String>())
    });
    told.collect::<Vec<_>>().join("\n\n")
}

/// Whether a row is about a command; then, about which of its ways to be called: `check, of one call`.
fn match_command_cell<'r>(cell: &'r str, command: &str) -> Option<&'r str> {
    if let Some(when) = cell.strip_prefix(command)
        && (when.is_empty() || when.starts_with(", of "))
    {
        return Some(when.trim_start_matches(','));
    }
    cell.split(", ").any(|named| named == command).then_some("")
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
