//! Loops that never end and start a process in every round without waiting for it.

use super::scan::Token;

/// Calls that start a process and go on.
const STARTS: &[&str] = &[
    "fork",
    "forkpty",
    "pcntl_fork",
    "Popen",
    "popen",
    "proc_open",
    "spawn",
    "execFile",
];

/// Parts of names that take time or leave the loop.
const PAUSES: &[&str] = &[
    "sleep",
    "wait",
    "accept",
    "recv",
    "read",
    "get",
    "poll",
    "select",
    "input",
    "join",
    "break",
    "last",
    "exit",
    "return",
    "communicate",
    "next",
    "shift",
    "pop",
    "take",
    "listen",
    "die",
    "raise",
    "throw",
    "sync",
    "Sync",
];

/// So many loops are looked at: each look goes to the end of what is repeated.
const MAX_LOOPS: usize = 8;

/// Whether there is such a loop.
pub(super) fn has_bomb(tokens: &[Token]) -> bool {
    let loops = (0..tokens.len()).filter_map(|at| body(tokens.get(at..)?));
    loops.take(MAX_LOOPS).any(only_starts)
}

/// What is repeated without end by the loop that begins here.
fn body(tokens: &[Token]) -> Option<&[Token]> {
    use Token::{Name, Sign};
    let is_true = |token: Option<&Token>| match token {
        Some(Name(name)) => matches!(name.as_str(), "True" | "true" | "TRUE"),
        Some(Token::Number(number)) => number == "1",
        _ => false,
    };
    let Some(Name(word)) = tokens.first() else { return None };
    let open = usize::from(tokens.get(1) == Some(&Sign("(")));
    match word.as_str() {
        "while" if is_true(tokens.get(1 + open)) => block(tokens.get(2 + 2 * open..)?),
        "for" => match tokens.get(1..5)? {
            [Sign("("), Sign(";"), Sign(";"), Sign(")")] => block(tokens.get(5..)?),
            _ => None,
        },
        "loop" | "repeat" if is_block(tokens.get(1)) => block(tokens.get(1..)?),
        // `fork while fork`
        word if STARTS.contains(&word) => match tokens.get(1..3)? {
            [Name(again), Name(also)] if again == "while" && STARTS.contains(&also.as_str()) => tokens.get(..1),
            [Name(again), one] if again == "while" && is_true(Some(one)) => tokens.get(..1),
            _ => None,
        },
        _ => None,
    }
}

fn is_block(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Sign("{")) => true,
        Some(Token::Name(name)) => name == "do",
        _ => false,
    }
}

/// What stands between braces, or all that follows.
fn block(tokens: &[Token]) -> Option<&[Token]> {
    if tokens.first() != Some(&Token::Sign("{")) {
        return Some(tokens);
    }
    let mut depth = 0usize;
    let end = tokens.iter().position(|token| {
        match token {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    tokens.get(..end.unwrap_or(tokens.len()))
}

fn only_starts(body: &[Token]) -> bool {
    let names = || {
        body.iter().filter_map(|token| match token {
            Token::Name(name) => Some(name.as_str()),
            _ => None,
        })
    };
    names().any(|name| STARTS.contains(&name)) && !names().any(|name| PAUSES.iter().any(|pause| name.contains(pause)))
}
