//! The parts of a command that somebody could leave out or write differently, so that a command is left that makes sense.
//! What the tables do not know is left alone: without a word of which nobody knows what it is, anything may be meant.

use crate::invocation::{Invocation, Value};
use crate::judge::Seen;
use crate::line::Line;
use crate::programs::{Called, Handler, Target, called};
use crate::syntax::{CommandKind, Redirect, RedirectKind, Span, Word, parse};

/// Programs that run others just as they are, so that these can run without them.
const PREFIXES: &[&str] = &[
    "sudo", "doas", "pkexec", "run0", "nohup", "setsid", "command", "builtin", "exec", "nice", "time", "env",
];

/// Flags that take no value, whatever the program. Of any other, the next word may be its value.
const ALONE: &[&str] = &[
    "--all",
    "--delete",
    "--force",
    "--force-with-lease",
    "--hard",
    "--in-place",
    "--mirror",
    "--no-verify",
    "--prune",
    "--purge",
    "--recursive",
    "--volumes",
    "--yes",
];

/// Programs that compare: one file is none to them.
const COMPARING: &[&str] = &["cmp", "comm", "diff", "diff3", "git diff", "join", "sdiff"];

/// The parts of a command, by where they stand.
#[derive(Default)]
pub(super) struct Parts {
    /// What can be left out: flags that stand alone, one of several files, what it is run through, redirections.
    pub(super) needless: Vec<Span>,
    /// What names a file.
    pub(super) files: Vec<Span>,
}

impl Parts {
    /// Those of the command that stands there.
    pub(super) fn of(text: &str, span: &Span, seen: &Seen) -> Self {
        let here: Vec<&Invocation> = seen.invocations.iter().filter(|found| found.span == *span).collect();
        let mut parts = Self::default();
        let parsed = parse(text.get(span.clone()).unwrap_or_default());
        let pipelines = parsed.script.items.iter().flat_map(|item| &item.pipelines);
        for command in pipelines.flat_map(|(_, pipeline)| &pipeline.commands) {
            let is_for_all_that_follows = is_lone_exec(&command.kind);
            let opened = command
                .redirects
                .iter()
                .filter_map(|redirect| Some((redirect, opened(redirect)?)));
            for (redirect, file) in opened {
                // Without what it reads, a command waits for somebody to type.
                if !matches!(redirect.kind, RedirectKind::Read(_)) && !is_for_all_that_follows {
                    parts.needless.push(redirect.span.clone());
                }
                parts.files.push(file);
            }
            if let (CommandKind::Simple { words, .. }, [invocation]) = (&command.kind, here.as_slice()) {
                parts.simple(words, invocation);
            }
        }
        for part in parts.needless.iter_mut().chain(&mut parts.files) {
            *part = part.start + span.start..part.end + span.start;
        }
        parts
    }

    fn simple(&mut self, words: &[Word], invocation: &Invocation) {
        let [program, rest @ ..] = words else {
            return;
        };
        if let Some(wrapper) = invocation.via.first() {
            let runs_at_once = rest
                .first()
                .and_then(Word::bare)
                .is_some_and(|next| !next.starts_with('-'));
            let is_prefix = PREFIXES.contains(&wrapper.as_str());
            if runs_at_once && is_prefix && program.bare() == Some(wrapper) {
                self.needless.push(program.span.clone());
            }
            return;
        }
        // Each word is an argument only where none became several, or none at all.
        let Some(called) = called(&invocation.argv).filter(|_| words.len() == invocation.argv.len()) else {
            return;
        };
        let arguments = Arguments::of(&called);
        let first = words.len() - called.arguments.len();
        let place = |number: &usize| words.get(first + number).map(|word| word.span.clone());
        // Without its only argument a program is another one: it shows its help, or waits for somebody to type.
        if words.len() > 2 {
            self.needless.extend(arguments.lone_flags.iter().filter_map(place));
        }
        if arguments.can_spare() {
            self.needless.extend(arguments.spare.iter().filter_map(place));
        }
        self.files.extend(arguments.operands.iter().filter_map(place));
    }
}

/// `exec > file`: what follows is written there.
fn is_lone_exec(command: &CommandKind) -> bool {
    matches!(command, CommandKind::Simple { words, .. } if words.len() == 1 && words[0].bare() == Some("exec"))
}

/// The arguments of a program by their numbers.
struct Arguments {
    /// Flags that take no other argument.
    lone_flags: Vec<usize>,
    operands: Vec<usize>,
    /// Operands that are used like all others.
    spare: Vec<usize>,
}

impl Arguments {
    fn of(called: &Called<'_>) -> Self {
        let line = Line::read(called.program, called.arguments);
        let is_operand = |argument: &Value| line.operands.iter().any(|operand| std::ptr::eq(*operand, argument));
        let is_flag = |argument: &Value| argument.leading().len() > 1 && argument.leading().starts_with('-');
        let all = || called.arguments.iter().enumerate();
        let is_lone = |number: usize, flag: &Value| {
            let next = called.arguments.get(number + 1);
            is_flag(flag)
                && flag.as_text() != Some("--")
                && next.is_none_or(|next| is_flag(next) || is_operand(next) && takes_nothing(flag))
                && !matches!(called.program.handler, Some(Handler::Kill | Handler::Interpreter))
        };
        let operands: Vec<usize> = all()
            .filter(|(_, it)| is_operand(it))
            .map(|(number, _)| number)
            .collect();
        Self {
            lone_flags: all()
                .filter(|(number, it)| is_lone(*number, it))
                .map(|(number, _)| number)
                .collect(),
            spare: skipped(called).map_or_else(Vec::new, |first| operands.iter().skip(first).copied().collect()),
            operands,
        }
    }

    /// Whether something is left to work on.
    fn can_spare(&self) -> bool {
        self.spare.len() > 1
    }
}

/// Whether the word behind a flag is none of its value.
fn takes_nothing(flag: &Value) -> bool {
    let text = flag.as_text().unwrap_or_default();
    !text.starts_with("--") || text.contains('=') || ALONE.contains(&text)
}

/// How many operands of a program come before those that are all used alike; nothing if there are no such ones.
fn skipped(called: &Called<'_>) -> Option<usize> {
    let program = called.program;
    // Whose flags are not all known, a number may be the value of one.
    let is_number = |argument: &Value| argument.leading().bytes().all(|byte| byte.is_ascii_digit());
    if matches!(program.handler, Some(Handler::Move | Handler::RemoteCopy))
        || COMPARING.contains(&called.name)
        || called.arguments.iter().any(is_number)
    {
        return None;
    }
    let mut skipped = None;
    for each in program.uses {
        // What several words name is a command of its own, and none of them can be spared.
        let first = match each.on {
            _ if !each.words.is_empty() => return None,
            Target::Operands => 0,
            Target::AllButFirst => 1,
            Target::First | Target::Last | Target::AllButLast | Target::Into(_) => return None,
            _ => continue,
        };
        skipped = skipped.max(Some(first));
    }
    skipped
}

/// The name of a file that a redirection opens.
fn opened(redirect: &Redirect) -> Option<Span> {
    use RedirectKind::{Append, AppendBoth, Clobber, Read, ReadWrite, Write, WriteBoth};
    match &redirect.kind {
        Read(word) | Write(word) | Clobber(word) | Append(word) | ReadWrite(word) | WriteBoth(word)
        | AppendBoth(word) => Some(word.span.clone()),
        _ => None,
    }
}
