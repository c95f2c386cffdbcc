//! Shells: code by `-c`, in a file, or by standard input.

use std::rc::Rc;

use super::Job;
use crate::invocation::{Stdin, Value};
use crate::shell::{Call, Flow, Reason, Walker};

/// Long flags that take the next word.
const WITH_VALUE: &[&str] = &[
    "--rcfile",
    "--init-file",
    "--init-command",
    "--command",
    "--features",
    "--login-shell",
];
/// Names of standard input.
const STDIN: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Shells to which `-n` is something else than to read only.
const OTHERWISE: &[&str] = &["nu", "elvish", "xonsh"];

/// What a shell was told to run.
#[derive(Default)]
struct Told {
    /// By `-c`.
    code: bool,
    /// By `-s`.
    stdin: bool,
    /// By `-n`: it reads the code and runs none of it.
    only_reads: bool,
    /// By `-i`, with which `-n` means nothing.
    interactive: bool,
    /// Code by another flag: fish's `--command`.
    also: Vec<Value>,
    /// Start-up files.
    files: Vec<Value>,
    /// Where its operands begin.
    rest: usize,
}

impl Told {
    fn read(argv: &[Value]) -> Self {
        let mut told = Self {
            rest: 1,
            ..Self::default()
        };
        while let Some(text) = argv.get(told.rest).map(Value::leading) {
            let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
                break;
            };
            told.rest += 1;
            if text == "--" {
                break;
            }
            if let Some(long) = letters.strip_prefix('-') {
                told.long(long, text, argv);
                continue;
            }
            for letter in letters.chars() {
                match letter {
                    'c' if text.starts_with('-') => told.code = true,
                    's' => told.stdin = true,
                    'n' => told.only_reads = text.starts_with('-'),
                    'i' => told.interactive = true,
                    'o' | 'O' => {
                        if argv.get(told.rest).and_then(Value::as_text) == Some("noexec") {
                            told.only_reads = text.starts_with('-');
                        }
                        told.rest += 1;
                    }
                    _ => {}
                }
            }
        }
        // A lone dash ends the flags as well.
        if argv.get(told.rest).and_then(Value::as_text) == Some("-") && told.code {
            told.rest += 1;
        }
        told
    }

    fn long(&mut self, long: &str, text: &str, argv: &[Value]) {
        let (name, glued) = long
            .split_once('=')
            .map_or((long, None), |(name, value)| (name, Some(value)));
        let value = match glued {
            Some(value) => Some(Value::text(value)),
            None if WITH_VALUE.contains(&text) => {
                self.rest += 1;
                argv.get(self.rest - 1).cloned()
            }
            None => None,
        };
        match (name, value) {
            ("command" | "init-command", Some(code)) => self.also.push(code),
            ("rcfile" | "init-file", Some(file)) => self.files.push(file),
            ("no-execute" | "noexec", None) => self.only_reads = true,
            _ => {}
        }
    }
}

/// Follows what a shell would run. It is told itself where that is unknown.
pub(super) fn run<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    let argv = &job.call.argv;
    let told = Told::read(argv);
    if told.only_reads && !told.interactive && !OTHERWISE.contains(&job.via.as_str()) {
        if !job.call.files.is_empty() {
            walker.report_files(job.call.files.clone(), &job.call.span);
        }
        return Some(Flow::Next);
    }
    for file in &told.files {
        if let Some(code) = walker.written(file) {
            child(walker, job, &code, &[], false);
        }
    }
    for code in &told.also {
        child(walker, job, code, &[], false);
    }
    let rest = argv.get(told.rest..).unwrap_or_default();
    if told.code {
        let (code, arguments) = rest.split_first()?;
        if code.is_partly_unknown() {
            walker.report_call(job.call.clone());
        } else if !job.call.files.is_empty() {
            // What is opened is opened once, whatever is run.
            let mut files = job.call.clone();
            files.argv.clear();
            walker.report_call(files);
        }
        child(walker, job, code, arguments, true);
        return Some(Flow::Next);
    }
    if !told.also.is_empty() {
        return Some(Flow::Next);
    }
    match rest.split_first() {
        Some((script, arguments)) if !told.stdin && !is_stdin(script) => {
            let content = walker.written(script);
            match content {
                Some(content) => {
                    walker.tell_unseen(job.call, &content);
                    child(walker, job, &content, &with_name(script, arguments), true);
                }
                None => {
                    if script.as_text().is_none() {
                        walker.partial(Reason::UnknownCode);
                    }
                    walker.plain(job.call.clone());
                }
            }
        }
        _ => from_stdin(walker, job, rest),
    }
    Some(Flow::Next)
}

/// `./script.sh` where it was written in the same text: then it is followed.
pub(super) fn is_written(walker: &mut Walker<'_>, call: &Call) -> bool {
    let Some(content) = call.argv.first().and_then(|path| walker.written(path)) else {
        return false;
    };
    let first = content.leading().lines().next().unwrap_or_default();
    let other = first.starts_with("#!") && !first.contains("sh");
    walker.report_call(call.clone());
    if !other {
        let via = call.name().unwrap_or_default().to_owned();
        walker.through(&via, |walker| {
            walker.apart(|walker| {
                walker.become_child(&call.variables, &call.argv);
                walker.run_code(&content, &call.span)
            });
            Flow::Next
        });
    }
    true
}

fn is_stdin(script: &Value) -> bool {
    script.as_text().is_some_and(|text| STDIN.contains(&text))
}

fn with_name(script: &Value, arguments: &[Value]) -> Vec<Value> {
    std::iter::once(script).chain(arguments).cloned().collect()
}

fn from_stdin<'t>(walker: &mut Walker<'t>, job: &Job<'_>, arguments: &[Value]) {
    let stdin = Rc::clone(&walker.scope.io.stdin);
    let Stdin::Text(text) = &*stdin else {
        if !matches!(&*stdin, Stdin::Inherited) {
            walker.partial(Reason::UnknownCode);
        }
        walker.plain(job.call.clone());
        return;
    };
    if text.is_partly_unknown() {
        walker.report_call(job.call.clone());
    } else if !job.call.files.is_empty() {
        let mut files = job.call.clone();
        files.argv.clear();
        walker.report_call(files);
    }
    let name = job.call.argv.first().cloned().unwrap_or_default();
    let outer = walker.scope.io.stdin.clone();
    walker.scope.io.stdin = Rc::new(Stdin::Inherited);
    child(walker, job, text, &with_name(&name, arguments), false);
    walker.scope.io.stdin = outer;
}

/// Follows code in a shell of its own, which knows what was exported.
fn child<'t>(walker: &mut Walker<'t>, job: &Job<'_>, code: &Value, arguments: &[Value], by_flag: bool) {
    let via = if by_flag {
        format!("{} -c", job.via)
    } else {
        job.via.clone()
    };
    walker.through(&via, |walker| {
        walker.apart(|walker| {
            walker.become_child(&job.call.variables, arguments);
            walker.run_code(code, &job.call.span)
        });
        Flow::Next
    });
}
