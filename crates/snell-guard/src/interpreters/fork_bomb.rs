//! Endless loops that start a process in each iteration without waiting for it.

use super::lexer::{ScriptToken, find_block_end};
use crate::interpreters::words::fork_bomb as words;

/// How many loops are checked: each check reads to the end of the loop.
const MAX_LOOPS: usize = 8;

/// Whether there is such a loop.
pub(super) fn has_fork_bomb(tokens: &[ScriptToken]) -> bool {
    let loops = (0..tokens.len()).filter_map(|at| find_endless_loop_body(tokens.get(at..)?));
    loops.take(MAX_LOOPS).any(is_spawning_without_pause)
}

/// The body of the endless loop that begins here.
fn find_endless_loop_body(tokens: &[ScriptToken]) -> Option<&[ScriptToken]> {
    use ScriptToken::{Name, Sign};
    let is_true = |token: Option<&ScriptToken>| match token {
        Some(Name(name)) => matches!(name.as_str(), "True" | "true" | "TRUE"),
        Some(ScriptToken::Number(number)) => number == "1",
        _ => false,
    };
    let Some(Name(word)) = tokens.first() else { return None };
    let open = usize::from(tokens.get(1) == Some(&Sign("(")));
    match word.as_str() {
        "while" if is_true(tokens.get(1 + open)) => take_block(tokens.get(2 + 2 * open..)?),
        "for" => match tokens.get(1..5)? {
            [Sign("("), Sign(";"), Sign(";"), Sign(")")] => take_block(tokens.get(5..)?),
            _ => None,
        },
        "loop" | "repeat" if is_block_start(tokens.get(1)) => take_block(tokens.get(1..)?),
        // `fork while fork`
        word if words::SPAWN_CALLS.contains(&word) => match tokens.get(1..3)? {
            [Name(again), Name(also)] if again == "while" && words::SPAWN_CALLS.contains(&also.as_str()) => {
                tokens.get(..1)
            }
            [Name(again), one] if again == "while" && is_true(Some(one)) => tokens.get(..1),
            _ => None,
        },
        _ => None,
    }
}

fn is_block_start(token: Option<&ScriptToken>) -> bool {
    match token {
        Some(ScriptToken::Sign("{")) => true,
        Some(ScriptToken::Name(name)) => name == "do",
        _ => false,
    }
}

/// The text between braces, or all the rest.
fn take_block(tokens: &[ScriptToken]) -> Option<&[ScriptToken]> {
    if tokens.first() != Some(&ScriptToken::Sign("{")) {
        return Some(tokens);
    }
    tokens.get(..find_block_end(tokens))
}

fn is_spawning_without_pause(body: &[ScriptToken]) -> bool {
    let names = || {
        body.iter().filter_map(|token| match token {
            ScriptToken::Name(name) => Some(name.as_str()),
            _ => None,
        })
    };
    names().any(|name| words::SPAWN_CALLS.contains(&name))
        && !names().any(|name| words::PAUSE_OR_EXIT.iter().any(|pause| name.contains(pause)))
}
