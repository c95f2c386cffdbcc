//! The command line of `snell hook`, read as far as it can be understood. An invalid argument does not keep an event from being
//! judged: an agent that gets a usage error goes on with its call, or refuses every one.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use snell::{AgentProduct, SupportLevel};

use super::Args;
use super::stdin_probe::has_payload_on_stdin;
use crate::output;

/// An argument that cannot be understood is shown up to this width.
const MAX_SHOWN_CELLS: usize = 60;

/// Options that every command has.
const COMMON_OPTIONS: &[&str] = &["-h", "--help", "-V", "--version"];

impl Args {
    /// Reads `hook [--agent NAME]` without the parser of command lines, which takes longer than answering. Nothing if it is
    /// another command, or if a person asks for help or made a mistake at a terminal. No argument at all means `hook` as well,
    /// if there is a payload to judge.
    pub(crate) fn parse_quickly(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let Some(command) = words.next() else {
            return has_payload_on_stdin().then(Self::default);
        };
        if command != "hook" {
            return None;
        }
        let mut args = Self::default();
        while let Some(word) = words.next() {
            if COMMON_OPTIONS.iter().any(|option| word == *option) {
                return None;
            }
            match word.to_str().map(|word| (word, word.strip_prefix("--agent="))) {
                Some(("--agent", _)) => match words.next() {
                    Some(name) => args.set_agent(&name.to_string_lossy()),
                    None => args.mistakes.push("--agent names no agent".into()),
                },
                Some((_, Some(name))) => args.set_agent(name),
                _ => args.mistakes.push(format!(
                    "\"{}\" is no argument of `snell hook`",
                    output::shorten_to_one_line(&word.to_string_lossy(), MAX_SHOWN_CELLS)
                )),
            }
        }
        (args.mistakes.is_empty() || !io::stdin().is_terminal()).then_some(args)
    }

    fn set_agent(&mut self, name: &str) {
        if AgentProduct::find_by_name(name).is_some_and(|product| product.support == SupportLevel::Full) {
            self.agent = Some(name.to_owned());
        } else {
            let known: Vec<_> = AgentProduct::fully_supported().map(|product| product.name).collect();
            self.mistakes.push(format!(
                "--agent names \"{}\", which is none of: {}",
                output::shorten_to_one_line(name, MAX_SHOWN_CELLS),
                known.join(", ")
            ));
        }
    }
}
