//! The manual: help of every command, man pages, completions.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use snell_test_support::skip::{find_program, report_skipped, require_program, require_util_linux_script};

use crate::support::CliSandbox;

/// Every command that people can see, by its words, found by asking the program itself; nothing for the program.
fn list_commands(sandbox: &CliSandbox) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut next = 0;
    while let Some(command) = found.get(next).cloned() {
        next += 1;
        let help = read_help(sandbox, &command);
        // The program has groups of commands, and a command with subcommands a list of them.
        let first = if command.is_empty() { "Set up:" } else { "Commands:" };
        let listed = help.lines().skip_while(|line| *line != first).take_while(|line| !line.starts_with("Options:"));
        let name = |line: &str| {
            let (name, about) = line.strip_prefix("  ")?.split_once("  ")?;
            let is_name = !name.is_empty() && !about.is_empty() && !name.contains(' ') && name != "help";
            is_name.then(|| name.to_owned())
        };
        for name in listed.filter_map(name) {
            found.push(format!("{command} {name}").trim_start().to_owned());
        }
    }
    found
}

fn read_help(sandbox: &CliSandbox, command: &str) -> String {
    let args: Vec<_> = command.split_whitespace().chain(["--help"]).collect();
    let ran = sandbox.run_snell(&args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
    ran.stdout
}

#[test]
fn every_command_has_help_with_an_example_exit_codes_and_a_page() {
    let sandbox = CliSandbox::new();
    let commands = list_commands(&sandbox);
    assert!(commands.len() > 30, "{commands:?}");
    for known in ["run", "guard check", "session ping", "man"] {
        assert!(commands.iter().any(|command| command == known), "{known}: {commands:?}");
    }
    for command in commands {
        let help = read_help(&sandbox, &command);
        assert!(help.contains("\nExample"), "{command}: {help}");
        assert!(help.contains("\nExit codes"), "{command}: {help}");
        assert!(help.contains("Docs: snell docs"), "{command}: {help}");
        let words = if command.is_empty() { "snell" } else { command.as_str() };
        let example = help.split_once("\nExample").unwrap().1;
        assert!(example.contains(words), "{command}: {help}");
    }
}

/// The size of a small terminal. A line is left for the next prompt.
const SCREEN: (usize, usize) = (80, 39);

#[test]
fn short_help_fits_on_one_screen_and_has_a_page() {
    let sandbox = CliSandbox::new();
    let narrow = CliSandbox::new().env("COLUMNS", "80");
    for command in list_commands(&sandbox) {
        let args: Vec<_> = command.split_whitespace().chain(["-h"]).collect();
        let help = narrow.run_snell(&args, "").stdout;
        let width = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(width <= SCREEN.0 && help.lines().count() <= SCREEN.1, "{command}: {help}");
        assert!(help.contains("Docs: snell docs"), "{command}: {help}");
        assert!(command.is_empty() || help.contains("\nExample"), "{command}: {help}");
    }
}

#[test]
fn a_call_without_a_command_shows_the_same_groups() {
    let sandbox = CliSandbox::new();
    let (bare, short) = (sandbox.run_snell(&[], ""), sandbox.run_snell(&["-h"], ""));
    assert_eq!((bare.code, bare.stderr), (1, short.stdout));
}

#[test]
fn no_example_is_broken_into_lines_that_cannot_be_pasted() {
    let sandbox = CliSandbox::new();
    let narrow = CliSandbox::new().env("COLUMNS", "80");
    let wide = CliSandbox::new().env("COLUMNS", "400");
    for command in list_commands(&sandbox) {
        let examples = |sandbox: &CliSandbox| {
            let help = read_help(sandbox, &command);
            let examples = help.split_once("\nExample").unwrap().1;
            examples.split("\n\n").next().unwrap().to_owned()
        };
        let shown = examples(&narrow);
        assert_eq!(shown, examples(&wide), "{command}");
        for line in shown.lines().skip(1) {
            assert!(line.starts_with("  ") && line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

#[test]
fn every_command_has_a_man_page_that_names_it() {
    let sandbox = CliSandbox::new();
    let directory = sandbox.project().join("share/man/man1");
    let ran = sandbox.run_snell(&["man", "--dir", directory.to_str().unwrap()], "");
    let commands = list_commands(&sandbox);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with(&format!("Wrote {} man pages ", commands.len())), "{ran:?}");
    for command in &commands {
        let name = format!("snell {command}").trim_end().replace(' ', "-");
        let page = fs::read_to_string(directory.join(format!("{name}.1"))).unwrap();
        // As `apropos` reads it: the name, a dash, what it is about.
        let after_name = page.split_once(".SH NAME\n").unwrap().1.lines().next().unwrap();
        let (named, about) = after_name.split_once(" \\- ").unwrap();
        assert_eq!(named.replace('\\', ""), name, "{after_name}");
        assert!(about.len() > 10, "{after_name}");
        for section in ["SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "SEE ALSO"] {
            let heading = [format!(".SH {section}\n"), format!(".SH \"{section}\"\n")];
            assert!(heading.iter().any(|heading| page.contains(heading)), "{name}: {section}");
        }
        let printed = sandbox.run_snell(&[&["man"], &command.split_whitespace().collect::<Vec<_>>()[..]].concat(), "");
        assert_eq!((printed.code, printed.stdout), (0, page), "{name}");
    }
    let main = fs::read_to_string(directory.join("snell.1")).unwrap();
    for sign in [".SH FILES", "settings.json", "snell.db", ".SH ENVIRONMENT", "SNELL_HOME", "NO_COLOR"] {
        assert!(main.replace('\\', "").contains(sign), "{sign}");
    }
}

/// A program that checks man pages; nothing if there is none.
fn find_man_reader() -> Option<&'static [&'static str]> {
    let readers: [&[&str]; 3] = [
        &["mandoc", "-Tlint", "-Werror"],
        &["man", "--warnings", "-Tutf8", "-Z", "-l"],
        &["groff", "-man", "-Tutf8", "-ww", "-z"],
    ];
    readers.into_iter().find(|reader| find_program(reader[0]).is_some())
}

#[test]
fn man_page_readers_report_no_warnings() {
    let Some(reader) = find_man_reader() else {
        report_skipped("neither mandoc nor man nor groff is here");
        return;
    };
    let sandbox = CliSandbox::new();
    let directory = sandbox.project().join("man");
    assert_eq!(sandbox.run_snell(&["man", "--dir", "man"], "").code, 0);
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let output = Command::new(reader[0]).args(&reader[1..]).arg(&path).env("LC_ALL", "C").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{}: {said}", path.display());
        assert!(fs::read(&path).unwrap().is_ascii(), "{}", path.display());
    }
}

#[test]
fn a_page_that_is_not_there_is_refused() {
    let sandbox = CliSandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["man", "rum"], "error: unknown command \"rum\"\nhint: did you mean \"run\"?\n"),
        (&["man", "guard", "cheek"], "error: unknown command \"guard cheek\"\nhint: did you mean \"guard check\"?\n"),
        (&["man", "forward"], "error: unknown command \"forward\"\nhint: `snell --help` lists all commands\n"),
        (&["man", "--dir", "/dev/null/man"], "error: cannot create /dev/null/man"),
        (&["man", "run", "--dir", "man"], "error: "),
    ];
    for (args, said) in cases {
        let ran = sandbox.run_snell(args, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        assert!(ran.stderr.starts_with(said), "{args:?}: {ran:?}");
    }
}

/// A bash that knows how to complete `snell`, in which this line is run; nothing if there is no bash.
fn build_bash_completion(sandbox: &CliSandbox, line: &str) -> Option<Command> {
    require_program("bash")?;
    let script = sandbox.run_snell(&["completions", "bash"], "").stdout;
    fs::write(sandbox.project().join("completion.bash"), script).unwrap();
    let mut command = sandbox.program("bash");
    command.args(["--norc", "--noprofile", "-c", line]);
    Some(command)
}

#[test]
fn bash_completes_commands_options_and_values() {
    // What is typed, and what comes of it.
    let cases = [
        ("gu", "guard"),
        ("guard ch", "check"),
        ("session st", "status"),
        ("log --ver", "--verdict"),
        ("completions po", "powershell"),
        ("run Stop --rec", "--record"),
        ("run PreT", "PreToolUse"),
        ("explain SessionS", "SessionStart"),
        ("docs contr", "contracts"),
        ("man statusl", "statusline"),
        ("install cla", "claude"),
        // What people do not see is not completed.
        ("sup", ""),
        ("scr", ""),
        ("forw", ""),
        ("man sup", ""),
        ("run Stop --js", ""),
    ];
    let sandbox = CliSandbox::new();
    for (typed, completed) in cases {
        let line = "source completion.bash; read -ra COMP_WORDS <<< \"snell $TYPED\"; \
                    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); function=$(complete -p snell); \
                    function=${function##*-F }; ${function%% *} snell \"${COMP_WORDS[-1]}\" \"${COMP_WORDS[-2]}\"; \
                    printf '%s\\n' \"${COMPREPLY[@]}\"";
        let Some(mut command) = build_bash_completion(&sandbox, line) else {
            return;
        };
        let output = command.env("TYPED", typed).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.trim_end(), completed, "{typed}: {:?}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The same by the keyboard: what Tab makes of a word is what is run.
#[test]
fn at_a_keyboard_tab_completes_a_command() {
    let sandbox = CliSandbox::new();
    let Some(_) = build_bash_completion(&sandbox, "") else {
        return;
    };
    if require_util_linux_script().is_none() {
        return;
    }
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_snell"));
    let start =
        format!("PATH='{}':$PATH; source completion.bash; PS1='ready> '\n", program.parent().unwrap().display());
    fs::write(sandbox.project().join("start.bash"), start).unwrap();
    let mut terminal = sandbox
        .program("script")
        .args(["--quiet", "--command", "bash --noprofile --rcfile start.bash -i", "/dev/null"])
        .env("TERM", "dumb")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(terminal.stdout.take().unwrap());
    // It listens to Tab once it has asked for a command.
    let mut asked = Vec::new();
    while !asked.ends_with(b"ready> ") {
        assert!(shown.read_until(b' ', &mut asked).unwrap() > 0, "{}", String::from_utf8_lossy(&asked));
    }
    let mut keyboard = terminal.stdin.take().unwrap();
    keyboard.write_all(b"snell gu\t rules --help\rexit\r").unwrap();
    let mut said = String::new();
    shown.read_to_string(&mut said).unwrap();
    terminal.wait().unwrap();
    assert!(said.contains("Usage: snell guard rules"), "{said}");
}
