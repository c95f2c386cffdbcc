//! Programs that run programs: what they run is followed in their place.
//!
//! Which they are is data (`data/wrappers.toml`); what no table can say stands in the modules here.

mod code;
mod containers;
mod editors;
mod flags;
mod git;
mod listing;
mod many;
mod search;
mod shells;
mod table;
mod text;

use std::rc::Rc;

pub(crate) use many::MOST;

use flags::Given;
pub(crate) use listing::{FindTests, searched};
pub(crate) use search::own_found_by;
use table::{CODE_VARIABLES, Runs, WRAPPERS, Wrapper};

use crate::invocation::{Opened, Opening, Unknown, Value};
use crate::shell::{Call, Flow, Walker, joined};

/// The names of all programs that run programs.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    table::NAMES.iter().map(|(name, _)| *name)
}

/// The arguments that a program is given for itself, without the command that it runs.
pub(crate) fn own_arguments(argv: &[Value]) -> &[Value] {
    let all = argv.get(1..).unwrap_or_default();
    let name = argv.first().and_then(Value::as_text).unwrap_or_default();
    let mut entries = table::find(name).iter().filter_map(|at| WRAPPERS.get(*at));
    let runs_words = |wrapper: &&Wrapper| {
        let runs = [
            Runs::Words,
            Runs::Code,
            Runs::AfterDashes,
            Runs::Package,
            Runs::EachIsCode,
        ];
        runs.contains(&wrapper.runs)
    };
    let given = entries.find_map(|wrapper| Some((wrapper, Given::read(wrapper, argv)?)));
    match given.filter(|(wrapper, _)| runs_words(wrapper)) {
        Some((wrapper, given)) => {
            let end = given.rest + wrapper.operands;
            argv.get(1..end.min(argv.len())).unwrap_or(all)
        }
        None => all,
    }
}

/// Follows what some variables make a program run.
pub(crate) fn variables(walker: &mut Walker<'_>, call: &Call) {
    for (name, value) in &call.variables {
        if CODE_VARIABLES.binary_search(&name.as_str()).is_ok() && !value.is_empty() {
            run_code(walker, name, value, call);
        }
    }
}

/// Follows what a program runs; nothing if it is just a program.
pub(crate) fn run<'t>(walker: &mut Walker<'t>, call: &mut Call) -> Option<Flow> {
    let name = call.name()?;
    if name.contains('/') && shells::is_written(walker, call) {
        return Some(Flow::Next);
    }
    let mut entries = table::find(name).iter().filter_map(|at| WRAPPERS.get(*at));
    let (wrapper, given) = entries.find_map(|wrapper| Some((wrapper, Given::read(wrapper, &call.argv)?)))?;
    if given.has(wrapper.refuse) {
        return None;
    }
    let base = name.rsplit('/').next().unwrap_or(name);
    let via = std::iter::once(base)
        .chain(given.words.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    let job = Job {
        wrapper,
        given,
        via,
        call,
    };
    match wrapper.runs {
        Runs::Shell => shells::run(walker, &job),
        Runs::Xargs => many::xargs(walker, &job),
        Runs::Parallel => many::parallel(walker, &job),
        Runs::Find => many::find(walker, &job),
        Runs::Fd => many::fd(walker, &job),
        Runs::Env => job.env(walker),
        Runs::Git => git::run(walker, &job),
        Runs::Awk => text::awk(walker, &job),
        Runs::Sed => text::sed(walker, &job),
        Runs::Editor => editors::editor(walker, &job),
        Runs::Client => editors::client(walker, &job),
        Runs::Make => text::make(walker, &job),
        Runs::Keys => text::keys(walker, &job),
        Runs::Crontab => text::crontab(walker, &job),
        Runs::Nothing | Runs::Words | Runs::Code | Runs::AfterDashes | Runs::Package | Runs::EachIsCode => {
            job.run(walker)
        }
    }
}

/// A program at work that runs others.
pub(super) struct Job<'c> {
    wrapper: &'static Wrapper,
    given: Given,
    via: String,
    call: &'c Call,
}

impl<'t> Job<'_> {
    /// What the table says.
    fn run(&self, walker: &mut Walker<'t>) -> Option<Flow> {
        let at = if self.wrapper.keep { self.tell(walker) } else { None };
        self.write(walker);
        let mut ran = self.code_flags(walker);
        ran |= code::inline(walker, self, at);
        let (assignments, rest) = self.rest();
        let mut rest: Vec<Value> = containers::entry(self)
            .into_iter()
            .chain(rest.iter().cloned())
            .collect();
        let is_dashes = |value: &Value| value.as_text() == Some("--");
        if self.wrapper.runs == Runs::Package
            && let Some(at) = rest.iter().position(is_dashes)
        {
            rest.remove(at);
        }
        ran |= !rest.is_empty();
        match self.wrapper.runs {
            _ if rest.is_empty() => {}
            Runs::Code => self.run_code(walker, &joined(&rest)),
            Runs::EachIsCode => rest.iter().for_each(|code| self.run_code(walker, code)),
            _ => self.run_words(walker, rest, assignments),
        }
        let reads = self.wrapper.stdin && !ran;
        if let Some(text) = walker.stdin_text().filter(|_| reads).cloned() {
            self.run_code(walker, &text);
            ran = true;
        }
        (ran || self.wrapper.keep).then_some(Flow::Next)
    }

    /// Tells of the files that it writes itself: `strace -o file`.
    fn write(&self, walker: &mut Walker<'t>) {
        let values = self.wrapper.writes.iter().flat_map(|flags| self.given.values(flags));
        let files: Vec<Opened> = values
            .map(|path| Opened {
                path: path.clone(),
                how: Opening::Truncate,
            })
            .collect();
        if !files.is_empty() {
            walker.report_files(files, &self.call.span);
        }
    }

    /// Tells the program itself.
    fn tell(&self, walker: &mut Walker<'t>) -> Option<usize> {
        walker.plain(self.call.clone())
    }

    /// Follows the values of flags that are shell code. These run here, wherever the rest runs.
    fn code_flags(&self, walker: &mut Walker<'t>) -> bool {
        let mut ran = false;
        for (spellings, prefixes) in self.wrapper.code {
            let values: Vec<Value> = self.given.values(spellings).cloned().collect();
            for value in values {
                let code = if prefixes.is_empty() {
                    Some(value.clone())
                } else {
                    after_prefix(&value, prefixes)
                };
                if let Some(code) = code {
                    let elsewhere = self.wrapper.elsewhere && self.wrapper.runs == Runs::Nothing;
                    self.inside(walker, elsewhere, |walker| walker.run_code(&code, &self.call.span));
                    ran = true;
                }
            }
        }
        ran
    }

    /// Assignments, and the words of what is run.
    fn rest(&self) -> (Vec<(String, Value)>, &[Value]) {
        let argv = &self.call.argv;
        let mut at = self.given.rest;
        if matches!(self.wrapper.runs, Runs::Nothing) {
            at = argv.len();
        }
        let mut assignments = Vec::new();
        if self.wrapper.assignments {
            while let Some((name, value)) = argv.get(at).and_then(assignment) {
                assignments.push((name, value));
                at += 1;
            }
        }
        at += self.wrapper.operands;
        let rest = argv.get(at..).unwrap_or_default();
        let dashes = rest.iter().position(|value| value.as_text() == Some("--"));
        let rest = match (self.wrapper.runs, dashes) {
            (Runs::AfterDashes, Some(dashes)) => rest.get(dashes + 1..).unwrap_or_default(),
            (Runs::Code, Some(0)) => rest.get(1..).unwrap_or_default(),
            _ => rest,
        };
        (assignments, rest)
    }

    /// `env`: `-S` splits a text into words.
    fn env(&self, walker: &mut Walker<'t>) -> Option<Flow> {
        const SPLIT: &[&str] = &["-S", "--split-string"];
        let argv = &self.call.argv;
        let at = argv.iter().position(|value| {
            let text = value.leading();
            SPLIT.iter().any(|flag| text.starts_with(flag)) || text.starts_with("-vS") || text.starts_with("-iS")
        });
        let (assignments, rest) = self.rest();
        let Some(at) = at.filter(|at| *at < argv.len() - rest.len() || *at < self.given.rest) else {
            if rest.is_empty() {
                return None;
            }
            self.run_words(walker, rest.to_vec(), assignments);
            return Some(Flow::Next);
        };
        let flag = argv.get(at)?;
        let text = flag.leading();
        let start = if text.starts_with("--") {
            text.find('=').map(|at| at + 1)
        } else {
            text.find('S').map(|at| at + 1)
        };
        let glued = start.filter(|start| *start < text.len() || flag.parts.len() > 1);
        let (mut code, next) = match glued {
            Some(start) => (flag.after(start), at + 1),
            None => (argv.get(at + 1).cloned().unwrap_or_default(), at + 2),
        };
        // Within the text, this is a blank that ends no word in a shell's script of one line.
        if let Some(text) = code.as_text().filter(|text| text.contains("\\_")) {
            code = Value::text(text.replace("\\_", " "));
        }
        code.push_text(" ");
        let rest = walker.quoted(argv.get(next..).unwrap_or_default());
        code.append(&rest);
        self.run_code(walker, &code);
        Some(Flow::Next)
    }

    /// Follows a program and its arguments.
    fn run_words(&self, walker: &mut Walker<'t>, mut words: Vec<Value>, assignments: Vec<(String, Value)>) {
        let code_follows = |flags: &[&str]| {
            words
                .first()
                .and_then(Value::as_text)
                .is_some_and(|word| flags.contains(&word))
        };
        if self.wrapper.operands > 0 && self.wrapper.code.iter().any(|(flags, _)| code_follows(flags)) {
            let code = words.get(1).cloned().unwrap_or_default();
            return self.run_code(walker, &code);
        }
        if self.wrapper.runs == Runs::Words && words.first().and_then(Value::as_text) == Some("--") {
            words.remove(0);
        }
        if words.is_empty() {
            return;
        }
        let mut inner = self.call.with(words);
        inner.variables.extend(assignments);
        if self.wrapper.elsewhere {
            // They are opened here, for the program that was told already.
            inner.files.clear();
        }
        self.inside(walker, self.wrapper.elsewhere, |walker| walker.run(inner));
    }

    /// Follows shell code.
    fn run_code(&self, walker: &mut Walker<'t>, code: &Value) {
        if !self.wrapper.keep && !self.call.files.is_empty() {
            walker.report_files(self.call.files.clone(), &self.call.span);
        }
        self.inside(walker, self.wrapper.elsewhere, |walker| {
            walker.run_code(code, &self.call.span)
        });
    }

    /// Follows something through this program.
    fn inside(&self, walker: &mut Walker<'t>, elsewhere: bool, run: impl FnOnce(&mut Walker<'t>) -> Flow) {
        let directory = self
            .wrapper
            .cwd_flags
            .iter()
            .flat_map(|spellings| self.given.values(spellings))
            .last()
            .cloned();
        let container = elsewhere.then(|| containers::container(walker, self));
        walker.through(&self.via, |walker| {
            let around = Rc::make_mut(&mut walker.around);
            around.privileged |= self.wrapper.privileged;
            around.elsewhere |= elsewhere;
            if elsewhere {
                around.container = container;
            }
            walker.apart(|walker| {
                if elsewhere {
                    walker.enter(&Value::unknown(Unknown::Anything));
                }
                if let Some(directory) = directory {
                    walker.enter(&directory);
                }
                run(walker)
            });
            Flow::Next
        });
    }
}

/// Shell code that a program runs by the way.
fn run_code(walker: &mut Walker<'_>, via: &str, code: &Value, call: &Call) {
    walker.through(via, |walker| {
        walker.apart(|walker| walker.run_code(code, &call.span));
        Flow::Next
    });
}

/// What follows one of some beginnings, in whatever case those are written.
fn after_prefix(value: &Value, prefixes: &[&str]) -> Option<Value> {
    let text = value.leading();
    let starts = |prefix: &&&str| {
        text.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    prefixes.iter().find(starts).map(|prefix| value.after(prefix.len()))
}

/// `NAME=value`
fn assignment(value: &Value) -> Option<(String, Value)> {
    let (name, _) = value.leading().split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    is_name.then(|| (name.to_owned(), value.after(name.len() + 1)))
}
