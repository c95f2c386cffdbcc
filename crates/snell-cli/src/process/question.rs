//! Asks the user at a terminal.

use std::io::{self, BufRead, IsTerminal};

use anyhow::Context;

use crate::output::{self, CommandError};

/// Whether there is a terminal to ask at.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks for one line. Returns nothing if the input has ended.
fn ask_line(question: &str) -> anyhow::Result<Option<String>> {
    output::print_text(question);
    let mut answer = String::new();
    let length = io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
    Ok((length > 0).then(|| answer.trim().to_owned()))
}

/// Asks a question that is answered with yes or no. No answer is no.
pub(crate) fn ask_yes_or_no(question: &str) -> anyhow::Result<bool> {
    let answer = ask_line(&format!("{question} [y/N] "))?.unwrap_or_default();
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks until the answer can be parsed. An empty answer is the default.
pub(crate) fn ask_until_valid<T>(
    question: &str,
    default: &str,
    parse: impl Fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    loop {
        let Some(answer) = ask_line(&format!("{question} [{default}]: "))? else {
            output::print_line("");
            let error = CommandError::new("the input ended before all questions were answered");
            return Err(error.with_hint("pass --yes to take the defaults").into());
        };
        match parse(if answer.is_empty() { default } else { &answer }) {
            Ok(parsed) => return Ok(parsed),
            Err(error) => output::print_error(&error),
        }
    }
}
