//! Expands brace lists and ranges.

use std::rc::Rc;

use crate::interpret::ShellInterpreter;
use crate::interpret::limits;
use crate::interpret::result::CoverageGap;
use snell_shell::{ShellWord, WordPart};

/// The parts of one of the words that a word expands to.
type BraceExpandedWord<'t> = Vec<BracePart<'t>>;

/// A part of the tree, or an element of a range.
#[derive(Clone)]
pub(crate) enum BracePart<'t> {
    Piece(&'t WordPart),
    RangeItem(Rc<str>),
}

impl<'t> ShellInterpreter<'t> {
    /// The parts of every word that a word expands to by its brace lists.
    pub(crate) fn expand_braces(&mut self, pieces: &'t [WordPart]) -> Vec<BraceExpandedWord<'t>> {
        let is_list = |piece: &WordPart| matches!(piece, WordPart::Braces(_) | WordPart::Range { .. });
        if !pieces.iter().any(is_list) {
            return vec![pieces.iter().map(BracePart::Piece).collect()];
        }
        let mut all: Vec<BraceExpandedWord<'t>> = vec![Vec::new()];
        for piece in pieces {
            let parts: Vec<BraceExpandedWord<'t>> = match piece {
                WordPart::Braces(words) => self.expand_brace_alternatives(words),
                WordPart::Range { .. } => self.expand_range(piece),
                piece => vec![vec![BracePart::Piece(piece)]],
            };
            let size = all.len() * parts.len();
            if size > limits::BRACE_WORDS || !self.spend_steps(size) {
                self.mark_partial(CoverageGap::Limit("brace words"));
                all.truncate((limits::BRACE_WORDS / parts.len().max(1)).max(1));
            }
            all = all
                .iter()
                .flat_map(|before| parts.iter().map(move |part| [before.as_slice(), part.as_slice()].concat()))
                .take(limits::BRACE_WORDS)
                .collect();
        }
        all
    }

    fn expand_brace_alternatives(&mut self, words: &'t [ShellWord]) -> Vec<BraceExpandedWord<'t>> {
        let mut all = Vec::new();
        for word in words {
            let mut more = self.with_nesting(|walker| walker.expand_braces(&word.parts));
            all.append(&mut more);
            if all.len() > limits::BRACE_WORDS {
                self.mark_partial(CoverageGap::Limit("brace words"));
                break;
            }
        }
        all
    }

    fn expand_range(&mut self, part: &'t WordPart) -> Vec<BraceExpandedWord<'t>> {
        let WordPart::Range { from, to, step } = part else {
            return Vec::new();
        };
        let counted = enumerate_range(from, to, step.as_deref());
        if counted.len() > limits::BRACE_WORDS {
            self.mark_partial(CoverageGap::Limit("brace words"));
        }
        let texts = counted.into_iter().take(limits::BRACE_WORDS);
        texts.map(|text| vec![BracePart::RangeItem(Rc::from(text))]).collect()
    }
}

/// The elements of `{from..to..step}`; one more than the limit if there are more.
fn enumerate_range(from: &str, to: &str, step: Option<&str>) -> Vec<String> {
    let number = |text: &str| text.parse::<i64>().ok();
    let letter = |text: &str| text.bytes().next().map(i64::from);
    let (first, last, letters) = match (number(from), number(to)) {
        (Some(first), Some(last)) => (first, last, false),
        _ => match (letter(from), letter(to)) {
            (Some(first), Some(last)) => (first, last, true),
            _ => return Vec::new(),
        },
    };
    let is_padded = |text: &&str| {
        let digits = text.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    let padded = !letters && [from, to].iter().any(is_padded);
    let width = if padded { from.len().max(to.len()) } else { 0 };
    let step = step.and_then(number).map_or(1, |step| step.saturating_abs().max(1));
    let count = last.abs_diff(first) / step.unsigned_abs();
    let down = last < first;
    (0..=count)
        .take(limits::BRACE_WORDS + 1)
        .map(|at| {
            let distance = i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(step);
            let at = if down { first.saturating_sub(distance) } else { first.saturating_add(distance) };
            match u8::try_from(at) {
                Ok(byte) if letters => char::from(byte).to_string(),
                _ => format!("{at:0width$}"),
            }
        })
        .collect()
}
