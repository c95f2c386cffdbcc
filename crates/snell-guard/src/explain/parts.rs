//! The parts of a command that somebody could leave out or write differently.

use crate::judge::Seen;
use crate::syntax::{CommandKind, Redirect, RedirectKind, Span, Word, parse};

/// The parts of a command, by where they stand.
#[derive(Default)]
pub(super) struct Parts {
    /// What can be left out, so that a command is left that somebody may want: flags, one of several operands, what it is
    /// run through, redirections.
    pub(super) needless: Vec<Span>,
    /// What may name a file.
    pub(super) words: Vec<Span>,
}

impl Parts {
    /// Those of the command that stands there.
    pub(super) fn of(text: &str, span: &Span, seen: &Seen) -> Self {
        let here = seen.invocations.iter().filter(|invocation| invocation.span == *span);
        let wrappers: Vec<&str> = here
            .filter_map(|invocation| invocation.via.first())
            .map(String::as_str)
            .collect();
        let mut parts = Self::default();
        let parsed = parse(text.get(span.clone()).unwrap_or_default());
        let pipelines = parsed.script.items.iter().flat_map(|item| &item.pipelines);
        for command in pipelines.flat_map(|(_, pipeline)| &pipeline.commands) {
            parts
                .needless
                .extend(command.redirects.iter().map(|redirect| redirect.span.clone()));
            parts.words.extend(command.redirects.iter().filter_map(opened));
            if let CommandKind::Simple { words, .. } = &command.kind {
                parts.simple(words, &wrappers);
            }
        }
        for part in parts.needless.iter_mut().chain(&mut parts.words) {
            *part = part.start + span.start..part.end + span.start;
        }
        parts
    }

    fn simple(&mut self, words: &[Word], wrappers: &[&str]) {
        // A word of letters may be the name of a command, and without it something else is meant.
        const OF_FILES: &[char] = &['/', '~', '.', '*', '?', '$', '=', ':'];
        let Some((program, rest)) = words.split_first() else {
            return;
        };
        let is_flag = |word: &Word| word.bare().is_some_and(|text| text.starts_with('-'));
        let is_file = |word: &Word| word.bare().is_none_or(|text| text.contains(OF_FILES));
        let several = rest.iter().filter(|word| !is_flag(word)).count() > 1;
        let wraps = program.bare().is_some_and(|name| wrappers.contains(&name));
        let needless = rest.iter().filter(|word| is_flag(word) || several && is_file(word));
        let all = needless.chain(Some(program).filter(|_| wraps));
        self.needless.extend(all.map(|word| word.span.clone()));
        self.words.extend(rest.iter().map(|word| word.span.clone()));
    }
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
