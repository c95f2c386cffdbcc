//! Programs with commands of their own, some of which run others: editors, pagers, clients of databases.

use super::Job;
use crate::invocation::{Opened, Opening, Value};
use crate::shell::{Flow, Walker};

/// Flags of editors whose value is one of their commands.
const COMMAND_FLAGS: &[&str] = &["-c", "--cmd"];
/// Those that show what they read rather than doing it.
const SHOWS_STDIN: &[&str] = &["emacs", "less", "more"];
/// Commands of editors behind which `!` runs something.
const BEFORE_CODE: &[&str] = &[
    "", "silent", "sil", "silent!", "sil!", "r", "read", "w", "write", "%", "terminal", "term", "exe",
];
/// Commands of editors that write a file.
const WRITES: &[&str] = &["w", "write", "sav", "saveas", "up", "update", "x", "xit", "wq"];
/// Functions of editors and clients that run something.
const CALLS: &[&str] = &["system(", "systemlist(", "os.execute(", "jobstart("];
/// Commands of sqlite3 that run something.
const SQLITE_RUNS: &[&str] = &[".shell", ".system"];
/// Commands of sqlite3 that take `|command` in place of a file.
const SQLITE_PIPES: &[&str] = &[".import", ".once", ".output", ".read"];

/// Commands of clients that write the file that they name last.
const CLIENT_WRITES: &[&str] = &[
    ".output", ".once", ".backup", ".save", ".log", ".trace", ".clone", "\\o", "\\out", "\\w", "\\write", "tee", "\\T",
];

/// What a command of an editor does, beyond its own text.
enum Does {
    Runs(Value),
    Writes(Value),
}

/// Editors and pagers: `-c '!command'`, `+!command`, and commands by standard input.
pub(super) fn editor<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let mut commands = commands(job.call.arguments());
    let shows_it = SHOWS_STDIN.contains(&job.via.as_str())
        || job
            .call
            .arguments()
            .iter()
            .any(|argument| argument.as_text() == Some("-"));
    if let Some(text) = walker.stdin_text().filter(|_| !shows_it) {
        let text = text.flat().to_string();
        commands.extend(text.lines().map(Value::text));
    }
    let mut call = job.call.clone();
    let mut codes = Vec::new();
    for does in commands.iter().filter_map(done_by) {
        match does {
            Does::Runs(code) => codes.push(code),
            Does::Writes(path) => call.files.push(Opened {
                path: at_home(path, walker),
                how: Opening::Truncate,
            }),
        }
    }
    codes.extend(
        job.given
            .values(&["--eval", "-eval", "--execute"])
            .flat_map(codes_of_lisp),
    );
    walker.plain(call);
    for code in codes {
        job.run_code(walker, &code);
    }
    Some(Flow::Next)
}

/// The commands among arguments: files may stand before them.
fn commands(arguments: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.leading();
        match argument.as_text() {
            Some("--") => break,
            Some(flag) if COMMAND_FLAGS.contains(&flag) || is_cluster(flag) => found.extend(arguments.next().cloned()),
            _ if text.starts_with('+') => found.push(argument.after(1)),
            _ if text.starts_with("-c") => found.push(argument.after(2)),
            _ => {}
        }
    }
    found
}

/// `ex -sc command`
fn is_cluster(flag: &str) -> bool {
    flag.strip_suffix('c')
        .is_some_and(|flags| ["-s", "-es", "-Es", "-e", "-E"].contains(&flags))
}

/// What stands behind the `!` of an editor's command, in `system('…')`, or behind `w`.
fn done_by(command: &Value) -> Option<Does> {
    let text = command.leading();
    if let Some(code) = call_in(text) {
        return Some(Does::Runs(Value::text(code)));
    }
    if let Some(code) = like_in(text) {
        return Some(Does::Runs(code));
    }
    if let Some(path) = written_by(command) {
        return Some(Does::Writes(path));
    }
    let from = if text.trim_start_matches(':').starts_with("sil") {
        text.find(' ')?
    } else {
        0
    };
    let at = from + text.get(from..)?.find('!')?;
    let before = text.get(..at)?.trim_start_matches(':').trim();
    let is_address = |byte: u8| byte.is_ascii_digit() || b",.$%".contains(&byte);
    let runs = BEFORE_CODE.contains(&before) || before.ends_with(':') || before.bytes().all(is_address);
    let code = command.after(at + 1);
    (runs && !code.to_string().trim().is_empty()).then_some(Does::Runs(code))
}

/// The file of `w file` and `w! file`. In `w !command` a blank stands before the sign.
fn written_by(command: &Value) -> Option<Value> {
    let text = command.leading();
    let start = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (word, _) = text.get(start..)?.split_once(' ')?;
    let name = word.trim_end_matches('!');
    let path = command.after(start + word.len() + 1);
    let is_file = !path.leading().trim_start().starts_with(['!', '>']) && !path.is_empty();
    (WRITES.contains(&name) && is_file).then_some(path)
}

/// What the functions of an editor's own languages do, as commands of a shell.
const LIKE: &[(&str, &str)] = &[
    ("(delete-directory", "rm -rf"),
    ("(delete-file", "rm"),
    ("(write-region", "truncate -s 0"),
    ("(find-file", "cat"),
    ("(insert-file-contents", "cat"),
    ("delete(", "rm -rf"),
    ("writefile(", "truncate -s 0"),
    ("readfile(", "cat"),
    ("fs_unlink(", "rm"),
    ("fs.rm(", "rm -rf"),
    ("os.remove(", "rm"),
];
/// Functions of Lisp that run a text.
const LISP_RUNS: &[&str] = &["shell-command", "(call-process", "(start-process", "(compile "];

/// `(shell-command "…")`, `(delete-directory "…" t)`
fn codes_of_lisp(expression: &Value) -> Vec<Value> {
    let text = expression.flat().to_string();
    let runs = LISP_RUNS
        .iter()
        .find_map(|call| text.split_once(call)?.1.split('"').nth(1))
        .map(Value::text);
    runs.into_iter().chain(like_in(&text)).collect()
}

/// The command that does the same as a function, with its first text as the file. An editor knows `~`.
fn like_in(text: &str) -> Option<Value> {
    let (command, after) = LIKE
        .iter()
        .find_map(|(call, command)| Some((command, text.split_once(call)?.1)))?;
    let quote = after.chars().find(|c| matches!(c, '"' | '\''))?;
    let file = after.split(quote).nth(1)?;
    let home = if file.starts_with("~/") { "~/" } else { "" };
    let rest = file.get(home.len()..)?.replace('\'', r"'\''");
    Some(Value::text(format!("{command} -- {home}'{rest}'")))
}

/// Clients of databases and servers: `sqlite3 file '.shell command'`, `psql -c '\\! command'`, and the same by standard
/// input.
pub(super) fn client<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let mut commands = job.call.arguments().to_vec();
    commands.extend(walker.stdin_text().cloned());
    job.tell(walker);
    for command in commands {
        for line in command.flat().to_string().lines() {
            if let Some(code) = code_of_client(line.trim_start()) {
                job.run_code(walker, &Value::text(code));
            }
            if let Some(path) = file_of_client(line.trim_start()) {
                let written = Opened {
                    path: at_home(Value::text(path), walker),
                    how: Opening::Truncate,
                };
                walker.report_files(vec![written], &job.call.span);
            }
        }
    }
    Some(Flow::Next)
}

/// The file that a command of a client writes.
fn file_of_client(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(' ')?;
    let path = rest.trim().rsplit(' ').next()?.trim_matches(['\'', '"', ';']);
    let is_file = !path.is_empty() && !path.starts_with(['|', '!']);
    (CLIENT_WRITES.contains(&name) && is_file).then_some(path)
}

/// Editors and clients know `~`.
fn at_home(path: Value, walker: &Walker<'_>) -> Value {
    if !path.leading().starts_with("~/") {
        return path;
    }
    let mut whole = Value::text(walker.world.home.clone());
    whole.append(&path.after(1));
    whole
}

fn code_of_client(line: &str) -> Option<&str> {
    let behind_sign = line.strip_prefix('!').or_else(|| line.strip_prefix("system "));
    let behind_sign = behind_sign.or_else(|| line.split_once("\\!").map(|(_, code)| code));
    behind_sign.or_else(|| call_in(line)).or_else(|| code_of_sqlite(line))
}

fn code_of_sqlite(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(' ')?;
    // They may be shortened: `.sh`, `.sys`.
    let is = |known: &&str| name.len() > 2 && known.starts_with(name);
    if SQLITE_RUNS.iter().any(is) {
        return Some(rest);
    }
    let (_, code) = rest.split_once('|').filter(|_| SQLITE_PIPES.iter().any(is))?;
    let quoted = rest.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
    quoted.map_or(Some(code), |quote| code.split(quote).next())
}

/// The text in `system("…")` and its kin.
fn call_in(text: &str) -> Option<&str> {
    let quoted = CALLS.iter().find_map(|call| text.split_once(call))?.1;
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    quoted.split(quote).nth(1)
}
