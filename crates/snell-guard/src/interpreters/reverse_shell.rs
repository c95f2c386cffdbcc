//! Code that connects a shell, or whatever it is told from there, to another machine.

use super::lexer::{ScriptStringPart, ScriptToken};

/// Names without which no language gets a connection of its own.
const NETWORK_NAMES: &[&str] = &[
    "INET",
    "Socket",
    "TCPServer",
    "TCPSocket",
    "UDPSocket",
    "fsockopen",
    "net",
    "pfsockopen",
    "socket",
    "socket_connect",
    "stream_socket_client",
    "tls",
];

/// Modules that are asked for by their names: `require("net")`.
const NETWORK_MODULES: &[&str] = &["net", "node:net", "node:tls", "socket", "tls"];

/// Calls that open one, or wait for somebody to do so.
const CONNECT_CALLS: &[&str] = &[
    "INET",
    "TCPServer",
    "TCPSocket",
    "accept",
    "connect",
    "createConnection",
    "createServer",
    "create_connection",
    "create_server",
    "fsockopen",
    "pfsockopen",
    "socket_connect",
    "stream_socket_client",
    "tcp",
];

/// Calls that put one file in the place of another, such as standard input, or make a terminal.
const REDIRECT_CALLS: &[&str] = &["dup2", "fdopen", "openpty", "posix_dup2", "pty", "reopen"];

/// Calls that run what they are given.
const EXEC_CALLS: &[&str] = &[
    "Popen",
    "call",
    "check_output",
    "exec",
    "execSync",
    "getoutput",
    "passthru",
    "popen",
    "proc_open",
    "run",
    "shell_exec",
    "spawn",
    "spawnSync",
    "system",
];

/// Shells, as they are called.
const SHELLS: &[&str] =
    &["ash", "bash", "cmd", "cmd.exe", "dash", "ksh", "powershell", "powershell.exe", "pwsh", "sh", "zsh"];

/// What makes a shell wait for somebody who types.
const INTERACTIVE_FLAGS: &[&str] = &["-i", "-l", "-li", "-il", "--login"];

/// Names of this machine.
const LOCALHOST_NAMES: &[&str] = &["localhost", "127.0.0.1", "::1", "0.0.0.0"];

/// Whether this is such code.
pub(super) fn has_reverse_shell(tokens: &[ScriptToken]) -> bool {
    let named =
        |wanted: &[&str]| tokens.iter().any(|token| token_name(token).is_some_and(|name| wanted.contains(&name)));
    let asks_for = |token: &ScriptToken| token_text(token).is_some_and(|text| NETWORK_MODULES.contains(&text));
    let networked = named(NETWORK_NAMES) || tokens.iter().any(asks_for);
    if !networked || !named(CONNECT_CALLS) {
        return false;
    }
    let stays = tokens.iter().filter_map(token_text).any(|text| LOCALHOST_NAMES.contains(&text));
    named(REDIRECT_CALLS) || has_interactive_shell(tokens) || (!stays && has_dynamic_exec(tokens))
}

/// A shell without anything to do: somebody will tell it.
fn has_interactive_shell(tokens: &[ScriptToken]) -> bool {
    (0..tokens.len()).any(|at| {
        let Some(text) = tokens.get(at).and_then(token_text) else {
            return false;
        };
        let mut words = text.split_whitespace();
        let program = words.next().unwrap_or_default();
        let is_shell = SHELLS.contains(&program.rsplit('/').next().unwrap_or(program));
        let is_typed = match words.next() {
            Some(word) => INTERACTIVE_FLAGS.contains(&word) || word.starts_with(['<', '>']),
            None => match (tokens.get(at + 1), tokens.get(at + 2).and_then(self::token_text)) {
                (Some(ScriptToken::Sign(",")), Some(next)) => INTERACTIVE_FLAGS.contains(&next),
                _ => true,
            },
        };
        is_shell && is_typed
    })
}

/// A call of which only the code knows what it runs: `popen(line)`, or as much between backquotes.
fn has_dynamic_exec(tokens: &[ScriptToken]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        if let ScriptToken::Text { pieces, command: true } = token {
            return matches!(pieces.first(), Some(ScriptStringPart::Interpolation(_)));
        }
        let runs = token_name(token).is_some_and(|name| EXEC_CALLS.contains(&name));
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

/// A string of which the beginning is known.
fn token_text(token: &ScriptToken) -> Option<&str> {
    match token {
        ScriptToken::Text { pieces, .. } => match pieces.first() {
            Some(ScriptStringPart::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
