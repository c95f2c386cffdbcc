//! `read` and `mapfile`: variables from standard input.

use std::rc::Rc;

use crate::effects::{classify_output, is_foreign_pid_file};
use crate::interpret::scope::ShellVariable;
use crate::interpret::{ExpandedCommand, ShellInterpreter};
use crate::invocation::{Invocation, StdinSource, SymbolicPart, SymbolicText, UnknownKind};
use crate::paths::locate_path;
use crate::wrappers::find_listed_files;

/// Flags of `read` that take a value.
const READ_VALUES: &str = "adinNptu";
/// Flags of `mapfile` that take a value.
const MAPFILE_VALUES: &str = "dnOsuCc";

/// Flags and operands of a builtin.
struct BuiltinOptions {
    flags: Vec<(char, Option<String>)>,
    names: Vec<String>,
}

impl BuiltinOptions {
    fn parse(command: &ExpandedCommand, with_value: &str) -> Self {
        let mut options = Self { flags: Vec::new(), names: Vec::new() };
        let mut arguments = command.arguments().iter().map(|value| value.as_text().unwrap_or_default());
        while let Some(argument) = arguments.next() {
            let Some(letters) = argument.strip_prefix('-').filter(|_| options.names.is_empty()) else {
                options.names.push(argument.to_owned());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                if with_value.contains(letter) {
                    let glued = letters.get(at + 1..).filter(|rest| !rest.is_empty());
                    let value = glued.or_else(|| arguments.next()).map(str::to_owned);
                    options.flags.push((letter, value));
                    break;
                }
                options.flags.push((letter, None));
            }
        }
        options
    }

    fn flag_value(&self, wanted: char) -> Option<&str> {
        let found = self.flags.iter().find(|(letter, _)| *letter == wanted)?;
        Some(found.1.as_deref().unwrap_or_default())
    }
}

impl<'t> ShellInterpreter<'t> {
    pub(crate) fn run_read(&mut self, command: &ExpandedCommand) {
        let options = BuiltinOptions::parse(command, READ_VALUES);
        let separators = command.variables.iter().find(|(name, _)| name == "IFS");
        let separators: Rc<str> = match separators.map(|(_, value)| value.as_text()) {
            Some(Some(text)) => Rc::from(text),
            _ => self.field_separators(),
        };
        let delimiter = options.flag_value('d').map(|text| text.chars().next().unwrap_or('\0'));
        let by_count = options.flag_value('n').is_some() || options.flag_value('N').is_some();
        let has_backslash = |part: &SymbolicPart| matches!(part, SymbolicPart::Text(text) if text.contains('\\'));
        let is_exact = |line: &SymbolicText| options.flag_value('r').is_some() || !line.parts.iter().any(has_backslash);
        let line = self.take_line(delimiter.unwrap_or('\n'), options.flag_value('u'));
        let line = line.filter(|line| !by_count && is_exact(line)).unwrap_or_else(|| self.approximate_stdin());
        if let Some(array) = options.flag_value('a').map(str::to_owned) {
            let values = split_words(&line, &separators, usize::MAX);
            self.assign_list(&array, values);
            return;
        }
        let names: Vec<&str> = match options.names.is_empty() {
            true => vec!["REPLY"],
            false => options.names.iter().map(String::as_str).collect(),
        };
        let whole = options.names.is_empty();
        let values = if whole { vec![line] } else { split_words(&line, &separators, names.len()) };
        let open = values.iter().any(SymbolicText::is_partly_unknown);
        let spare = if open { SymbolicText::from_unknown(UnknownKind::Anything) } else { SymbolicText::default() };
        for (at, name) in names.into_iter().enumerate() {
            let value = values.get(at).unwrap_or(&spare);
            self.set_variable(name, ShellVariable::from_value(value.clone()));
        }
    }

    /// The text of standard input, as far as it is known.
    pub(crate) fn approximate_stdin(&mut self) -> SymbolicText {
        let stdin = Rc::clone(&self.scope.io.stdin);
        let kind = match &*stdin {
            StdinSource::Pipe(left) => {
                self.spend_steps(estimate_work(left));
                if let Some(values) = find_listed_files(left, self.world) {
                    return self.choose_value(values);
                }
                classify_output(left, self.world)
            }
            StdinSource::Text(text) => text.taint().unwrap_or(UnknownKind::Anything),
            StdinSource::File(path) if is_foreign_pid_file(&locate_path(path, self.scope.cwd(), self.world)) => {
                UnknownKind::Processes
            }
            StdinSource::File(path) if path.leading_text().starts_with("/dev/") => UnknownKind::Anything,
            StdinSource::Inherited | StdinSource::File(_) => UnknownKind::FromInput,
        };
        SymbolicText::from_unknown(kind)
    }

    /// The next line of a known standard input; the rest remains.
    fn take_line(&mut self, delimiter: char, number: Option<&str>) -> Option<SymbolicText> {
        if let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) {
            let stdin = self.scope.io.others.get(&number)?.reads.as_ref()?;
            return Some(split_line(stdin.as_text()?, delimiter).0);
        }
        let (line, rest) = split_line(self.stdin_text()?, delimiter);
        self.spend_bytes(line.size() + rest.as_ref().map_or(0, SymbolicText::size));
        self.scope.at_end = line.is_empty() && rest.is_none();
        self.scope.io.stdin = Rc::new(StdinSource::Text(rest.unwrap_or_default()));
        Some(line)
    }

    pub(crate) fn run_mapfile(&mut self, command: &ExpandedCommand) {
        let options = BuiltinOptions::parse(command, MAPFILE_VALUES);
        let name = options.names.first().map_or("MAPFILE", String::as_str).to_owned();
        let strip = options.flag_value('t').is_some();
        if let Some(code) = options.flag_value('C') {
            // The callback gets a number and the line.
            let code = SymbolicText::from_text(format!("{code} 0 ''"));
            self.run_code_via("mapfile", &code, &command.span);
        }
        let Some(text) = self.stdin_text().and_then(SymbolicText::as_text) else {
            let listed = self.stdin_text().filter(|text| is_single_path(text)).cloned();
            let value = listed.unwrap_or_else(|| self.approximate_stdin());
            self.assign_list(&name, vec![value]);
            return;
        };
        let lines = text.split_inclusive('\n').map(|line| {
            let line = if strip { line.trim_end_matches('\n') } else { line };
            SymbolicText::from_text(line)
        });
        let lines = lines.collect();
        self.assign_list(&name, lines);
    }
}

/// Whether the text is one file name whose start is known.
fn is_single_path(text: &SymbolicText) -> bool {
    let ends = |part: &SymbolicPart| matches!(part, SymbolicPart::Text(text) if text.contains('\n'));
    !matches!(text.parts.first(), None | Some(SymbolicPart::Unknown(_))) && !text.parts.iter().any(ends)
}

/// The text before a delimiter, and the text after it if there is one.
fn split_line(value: &SymbolicText, delimiter: char) -> (SymbolicText, Option<SymbolicText>) {
    let mut line = SymbolicText::default();
    for (at, part) in value.parts.iter().enumerate() {
        if let SymbolicPart::Text(text) = part
            && let Some((before, after)) = text.split_once(delimiter)
        {
            line.push_text(before);
            let mut rest = SymbolicText::default();
            rest.push_text(after);
            value.parts.iter().skip(at + 1).for_each(|part| rest.push(part.clone()));
            return (line, Some(rest));
        }
        line.push(part.clone());
    }
    (line, None)
}

/// The words of a line; the last one has the rest.
fn split_words(line: &SymbolicText, separators: &str, count: usize) -> Vec<SymbolicText> {
    let Some(text) = line.as_text() else {
        return vec![line.clone(); count.min(crate::interpret::limits::VALUES)];
    };
    let is_separator = |c: char| separators.contains(c);
    let blank = |c: char| c.is_ascii_whitespace() && is_separator(c);
    let mut rest = text.trim_matches(blank);
    let mut values = Vec::new();
    while !rest.is_empty() {
        if values.len() + 1 == count {
            values.push(SymbolicText::from_text(rest));
            break;
        }
        let (word, after) = rest.split_once(is_separator).unwrap_or((rest, ""));
        values.push(SymbolicText::from_text(word));
        rest = after.trim_start_matches(blank);
    }
    values
}

/// The steps that checking the output of programs costs: each word may be a path.
pub(crate) fn estimate_work(invocations: &[Invocation]) -> usize {
    let places = |invocation: &Invocation| 4 * (1 + invocation.argv.len() + invocation.files.len());
    invocations.iter().map(places).sum()
}
