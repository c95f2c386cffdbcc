//! Commands in texts of other programs: awk, sed, make, crontab, keys for a terminal.

use super::Job;
use crate::invocation::{Opened, Opening, Value};
use crate::shell::{Code, Flow, Reason, Walker, lines_of_awk};

/// Names of keys that are no text.
const KEYS: &[&str] = &[
    "Enter", "C-m", "KPEnter", "Return", "C-c", "C-u", "C-l", "Space", "Escape", "Tab",
];

/// Shells that read commands.
const SHELLS: &[&str] = &["sh", "bash", "/bin/sh", "/bin/bash", "zsh", "dash", "sh -s", "bash -s"];

/// `awk`: `system("…")`, `"…" | getline`, `print | "…"`.
pub(super) fn awk<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let written: Vec<Value> = job.given.values(&["-e", "--source"]).cloned().collect();
    let from_file = job.given.has(&["-f", "--file"]);
    let operand = job
        .call
        .argv
        .get(job.given.rest)
        .filter(|_| written.is_empty() && !from_file);
    let mut call = job.call.clone();
    for program in written.iter().chain(operand) {
        call.files.extend(files_in_awk(&program.flat().to_string()));
    }
    let at = walker.plain(call);
    for program in written.iter().chain(operand) {
        if let Some(at) = at {
            walker.report_inline(Code::Awk, program.clone(), at);
        }
        let text = program.flat().to_string();
        for command in commands_in_awk(&text) {
            match command {
                Some(code) => {
                    // What it prints into a shell is a command.
                    if SHELLS.contains(&code.trim())
                        && let Some(lines) = lines_of_awk(&text, walker.fed_with())
                    {
                        job.run_code(walker, &lines);
                    }
                    job.run_code(walker, &Value::text(code));
                }
                None => walker.partial(Reason::UnknownCode),
            }
        }
    }
    Some(Flow::Next)
}

/// Texts that an awk program runs; nothing for one that is put together.
fn commands_in_awk(program: &str) -> Vec<Option<String>> {
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
        let (text, after) = literal(from.get(1..).unwrap_or_default());
        let context = before.trim_end();
        let follows = after.trim_start();
        let called = context.ends_with("system(") || context.ends_with("system (");
        let piped_to = context.ends_with('|') && !context.ends_with("||");
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
    if calls > known {
        commands.push(None);
    }
    commands
}

/// `print > "file"`, `getline < "file"`
fn files_in_awk(program: &str) -> Vec<Opened> {
    let mut files = Vec::new();
    let mut rest = program;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once('"') {
        let (text, left) = literal(after);
        code.push_str(before);
        // What is compared stands in a statement that neither prints nor reads.
        let from = code.rfind([';', '{', '}', '\n']).map_or(0, |at| at + 1);
        code.drain(..from);
        let statement = code.trim_end();
        let (prints, reads) = (statement.contains("print"), statement.contains("getline"));
        let how = match statement.as_bytes() {
            [.., b'>', b'>'] if prints => Some(Opening::Append),
            [.., b'>'] if prints => Some(Opening::Truncate),
            [.., b'<'] if reads => Some(Opening::Read),
            _ => None,
        };
        files.extend(how.map(|how| Opened {
            path: Value::text(text),
            how,
        }));
        code.push('"');
        rest = left;
    }
    files
}

/// A text in double quotes, and what follows it.
fn literal(from: &str) -> (String, &str) {
    let mut text = String::new();
    let mut characters = from.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (text, from.get(at + 1..).unwrap_or_default()),
            '\\' => match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c)) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    (text, "")
}

/// `sed`: `e command`, `s/…/…/e`, `w file`.
pub(super) fn sed<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let scripts: Vec<Value> = job.given.values(&["-e", "--expression"]).cloned().collect();
    let has_file = job.given.has(&["-f", "--file"]);
    let operand = job
        .call
        .argv
        .get(job.given.rest)
        .filter(|_| scripts.is_empty() && !has_file);
    let mut codes = Vec::new();
    let mut call = job.call.clone();
    for script in scripts.iter().chain(operand) {
        for command in commands_in_sed(&script.flat().to_string()) {
            match command {
                Sed::Runs(code) => codes.push(code),
                Sed::Writes(path) => call.files.push(Opened {
                    path: Value::text(path),
                    how: Opening::Truncate,
                }),
            }
        }
    }
    walker.plain(call);
    for code in codes {
        job.run_code(walker, &Value::text(code));
    }
    Some(Flow::Next)
}

enum Sed {
    Runs(String),
    Writes(String),
}

fn commands_in_sed(script: &str) -> Vec<Sed> {
    let mut found = Vec::new();
    let mut rest = script;
    while !rest.is_empty() {
        rest = after_address(rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}', '!']));
        let Some(command) = rest.chars().next() else { break };
        let body = rest.get(command.len_utf8()..).unwrap_or_default();
        match command {
            'e' | 'w' | 'W' | 'a' | 'i' | 'c' | 'r' | 'R' | '#' => {
                let (line, after) = body.split_at(body.find('\n').unwrap_or(body.len()));
                match command {
                    'e' => found.push(Sed::Runs(line.trim().to_owned())),
                    'w' | 'W' => found.push(Sed::Writes(line.trim().to_owned())),
                    _ => {}
                }
                rest = after;
            }
            's' | 'y' => {
                let Some((parts, after)) = delimited(body) else { break };
                let end = after.find([';', '\n', '}']).unwrap_or(after.len());
                let flags = after.get(..end).unwrap_or_default();
                if command == 's' {
                    if let Some((flags, path)) = flags.split_once('w') {
                        let whole = after.get(flags.len() + 1..).unwrap_or(path);
                        found.push(Sed::Writes(whole.lines().next().unwrap_or_default().trim().to_owned()));
                    }
                    if flags.split('w').next().is_some_and(|flags| flags.contains('e')) {
                        found.push(Sed::Runs(parts));
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

/// What follows `/…/`, numbers, `$` and commas before a command.
fn after_address(text: &str) -> &str {
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

/// The replacement in `/a/b/`, and what follows.
fn delimited(body: &str) -> Option<(String, &str)> {
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

/// `make --eval=…`, and a makefile by standard input: recipes and `$(shell …)`.
pub(super) fn make<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    job.tell(walker);
    let arguments = job.call.arguments();
    let mut texts: Vec<Value> = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        if argument.leading().starts_with("--eval=") || argument.leading().starts_with("-E=") {
            texts.push(argument.after("--eval=".len()));
        } else if matches!(argument.as_text(), Some("--eval" | "-E")) {
            texts.extend(arguments.get(at + 1).cloned());
        }
    }
    let files: Vec<Value> = job.given.values(&["-f", "--file", "--makefile"]).cloned().collect();
    for file in &files {
        match file.as_text() {
            Some("-" | "/dev/stdin") => texts.extend(walker.stdin_text().cloned()),
            _ => texts.extend(walker.written(file)),
        }
    }
    for text in texts {
        for code in recipes(&text.flat().to_string()) {
            job.run_code(walker, &Value::text(code));
        }
    }
    Some(Flow::Next)
}

/// Lines that make hands to a shell.
fn recipes(text: &str) -> Vec<String> {
    let mut codes = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("$(shell ") {
        let mut depth = 1;
        let end = after.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let (code, left) = after.split_at(end.unwrap_or(after.len()));
        codes.push(code.to_owned());
        rest = left;
    }
    for line in text.lines() {
        let recipe = line.strip_prefix('\t').or_else(|| {
            let (target, recipe) = line.split_once(';')?;
            target.contains(':').then_some(recipe)
        });
        if let Some(recipe) = recipe {
            codes.push(recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$"));
        }
    }
    codes
}

/// Keys that are sent to a terminal, where a shell reads them.
pub(super) fn keys<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let words = job.call.argv.get(job.given.rest..).unwrap_or_default();
    if job.via.starts_with("screen") {
        return screen(walker, job, words);
    }
    let mut text = Value::default();
    for word in words {
        match word.as_text() {
            Some("Space") => text.push_text(" "),
            Some(key) if KEYS.contains(&key) => text.push_text("\n"),
            _ => text.append(word),
        }
    }
    job.run_code(walker, &text);
    Some(Flow::Next)
}

/// `screen -dm program`, `screen -X stuff text`
fn screen<'t>(walker: &mut Walker<'t>, job: &Job<'_>, words: &[Value]) -> Option<Flow> {
    let stuffed = job.given.values(&["-X"]).any(|value| value.as_text() == Some("stuff"));
    if stuffed {
        let text = words
            .first()
            .map(|text| text.flat().to_string().replace("\\n", "\n").replace("^M", "\n"));
        job.run_code(walker, &Value::text(text.unwrap_or_default()));
    } else if !words.is_empty() {
        job.run_words(walker, words.to_vec(), Vec::new());
    }
    Some(Flow::Next)
}

/// `crontab -`: lines of a table by standard input.
pub(super) fn crontab<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    job.tell(walker);
    let operand = job.call.argv.get(job.given.rest);
    let text = match operand.map(Value::as_text) {
        None | Some(Some("-")) => walker.stdin_text().cloned(),
        Some(_) => operand.and_then(|file| walker.written(file)),
    };
    let text = text.unwrap_or_default().flat().to_string();
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
        let fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        for _ in 0..fields {
            rest = rest
                .split_once(char::is_whitespace)
                .map_or("", |(_, rest)| rest.trim_start());
        }
        if !rest.is_empty() {
            job.run_code(walker, &Value::text(rest));
        }
    }
    Some(Flow::Next)
}
