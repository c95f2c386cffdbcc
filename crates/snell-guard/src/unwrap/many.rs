//! Programs that run another for each of many things: xargs, parallel, find, fd.

use super::Job;
use super::listing::{below, found_by, produced};
use crate::invocation::{Opened, Opening, Part, Stdin, Unknown, Value};
use crate::shell::{Flow, Reason, Walker, joined, limits};

/// Things that are followed one by one; all others are like them.
pub(crate) const MOST: usize = 64;
/// What stands for a thing in the command of `parallel`. Of several lists, each thing is tried in each place.
const MARKS: &[&str] = &["{}", "{.}", "{1}", "{2}", "{3}", "{4}", "{1.}"];

/// Flags of `fd` that take the next word.
const FD_VALUES: &[&str] = &[
    "-e",
    "--extension",
    "-t",
    "--type",
    "-d",
    "--max-depth",
    "-E",
    "--exclude",
    "-S",
    "--size",
    "-j",
    "-g",
];

/// As many of these as are followed; if there are more, that is said.
fn some<'a, T>(walker: &mut Walker<'_>, all: &'a [T]) -> &'a [T] {
    if all.len() > MOST {
        walker.partial(Reason::Limit("things"));
    }
    all.get(..MOST).unwrap_or(all)
}

/// What is fed to xargs: the things, or that nobody knows how many of what kind.
fn fed(walker: &mut Walker<'_>, job: &Job<'_>) -> Vec<Value> {
    const LINES: &[&str] = &["-I", "--replace", "-i", "-L", "--max-lines", "-d", "--delimiter"];
    let file = job.given.values(&["-a", "--arg-file"]).next();
    let stdin = match file {
        Some(path) => std::rc::Rc::new(opened(walker, path, job)),
        None => std::rc::Rc::clone(&walker.scope.io.stdin),
    };
    match &*stdin {
        Stdin::Text(text) => {
            let zero = job.given.has(&["-0", "--null"]);
            let delimiter = job.given.values(&["-d", "--delimiter"]).next().and_then(Value::as_text);
            let by_line = job.given.has(LINES) || job.via.starts_with("parallel");
            let delimiter = match delimiter {
                _ if zero => Some('\0'),
                Some("\\n") => Some('\n'),
                Some("\\0") => Some('\0'),
                Some(text) => text.chars().next(),
                None if by_line => Some('\n'),
                None => None,
            };
            walker.spend_bytes(text.size());
            divided(text, delimiter)
        }
        Stdin::Pipe(left) => produced(left, walker),
        Stdin::File(path) if path.leading().starts_with("/dev/") => vec![Value::unknown(Unknown::Anything)],
        Stdin::File(_) | Stdin::Inherited => vec![Value::unknown(Unknown::Told)],
    }
}

/// What stands in a file, or what is known of it if `<(…)` named it.
fn opened(walker: &mut Walker<'_>, path: &Value, job: &Job<'_>) -> Stdin {
    match walker.written(path) {
        Some(text) => Stdin::Text(text),
        None if matches!(path.parts.as_slice(), [Part::Unknown(_)]) => Stdin::Text(path.clone()),
        None => {
            let read = Opened {
                path: path.clone(),
                how: Opening::Read,
            };
            walker.report_files(vec![read], &job.call.span);
            Stdin::File(path.clone())
        }
    }
}

/// A text cut at a delimiter, or at blanks with quotes around what holds some.
fn divided(text: &Value, delimiter: Option<char>) -> Vec<Value> {
    let mut all = Vec::new();
    let mut current: Option<Value> = None;
    let mut quote = None;
    for part in &text.parts {
        let Part::Text(known) = part else {
            current.get_or_insert_default().push(part.clone());
            continue;
        };
        let mut characters = known.chars();
        while let Some(c) = characters.next() {
            let ends = match (delimiter, quote) {
                (Some(delimiter), _) => c == delimiter,
                (None, None) => c.is_ascii_whitespace(),
                (None, Some(_)) => false,
            };
            if ends {
                all.extend(current.take());
                continue;
            }
            let value = current.get_or_insert_default();
            match c {
                _ if delimiter.is_some() => value.push_text(c.encode_utf8(&mut [0; 4])),
                '\'' | '"' if quote.is_none() => quote = Some(c),
                '\'' | '"' if quote == Some(c) => quote = None,
                '\\' if quote.is_none() => {
                    if let Some(next) = characters.next() {
                        value.push_text(next.encode_utf8(&mut [0; 4]));
                    }
                }
                c => value.push_text(c.encode_utf8(&mut [0; 4])),
            }
        }
    }
    all.extend(current);
    all
}

/// Words with a mark replaced by a thing. A word that grows beyond what is followed is unknown.
fn replaced(walker: &mut Walker<'_>, words: &[Value], mark: &str, thing: &Value) -> Vec<Value> {
    let size = thing.size().max(1);
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        let marks = |part: &Part| match part {
            Part::Text(text) => text.matches(mark).count(),
            Part::Unknown(_) | Part::Pattern(_) => 0,
        };
        let places: usize = word.parts.iter().map(marks).sum();
        if places > 0 && places.saturating_mul(size) + word.size() > limits::VALUE_BYTES {
            walker.partial(Reason::Limit("value"));
            all.push(Value::unknown(Unknown::Anything));
            continue;
        }
        walker.spend_bytes(places * size + word.size());
        all.push(filled_in(word, mark, thing));
    }
    all
}

/// A word with a mark replaced by a thing.
fn filled_in(word: &Value, mark: &str, thing: &Value) -> Value {
    let mut value = Value::default();
    for part in &word.parts {
        let Part::Text(text) = part else {
            value.push(part.clone());
            continue;
        };
        for (at, piece) in text.split(mark).enumerate() {
            if at > 0 {
                value.append(thing);
            }
            value.push_text(piece);
        }
    }
    value
}

/// `xargs program words`: with the things behind them, or in place of a mark.
pub(super) fn xargs<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let mut words = job.call.argv.get(job.given.rest..).unwrap_or_default().to_vec();
    if words.is_empty() {
        words.push(Value::text("echo"));
    }
    let things = fed(walker, job);
    let mark = mark_of(job);
    let nothing = job.given.has(&["-r", "--no-run-if-empty"]) || mark.is_some();
    if things.is_empty() && nothing {
        return Some(Flow::Next);
    }
    let outer = walker.scope.io.stdin.clone();
    walker.scope.io.stdin = std::rc::Rc::new(Stdin::Inherited);
    match mark {
        Some(mark) => {
            for thing in some(walker, &things) {
                let words = replaced(walker, &words, &mark, thing);
                job.run_words(walker, words, Vec::new());
            }
        }
        None => {
            let count = job.given.values(&["-n", "--max-args", "-L", "--max-lines"]).next();
            let count = count
                .and_then(|count| count.as_text()?.parse::<usize>().ok())
                .unwrap_or(things.len())
                .max(1);
            let groups: Vec<&[Value]> = if things.is_empty() {
                vec![&[]]
            } else {
                things.chunks(count).collect()
            };
            for group in some(walker, &groups) {
                walker.spend(group.len());
                let all = words.iter().chain(*group).cloned().collect();
                job.run_words(walker, all, Vec::new());
            }
        }
    }
    walker.scope.io.stdin = outer;
    Some(Flow::Next)
}

/// What stands for a thing.
fn mark_of(job: &Job<'_>) -> Option<String> {
    let (_, value) = job
        .given
        .flags
        .iter()
        .find(|(name, _)| matches!(name.as_str(), "-I" | "-i" | "--replace" | "-J"))?;
    let mark = value.as_ref().and_then(Value::as_text).filter(|mark| !mark.is_empty());
    Some(mark.unwrap_or("{}").to_owned())
}

/// `parallel code ::: things`, or with things from files or standard input.
pub(super) fn parallel<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let words = job.call.argv.get(job.given.rest..).unwrap_or_default();
    let divider = words.iter().position(|word| word.leading().starts_with(":::"));
    let (words, things) = match divider {
        Some(at) => {
            let (words, sources) = words.split_at(at);
            (words, listed_by(walker, sources, job))
        }
        None => (words, fed(walker, job)),
    };
    let own = mark_of(job);
    let marks: Vec<&str> = MARKS.iter().copied().chain(own.as_deref()).collect();
    let marked = words
        .iter()
        .any(|word| marks.iter().any(|mark| word.to_string().contains(mark)));
    // Where a thing is the command, it is code; elsewhere it is a word.
    let is_code = words
        .first()
        .is_none_or(|word| word.as_text().is_some_and(|word| marks.contains(&word)));
    let outer = walker.scope.io.stdin.clone();
    walker.scope.io.stdin = std::rc::Rc::new(Stdin::Inherited);
    for thing in some(walker, &things) {
        let thing = if is_code {
            thing.clone()
        } else {
            walker.quoted(std::slice::from_ref(thing))
        };
        let mut words = words.to_vec();
        for mark in &marks {
            words = replaced(walker, &words, mark, &thing);
        }
        if !marked {
            words.push(thing);
        }
        job.run_code(walker, &joined(&words));
    }
    walker.scope.io.stdin = outer;
    Some(Flow::Next)
}

/// What `::: things` and `:::: files` list.
fn listed_by(walker: &mut Walker<'_>, sources: &[Value], job: &Job<'_>) -> Vec<Value> {
    let mut things = Vec::new();
    let mut in_files = false;
    for word in sources {
        match word.as_text() {
            Some(":::" | ":::+") => in_files = false,
            Some("::::" | "::::+") => in_files = true,
            _ if !in_files => things.push(word.clone()),
            _ => match opened(walker, word, job) {
                Stdin::Text(text) => things.extend(divided(&text, Some('\n'))),
                Stdin::Inherited | Stdin::Pipe(_) | Stdin::File(_) => things.push(Value::unknown(Unknown::Anything)),
            },
        }
    }
    things
}

/// `find … -exec program {} \;`
pub(super) fn find<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let arguments = job.call.arguments();
    job.tell(walker);
    let is_exec = |value: &Value| matches!(value.as_text(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    let mut rest = arguments;
    let mut things: Option<Vec<Value>> = None;
    while let Some(at) = rest.iter().position(is_exec) {
        let command = rest.get(at + 1..).unwrap_or_default();
        let is_end = |(at, value): (usize, &Value)| match value.as_text() {
            Some(";") => true,
            Some("+") => at > 0 && command.get(at - 1).and_then(Value::as_text) == Some("{}"),
            _ => false,
        };
        let end = command.iter().enumerate().position(is_end).unwrap_or(command.len());
        let words = command.get(..end).unwrap_or_default();
        let found = || found_by(arguments, walker.scope.cwd(), walker.world);
        let things: &[Value] = things.get_or_insert_with(found);
        for thing in some(walker, things) {
            let words = replaced(walker, words, "{}", thing);
            if !words.is_empty() {
                job.run_words(walker, words, Vec::new());
            }
        }
        rest = command.get(end..).unwrap_or_default();
    }
    Some(Flow::Next)
}

/// `fd pattern path -x program`
pub(super) fn fd<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let arguments = job.call.arguments();
    job.tell(walker);
    let is_exec = |value: &Value| matches!(value.as_text(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    let Some(at) = arguments.iter().position(is_exec) else {
        return Some(Flow::Next);
    };
    let before = arguments.get(..at).unwrap_or_default();
    let mut takes_next = false;
    let mut operands = before.iter().filter(|value| {
        let is_value = std::mem::take(&mut takes_next);
        takes_next = value.as_text().is_some_and(|text| FD_VALUES.contains(&text));
        !is_value && !value.leading().starts_with('-')
    });
    let pattern = operands.next();
    let here = Value::text(".");
    let start = operands.next().unwrap_or(&here);
    let picks = before
        .iter()
        .any(|value| value.as_text().is_some_and(|text| FD_VALUES.contains(&text)));
    let everything = !picks && pattern.is_none_or(|pattern| matches!(pattern.as_text(), Some("." | "" | ".*")));
    let part = if everything {
        Part::Pattern("*".to_owned())
    } else {
        Part::Unknown(Unknown::Name)
    };
    let thing = below(start, part);
    let words: Vec<Value> = arguments.get(at + 1..).unwrap_or_default().to_vec();
    let marked = words.iter().any(|word| word.to_string().contains('{'));
    let mut words = replaced(walker, &words, "{}", &thing);
    if !marked {
        words.push(thing);
    }
    job.run_words(walker, words, Vec::new());
    Some(Flow::Next)
}
