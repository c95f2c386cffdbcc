//! Predicts the output of programs without running them.

pub(crate) mod filters;
pub(crate) mod printed;
pub(crate) mod printf;
mod sed_lines;
pub(crate) mod templates;

use std::rc::Rc;

use super::limits;
use super::result::CoverageGap;
use super::scope::ShellVariable;
use super::{ExpandedCommand, ShellInterpreter};
use crate::interpret::assignment::AssignMode;
use crate::interpret::known_output::filters::FilterArgs;
use crate::programs::words::shell as words;

use crate::invocation::{SymbolicText, UnknownKind, base_name};
use crate::judge::context::SelfFile;
use crate::paths::locate_path;

/// The output of git, by its first words.
const GIT_OUTPUTS: &[(&[&str], Option<UnknownKind>)] = &[
    (&["rev-parse", "--show-toplevel"], None),
    (&["rev-parse", "--abbrev-ref"], Some(UnknownKind::Something)),
    (&["rev-parse", "--git-dir"], Some(UnknownKind::Something)),
    (&["rev-parse"], Some(UnknownKind::Name)),
    (&["rev-list", "--count"], Some(UnknownKind::Name)),
    (&["branch", "--show-current"], Some(UnknownKind::Anything)),
];

impl<'t> ShellInterpreter<'t> {
    /// The output of a program; `None` if it is unknown.
    pub(super) fn predict_output(&mut self, command: &ExpandedCommand) -> Option<SymbolicText> {
        let name = command.name()?;
        let base = base_name(name);
        let arguments = command.arguments();
        match base {
            "echo" => Some(printf::format_echo(arguments)),
            "printf" => printf::format_printf(arguments),
            "true" | "false" | ":" | "test" | "[" | "sleep" | "mkdir" | "touch" | "chmod" | "cp" | "rm" | "ln" => {
                Some(SymbolicText::default())
            }
            "pwd" => Some(append_newline(self.read_variable("PWD"))),
            "cat" if is_copied_program(arguments) => predict_program_copy(arguments),
            "dd" if arguments.iter().any(|word| word.leading_text().starts_with("if=/")) => {
                predict_program_copy(arguments)
            }
            "cat" | "tac" if arguments.iter().any(|value| !value.leading_text().starts_with('-')) => {
                self.predict_cat(arguments)
            }
            "tee" => self.run_tee(arguments),
            "basename" => predict_basename(arguments).map(append_newline),
            "dirname" => predict_dirname(arguments).map(append_newline),
            "realpath" | "readlink" => self.predict_realpath(arguments).map(append_newline),
            "which" | "command" | "type" | "whence" => self.predict_which(arguments).map(append_newline),
            "yes" => predict_yes(arguments),
            "seq" => predict_seq(arguments),
            "mktemp" => Some(append_newline(self.predict_mktemp(arguments))),
            "git" => self.predict_git(arguments).map(append_newline),
            "whoami" | "logname" => Some(append_newline(SymbolicText::from_text(self.world.user.clone()))),
            "id" if arguments.first().and_then(SymbolicText::as_text) == Some("-un") => {
                Some(append_newline(SymbolicText::from_text(self.world.user.clone())))
            }
            _ if words::NAME_PRINTERS.contains(&base) => {
                Some(append_newline(SymbolicText::from_unknown(UnknownKind::Name)))
            }
            "getent" => self.predict_getent(arguments),
            _ => printed::predict_printed_literal(base, command)
                .or_else(|| self.predict_filter(base, arguments))
                .or_else(|| self.predict_template(base, arguments)),
        }
    }

    /// `which rm` prints a path with that name. Only the name matters, unless the program is Snell's.
    fn predict_which(&self, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let mut operands = iter_operands(arguments);
        let name = operands.next()?.clone();
        let own = self.world.self_paths.iter().find(|own| {
            let base = own.path.rsplit('/').next();
            own.kind == SelfFile::Program && base.is_some() && base == name.as_text()
        });
        let path = own.map_or(name, |own| SymbolicText::from_text(own.path.clone()));
        operands.next().is_none().then_some(path)
    }

    /// `getent passwd name`: the line of the user.
    fn predict_getent(&self, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let words: Vec<&str> = arguments.iter().map(SymbolicText::as_text).collect::<Option<_>>()?;
        let (user, home) = (&self.world.user, &self.world.home);
        let is_own = matches!(words.as_slice(), ["passwd", name] if name == user);
        is_own.then(|| SymbolicText::from_text(format!("{user}:x:1000:1000:{user}:{home}:/bin/bash\n")))
    }

    /// The output of programs that transform their input.
    fn predict_filter(&mut self, name: &str, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let (_, with_value, operands, run) = filters::find_filter(name)?;
        let words: Vec<&str> = arguments.iter().map(SymbolicText::as_text).collect::<Option<_>>()?;
        let flags = FilterArgs::parse(&words, with_value);
        let input = match flags.file_operands(*operands) {
            [] => self.stdin_text()?.clone(),
            [file] => {
                let file = SymbolicText::from_text(*file);
                self.find_written_content(&file)?
            }
            _ => return None,
        };
        self.spend_bytes(input.size() * 16);
        match input.as_text() {
            Some(text) => run(&flags, text).map(SymbolicText::from_text),
            // Lines pass through unchanged, including unknown parts.
            None if name == "cat" => Some(input),
            None => None,
        }
    }

    /// `cat file`, if this text wrote the file.
    fn predict_cat(&mut self, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let mut all = SymbolicText::default();
        for argument in
            arguments.iter().filter(|value| value.as_text().is_none_or(|text| text == "-" || !text.starts_with('-')))
        {
            let content = match argument.as_text() {
                Some("-" | "/dev/stdin") => self.stdin_text()?.clone(),
                _ => self.find_written_content(argument)?,
            };
            // A file may be named again and again, and grow by its own contents.
            if !self.spend_bytes(content.size()) || all.size() + content.size() > limits::VALUE_BYTES {
                self.mark_partial(CoverageGap::Limit("value"));
                return None;
            }
            all.append(&content);
        }
        Some(all)
    }

    fn run_tee(&mut self, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let input = self.stdin_text().cloned();
        let appends = arguments.iter().any(|value| matches!(value.as_text(), Some("-a" | "--append")));
        for path in arguments.iter().filter(|value| !value.leading_text().starts_with('-')) {
            // The reader was run with another input than this: `tee >(sh) <<< text`.
            let reader = self.find_reader(path).filter(|(_, stdin)| !Rc::ptr_eq(stdin, &self.scope.io.stdin));
            if let (Some((script, _)), Some(text)) = (reader, &input) {
                self.feed_reader(script, Some(text.clone()), None);
            }
            if !appends {
                self.truncate_file(path);
            }
            let value = input.clone().unwrap_or_else(|| self.approximate_stdin());
            self.append_file(path, &value);
        }
        input
    }

    fn predict_realpath(&mut self, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let path = arguments.iter().rfind(|value| !value.leading_text().starts_with('-'))?;
        let path = locate_path(path, self.scope.cwd(), self.world).path?;
        Some(SymbolicText::from_text(path))
    }

    fn predict_mktemp(&mut self, arguments: &[SymbolicText]) -> SymbolicText {
        let template = arguments.iter().rfind(|value| value.leading_text().contains("XXX"));
        let temp = match self.scope.single_value("TMPDIR").and_then(SymbolicText::as_text) {
            Some(directory) => directory.trim_end_matches('/').to_owned(),
            None => "/tmp".to_owned(),
        };
        let start = match template {
            None => format!("{temp}/tmp."),
            Some(template) => {
                let text = template.leading_text();
                let before = text.split("XXX").next().unwrap_or_default();
                let in_temp = arguments.iter().any(|value| matches!(value.as_text(), Some("-t" | "--tmpdir")));
                if in_temp { format!("{temp}/{before}") } else { before.to_owned() }
            }
        };
        // A made-up name, so that the directory can be entered; each is another one.
        self.temporary_files += 1;
        SymbolicText::from_text(format!("{start}XXXXXX{}", self.temporary_files))
    }

    fn predict_git(&mut self, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let words: Vec<&str> = arguments.iter().filter_map(SymbolicText::as_text).collect();
        let (_, kind) = GIT_OUTPUTS.iter().find(|(wanted, _)| words.starts_with(wanted))?;
        if let Some(kind) = kind {
            return Some(SymbolicText::from_unknown(*kind));
        }
        let project = &self.world.project;
        let inside = self.scope.cwd().is_some_and(|cwd| cwd.starts_with(project.as_str()));
        Some(if inside {
            SymbolicText::from_text(project.clone())
        } else {
            SymbolicText::from_unknown(UnknownKind::Something)
        })
    }

    /// `printf -v name format …`
    pub(super) fn assign_printf(&mut self, command: &ExpandedCommand) {
        let glued = command
            .arguments()
            .first()
            .and_then(|flag| flag.leading_text().strip_prefix("-v"))
            .filter(|name| !name.is_empty());
        let (name, rest) = match glued {
            Some(name) => (Some(name), command.argv.get(2..)),
            None => (command.argv.get(2).and_then(SymbolicText::as_text), command.argv.get(3..)),
        };
        if let Some(name) = name {
            let value = printf::format_printf(rest.unwrap_or_default());
            let value = value.unwrap_or_else(|| SymbolicText::from_unknown(UnknownKind::Anything));
            match name.split_once('[') {
                Some((name, key)) => {
                    self.assign_element(name, Some(key.trim_end_matches(']').to_owned()), value, AssignMode::Replace);
                }
                None => self.set_variable(name, ShellVariable::from_value(value)),
            }
        }
    }
}

fn append_newline(mut value: SymbolicText) -> SymbolicText {
    value.push_text("\n");
    value
}

fn iter_operands(arguments: &[SymbolicText]) -> impl Iterator<Item = &SymbolicText> {
    arguments.iter().filter(|value| !value.leading_text().starts_with('-'))
}

fn predict_basename(arguments: &[SymbolicText]) -> Option<SymbolicText> {
    let mut operands = iter_operands(arguments);
    let path = operands.next()?;
    let Some(text) = path.as_text() else {
        return Some(SymbolicText::from_unknown(UnknownKind::Something));
    };
    let trimmed = text.trim_end_matches('/');
    let base = base_name(trimmed);
    let base = if base.is_empty() && !text.is_empty() { "/" } else { base };
    let suffix = operands.next().and_then(SymbolicText::as_text).unwrap_or_default();
    let base = base.strip_suffix(suffix).filter(|base| !base.is_empty()).unwrap_or(base);
    Some(SymbolicText::from_text(base))
}

fn predict_dirname(arguments: &[SymbolicText]) -> Option<SymbolicText> {
    let path = iter_operands(arguments).next()?;
    let text = path.as_text()?;
    let trimmed = text.trim_end_matches('/');
    let directory = match trimmed.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory.trim_end_matches('/'),
        None if trimmed.is_empty() && !text.is_empty() => "/",
        None => ".",
    };
    Some(SymbolicText::from_text(if directory.is_empty() { "/" } else { directory }))
}

/// Directories of programs.
const PROGRAM_DIRECTORIES: &[&str] = &["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"];

/// Whether a path is one of a program of this machine.
pub(crate) fn is_installed_program(path: &str) -> bool {
    PROGRAM_DIRECTORIES.iter().any(|start| path.starts_with(start))
}

fn is_copied_program(arguments: &[SymbolicText]) -> bool {
    matches!(arguments, [path] if is_installed_program(path.leading_text()))
}

/// The contents of a program: a script that does the same.
fn predict_program_copy(arguments: &[SymbolicText]) -> Option<SymbolicText> {
    let mut paths = arguments.iter().filter_map(SymbolicText::as_text).map(|word| word.trim_start_matches("if="));
    let path = paths.rfind(|path| is_installed_program(path))?;
    path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'`$".contains(&byte)).then(|| build_program_copy(path))
}

/// A script that runs a program with its own arguments.
pub(crate) fn build_program_copy(path: &str) -> SymbolicText {
    SymbolicText::from_text(format!("exec '{path}' \"$@\"\n"))
}

/// `yes text`: the first lines of many.
fn predict_yes(arguments: &[SymbolicText]) -> Option<SymbolicText> {
    const LINES: usize = 16;
    const MAX_LINE_BYTES: usize = 4_096;
    let mut line = crate::interpret::builtins::join_words(arguments);
    let is_short = !arguments.is_empty() && line.size() <= MAX_LINE_BYTES;
    line.push_text("\n");
    let mut all = SymbolicText::default();
    (0..LINES).filter(|_| is_short).for_each(|_| all.append(&line));
    is_short.then_some(all)
}

fn predict_seq(arguments: &[SymbolicText]) -> Option<SymbolicText> {
    const MAX_LINES: i64 = 1_024;
    let numbers: Vec<i64> = arguments.iter().map(|value| value.as_text()?.parse().ok()).collect::<Option<_>>()?;
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    let count = last.checked_sub(first)?.checked_div(step)?;
    if count > MAX_LINES {
        return None;
    }
    let lines = (0..=count).map(|at| format!("{}\n", first + at * step));
    Some(SymbolicText::from_text(if count < 0 { String::new() } else { lines.collect() }))
}
