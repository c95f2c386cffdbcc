//! The command line of `snell hook`. An invalid argument is reported and ignored, and the event is still judged: after a usage
//! error some agents go on with their call, and others refuse every call.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use snell::{AgentProduct, SupportLevel, UserMessage};

use super::Args;
use super::stdin_probe::has_payload_on_stdin;
use crate::output;

/// An unknown argument is shown up to this width.
const MAX_SHOWN_CELLS: usize = 60;

/// Options that every command has.
const COMMON_OPTIONS: &[&str] = &["-h", "--help", "-V", "--version"];

impl Args {
    /// Reads `hook [--agent NAME]` without clap, which takes longer than answering. Returns nothing for another command, and if a
    /// person at a terminal asks for help or made a mistake. No argument at all means `hook` if stdin has a payload.
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
                    None => args.mistakes.push(UserMessage::new("--agent needs a value, ignored")),
                },
                Some((_, Some(name))) => args.set_agent(name),
                _ => {
                    let word = output::shorten_to_one_line(&word.to_string_lossy(), MAX_SHOWN_CELLS);
                    args.mistakes.push(UserMessage::new(format!("unknown argument \"{word}\", ignored")));
                }
            }
        }
        (args.mistakes.is_empty() || !io::stdin().is_terminal()).then_some(args)
    }

    fn set_agent(&mut self, name: &str) {
        if AgentProduct::find_by_name(name).is_some_and(|product| product.support == SupportLevel::Full) {
            self.agent = Some(name.to_owned());
        } else {
            let known: Vec<_> = AgentProduct::fully_supported().map(|product| product.name).collect();
            let name = output::shorten_to_one_line(name, MAX_SHOWN_CELLS);
            let message = UserMessage::new(format!("unknown agent \"{name}\" in --agent, ignored"));
            self.mistakes.push(message.with_hint(format!("use one of: {}", known.join(", "))));
        }
    }
}
