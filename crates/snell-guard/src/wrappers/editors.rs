//! Programs with commands of their own that can run programs: editors, pagers, database clients.

use super::WrapperCall;
use super::table::words::editors as words;
use crate::interpret::{CodeLanguage, ShellInterpreter, quote_shell_word};
use crate::invocation::{OpenedFile, SymbolicText};

/// The effect of an editor's command outside its own text.
enum EditorAction {
    Runs(SymbolicText),
    Writes(SymbolicText),
}

/// Editors and pagers: `-c '!command'`, `+!command`, and commands on standard input.
pub(super) fn follow_editor(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let mut commands = collect_editor_commands(job.call.arguments());
    let shows_it = words::STDIN_VIEWERS.contains(&job.via.as_str())
        || job.call.arguments().iter().any(|argument| argument.as_text() == Some("-"));
    if let Some(text) = interpreter.stdin_text().filter(|_| !shows_it) {
        let text = text.flatten_patterns().to_string();
        commands.extend(text.lines().map(SymbolicText::from_text));
    }
    let mut call = job.call.clone();
    let mut codes = Vec::new();
    for does in commands.iter().filter_map(parse_editor_command) {
        match does {
            EditorAction::Runs(code) => codes.push(code),
            EditorAction::Writes(path) => {
                call.files.push(OpenedFile::truncated(path.expand_home(&interpreter.world.home)))
            }
        }
    }
    codes.extend(job.args.flag_values(&["--eval", "-eval", "--execute"]).flat_map(extract_lisp_commands));
    let at = interpreter.run_program(call);
    if let Some(at) = at {
        let lisp = job.args.flag_values(&["--eval", "-eval", "--execute"]).cloned();
        let calls = commands.iter().filter(|command| command.leading_text().contains('(')).cloned();
        for code in lisp.chain(calls) {
            interpreter.report_inline_code(CodeLanguage::Other, code, at);
        }
    }
    for code in codes {
        job.run_code(interpreter, &code);
    }
}

/// The commands among the arguments: files may come before them.
fn collect_editor_commands(arguments: &[SymbolicText]) -> Vec<SymbolicText> {
    let mut found = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.leading_text();
        match argument.as_text() {
            Some("--") => break,
            Some(flag) if words::COMMAND_FLAGS.contains(&flag) || is_command_cluster(flag) => {
                found.extend(arguments.next().cloned())
            }
            _ if text.starts_with('+') => found.push(argument.skip_leading_bytes(1)),
            _ if text.starts_with("-c") => found.push(argument.skip_leading_bytes(2)),
            _ => {}
        }
    }
    found
}

/// `ex -sc command`
fn is_command_cluster(flag: &str) -> bool {
    flag.strip_suffix('c').is_some_and(|flags| ["-s", "-es", "-Es", "-e", "-E"].contains(&flags))
}

/// The text after `!` in an editor's command, in `system('…')`, or after `w`.
fn parse_editor_command(command: &SymbolicText) -> Option<EditorAction> {
    let text = command.leading_text();
    if let Some(code) = extract_system_argument(text) {
        return Some(EditorAction::Runs(SymbolicText::from_text(code)));
    }
    if let Some(code) = find_equivalent_command(text) {
        return Some(EditorAction::Runs(code));
    }
    if let Some(path) = find_written_file(command) {
        return Some(EditorAction::Writes(path));
    }
    let from = if text.trim_start_matches(':').starts_with("sil") { text.find(' ')? } else { 0 };
    let at = from + text.get(from..)?.find('!')?;
    let before = text.get(..at)?.trim_start_matches(':').trim();
    let is_quoted = before.ends_with(['"', '\'']);
    let before = before.trim_end_matches(['"', '\'']).trim_end();
    let is_address = |byte: u8| byte.is_ascii_digit() || b",.$%".contains(&byte);
    let is_autocommand = before.starts_with("au");
    let runs = is_autocommand
        || words::BANG_PREFIXES.contains(&before)
        || before.ends_with(':')
        || before.bytes().all(is_address);
    let code = command.skip_leading_bytes(at + 1);
    let code = match code.as_text().filter(|_| is_quoted) {
        Some(text) => SymbolicText::from_text(text.trim_end_matches(['"', '\''])),
        None => code,
    };
    (runs && !code.to_string().trim().is_empty()).then_some(EditorAction::Runs(code))
}

/// The file of `w file` and `w! file`. `w !command` has a blank before the sign.
fn find_written_file(command: &SymbolicText) -> Option<SymbolicText> {
    let text = command.leading_text();
    let start = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (word, _) = text.get(start..)?.split_once(' ')?;
    let name = word.trim_end_matches('!');
    let path = command.skip_leading_bytes(start + word.len() + 1);
    let is_file = !path.leading_text().trim_start().starts_with(['!', '>']) && !path.is_empty();
    (words::WRITE_COMMANDS.contains(&name) && is_file).then_some(path)
}

/// `(shell-command "…")`, `(delete-directory "…" t)`
fn extract_lisp_commands(expression: &SymbolicText) -> Vec<SymbolicText> {
    let text = expression.flatten_patterns().to_string();
    let runs = words::LISP_SHELL_FUNCTIONS
        .iter()
        .find_map(|call| text.split_once(call)?.1.split('"').nth(1))
        .map(SymbolicText::from_text);
    runs.into_iter().chain(find_equivalent_command(&text)).collect()
}

/// The command that is equivalent to a function, with its first string as the file. Editors expand `~`.
fn find_equivalent_command(text: &str) -> Option<SymbolicText> {
    let (command, after) = words::FUNCTION_EQUIVALENTS
        .iter()
        .find_map(|(command, calls)| Some((command, calls.iter().find_map(|call| text.split_once(call))?.1)))?;
    let quote = after.chars().find(|c| matches!(c, '"' | '\''))?;
    let file = after.split(quote).nth(1)?;
    let (home, rest) = match file {
        "~" | "HOME" => ("~", ""),
        _ => file.strip_prefix("~/").map_or(("", file), |rest| ("~/", rest)),
    };
    let rest = if rest.is_empty() { String::new() } else { quote_shell_word(rest) };
    Some(SymbolicText::from_text(format!("{command} -- {home}{rest}")))
}

/// Clients of databases and servers: `sqlite3 file '.shell command'`, `psql -c '\\! command'`, and the same on standard
/// input.
pub(super) fn follow_client(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let mut commands = job.call.arguments().to_vec();
    commands.extend(interpreter.stdin_text().cloned());
    job.report_program(interpreter);
    job.follow_code_flags(interpreter);
    for command in commands {
        for line in command.flatten_patterns().to_string().lines() {
            if let Some(code) = find_client_code(line.trim_start()) {
                job.run_code(interpreter, &SymbolicText::from_text(code));
            }
            if let Some(path) = find_client_output_file(line.trim_start()) {
                let path = SymbolicText::from_text(path).expand_home(&interpreter.world.home);
                interpreter.report_files(vec![OpenedFile::truncated(path)], &job.call.span);
            }
        }
    }
}

/// The file that a client's command writes.
fn find_client_output_file(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(' ')?;
    let path = rest.trim().rsplit(' ').next()?.trim_matches(['\'', '"', ';']);
    let is_file = !path.is_empty() && !path.starts_with(['|', '!']);
    (words::CLIENT_WRITE_COMMANDS.contains(&name) && is_file).then_some(path)
}

fn find_client_code(line: &str) -> Option<&str> {
    let behind_sign = line.strip_prefix('!').or_else(|| line.strip_prefix("~!"));
    let behind_sign = behind_sign.or_else(|| line.strip_prefix("system ").map(trim_quotes));
    let behind_sign = behind_sign.or_else(|| line.split_once("\\!").map(|(_, code)| code));
    let behind_sign = behind_sign.or_else(|| extract_system_argument(line)).or_else(|| find_sqlite_code(line));
    behind_sign.or_else(|| find_copy_program(line))
}

/// A text without the quotes around it.
fn trim_quotes(text: &str) -> &str {
    let inner = text.trim().trim_end_matches(';');
    let quote = inner.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    quote.and_then(|quote| inner.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// `COPY table TO PROGRAM 'command'`
fn find_copy_program(line: &str) -> Option<&str> {
    let after = ["PROGRAM '", "program '"].iter().find_map(|mark| line.split_once(mark))?.1;
    after.split('\'').next()
}

fn find_sqlite_code(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(' ')?;
    // They may be abbreviated: `.sh`, `.sys`.
    let is = |known: &&str| name.len() > 2 && known.starts_with(name);
    if words::SQLITE_SHELL_COMMANDS.iter().any(is) {
        return Some(trim_quotes(rest));
    }
    let (_, code) = rest.split_once('|').filter(|_| words::SQLITE_PIPE_COMMANDS.iter().any(is))?;
    let quoted = rest.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
    quoted.map_or(Some(code), |quote| code.split(quote).next())
}

/// The text in `system("…")` and similar calls.
fn extract_system_argument(text: &str) -> Option<&str> {
    let quoted = words::SYSTEM_FUNCTIONS.iter().find_map(|call| text.split_once(call))?.1;
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    quoted.split(quote).nth(1)
}
