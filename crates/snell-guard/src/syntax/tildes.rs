//! Home directories: the manual's section "Tilde Expansion".

use super::ast::{Piece, Word};
use super::limits;
use super::pieces::{Pieces, is_name};
use super::places::Tildes;

/// Finds `~` and `~name` where they stand for a directory.
pub(super) fn find(pieces: Vec<Piece>, where_: Tildes) -> Vec<Piece> {
    if where_ == Tildes::Nowhere {
        return pieces;
    }
    let pieces = before_list(with_first_tilde(pieces));
    let mut found = Pieces::default();
    // A word with a brace list is no longer taken for an assignment.
    let has_list = pieces
        .iter()
        .any(|p| matches!(p, Piece::Braces(_) | Piece::Range { .. }));
    let may_assign = where_ == Tildes::Argument && !has_list;
    let mut in_value = where_ == Tildes::Value;
    let mut rest = pieces.into_iter().peekable();
    let mut first = true;
    while let Some(piece) = rest.next() {
        match piece {
            Piece::Text { text, quoted: false } => {
                // Quotes or an expansion directly behind a name make it none; a list of names does not.
                let open_end = matches!(rest.peek(), None | Some(Piece::Braces(_)));
                let mut finder = Finder {
                    found: &mut found,
                    open_end,
                };
                let value = value_of_assignment(&text).filter(|_| first && may_assign);
                in_value |= value.is_some();
                let (name, rest) = text.split_at_checked(value.unwrap_or(0)).unwrap_or_default();
                if !name.is_empty() {
                    finder.found.text(name, false);
                }
                finder.text(rest, first, in_value);
            }
            Piece::Braces(mut words) if first => {
                for word in &mut words {
                    word.pieces = find(std::mem::take(&mut word.pieces), Tildes::First);
                }
                found.push(Piece::Braces(words));
            }
            other => found.push(other),
        }
        first = false;
    }
    found.into_vec()
}

/// `{,a}~` becomes `{~,a~}`: after an alternative that is empty, what follows the list is the first.
fn with_first_tilde(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let opens_way = |piece: &Piece| match piece {
        Piece::Braces(words) => {
            words.len() <= limits::ALTERNATIVES_BESIDE_TILDE && words.iter().any(|word| word.pieces.is_empty())
        }
        _ => false,
    };
    let lists = pieces.iter().take_while(|piece| opens_way(piece)).count();
    let tilde_follows = matches!(pieces.get(lists), Some(Piece::Text { text, quoted: false }) if text.starts_with('~'));
    // One list after the other: those behind the first are among what it takes over.
    if !tilde_follows || lists == 0 || lists > limits::LISTS_BEFORE_TILDE {
        return pieces;
    }
    let rest = pieces.split_off(1);
    if let Some(Piece::Braces(words)) = pieces.first_mut() {
        for word in words {
            let mut pieces = Pieces::default();
            pieces.extend(std::mem::take(&mut word.pieces));
            pieces.extend(rest.iter().cloned());
            word.pieces = pieces.into_vec();
        }
    }
    pieces
}

/// `~{a,b}` becomes `{~a,~b}`: each alternative goes on with the name.
fn before_list(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let [Piece::Text { text, quoted: false }, Piece::Braces(words), ..] = pieces.as_slice() else {
        return pieces;
    };
    if !text.starts_with('~') || text.contains('/') || words.len() > limits::ALTERNATIVES_BESIDE_TILDE {
        return pieces;
    }
    let mut rest = pieces.split_off(1);
    let behind = rest.split_off(1);
    let (Some(name), Some(Piece::Braces(words))) = (pieces.pop(), rest.pop()) else {
        return Vec::new();
    };
    let whole = words.into_iter().map(|word| {
        let mut pieces = Pieces::default();
        pieces.push(name.clone());
        pieces.extend(word.pieces);
        pieces.extend(behind.iter().cloned());
        Word {
            pieces: pieces.into_vec(),
            span: word.span,
        }
    });
    vec![Piece::Braces(whole.collect())]
}

struct Finder<'a> {
    found: &'a mut Pieces,
    /// Whether a name may go up to the end of the text.
    open_end: bool,
}

impl Finder<'_> {
    /// A text that begins where a tilde counts (`first`) or not; in a value, each `:` begins anew.
    fn text(&mut self, text: &str, first: bool, in_value: bool) {
        if !in_value {
            return self.part(text, first, true);
        }
        let mut parts = text.split(':').peekable();
        let mut counts = first;
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            self.part(part, counts, last);
            if !last {
                self.found.text(":", false);
            }
            counts = true;
        }
    }

    fn part(&mut self, part: &str, counts: bool, last: bool) {
        let Some(behind) = part.strip_prefix('~').filter(|_| counts) else {
            if !part.is_empty() {
                self.found.text(part, false);
            }
            return;
        };
        let end = behind.find(['/', ':']).unwrap_or(behind.len());
        let (name, rest) = behind.split_at(end);
        // A `:` ends the name, but only a `/` ends where quotes would make it none.
        let complete = behind.contains('/') || !last || self.open_end;
        if complete && could_be_user(name) {
            self.found.push(Piece::Tilde(name.to_owned()));
            if !rest.is_empty() {
                self.found.text(rest, false);
            }
        } else {
            self.found.text(part, false);
        }
    }
}

fn could_be_user(name: &str) -> bool {
    name.bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+'))
}

/// Where the value begins, if a text begins like an assignment.
fn value_of_assignment(text: &str) -> Option<usize> {
    let (head, _) = text.split_once('=')?;
    let variable = head.strip_suffix('+').unwrap_or(head);
    let name = match variable.split_once('[') {
        Some((name, index)) if index.ends_with(']') => name,
        Some(_) => return None,
        None => variable,
    };
    is_name(name).then_some(head.len() + 1)
}
