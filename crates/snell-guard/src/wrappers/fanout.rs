//! Programs that run another program for each of many items: xargs, parallel, find, fd.

use super::file_lists::{append_path_part, collect_piped_files, list_find_output};
use super::table::words::fanout as words;
use super::{WrapperCall, with_inherited_stdin};
use crate::interpret::{CoverageGap, ShellInterpreter, join_words, limits};
use crate::invocation::{FileOpenMode, OpenedFile, StdinSource, SymbolicPart, SymbolicText, UnknownKind};

/// How many items are analysed; all others are assumed to be similar.
pub(crate) const MAX_FANOUT_ITEMS: usize = 64;

/// The items within the limit; records it if there are more, unless all of those are numbers.
fn limit_items<'a, T>(interpreter: &mut ShellInterpreter<'_>, all: &'a [T], is_number: impl Fn(&T) -> bool) -> &'a [T] {
    let (kept, further) = all.split_at(all.len().min(MAX_FANOUT_ITEMS));
    if !further.iter().all(is_number) {
        interpreter.mark_partial(CoverageGap::Limit("things"));
    }
    kept
}

fn is_number(item: &SymbolicText) -> bool {
    item.as_text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The items that xargs gets, or one of unknown content.
fn collect_items(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) -> Vec<SymbolicText> {
    const LINE_FLAGS: &[&str] = &["-I", "--replace", "-i", "-L", "--max-lines", "-d", "--delimiter"];
    let file = job.args.flag_values(&["-a", "--arg-file"]).next();
    let stdin = match file {
        Some(path) => std::rc::Rc::new(read_item_file(interpreter, path, job)),
        None => std::rc::Rc::clone(&interpreter.scope.io.stdin),
    };
    match &*stdin {
        StdinSource::Text(text) => {
            let zero = job.args.has_flag(&["-0", "--null"]);
            let delimiter = job.args.flag_values(&["-d", "--delimiter"]).next().and_then(SymbolicText::as_text);
            let by_line = job.args.has_flag(LINE_FLAGS) || job.via.starts_with("parallel");
            let delimiter = match delimiter {
                _ if zero => Some('\0'),
                Some("\\n") => Some('\n'),
                Some("\\0") => Some('\0'),
                Some(text) => text.chars().next(),
                None if by_line => Some('\n'),
                None => None,
            };
            interpreter.spend_bytes(text.size());
            split_items(text, delimiter)
        }
        StdinSource::Pipe(left) => collect_piped_files(left, interpreter),
        StdinSource::File(path) if path.leading_text().starts_with("/dev/") => {
            vec![SymbolicText::from_unknown(UnknownKind::Anything)]
        }
        StdinSource::File(_) | StdinSource::Inherited => vec![SymbolicText::from_unknown(UnknownKind::FromInput)],
    }
}

/// The contents of a file, or what is known of them if `<(…)` named it.
fn read_item_file(interpreter: &mut ShellInterpreter<'_>, path: &SymbolicText, job: &WrapperCall<'_>) -> StdinSource {
    match interpreter.find_written_content(path) {
        Some(text) => StdinSource::Text(text),
        None if matches!(path.parts.as_slice(), [SymbolicPart::Unknown(_)]) => StdinSource::Text(path.clone()),
        None => {
            let read = OpenedFile { path: path.clone(), mode: FileOpenMode::Read };
            interpreter.report_files(vec![read], &job.call.span);
            StdinSource::File(path.clone())
        }
    }
}

/// Splits a text at a delimiter, or at blanks outside quotes.
fn split_items(text: &SymbolicText, delimiter: Option<char>) -> Vec<SymbolicText> {
    let mut all = Vec::new();
    let mut current: Option<SymbolicText> = None;
    let mut quote = None;
    for part in &text.parts {
        let SymbolicPart::Text(known) = part else {
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

/// The words with a placeholder replaced by an item. A word beyond the size limit is unknown.
fn substitute_placeholder(
    interpreter: &mut ShellInterpreter<'_>,
    words: &[SymbolicText],
    mark: &str,
    thing: &SymbolicText,
) -> Vec<SymbolicText> {
    let size = thing.size().max(1);
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        let marks = |part: &SymbolicPart| match part {
            SymbolicPart::Text(text) => text.matches(mark).count(),
            SymbolicPart::Unknown(_) | SymbolicPart::Pattern(_) => 0,
        };
        let places: usize = word.parts.iter().map(marks).sum();
        if places > 0 && places.saturating_mul(size) + word.size() > limits::VALUE_BYTES {
            interpreter.mark_partial(CoverageGap::Limit("value"));
            all.push(SymbolicText::from_unknown(UnknownKind::Anything));
            continue;
        }
        interpreter.spend_bytes(places * size + word.size());
        all.push(fill_placeholder(word, mark, thing));
    }
    all
}

/// A word with a placeholder replaced by an item.
fn fill_placeholder(word: &SymbolicText, mark: &str, thing: &SymbolicText) -> SymbolicText {
    let mut value = SymbolicText::default();
    for part in &word.parts {
        let SymbolicPart::Text(text) = part else {
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

/// `xargs program words`: with the items after the words, or in place of a placeholder.
pub(super) fn follow_xargs(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let mut words = job.operands().to_vec();
    if words.is_empty() {
        words.push(SymbolicText::from_text("echo"));
    }
    let things = collect_items(interpreter, job);
    let mark = find_placeholder(job);
    let nothing = job.args.has_flag(&["-r", "--no-run-if-empty"]) || mark.is_some();
    if things.is_empty() && nothing {
        return;
    }
    with_inherited_stdin(interpreter, |walker| match mark {
        Some(mark) => {
            for thing in limit_items(walker, &things, is_number) {
                let words = substitute_placeholder(walker, &words, &mark, thing);
                job.run_words(walker, words, Vec::new());
            }
        }
        None => {
            let count = job.args.flag_values(&["-n", "--max-args", "-L", "--max-lines"]).next();
            let count = count.and_then(|count| count.as_text()?.parse::<usize>().ok()).unwrap_or(things.len()).max(1);
            let groups: Vec<&[SymbolicText]> =
                if things.is_empty() { vec![&[]] } else { things.chunks(count).collect() };
            for group in limit_items(walker, &groups, |group| group.iter().all(is_number)) {
                walker.spend_steps(group.len());
                let all = words.iter().chain(*group).cloned().collect();
                job.run_words(walker, all, Vec::new());
            }
        }
    });
}

/// The placeholder for an item.
fn find_placeholder(job: &WrapperCall<'_>) -> Option<String> {
    let (_, value) =
        job.args.flags.iter().find(|(name, _)| matches!(name.as_str(), "-I" | "-i" | "--replace" | "-J"))?;
    let mark = value.as_ref().and_then(SymbolicText::as_text).filter(|mark| !mark.is_empty());
    Some(mark.unwrap_or("{}").to_owned())
}

/// `parallel code ::: items`, or with items from files or standard input.
pub(super) fn follow_parallel(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let words = job.operands();
    let divider = words.iter().position(|word| word.leading_text().starts_with(":::"));
    let (words, things) = match divider {
        Some(at) => {
            let (words, sources) = words.split_at(at);
            (words, collect_parallel_items(interpreter, sources, job))
        }
        None => (words, collect_items(interpreter, job)),
    };
    let own = find_placeholder(job);
    let marks: Vec<&str> = words::PARALLEL_PLACEHOLDERS.iter().copied().chain(own.as_deref()).collect();
    let marked = words.iter().any(|word| marks.iter().any(|mark| word.to_string().contains(mark)));
    // If an item is the command, it is code; elsewhere it is a word.
    let is_code = words.first().is_none_or(|word| word.as_text().is_some_and(|word| marks.contains(&word)));
    with_inherited_stdin(interpreter, |walker| {
        for thing in limit_items(walker, &things, is_number) {
            let thing = if is_code { thing.clone() } else { walker.quote_words(std::slice::from_ref(thing)) };
            let mut words = words.to_vec();
            for mark in &marks {
                words = substitute_placeholder(walker, &words, mark, &thing);
            }
            if !marked {
                words.push(thing);
            }
            job.run_code(walker, &join_words(&words));
        }
    });
}

/// The items of `::: items` and `:::: files`.
fn collect_parallel_items(
    interpreter: &mut ShellInterpreter<'_>,
    sources: &[SymbolicText],
    job: &WrapperCall<'_>,
) -> Vec<SymbolicText> {
    let mut things = Vec::new();
    let mut in_files = false;
    for word in sources {
        match word.as_text() {
            Some(":::" | ":::+") => in_files = false,
            Some("::::" | "::::+") => in_files = true,
            _ if !in_files => things.push(word.clone()),
            _ => match read_item_file(interpreter, word, job) {
                StdinSource::Text(text) => things.extend(split_items(&text, Some('\n'))),
                StdinSource::Inherited | StdinSource::Pipe(_) | StdinSource::File(_) => {
                    things.push(SymbolicText::from_unknown(UnknownKind::Anything))
                }
            },
        }
    }
    things
}

/// `find … -exec program {} \;`
pub(super) fn follow_find(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let arguments = job.call.arguments();
    job.report_program(interpreter);
    let is_exec = |value: &SymbolicText| matches!(value.as_text(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    let mut rest = arguments;
    let mut things: Option<Vec<SymbolicText>> = None;
    while let Some(at) = rest.iter().position(is_exec) {
        let command = rest.get(at + 1..).unwrap_or_default();
        let is_end = |(at, value): (usize, &SymbolicText)| match value.as_text() {
            Some(";") => true,
            Some("+") => at > 0 && command.get(at - 1).and_then(SymbolicText::as_text) == Some("{}"),
            _ => false,
        };
        let end = command.iter().enumerate().position(is_end).unwrap_or(command.len());
        let words = command.get(..end).unwrap_or_default();
        let found = || list_find_output(arguments, interpreter.scope.cwd(), interpreter.world);
        let things: &[SymbolicText] = things.get_or_insert_with(found);
        for thing in limit_items(interpreter, things, is_number) {
            let words = substitute_placeholder(interpreter, words, "{}", thing);
            if !words.is_empty() {
                job.run_words(interpreter, words, Vec::new());
            }
        }
        rest = command.get(end..).unwrap_or_default();
    }
}

/// `fd pattern path -x program`
pub(super) fn follow_fd(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    let arguments = job.call.arguments();
    job.report_program(interpreter);
    let is_exec = |value: &SymbolicText| matches!(value.as_text(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    let Some(at) = arguments.iter().position(is_exec) else {
        return;
    };
    let before = arguments.get(..at).unwrap_or_default();
    let mut takes_next = false;
    let mut operands = before.iter().filter(|value| {
        let is_value = std::mem::take(&mut takes_next);
        takes_next = value.as_text().is_some_and(|text| words::FD_VALUE_FLAGS.contains(&text));
        !is_value && !value.leading_text().starts_with('-')
    });
    let pattern = operands.next();
    let here = SymbolicText::from_text(".");
    let start = operands.next().unwrap_or(&here);
    let picks = before.iter().any(|value| value.as_text().is_some_and(|text| words::FD_VALUE_FLAGS.contains(&text)));
    let everything = !picks && pattern.is_none_or(|pattern| matches!(pattern.as_text(), Some("." | "" | ".*")));
    let part =
        if everything { SymbolicPart::Pattern("*".to_owned()) } else { SymbolicPart::Unknown(UnknownKind::Name) };
    let thing = append_path_part(start, part);
    let words: Vec<SymbolicText> = arguments.get(at + 1..).unwrap_or_default().to_vec();
    let marked = words.iter().any(|word| word.to_string().contains('{'));
    let mut words = substitute_placeholder(interpreter, &words, "{}", &thing);
    if !marked {
        words.push(thing);
    }
    job.run_words(interpreter, words, Vec::new());
}
