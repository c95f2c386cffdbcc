//! What becomes of words without variables: brace lists are written out, patterns match nothing.

use snell_guard::syntax::{CommandKind, Parsed, Piece, RedirectKind, Word};

use super::scripts::commands;

/// The arguments of the first command.
pub(super) fn argv(parsed: &Parsed) -> Vec<String> {
    let mut words = told(parsed);
    words.remove(0);
    words.pop();
    words
}

/// What `tell` tells when a script runs: how many arguments, which, and what it reads.
pub(super) fn told(parsed: &Parsed) -> Vec<String> {
    let mut told = Vec::new();
    commands(&parsed.script, &mut |command| {
        let CommandKind::Simple { words, .. } = &command.kind else {
            return;
        };
        let Some((_, arguments)) = words.split_first().filter(|(name, _)| name.bare() == Some("tell")) else {
            return;
        };
        let expanded: Vec<String> = arguments.iter().flat_map(expand).collect();
        let mut documents = command.redirects.iter().filter_map(|redirect| match &redirect.kind {
            RedirectKind::HereDocument { body, .. } => Some(body),
            _ => None,
        });
        let input = documents.next_back().map(|body| {
            made_of(&body.pieces)
                .into_iter()
                .map(|(text, _)| text)
                .collect::<String>()
        });
        let input = input.unwrap_or_default();
        told.push(expanded.len().to_string());
        told.extend(expanded);
        told.push(input);
    });
    told
}

/// A text, and whether any of it was quoted: an empty word is one only then.
type Made = (String, bool);

fn expand(word: &Word) -> Vec<String> {
    let made = made_of(&word.pieces);
    made.into_iter()
        .filter(|(text, quoted)| *quoted || !text.is_empty())
        .map(|(text, _)| text)
        .collect()
}

fn made_of(pieces: &[Piece]) -> Vec<Made> {
    pieces.iter().fold(vec![(String::new(), false)], |before, piece| {
        let parts = parts(piece);
        let with = |(text, quoted): &Made| {
            let join = |(more, also): &Made| (format!("{text}{more}"), *quoted || *also);
            parts.iter().map(join).collect::<Vec<_>>()
        };
        before.iter().flat_map(with).collect()
    })
}

fn parts(piece: &Piece) -> Vec<Made> {
    let one = |text: String| vec![(text, false)];
    match piece {
        Piece::Text { text, quoted } => vec![(text.clone(), *quoted)],
        Piece::Wildcard(sign) => one(sign.to_string()),
        Piece::Bracket(inner) => one(format!("[{}]", unescaped(inner))),
        Piece::Tilde(name) if name.is_empty() => one("/home/of".to_owned()),
        Piece::Tilde(name) => one(format!("~{name}")),
        Piece::Braces(words) => words.iter().flat_map(|word| made_of(&word.pieces)).collect(),
        Piece::Range { from, to, step } => range(from, to, step.as_deref()),
        // There are no variables.
        Piece::Parameter(parameter) => vec![(String::new(), parameter.quoted)],
        other => panic!("{other:?} is not literal"),
    }
}

fn unescaped(inner: &str) -> String {
    let mut characters = inner.chars();
    let mut text = String::new();
    while let Some(c) = characters.next() {
        text.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    text
}

fn range(from: &str, to: &str, step: Option<&str>) -> Vec<Made> {
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
    let width = if padded && !letters {
        from.len().max(to.len())
    } else {
        0
    };
    let step = step.and_then(number).map_or(1, |step| step.abs().max(1));
    let count = (last - first).abs() / step;
    let at = |i: i64| first + i * step * (last - first).signum();
    let show = |n: i64| match letters {
        true => char::from(u8::try_from(n).expect("a letter")).to_string(),
        false => format!("{n:0width$}"),
    };
    (0..=count).map(|i| (show(at(i)), false)).collect()
}
