//! What people see at a terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use snell_test_support::process::spawn_with_stdin;
use snell_test_support::skip::require_util_linux_script;
use snell_test_support::wait::wait_until;

use super::{DemoSandbox, list_names};

/// A demo at a terminal of so many columns; nothing if there is no way to get one here.
fn build_terminal_command(
    theatre: &DemoSandbox,
    columns: usize,
    args: &str,
    variables: &[(&str, &str)],
) -> Option<Command> {
    require_util_linux_script()?;
    let line = format!("exec script --quiet --return --command \"stty cols {columns}; exec $0 demo {args}\" /dev/null");
    let mut command = theatre.sandbox.shell(&line, &[]);
    command.env("TERM", "xterm").env("TMPDIR", theatre.temp_dir()).envs(variables.iter().copied());
    Some(command)
}

/// What it shows, and how it ends, if this is typed.
fn run_with_input(command: &mut Command, typed: &str) -> (Option<i32>, String) {
    let output = spawn_with_stdin(command, typed).wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// What it shows, and how it ends, if Enter is pressed as soon as it plays, and again once it asks for that. The page must be
/// there when it is pressed again.
fn press_enter_twice(command: &mut Command) -> (Option<i32>, String) {
    let mut terminal = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut keys = terminal.stdin.take().unwrap();
    let mut screen = BufReader::new(terminal.stdout.take().unwrap());
    let mut text = String::new();
    let mut read_until = |text: &mut String, words: &str| {
        while !text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words) {
            assert!(screen.read_line(text).unwrap() > 0, "{words}: {text}");
        }
    };
    read_until(&mut text, "Snell's page: http");
    keys.write_all(b"\n").unwrap();
    read_until(&mut text, "until you press Enter.");
    let page = text.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let address = page.trim_start_matches("http://").trim_end_matches('/');
    TcpStream::connect(address).unwrap();
    assert!(terminal.try_wait().unwrap().is_none(), "{text}");
    keys.write_all(b"\n").unwrap();
    screen.read_to_string(&mut text).unwrap();
    (terminal.wait().unwrap().code(), text)
}

#[test]
fn at_a_terminal_it_stays_until_enter_with_lines_that_fit() {
    for columns in [40, 80] {
        let theatre = DemoSandbox::new();
        let Some(mut command) = build_terminal_command(&theatre, columns, "--fast", &[("NO_COLOR", "1")]) else {
            return;
        };
        let (code, text) = press_enter_twice(&mut command);
        assert_eq!(code, Some(0), "{text}");
        // A path is not broken, so that it can be copied.
        let wide: Vec<_> = text
            .lines()
            .filter(|line| line.trim_end().chars().count() > columns && !line.contains("Its files:"))
            .collect();
        assert!(wide.is_empty(), "{wide:#?}");
        let costs = text.lines().skip_while(|line| !line.contains("SLOWEST")).skip(1);
        let costs: Vec<_> = costs.map(str::trim_end).take_while(|line| !line.is_empty()).collect();
        assert!(!costs.is_empty() && costs.iter().all(|line| line.ends_with(" ms")), "{costs:#?}");
        assert!(!text.contains("\u{1b}["), "{text}");
        theatre.assert_nothing_left();
    }
}

#[test]
fn colours_are_for_terminals() {
    let theatre = DemoSandbox::new();
    let Some(mut command) = build_terminal_command(&theatre, 80, "--fast --once", &[]) else {
        return;
    };
    let (code, text) = run_with_input(&mut command, "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\u{1b}[31mblocked"), "{text}");
    assert!(!text.contains("The page stays"), "{text}");
    theatre.assert_nothing_left();
}

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let theatre = DemoSandbox::new();
    let Some(mut command) = build_terminal_command(&theatre, 80, "", &[]) else {
        return;
    };
    let mut terminal = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(terminal.stdout.as_mut().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.contains("starts")));
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    wait_until(|| (list_names(&theatre.temp_dir()).is_empty() && theatre.list_processes().is_empty()).then_some(()));
    theatre.assert_nothing_left();
}
