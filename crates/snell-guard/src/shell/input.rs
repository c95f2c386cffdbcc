//! `read` and `mapfile`: variables from standard input.

use std::rc::Rc;

use super::scope::{Descriptor, Variable};
use super::{Call, Flow, Walker};
use crate::effects::{is_of_others, output_of};
use crate::invocation::{Invocation, Part, Stdin, Unknown, Value};
use crate::paths::locate;
use crate::unwrap::searched;

/// Flags of `read` that take a value.
const READ_VALUES: &str = "adinNptu";
/// Flags of `mapfile` that take a value.
const MAPFILE_VALUES: &str = "dnOsuCc";

/// Flags and operands of a builtin.
struct Options {
    flags: Vec<(char, Option<String>)>,
    names: Vec<String>,
}

impl Options {
    fn of(call: &Call, with_value: &str) -> Self {
        let mut options = Self {
            flags: Vec::new(),
            names: Vec::new(),
        };
        let mut arguments = call.arguments().iter().map(|value| value.as_text().unwrap_or_default());
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

    fn value(&self, wanted: char) -> Option<&str> {
        let found = self.flags.iter().find(|(letter, _)| *letter == wanted)?;
        Some(found.1.as_deref().unwrap_or_default())
    }
}

impl<'t> Walker<'t> {
    pub(super) fn read(&mut self, call: &Call) -> Flow {
        let options = Options::of(call, READ_VALUES);
        let separators = call.variables.iter().find(|(name, _)| name == "IFS");
        let separators: Rc<str> = match separators.map(|(_, value)| value.as_text()) {
            Some(Some(text)) => Rc::from(text),
            _ => self.separators(),
        };
        let delimiter = options.value('d').map(|text| text.chars().next().unwrap_or('\0'));
        let raw = options.value('r').is_some();
        let line = self.take_line(delimiter.unwrap_or('\n'), options.value('u'));
        let line = match line {
            Some(line) if options.value('n').is_some() || options.value('N').is_some() => {
                drop(line);
                self.unread()
            }
            Some(line) if raw || !line.parts.iter().any(is_escaped) => line,
            Some(_) | None => self.unread(),
        };
        if let Some(array) = options.value('a').map(str::to_owned) {
            let values = split(&line, &separators, usize::MAX);
            self.assign_list(&array, values);
            return Flow::Next;
        }
        let names: Vec<&str> = match options.names.is_empty() {
            true => vec!["REPLY"],
            false => options.names.iter().map(String::as_str).collect(),
        };
        let whole = options.names.is_empty();
        let values = if whole {
            vec![line]
        } else {
            split(&line, &separators, names.len())
        };
        let open = values.iter().any(Value::is_partly_unknown);
        let spare = if open {
            Value::unknown(Unknown::Anything)
        } else {
            Value::default()
        };
        for (at, name) in names.into_iter().enumerate() {
            let value = values.get(at).unwrap_or(&spare);
            self.set(name, Variable::one(value.clone()));
        }
        Flow::Next
    }

    /// What is read by somebody who cannot be followed.
    pub(super) fn unread(&mut self) -> Value {
        let stdin = Rc::clone(&self.scope.io.stdin);
        let kind = match &*stdin {
            Stdin::Pipe(left) => {
                self.spend(work(left));
                if let Some(values) = searched(left, self.world) {
                    return self.choose_value(values);
                }
                output_of(left, self.world)
            }
            Stdin::Text(text) => [Unknown::Unseen, Unknown::Private, Unknown::Agent, Unknown::Processes]
                .into_iter()
                .find(|kind| text.holds(*kind))
                .or_else(|| text.credential().map(Unknown::Credential))
                .unwrap_or(Unknown::Anything),
            Stdin::File(path) if is_of_others(&locate(path, self.scope.cwd(), self.world)) => Unknown::Processes,
            Stdin::File(path) if path.leading().starts_with("/dev/") => Unknown::Anything,
            Stdin::Inherited | Stdin::File(_) => Unknown::Told,
        };
        Value::unknown(kind)
    }

    /// The next line of a known standard input; the rest stays for the next.
    fn take_line(&mut self, delimiter: char, number: Option<&str>) -> Option<Value> {
        if let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) {
            let Some(Descriptor::Reads(stdin) | Descriptor::Both(stdin, _)) = self.scope.io.others.get(&number) else {
                return None;
            };
            let Stdin::Text(value) = &**stdin else { return None };
            return Some(until(value, delimiter).0);
        }
        let (line, rest) = until(self.stdin_text()?, delimiter);
        self.spend_bytes(line.size() + rest.as_ref().map_or(0, Value::size));
        self.scope.at_end = line.is_empty() && rest.is_none();
        self.scope.io.stdin = Rc::new(Stdin::Text(rest.unwrap_or_default()));
        Some(line)
    }

    pub(super) fn mapfile(&mut self, call: &Call) -> Flow {
        let options = Options::of(call, MAPFILE_VALUES);
        let name = options.names.first().map_or("MAPFILE", String::as_str).to_owned();
        let strip = options.value('t').is_some();
        if let Some(code) = options.value('C') {
            // It runs for the lines, with a number and the line behind it.
            let code = Value::text(format!("{code} 0 ''"));
            self.through("mapfile", |walker| {
                walker.apart(|walker| walker.run_code(&code, &call.span));
                Flow::Next
            });
        }
        let Some(text) = self.stdin_text().and_then(Value::as_text) else {
            let listed = self.stdin_text().filter(|text| is_one_path(text)).cloned();
            let value = listed.unwrap_or_else(|| self.unread());
            self.assign_list(&name, vec![value]);
            return Flow::Next;
        };
        let lines = text.split_inclusive('\n').map(|line| {
            let line = if strip { line.trim_end_matches('\n') } else { line };
            Value::text(line)
        });
        let lines = lines.collect();
        self.assign_list(&name, lines);
        Flow::Next
    }
}

/// Whether a backslash in it means something else than itself.
fn is_escaped(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.contains('\\'))
}

/// Whether it is the name of a file, of which the beginning is known.
fn is_one_path(text: &Value) -> bool {
    let ends = |part: &Part| matches!(part, Part::Text(text) if text.contains('\n'));
    !matches!(text.parts.first(), None | Some(Part::Unknown(_))) && !text.parts.iter().any(ends)
}

/// What stands before a delimiter, and what behind it if there is one.
fn until(value: &Value, delimiter: char) -> (Value, Option<Value>) {
    let mut line = Value::default();
    for (at, part) in value.parts.iter().enumerate() {
        if let Part::Text(text) = part
            && let Some((before, after)) = text.split_once(delimiter)
        {
            line.push_text(before);
            let mut rest = Value::default();
            rest.push_text(after);
            value.parts.iter().skip(at + 1).for_each(|part| rest.push(part.clone()));
            return (line, Some(rest));
        }
        line.push(part.clone());
    }
    (line, None)
}

/// Words of a line; the last has all that is left.
fn split(line: &Value, separators: &str, count: usize) -> Vec<Value> {
    let Some(text) = line.as_text() else {
        return vec![line.clone(); count.min(super::limits::VALUES)];
    };
    let is_separator = |c: char| separators.contains(c);
    let blank = |c: char| c.is_ascii_whitespace() && is_separator(c);
    let mut rest = text.trim_matches(blank);
    let mut values = Vec::new();
    while !rest.is_empty() {
        if values.len() + 1 == count {
            values.push(Value::text(rest));
            break;
        }
        let (word, after) = rest.split_once(is_separator).unwrap_or((rest, ""));
        values.push(Value::text(word));
        rest = after.trim_start_matches(blank);
    }
    values
}

/// Steps that looking at what programs print counts as: each word may be a place.
pub(super) fn work(invocations: &[Invocation]) -> usize {
    let places = |invocation: &Invocation| 4 * (1 + invocation.argv.len() + invocation.files.len());
    invocations.iter().map(places).sum()
}
