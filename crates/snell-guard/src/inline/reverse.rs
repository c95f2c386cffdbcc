//! Code that connects a shell, or whatever it is told from there, to another machine.

use super::scan::{Piece, Token};

/// Names without which no language gets a connection of its own.
const NETWORK: &[&str] = &[
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
const MODULES: &[&str] = &["net", "node:net", "node:tls", "socket", "tls"];

/// Calls that open one, or wait for somebody to do so.
const CONNECTS: &[&str] = &[
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
const PLUGS: &[&str] = &["dup2", "fdopen", "openpty", "posix_dup2", "pty", "reopen"];

/// Calls that run what they are given.
const RUNS: &[&str] = &[
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
const SHELLS: &[&str] = &[
    "ash",
    "bash",
    "cmd",
    "cmd.exe",
    "dash",
    "ksh",
    "powershell",
    "powershell.exe",
    "pwsh",
    "sh",
    "zsh",
];

/// What makes a shell wait for somebody who types.
const TYPED: &[&str] = &["-i", "-l", "-li", "-il", "--login"];

/// Names of this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1", "::1", "0.0.0.0"];

/// Whether this is such code.
pub(super) fn has_shell(tokens: &[Token]) -> bool {
    let named = |wanted: &[&str]| {
        tokens
            .iter()
            .any(|token| name(token).is_some_and(|name| wanted.contains(&name)))
    };
    let asks_for = |token: &Token| text(token).is_some_and(|text| MODULES.contains(&text));
    let networked = named(NETWORK) || tokens.iter().any(asks_for);
    if !networked || !named(CONNECTS) {
        return false;
    }
    let stays = tokens.iter().filter_map(text).any(|text| HERE.contains(&text));
    named(PLUGS) || has_bare_shell(tokens) || (!stays && runs_what_it_is_told(tokens))
}

/// A shell without anything to do: somebody will tell it.
fn has_bare_shell(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| {
        let Some(text) = tokens.get(at).and_then(text) else {
            return false;
        };
        let mut words = text.split_whitespace();
        let program = words.next().unwrap_or_default();
        let is_shell = SHELLS.contains(&program.rsplit('/').next().unwrap_or(program));
        let is_typed = match words.next() {
            Some(word) => TYPED.contains(&word) || word.starts_with(['<', '>']),
            None => match (tokens.get(at + 1), tokens.get(at + 2).and_then(self::text)) {
                (Some(Token::Sign(",")), Some(next)) => TYPED.contains(&next),
                _ => true,
            },
        };
        is_shell && is_typed
    })
}

/// A call of which only the code knows what it runs: `popen(line)`, or as much between backquotes.
fn runs_what_it_is_told(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        if let Token::Text { pieces, command: true } = token {
            return matches!(pieces.first(), Some(Piece::Hole(_)));
        }
        let runs = name(token).is_some_and(|name| RUNS.contains(&name));
        let open = usize::from(tokens.get(at + 1) == Some(&Token::Sign("(")));
        runs && matches!(tokens.get(at + 1 + open), Some(Token::Name(_)))
    })
}

fn name(token: &Token) -> Option<&str> {
    match token {
        Token::Name(name) => Some(name.trim_start_matches(['$', '@', '%', ':'])),
        _ => None,
    }
}

/// A string of which the beginning is known.
fn text(token: &Token) -> Option<&str> {
    match token {
        Token::Text { pieces, .. } => match pieces.first() {
            Some(Piece::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
