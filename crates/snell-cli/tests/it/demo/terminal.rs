//! What people see at a terminal.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::{Theatre, names};
use crate::support::{skipped, start, wait_until};

/// A demo at a terminal of 80 columns; nothing if there is no way to get one here.
fn at_a_terminal(theatre: &Theatre, args: &str, variables: &[(&str, &str)]) -> Option<Command> {
    let has_script = Command::new("script").arg("--version").output();
    if !has_script.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        skipped("there is no util-linux script");
        return None;
    }
    let line = format!("exec script --quiet --return --command \"stty cols 80; exec $0 demo {args}\" /dev/null");
    let mut command = theatre.sandbox.shell(&line, &[]);
    command
        .env("TERM", "xterm")
        .env("TMPDIR", theatre.tmp())
        .envs(variables.iter().copied());
    Some(command)
}

/// What it shows, and how it ends, if this is typed.
fn shown(command: &mut Command, typed: &str) -> (Option<i32>, String) {
    let output = start(command, typed).wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn at_a_terminal_it_stays_until_enter_with_lines_that_fit() {
    let theatre = Theatre::new();
    let Some(mut command) = at_a_terminal(&theatre, "--fast", &[("NO_COLOR", "1")]) else {
        return;
    };
    let (code, text) = shown(&mut command, "\n");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("until you press Enter"), "{text}");
    let wide: Vec<_> = text
        .lines()
        .filter(|line| line.trim_end().chars().count() > 80)
        .collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(!text.contains("\u{1b}["), "{text}");
    theatre.is_as_before();
}

#[test]
fn colours_are_for_terminals() {
    let theatre = Theatre::new();
    let Some(mut command) = at_a_terminal(&theatre, "--fast --once", &[]) else {
        return;
    };
    let (code, text) = shown(&mut command, "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\u{1b}[31mblocked"), "{text}");
    assert!(!text.contains("The page stays"), "{text}");
    theatre.is_as_before();
}

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let theatre = Theatre::new();
    let Some(mut command) = at_a_terminal(&theatre, "", &[]) else {
        return;
    };
    let mut terminal = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(terminal.stdout.as_mut().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.contains("starts")));
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    wait_until(|| (names(&theatre.tmp()).is_empty() && theatre.processes().is_empty()).then_some(()));
    theatre.is_as_before();
}
