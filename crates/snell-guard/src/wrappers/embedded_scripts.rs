//! Commands in scripts of other programs: awk, sed, make, crontab, keys for a terminal.

use super::build_files::list_make_recipes;
use super::table::CODE_VARIABLES;
use super::table::words::scripts as words;
use super::{WrapperCall, with_inherited_stdin};
use crate::interpret::{CodeLanguage, CoverageGap, ShellInterpreter, expand_awk_template, parse_awk_string};
use crate::invocation::{FileOpenMode, OpenedFile, SymbolicText};

/// `awk`: `system("…")`, `"…" | getline`, `print | "…"`.
pub(super) fn follow_awk(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let programs = collect_scripts(interpreter, job, &["-e", "--source"]);
    let mut call = job.call.clone();
    for program in &programs {
        call.files.extend(parse_awk_files(&program.flatten_patterns().to_string()));
    }
    let at = interpreter.run_program(call);
    for program in &programs {
        if let Some(at) = at {
            interpreter.report_inline_code(CodeLanguage::Awk, program.clone(), at);
        }
        let text = program.flatten_patterns().to_string().replace("ENVIRON[\"HOME\"]", "\"~\"");
        for command in parse_awk_commands(&text) {
            match command {
                Some(code) => {
                    // A shell runs the text that is piped into it.
                    if words::SHELLS.contains(&code.trim())
                        && let Some(lines) = expand_awk_template(&text, interpreter.classify_stdin())
                    {
                        job.run_code(interpreter, &lines);
                    }
                    job.run_code(interpreter, &SymbolicText::from_text(code));
                }
                None => {
                    interpreter.mark_partial(CoverageGap::UnknownCode);
                    for code in join_awk_strings(&text) {
                        job.run_code(interpreter, &SymbolicText::from_text(code));
                    }
                    let values: Vec<SymbolicText> = job.args.flag_values(&["-v", "--assign"]).cloned().collect();
                    for value in values {
                        let start = value.leading_text().find('=').map_or(0, |at| at + 1);
                        job.run_code(interpreter, &value.skip_leading_bytes(start));
                    }
                    if let Some(lines) = interpreter.stdin_text().cloned() {
                        with_inherited_stdin(interpreter, |walker| job.run_code(walker, &lines));
                    }
                }
            }
        }
    }
}

/// The scripts of `awk` and `sed`: from flags, from files that this text wrote, or the first operand.
fn collect_scripts(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, flags: &[&str]) -> Vec<SymbolicText> {
    const FILE_FLAGS: &[&str] = &["-f", "--file"];
    let mut scripts: Vec<SymbolicText> = job.args.flag_values(flags).cloned().collect();
    for file in job.args.flag_values(FILE_FLAGS) {
        scripts.extend(interpreter.find_written_content(file));
    }
    if scripts.is_empty() && !job.args.has_flag(FILE_FLAGS) {
        scripts.extend(job.operands().first().cloned());
    }
    scripts
}

/// Texts that an awk program runs; `None` for one that is not a constant.
fn parse_awk_commands(program: &str) -> Vec<Option<String>> {
    let mut commands = Vec::new();
    let mut rest = program;
    let mut before = String::new();
    while let Some(at) = rest.find(['"', '#', '/']) {
        let (plain, from) = rest.split_at(at);
        before.push_str(plain);
        if from.starts_with('/') {
            before.push('/');
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        if from.starts_with('#') {
            rest = from.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        let (text, after) = parse_awk_string(from.get(1..).unwrap_or_default());
        let after = after.unwrap_or_default();
        let context = before.trim_end();
        let follows = after.trim_start();
        let called = context.ends_with("system(") || context.ends_with("system (");
        let piped_to = (context.ends_with('|') && !context.ends_with("||")) || context.ends_with("|&");
        let piped_from = follows
            .strip_prefix('|')
            .is_some_and(|rest| rest.trim_start_matches('&').trim_start().starts_with("getline"));
        if called || piped_to || piped_from {
            let whole = !called || follows.starts_with(')');
            commands.push(Some(text.clone()));
            if !whole {
                commands.push(None);
            }
        }
        before.push('"');
        rest = after;
    }
    before.push_str(rest);
    let calls = before.matches("system(").count() + before.matches("system (").count();
    let known = commands.iter().filter(|command| command.is_some()).count();
    // `command | getline`: the command is in a variable.
    let has_unknown_pipe = before.split("getline").any(|part| {
        let part = part.trim_end().trim_end_matches('&');
        part.strip_suffix('|').is_some_and(|part| part.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    if calls > known || has_unknown_pipe {
        commands.push(None);
    }
    commands
}

/// `"%s -rf %s", "rm", "/"`: the first format among some strings, with the next ones in it.
pub(super) fn fill_string_format(strings: &[impl AsRef<str>]) -> Option<String> {
    let at = strings.iter().position(|text| text.as_ref().contains("%s"))?;
    let mut values = strings.iter().skip(at + 1);
    let mut pieces = strings.get(at)?.as_ref().split("%s");
    let first = pieces.next()?.to_owned();
    Some(pieces.fold(first, |all, piece| all + values.next().map_or("", AsRef::as_ref) + piece))
}

/// The texts that a program may put together from its strings: all from each string on, and a format that is filled.
fn join_awk_strings(program: &str) -> Vec<String> {
    const MAX_STRINGS: usize = 16;
    let mut strings = Vec::new();
    let mut rest = program;
    while let Some((_, after)) = rest.split_once('"').filter(|_| strings.len() < MAX_STRINGS) {
        let (text, left) = parse_awk_string(after);
        strings.push(text);
        rest = left.unwrap_or_default();
    }
    let mut joined: Vec<String> = (0..strings.len()).filter_map(|from| Some(strings.get(from..)?.concat())).collect();
    joined.extend(fill_string_format(&strings));
    joined
}

/// `print > "file"`, `getline < "file"`
fn parse_awk_files(program: &str) -> Vec<OpenedFile> {
    let mut files = Vec::new();
    let mut rest = program;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once('"') {
        let (text, left) = parse_awk_string(after);
        code.push_str(before);
        // Other statements compare with `<` and `>`.
        let from = code.rfind([';', '{', '}', '\n']).map_or(0, |at| at + 1);
        code.drain(..from);
        let statement = code.trim_end();
        let (prints, reads) = (statement.contains("print"), statement.contains("getline"));
        let how = match statement.as_bytes() {
            [.., b'>', b'>'] if prints => Some(FileOpenMode::Append),
            [.., b'>'] if prints => Some(FileOpenMode::Truncate),
            [.., b'<'] if reads => Some(FileOpenMode::Read),
            _ => None,
        };
        files.extend(how.map(|how| OpenedFile { path: SymbolicText::from_text(text), mode: how }));
        code.push('"');
        rest = left.unwrap_or_default();
    }
    files
}

/// `sed`: `e command`, `s/…/…/e`, `w file`.
pub(super) fn follow_sed(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let mut codes = Vec::new();
    let mut call = job.call.clone();
    for script in collect_scripts(interpreter, job, &["-e", "--expression"]) {
        for command in parse_sed_script(&script.flatten_patterns().to_string()) {
            match command {
                SedAction::Runs(code) => codes.push(code),
                SedAction::Writes(path) => call.files.push(OpenedFile::truncated(SymbolicText::from_text(path))),
            }
        }
    }
    interpreter.run_program(call);
    for code in codes {
        job.run_code(interpreter, &SymbolicText::from_text(code));
    }
}

enum SedAction {
    Runs(String),
    Writes(String),
}

fn parse_sed_script(script: &str) -> Vec<SedAction> {
    let mut found = Vec::new();
    let mut replacements: Vec<String> = Vec::new();
    let mut rest = script;
    while !rest.is_empty() {
        rest = skip_sed_address(rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}', '!']));
        let Some(command) = rest.chars().next() else { break };
        let body = rest.get(command.len_utf8()..).unwrap_or_default();
        match command {
            'e' | 'w' | 'W' | 'a' | 'i' | 'c' | 'r' | 'R' | '#' => {
                let (line, after) = body.split_at(body.find('\n').unwrap_or(body.len()));
                match command {
                    // Alone, it runs the line, which a replacement may have made.
                    'e' if line.trim().is_empty() => found.extend(replacements.drain(..).map(SedAction::Runs)),
                    'e' => found.push(SedAction::Runs(line.trim().to_owned())),
                    'w' | 'W' => found.push(SedAction::Writes(line.trim().to_owned())),
                    _ => {}
                }
                rest = after;
            }
            's' | 'y' => {
                let Some((parts, after)) = parse_sed_replacement(body) else { break };
                let end = after.find([';', '\n', '}']).unwrap_or(after.len());
                let flags = after.get(..end).unwrap_or_default();
                if command == 's' {
                    if let Some((flags, path)) = flags.split_once('w') {
                        let whole = after.get(flags.len() + 1..).unwrap_or(path);
                        found.push(SedAction::Writes(whole.lines().next().unwrap_or_default().trim().to_owned()));
                    }
                    if flags.split('w').next().is_some_and(|flags| flags.contains('e')) {
                        found.push(SedAction::Runs(parts));
                    } else {
                        replacements.push(parts);
                    }
                }
                rest = after.get(end..).unwrap_or_default();
            }
            _ => {
                let end = body.find([';', '\n', '}']).unwrap_or(body.len());
                rest = body.get(end..).unwrap_or_default();
            }
        }
    }
    found
}

/// The rest after an address: `/…/`, numbers, `$` and commas.
fn skip_sed_address(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' ' | '!' | '{'));
        if !rest.starts_with('/') {
            return rest;
        }
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '/' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        match end {
            Some((at, _)) => rest = rest.get(at + 1..).unwrap_or_default(),
            None => return "",
        }
    }
}

/// The replacement in `/a/b/`, and the rest.
fn parse_sed_replacement(body: &str) -> Option<(String, &str)> {
    let sign = body.chars().next()?;
    let mut parts = vec![String::new()];
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        if c == sign && !escaped {
            if parts.len() == 2 {
                return Some((parts.pop()?, body.get(at + sign.len_utf8()..).unwrap_or_default()));
            }
            parts.push(String::new());
            continue;
        }
        escaped = c == '\\' && !escaped;
        if !escaped {
            parts.last_mut()?.push(c);
        }
    }
    None
}

/// `make --eval=…`, and a makefile on standard input: recipes and `$(shell …)`.
pub(super) fn follow_make(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    job.report_program(interpreter);
    let arguments = job.call.arguments();
    let mut texts: Vec<SymbolicText> = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        if argument.leading_text().starts_with("--eval=") || argument.leading_text().starts_with("-E=") {
            texts.push(argument.skip_leading_bytes("--eval=".len()));
        } else if matches!(argument.as_text(), Some("--eval" | "-E")) {
            texts.extend(arguments.get(at + 1).cloned());
        }
    }
    let files: Vec<SymbolicText> = job
        .args
        .flag_values(&["-f", "--file", "--makefile", "--justfile", "--taskfile", "-t", "-P"])
        .cloned()
        .collect();
    for file in &files {
        match file.as_text() {
            Some("-" | "/dev/stdin") => {
                if interpreter.stdin_text().is_none() {
                    // The recipes of an unknown makefile are shell code.
                    interpreter.report_command(job.call.with_argv(vec![SymbolicText::from_text("sh")]));
                }
                texts.extend(interpreter.stdin_text().cloned());
            }
            _ => texts.extend(interpreter.find_written_content(file)),
        }
    }
    follow_make_variables(interpreter, job);
    if job.via == "cmake" && job.args.has_flag(&["-E"]) {
        follow_cmake_tool(interpreter, job);
    }
    let is_make = job.via.ends_with("make") && job.via != "cmake";
    for text in texts {
        let text = text.flatten_patterns().to_string();
        let codes = if is_make { list_make_recipes(&text, arguments) } else { parse_build_commands(&text) };
        for code in codes {
            job.run_code(interpreter, &SymbolicText::from_text(code));
        }
    }
}

/// `make CC='command'`: the value of some variables runs.
fn follow_make_variables(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    for argument in job.call.arguments() {
        let Some((name, _)) = argument.leading_text().split_once('=') else { continue };
        if CODE_VARIABLES.binary_search(&name).is_ok() {
            job.run_code(interpreter, &argument.skip_leading_bytes(name.len() + 1));
        }
    }
}

/// `cmake -E env command`, `cmake -E time command`, `cmake -E chdir directory command`
fn follow_cmake_tool(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let operands = job.operands();
    let skipped = match operands.first().and_then(SymbolicText::as_text) {
        Some("env") => 0,
        Some("time") => 1,
        Some("chdir") => 2,
        _ => return,
    };
    job.run_words(interpreter, operands.get(skipped..).unwrap_or_default().to_vec(), Vec::new());
}

/// The commands in files of ninja, just, task and cmake.
fn parse_build_commands(text: &str) -> Vec<String> {
    let find_command = |line: &str| {
        let trimmed = line.trim_start();
        let marked = words::COMMAND_MARKS.iter().find_map(|mark| trimmed.split_once(mark)).map(|(_, code)| code);
        let indented = (trimmed.len() < line.len()).then_some(trimmed);
        // cmake: `file(REMOVE_RECURSE path)`
        if let Some((_, path)) = trimmed.split_once("REMOVE_RECURSE ") {
            let path = path.trim_end_matches([')', ' ']).trim_matches('"').replace("$ENV{HOME}", "~");
            return Some(format!("rm -rf {path}"));
        }
        let code = marked.or(indented)?.trim_start_matches(['@', '-', ' ', '=', '"', '\'']);
        Some(code.trim_end_matches([')', '"', '\'']).to_owned())
    };
    text.lines().filter_map(find_command).collect()
}

/// Keys that are sent to a terminal, where a shell reads them.
pub(super) fn follow_terminal_keys(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let words = job.operands();
    if job.via.starts_with("screen") {
        return follow_screen(interpreter, job, words);
    }
    let mut text = SymbolicText::default();
    for word in words {
        match word.as_text() {
            Some("Space") => text.push_text(" "),
            Some(key) if words::NAMED_KEYS.contains(&key) => text.push_text("\n"),
            Some(typed) => text.push_text(&typed.replace("\\n", "\n")),
            None => text.append(word),
        }
    }
    job.run_code(interpreter, &text);
}

/// `screen -dm program`, `screen -X stuff text`
fn follow_screen(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, words: &[SymbolicText]) {
    let stuffed = job.args.flag_values(&["-X"]).any(|value| value.as_text() == Some("stuff"));
    if stuffed {
        let text =
            words.first().map(|text| text.flatten_patterns().to_string().replace("\\n", "\n").replace("^M", "\n"));
        job.run_code(interpreter, &SymbolicText::from_text(text.unwrap_or_default()));
    } else if !words.is_empty() {
        job.run_words(interpreter, words.to_vec(), Vec::new());
    }
}

/// `crontab -`: the lines of a table on standard input.
pub(super) fn follow_crontab(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    job.report_program(interpreter);
    let operand = job.operands().first();
    let text = match operand.map(SymbolicText::as_text) {
        None | Some(Some("-")) => interpreter.stdin_text().cloned(),
        Some(_) => operand.and_then(|file| interpreter.find_written_content(file)),
    };
    let text = text.unwrap_or_default().flatten_patterns().to_string();
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
        let fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        for _ in 0..fields {
            rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
        }
        if !rest.is_empty() {
            job.run_code(interpreter, &SymbolicText::from_text(rest));
        }
    }
}
