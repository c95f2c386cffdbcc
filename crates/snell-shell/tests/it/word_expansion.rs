//! The expansion of words without variables: brace lists are expanded, patterns match nothing.

use snell_shell::{ParsedScript, RedirectKind, ShellCommandKind, ShellWord, WordPart};

use crate::tree_walk::visit_commands;

/// The arguments of the first command.
pub(super) fn predict_argv(parsed: &ParsedScript) -> Vec<String> {
    let mut words = predict_tell_output(parsed);
    words.remove(0);
    words.pop();
    words
}

/// The output of `tell` when a script runs: the number of arguments, the arguments, and its input.
pub(super) fn predict_tell_output(parsed: &ParsedScript) -> Vec<String> {
    let mut told = Vec::new();
    visit_commands(&parsed.script, &mut |command| {
        let ShellCommandKind::Simple { words, .. } = &command.kind else {
            return;
        };
        let Some((_, arguments)) = words.split_first().filter(|(name, _)| name.as_unquoted() == Some("tell")) else {
            return;
        };
        let expanded: Vec<String> = arguments.iter().flat_map(expand_word).collect();
        let mut documents = command.redirects.iter().filter_map(|redirect| match &redirect.kind {
            RedirectKind::HereDocument { body, .. } => Some(body),
            _ => None,
        });
        let input = documents
            .next_back()
            .map(|body| expand_pieces(&body.parts).into_iter().map(|(text, _)| text).collect::<String>());
        let input = input.unwrap_or_default();
        told.push(expanded.len().to_string());
        told.extend(expanded);
        told.push(input);
    });
    told
}

/// A text, and whether any of it was quoted: an empty word is one only then.
type ExpandedText = (String, bool);

fn expand_word(word: &ShellWord) -> Vec<String> {
    let made = expand_pieces(&word.parts);
    made.into_iter().filter(|(text, quoted)| *quoted || !text.is_empty()).map(|(text, _)| text).collect()
}

fn expand_pieces(pieces: &[WordPart]) -> Vec<ExpandedText> {
    pieces.iter().fold(vec![(String::new(), false)], |before, piece| {
        let parts = expand_piece(piece);
        let with = |(text, quoted): &ExpandedText| {
            let join = |(more, also): &ExpandedText| (format!("{text}{more}"), *quoted || *also);
            parts.iter().map(join).collect::<Vec<_>>()
        };
        before.iter().flat_map(with).collect()
    })
}

fn expand_piece(piece: &WordPart) -> Vec<ExpandedText> {
    let one = |text: String| vec![(text, false)];
    match piece {
        WordPart::Text { text, quoted } => vec![(text.clone(), *quoted)],
        WordPart::Wildcard(sign) => one(sign.to_string()),
        WordPart::Bracket(inner) => one(format!("[{}]", unescape(inner))),
        WordPart::Tilde(name) if name.is_empty() => one("/home/of".to_owned()),
        WordPart::Tilde(name) => one(format!("~{name}")),
        WordPart::Braces(words) => words.iter().flat_map(|word| expand_pieces(&word.parts)).collect(),
        WordPart::Range { from, to, step } => expand_range(from, to, step.as_deref()),
        // There are no variables.
        WordPart::Parameter(parameter) => vec![(String::new(), parameter.quoted)],
        other => panic!("{other:?} is not literal"),
    }
}

fn unescape(inner: &str) -> String {
    let mut characters = inner.chars();
    let mut text = String::new();
    while let Some(c) = characters.next() {
        text.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    text
}

fn expand_range(from: &str, to: &str, step: Option<&str>) -> Vec<ExpandedText> {
    let number = |text: &str| text.parse::<i64>().ok();
    let letter = |text: &str| i64::from(text.as_bytes()[0]);
    let (first, last, letters) = match (number(from), number(to)) {
        (Some(first), Some(last)) => (first, last, false),
        _ => (letter(from), letter(to), true),
    };
    let padded = [from, to].iter().any(|text| {
        let digits = text.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    });
    let width = if padded && !letters { from.len().max(to.len()) } else { 0 };
    let step = step.and_then(number).map_or(1, |step| step.abs().max(1));
    let count = (last - first).abs() / step;
    let at = |i: i64| first + i * step * (last - first).signum();
    let show = |n: i64| match letters {
        true => char::from(u8::try_from(n).expect("a letter")).to_string(),
        false => format!("{n:0width$}"),
    };
    (0..=count).map(|i| (show(at(i)), false)).collect()
}
