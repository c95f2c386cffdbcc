//! For tests: command lines that are simple enough to be read without understanding the shell.

use crate::invocation::{Invocation, Opened, Opening, Part, Stdin, Stdout, Unknown, Value};
use crate::policy::{Guarded, Protected};
use crate::world::{Own, Owned, World};

/// The world of all cases.
pub(crate) fn world() -> World {
    World {
        cwd: "/home/ann/work/app".into(),
        home: "/home/ann".into(),
        user: "ann".into(),
        project: "/home/ann/work/app".into(),
        temp: vec!["/tmp".into(), "/var/tmp".into()],
        own: vec![
            Own::new("/home/ann/.snell", Owned::Data),
            Own::new("/home/ann/.local/bin/snell", Owned::Program),
            Own::new("/home/ann/.claude/settings.json", Owned::Registration),
            Own::new("/home/ann/work/app/snell.toml", Owned::Hooks),
        ],
        links: Vec::new(),
        ignores_case: false,
        agent_pid: None,
        variables: Vec::new(),
    }
}

/// What is to be left alone in all cases.
pub(crate) fn protected() -> Vec<Protected> {
    [
        ("/home/ann/work/app/infra/prod", Guarded::Change),
        ("/home/ann/work/app/notes/*.md", Guarded::Change),
        ("/home/ann/vault", Guarded::Look),
    ]
    .map(|(path, from)| Protected {
        path: path.to_owned(),
        from,
    })
    .into()
}

/// Commands with blanks around `;`, `|`, `>`, `>>` and `<`. Words may be quoted; `$NAME` is anything.
pub(crate) fn read(line: &str) -> Vec<Invocation> {
    let mut all = Vec::new();
    let mut pipe: Vec<Invocation> = Vec::new();
    let mut current = empty();
    let mut words = split(line).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "|" => {
                current.stdout = Stdout::Pipe;
                let left = std::mem::replace(&mut current, empty());
                pipe.push(Invocation {
                    stdin: Stdin::Inherited,
                    ..left.clone()
                });
                all.push(left);
                current.stdin = Stdin::Pipe(pipe.clone());
            }
            ";" => {
                all.push(std::mem::replace(&mut current, empty()));
                pipe.clear();
            }
            ">" | "2>" | ">>" | "<" => {
                let path = value(&words.next().expect("a file follows"));
                let how = match word.as_str() {
                    ">>" => Opening::Append,
                    "<" => Opening::Read,
                    _ => Opening::Truncate,
                };
                if how == Opening::Read {
                    current.stdin = Stdin::File(path.clone());
                }
                current.files.push(Opened { path, how });
            }
            _ => current.argv.push(value(&word)),
        }
    }
    all.push(current);
    all
}

fn empty() -> Invocation {
    Invocation {
        cwd: Some(world().cwd),
        ..Invocation::default()
    }
}

/// Words; what was quoted keeps a mark so that nothing in it is a pattern.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.get_or_insert_default().extend(['\0', c]),
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn value(word: &str) -> Value {
    let mut parts: Vec<Part> = Vec::new();
    let mut text = String::new();
    let word = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", world().home),
        _ => word.to_owned(),
    };
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let part = match c {
            '\0' => {
                text.extend(rest.next());
                continue;
            }
            '*' | '?' => Part::Pattern(c.to_string()),
            '$' if rest.peek().is_some_and(char::is_ascii_uppercase) => {
                while rest.next_if(|c| c.is_ascii_uppercase() || *c == '_').is_some() {}
                Part::Unknown(Unknown::Anything)
            }
            _ => {
                text.push(c);
                continue;
            }
        };
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        parts.push(part);
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part::Text(text));
    }
    Value { parts }
}
