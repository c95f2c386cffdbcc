//! What programs print, where that can be known without running them.

use super::filters::{self, Flags};
use super::found::Reason;
use super::limits;
use super::scope::Variable;
use super::{Call, Flow, Walker, format, said};
use crate::invocation::{Part, Unknown, Value};
use crate::paths::locate;
use crate::world::Owned;

/// Programs that print one name or number, whatever they are asked.
const NAMES: &[&str] = &[
    "arch", "date", "hostname", "id", "logname", "nproc", "tty", "uname", "uuidgen", "wc", "whoami", "expr",
];

/// What git prints, by its first words.
const GIT: &[(&[&str], Option<Unknown>)] = &[
    (&["rev-parse", "--show-toplevel"], None),
    (&["rev-parse", "--abbrev-ref"], Some(Unknown::Something)),
    (&["rev-parse", "--git-dir"], Some(Unknown::Something)),
    (&["rev-parse"], Some(Unknown::Name)),
    (&["rev-list", "--count"], Some(Unknown::Name)),
    (&["branch", "--show-current"], Some(Unknown::Anything)),
];

impl<'t> Walker<'t> {
    /// What a program prints; nothing if nobody knows.
    pub(super) fn output(&mut self, call: &Call) -> Option<Value> {
        let name = call.name()?;
        let base = name.rsplit('/').next().unwrap_or(name);
        let arguments = call.arguments();
        match base {
            "echo" => Some(format::echo(arguments)),
            "printf" => format::printf(arguments),
            "true" | "false" | ":" | "test" | "[" | "sleep" | "mkdir" | "touch" | "chmod" | "cp" | "rm" | "ln" => {
                Some(Value::default())
            }
            "pwd" => Some(line(self.plain_variable("PWD"))),
            "cat" | "tac" if arguments.iter().any(|value| !value.leading().starts_with('-')) => self.files(arguments),
            "tee" => self.tee(arguments),
            "basename" => basename(arguments).map(line),
            "dirname" => dirname(arguments).map(line),
            "realpath" | "readlink" => self.real_path(arguments).map(line),
            "which" | "command" | "type" | "whence" => self.asked_for(arguments).map(line),
            "seq" => seq(arguments),
            "mktemp" => Some(line(self.mktemp(arguments))),
            "git" => self.git(arguments).map(line),
            "whoami" | "logname" => Some(line(Value::text(self.world.user.clone()))),
            "id" if arguments.first().and_then(Value::as_text) == Some("-un") => {
                Some(line(Value::text(self.world.user.clone())))
            }
            _ if NAMES.contains(&base) => Some(line(Value::unknown(Unknown::Name))),
            "getent" => self.account(arguments),
            _ => said::said(base, call)
                .or_else(|| self.filtered(base, arguments))
                .or_else(|| self.generated(base, arguments)),
        }
    }

    /// `which rm` prints a path of which the name is what counts, unless it is Snell's own.
    fn asked_for(&self, arguments: &[Value]) -> Option<Value> {
        let mut operands = operands(arguments);
        let name = operands.next()?.clone();
        let own = self.world.own.iter().find(|own| {
            let base = own.path.rsplit('/').next();
            own.what == Owned::Program && base.is_some() && base == name.as_text()
        });
        let path = own.map_or(name, |own| Value::text(own.path.clone()));
        operands.next().is_none().then_some(path)
    }

    /// `getent passwd name`: the user's own line.
    fn account(&self, arguments: &[Value]) -> Option<Value> {
        let words: Vec<&str> = arguments.iter().map(Value::as_text).collect::<Option<_>>()?;
        let (user, home) = (&self.world.user, &self.world.home);
        let is_own = matches!(words.as_slice(), ["passwd", name] if name == user);
        is_own.then(|| Value::text(format!("{user}:x:1000:1000:{user}:{home}:/bin/bash\n")))
    }

    /// Programs that change what they read.
    fn filtered(&mut self, name: &str, arguments: &[Value]) -> Option<Value> {
        let filter = filters::find(name)?;
        let words: Vec<&str> = arguments.iter().map(Value::as_text).collect::<Option<_>>()?;
        let flags = Flags::of(&words, filter.with_value);
        let input = match flags.files(filter.operands) {
            [] => self.stdin_text()?.clone(),
            [file] => {
                let file = Value::text(*file);
                self.written(&file)?
            }
            _ => return None,
        };
        self.spend_bytes(input.size() * 16);
        match input.as_text() {
            Some(text) => (filter.run)(&flags, text).map(Value::text),
            // Lines go through as they are, whatever is unknown in them.
            None if name == "cat" => Some(input),
            None => None,
        }
    }

    /// `cat file`, if the file was written here.
    fn files(&mut self, arguments: &[Value]) -> Option<Value> {
        let mut all = Value::default();
        for argument in arguments
            .iter()
            .filter(|value| value.as_text().is_none_or(|text| text == "-" || !text.starts_with('-')))
        {
            let content = match argument.as_text() {
                Some("-" | "/dev/stdin") => self.stdin_text()?.clone(),
                _ => self.written(argument)?,
            };
            // The same file may be named again and again, and grow by what is read from it.
            if !self.spend_bytes(content.size()) || all.size() + content.size() > limits::VALUE_BYTES {
                self.partial(Reason::Limit("value"));
                return None;
            }
            all.append(&content);
        }
        Some(all)
    }

    fn tee(&mut self, arguments: &[Value]) -> Option<Value> {
        let input = self.stdin_text().cloned();
        let appends = arguments
            .iter()
            .any(|value| matches!(value.as_text(), Some("-a" | "--append")));
        for path in arguments.iter().filter(|value| !value.leading().starts_with('-')) {
            if let (Some(script), Some(text)) = (self.unfed_reader(path), &input) {
                self.feed_reader(script, Some(text.clone()), None);
            }
            if !appends {
                self.empty(path);
            }
            let value = input.clone().unwrap_or_else(|| self.unread());
            self.write(path, &value);
        }
        input
    }

    fn real_path(&mut self, arguments: &[Value]) -> Option<Value> {
        let path = arguments.iter().rfind(|value| !value.leading().starts_with('-'))?;
        let path = locate(path, self.scope.cwd(), self.world).path?;
        Some(Value::text(path))
    }

    fn mktemp(&mut self, arguments: &[Value]) -> Value {
        let template = arguments.iter().rfind(|value| value.leading().contains("XXX"));
        let temp = match self.scope.single("TMPDIR").and_then(Value::as_text) {
            Some(directory) => directory.trim_end_matches('/').to_owned(),
            None => "/tmp".to_owned(),
        };
        let start = match template {
            None => format!("{temp}/tmp."),
            Some(template) => {
                let text = template.leading();
                let before = text.split("XXX").next().unwrap_or_default();
                let in_temp = arguments
                    .iter()
                    .any(|value| matches!(value.as_text(), Some("-t" | "--tmpdir")));
                if in_temp {
                    format!("{temp}/{before}")
                } else {
                    before.to_owned()
                }
            }
        };
        let mut value = Value::text(start);
        value.push(Part::Unknown(Unknown::Name));
        value
    }

    fn git(&mut self, arguments: &[Value]) -> Option<Value> {
        let words: Vec<&str> = arguments.iter().filter_map(Value::as_text).collect();
        let (_, kind) = GIT.iter().find(|(wanted, _)| words.starts_with(wanted))?;
        if let Some(kind) = kind {
            return Some(Value::unknown(*kind));
        }
        let project = &self.world.project;
        let inside = self.scope.cwd().is_some_and(|cwd| cwd.starts_with(project.as_str()));
        Some(if inside {
            Value::text(project.clone())
        } else {
            Value::unknown(Unknown::Something)
        })
    }

    /// `printf -v name format …`
    pub(super) fn printf_into(&mut self, call: &Call) -> Flow {
        let glued = call
            .arguments()
            .first()
            .and_then(|flag| flag.leading().strip_prefix("-v"))
            .filter(|name| !name.is_empty());
        let (name, rest) = match glued {
            Some(name) => (Some(name), call.argv.get(2..)),
            None => (call.argv.get(2).and_then(Value::as_text), call.argv.get(3..)),
        };
        if let Some(name) = name {
            let value = format::printf(rest.unwrap_or_default());
            let value = value.unwrap_or_else(|| Value::unknown(Unknown::Anything));
            match name.split_once('[') {
                Some((name, key)) => {
                    self.assign_element(name, Some(key.trim_end_matches(']').to_owned()), value, false);
                }
                None => self.set(name, Variable::one(value)),
            }
        }
        Flow::Next
    }
}

fn line(mut value: Value) -> Value {
    value.push_text("\n");
    value
}

fn operands(arguments: &[Value]) -> impl Iterator<Item = &Value> {
    arguments.iter().filter(|value| !value.leading().starts_with('-'))
}

fn basename(arguments: &[Value]) -> Option<Value> {
    let mut operands = operands(arguments);
    let path = operands.next()?;
    let Some(text) = path.as_text() else {
        return Some(Value::unknown(Unknown::Something));
    };
    let trimmed = text.trim_end_matches('/');
    let base = trimmed.rsplit('/').next().unwrap_or(trimmed);
    let base = if base.is_empty() && !text.is_empty() { "/" } else { base };
    let suffix = operands.next().and_then(Value::as_text).unwrap_or_default();
    let base = base
        .strip_suffix(suffix)
        .filter(|base| !base.is_empty())
        .unwrap_or(base);
    Some(Value::text(base))
}

fn dirname(arguments: &[Value]) -> Option<Value> {
    let path = operands(arguments).next()?;
    let text = path.as_text()?;
    let trimmed = text.trim_end_matches('/');
    let directory = match trimmed.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory.trim_end_matches('/'),
        None if trimmed.is_empty() && !text.is_empty() => "/",
        None => ".",
    };
    Some(Value::text(if directory.is_empty() { "/" } else { directory }))
}

fn seq(arguments: &[Value]) -> Option<Value> {
    const MOST: i64 = 1_024;
    let numbers: Vec<i64> = arguments
        .iter()
        .map(|value| value.as_text()?.parse().ok())
        .collect::<Option<_>>()?;
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    let count = last.checked_sub(first)?.checked_div(step)?;
    if count > MOST {
        return None;
    }
    let lines = (0..=count).map(|at| format!("{}\n", first + at * step));
    Some(Value::text(if count < 0 { String::new() } else { lines.collect() }))
}
