//! Code that gives another machine a shell, or runs the commands that it sends.

use super::lexer::{ScriptStringPart, ScriptToken};
use crate::interpreters::words::reverse_shell as words;
use crate::invocation::base_name;

/// Whether this is such code.
pub(super) fn has_reverse_shell(tokens: &[ScriptToken]) -> bool {
    let named =
        |wanted: &[&str]| tokens.iter().any(|token| token_name(token).is_some_and(|name| wanted.contains(&name)));
    let asks_for = |token: &ScriptToken| token_text(token).is_some_and(|text| words::NETWORK_MODULES.contains(&text));
    let networked = named(words::NETWORK_NAMES) || tokens.iter().any(asks_for);
    if !networked || !named(words::CONNECT_CALLS) {
        return false;
    }
    let stays = tokens.iter().filter_map(token_text).any(|text| words::LOCALHOST_NAMES.contains(&text));
    named(words::REDIRECT_CALLS) || has_interactive_shell(tokens) || (!stays && has_dynamic_exec(tokens))
}

/// Whether an interactive shell is started: it would get its commands from the connection.
fn has_interactive_shell(tokens: &[ScriptToken]) -> bool {
    (0..tokens.len()).any(|at| {
        let Some(text) = tokens.get(at).and_then(token_text) else {
            return false;
        };
        let mut words = text.split_whitespace();
        let program = words.next().unwrap_or_default();
        let is_shell = words::SHELLS.contains(&base_name(program));
        let is_typed = match words.next() {
            Some(word) => words::INTERACTIVE_FLAGS.contains(&word) || word.starts_with(['<', '>']),
            None => match (tokens.get(at + 1), tokens.get(at + 2).and_then(self::token_text)) {
                (Some(ScriptToken::Sign(",")), Some(next)) => words::INTERACTIVE_FLAGS.contains(&next),
                _ => true,
            },
        };
        is_shell && is_typed
    })
}

/// Whether a call runs a command that is not a constant: `popen(line)`, or backquotes.
fn has_dynamic_exec(tokens: &[ScriptToken]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        if let ScriptToken::Text { pieces, command: true } = token {
            return matches!(pieces.first(), Some(ScriptStringPart::Interpolation(_)));
        }
        let runs = token_name(token).is_some_and(|name| words::EXEC_CALLS.contains(&name));
        let open = usize::from(tokens.get(at + 1) == Some(&ScriptToken::Sign("(")));
        runs && matches!(tokens.get(at + 1 + open), Some(ScriptToken::Name(_)))
    })
}

fn token_name(token: &ScriptToken) -> Option<&str> {
    match token {
        ScriptToken::Name(name) => Some(name.trim_start_matches(['$', '@', '%', ':'])),
        _ => None,
    }
}

/// The known start of a string.
fn token_text(token: &ScriptToken) -> Option<&str> {
    match token {
        ScriptToken::Text { pieces, .. } => match pieces.first() {
            Some(ScriptStringPart::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
