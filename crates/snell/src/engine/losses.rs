//! Finds hooks that lose a part of their answer under an agent that does not accept it.
//!
//! Only plain evidence counts: a key of the hook file that permits a change, or a word of an answer in the hook's command line or
//! script.

use std::borrow::Cow;
use std::path::PathBuf;

use super::Engine;
use super::check::find_script;
use crate::agents::{AgentCapabilities, AgentProduct, CapabilitySupport, HookCapability};
use crate::config::FileSelection;
use crate::contract::{HookContext, NATIVE, find_contract};
use crate::diagnostic::{Diagnostic, UserMessage};
use crate::hook::Hook;
use crate::regular_file::read_text_file;

/// A longer script is not read.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

/// Contracts in which a hook may change a call only if its file permits it.
const PERMITTED_CHANGES: &[&str] = &["snell", "whale"];

/// A part of an answer, and the words that show it.
struct AnswerSign {
    capability: HookCapability,
    /// The event on which it counts; any event that an agent does not accept it on, for context.
    event: Option<&'static str>,
    deed: &'static str,
    /// Without blanks, quotes and backslashes.
    words: &'static [&'static str],
}

const SIGNS: &[AnswerSign] = &[
    AnswerSign {
        capability: HookCapability::Ask,
        event: Some("PreToolUse"),
        deed: "asks the user",
        words: &["permissionDecision:ask", "decision:ask", "permission:ask"],
    },
    AnswerSign {
        capability: HookCapability::ChangeInput,
        event: Some("PreToolUse"),
        deed: "changes input",
        words: &["updatedInput", "updated_input", "modifiedArgs", "overrideInput"],
    },
    AnswerSign {
        capability: HookCapability::ChangeOutput,
        event: Some("PostToolUse"),
        deed: "changes output",
        words: &["updatedToolOutput", "updatedMCPToolOutput", "updated_mcp_tool_output", "modifiedResult"],
    },
    AnswerSign {
        capability: HookCapability::Stop,
        event: Some("PreToolUse"),
        deed: "ends the turn",
        words: &["continue:false"],
    },
    AnswerSign {
        capability: HookCapability::Context,
        event: None,
        deed: "adds context",
        words: &["additionalContext", "additional_context", "contextModification"],
    },
];

impl Engine {
    /// Warnings about hooks whose answers these agents do not accept in full. Only hooks that run in a guest count.
    pub fn check_answers(&self, agents: &[&'static AgentProduct]) -> Vec<Diagnostic> {
        if agents.is_empty() {
            return Vec::new();
        }
        let accepted: Vec<_> = agents.iter().map(|agent| (*agent, agent.capabilities())).collect();
        let scene = self.hook_context();
        let hooks = self.hooks();
        let active =
            hooks.iter().filter(|hook| hook.disabled.is_none() && !hook.background && self.is_for_guests(hook));
        active.flat_map(|hook| check_hook(hook, &scene, &accepted)).collect()
    }

    /// Whether a hook runs where Snell is a guest. A file that the caller named is judged as if it did.
    fn is_for_guests(&self, hook: &Hook) -> bool {
        let is_named = matches!(self.shared.request.selection, FileSelection::Only(_));
        is_named || *hook.contract == NATIVE || self.loaded_config().has_borrowed(hook.contract.lane)
    }
}

fn check_hook(
    hook: &Hook,
    scene: &HookContext<'_>,
    agents: &[(&'static AgentProduct, AgentCapabilities)],
) -> Vec<Diagnostic> {
    let text = read_hook_text(hook, scene);
    let is_foreign = |agent: &AgentProduct| {
        let own = agent.contract.and_then(find_contract);
        own.is_none_or(|own| own.lane != hook.contract.lane)
    };
    let foreign: Vec<_> = agents.iter().filter(|(agent, _)| is_foreign(agent)).collect();
    let mut found = Vec::new();
    for sign in SIGNS.iter().filter(|sign| sign.is_shown_by(hook, &text)) {
        for event in hook.events.iter().map(|event| event.as_str()).filter(|event| sign.concerns(event)) {
            let losses =
                foreign.iter().filter(|(agent, _)| agent.fires_event(event)).filter_map(|(agent, accepted)| {
                    Some((agent.title, describe_loss(sign.capability, sign.find_support(accepted, event))?))
                });
            found.extend(group_by_outcome(losses).into_iter().map(|(outcome, titles)| {
                let deed = sign.describe_deed(event);
                let message = UserMessage::new(format!("this hook {deed}; under {} {outcome}", join_titles(&titles)));
                hook.origin.make_warning(message.with_hint("to compare agents, run `snell list --agents`"))
            }));
        }
    }
    found
}

impl AnswerSign {
    fn is_shown_by(&self, hook: &Hook, text: &str) -> bool {
        let is_change = matches!(self.capability, HookCapability::ChangeInput | HookCapability::ChangeOutput);
        if is_change && PERMITTED_CHANGES.contains(&hook.contract.name) {
            return hook.may_modify;
        }
        self.words.iter().any(|word| contains_word(text, word))
    }

    fn concerns(&self, event: &str) -> bool {
        self.event.is_none_or(|concerned| concerned == event)
    }

    fn find_support(&self, accepted: &AgentCapabilities, event: &str) -> CapabilitySupport {
        match self.capability {
            HookCapability::Context => accepted.context_support(event),
            other => accepted.support(other),
        }
    }

    fn describe_deed(&self, event: &str) -> Cow<'static, str> {
        match self.event {
            Some(_) => self.deed.into(),
            None => format!("{} on {event}", self.deed).into(),
        }
    }
}

/// The consequence of an answer that an agent does not accept.
fn describe_loss(capability: HookCapability, support: CapabilitySupport) -> Option<&'static str> {
    match (support, capability) {
        (CapabilitySupport::Yes | CapabilitySupport::Limited(_) | CapabilitySupport::Later, _) => None,
        (CapabilitySupport::Denied, HookCapability::ChangeInput) => {
            Some("the call is denied instead, with the changed input in the reason")
        }
        (CapabilitySupport::Denied, HookCapability::Stop) => Some("only the call is denied"),
        (CapabilitySupport::Denied, _) => Some("the call is denied instead"),
        (CapabilitySupport::Message, HookCapability::Context) => Some("the user reads it instead of the model"),
        (CapabilitySupport::Message, _) => Some("that is ignored, with a message to the user"),
        (CapabilitySupport::No, _) => Some("that does nothing"),
    }
}

/// The titles of the agents with each outcome, in the order of the agents.
fn group_by_outcome<'a>(losses: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (title, outcome) in losses {
        match groups.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, titles)) => titles.push(title),
            None => groups.push((outcome, vec![title])),
        }
    }
    groups
}

/// `Codex`, `Codex and Pi`, `Codex, Pi and Amp`.
fn join_titles(titles: &[&str]) -> String {
    match titles {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The command line of a hook and the text of its script, without comments, blanks, quotes and backslashes.
fn read_hook_text(hook: &Hook, scene: &HookContext<'_>) -> String {
    let script = find_script(hook, scene).and_then(|path: PathBuf| read_text_file(&path, MAX_SCRIPT_BYTES).ok());
    let is_comment = |line: &&str| line.trim_start().starts_with(['#', '/']);
    let script = script.unwrap_or_default();
    let lines = script.lines().filter(|line| !is_comment(line));
    let mut text = hook.command_summary();
    for line in lines {
        text.push('\n');
        text.push_str(line);
    }
    // A line end stays, so that two lines do not become one word.
    text.retain(|c| !matches!(c, ' ' | '\t' | '"' | '\'' | '\\'));
    text
}

/// Whether a text contains a word that is not part of a longer one.
fn contains_word(text: &str, word: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_inner) && !after.is_some_and(is_inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_alone_and_not_inside_another() {
        for (text, word, expected) in [
            ("{permissionDecision:ask}", "permissionDecision:ask", true),
            ("{permissionDecision:ask}", "decision:ask", false),
            ("{decision:asked}", "decision:ask", false),
            ("continue:false", "continue:false", true),
            ("updatedInputs", "updatedInput", false),
        ] {
            assert_eq!(contains_word(text, word), expected, "{text} {word}");
        }
    }

    #[test]
    fn titles_are_joined_as_in_a_sentence() {
        assert_eq!(join_titles(&["Codex"]), "Codex");
        assert_eq!(join_titles(&["Codex", "Pi", "Amp"]), "Codex, Pi and Amp");
    }
}
