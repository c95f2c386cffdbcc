//! Operators with names: `-f`, `-join`, `-replace` and comparisons.

use super::PowerShellReader;
use super::expressions::concatenate;
use crate::windows::shell_words::ForeignWord;

impl PowerShellReader {
    /// The value of `left -name right`. Comparisons keep both sides, so that commands in them run.
    pub(super) fn apply_operator(
        &mut self,
        name: &str,
        left: Vec<ForeignWord>,
        right: Vec<ForeignWord>,
    ) -> Vec<ForeignWord> {
        match name {
            "f" => vec![format_values(&left, &right)],
            "join" => {
                let between = right.first().and_then(ForeignWord::as_literal).unwrap_or(" ").to_owned();
                vec![concatenate(left, &between)]
            }
            "replace" | "creplace" | "ireplace" => self.replace_in_values(left, &right),
            "split" | "csplit" | "isplit" => split_values(left, &right),
            "as" | "is" | "isnot" => left,
            _ => left.into_iter().chain(right).collect(),
        }
    }

    pub(super) fn replace_in_values(&mut self, left: Vec<ForeignWord>, right: &[ForeignWord]) -> Vec<ForeignWord> {
        let literal = |at: usize| right.get(at).map_or(Some(""), ForeignWord::as_literal);
        let (Some(pattern), Some(replacement)) = (literal(0), literal(1)) else {
            return left;
        };
        let is_plain =
            !pattern.is_empty() && pattern.chars().all(|c| c.is_alphanumeric() || " -_@#!~%&=:;,<>/\"'".contains(c));
        let replaced = left.into_iter().map(|word| match word.as_literal() {
            Some(text) if is_plain => ForeignWord::from_literal(text.replace(pattern, replacement)),
            Some(_) => {
                self.is_partial = true;
                word
            }
            None => word,
        });
        replaced.collect()
    }
}

/// `'{0} {1}' -f a, b`
fn format_values(left: &[ForeignWord], right: &[ForeignWord]) -> ForeignWord {
    let Some(template) = left.first().and_then(ForeignWord::as_literal) else {
        return concatenate(left.iter().chain(right).cloned().collect(), "");
    };
    let mut word = ForeignWord::from_literal("");
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        word.push_text(before);
        let Some((inner, next)) = after.split_once('}') else {
            word.push_text("{");
            rest = after;
            continue;
        };
        let number = inner.split([':', ',']).next().and_then(|number| number.parse::<usize>().ok());
        if let Some(value) = number.and_then(|number| right.get(number)) {
            word.push_word(value.clone());
        }
        rest = next;
    }
    word.push_text(rest);
    word
}

fn split_values(left: Vec<ForeignWord>, right: &[ForeignWord]) -> Vec<ForeignWord> {
    match (left.first().and_then(ForeignWord::as_literal), right.first().and_then(ForeignWord::as_literal)) {
        (Some(text), Some(sign)) if !sign.is_empty() && !sign.contains(['\\', '[', '|', '(']) => {
            text.split(sign).map(ForeignWord::from_literal).collect()
        }
        _ => left,
    }
}
