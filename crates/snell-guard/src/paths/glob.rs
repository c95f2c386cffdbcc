//! Whether a name may match a pattern; the name may be a pattern too.

/// In a name: any text, possibly empty (`*`).
pub(super) const STAR: u8 = 1;
/// In a name: one character (`?`, `[…]`).
pub(super) const QUESTION_MARK: u8 = 2;
/// In a name: unknown text, which only a star of the other side matches.
pub(super) const OPAQUE: u8 = 3;

/// Longer patterns are assumed to match: comparing two patterns costs the product of their lengths.
const MAX_PATTERN: usize = 128;

/// Whether this name is literal.
pub(crate) fn is_literal(name: &str) -> bool {
    !name.bytes().any(|byte| matches!(byte, STAR | QUESTION_MARK | OPAQUE))
}

/// Whether this byte stands for others, in a name or in a protected pattern.
pub(super) fn is_wildcard(byte: u8) -> bool {
    matches!(byte, STAR | QUESTION_MARK | OPAQUE | b'*' | b'?')
}

/// Whether it matches every name, or every name that begins with a dot.
pub(super) fn is_match_all(name: &str) -> bool {
    let rest = name.strip_prefix('.').unwrap_or(name).as_bytes();
    rest.contains(&STAR) && rest.iter().all(|byte| matches!(*byte, STAR | QUESTION_MARK))
}

/// Whether nothing of it is known.
pub(crate) fn is_opaque(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte == OPAQUE)
}

/// Whether a pattern has enough in common with a protected one to be meant for it: its end for `*.pem`, its start for
/// the others. `*.json` is not meant for `credentials.json`.
pub(super) fn is_aimed_at(name: &str, protected: &str) -> bool {
    const MIN_BEGINNING: usize = 3;
    let known = |byte: &u8| !matches!(*byte, STAR | QUESTION_MARK);
    if protected.starts_with('*') {
        return name.as_bytes().last().is_some_and(known);
    }
    let beginning = name.bytes().take_while(known).count();
    !name.as_bytes().contains(&STAR) || beginning >= MIN_BEGINNING || (beginning > 1 && protected.starts_with('.'))
}

/// Whether the name may match the protected pattern (with `*` and `?`).
pub(super) fn can_match(name: &str, protected: &str) -> bool {
    let (name, protected) = (name.as_bytes(), protected.as_bytes());
    if has_different_start(name, protected) || skips_leading_dot(name, protected) {
        return false;
    }
    let wild = |byte: &u8| matches!(*byte, STAR | QUESTION_MARK);
    if !name.iter().any(wild) {
        return matches_signs(name, protected, b'*', b'?');
    }
    if !protected.iter().any(|byte| matches!(*byte, b'*' | b'?')) {
        return matches_signs(protected, name, STAR, QUESTION_MARK);
    }
    name.len() > MAX_PATTERN || patterns_intersect(name, protected)
}

/// Most names differ in the first character, and a command needs hundreds of such comparisons.
fn has_different_start(name: &[u8], protected: &[u8]) -> bool {
    match (name.first(), protected.first()) {
        (Some(&one), Some(&other)) => {
            one != other && !matches!(one, STAR | QUESTION_MARK) && !matches!(other, b'*' | b'?')
        }
        _ => false,
    }
}

/// Whether a text matches a pattern with `*` and `?`.
pub(crate) fn matches_glob(text: &str, pattern: &str) -> bool {
    matches_signs(text.as_bytes(), pattern.as_bytes(), b'*', b'?')
}

/// A name with `*` and `?` for its signs, and `**` for unknown parts.
pub(super) fn to_pattern_text(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match u8::try_from(c) {
            Ok(STAR) => text.push('*'),
            Ok(QUESTION_MARK) => text.push('?'),
            Ok(OPAQUE) => text.push_str("**"),
            _ => text.push(c),
        }
    }
    text
}

/// In a parsed pattern: any characters.
pub(crate) const STAR_CHAR: char = STAR as char;

/// Whether a text matches a pattern in which only `STAR_CHAR` is special.
pub(crate) fn star_pattern_matches(pattern: &str, text: &str) -> bool {
    matches_signs(text.as_bytes(), pattern.as_bytes(), STAR, STAR)
}

/// Whether a wildcard at the start of a pattern leaves out names that start with a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadingDot {
    /// As in a shell.
    Special,
    /// As for `find -name`.
    Plain,
}

/// Whether a file's name matches a pattern of the shell.
pub(crate) fn matches_shell_pattern(pattern: &str, name: &[u8], leading_dot: LeadingDot) -> bool {
    (leading_dot == LeadingDot::Plain || !skips_leading_dot(pattern.as_bytes(), name))
        && matches_signs(name, pattern.as_bytes(), STAR, QUESTION_MARK)
}

/// A pattern as it is written, with the signs of this module. A set of characters becomes one unknown character.
pub(crate) fn encode_glob(glob: &str) -> String {
    let mut rest = glob;
    let mut encoded = String::with_capacity(glob.len());
    while let Some(letter) = rest.chars().next() {
        let set = rest.strip_prefix('[').and_then(|inner| inner.find(']'));
        rest = rest.get(set.map_or(letter.len_utf8(), |end| end + 2)..).unwrap_or_default();
        encoded.push(match letter {
            '*' => char::from(STAR),
            '?' => char::from(QUESTION_MARK),
            _ if set.is_some() => char::from(QUESTION_MARK),
            letter => letter,
        });
    }
    encoded
}

/// The shell's `*` and `?` never match a dot at the start of a name.
fn skips_leading_dot(name: &[u8], protected: &[u8]) -> bool {
    matches!(name.first(), Some(&(STAR | QUESTION_MARK))) && protected.first() == Some(&b'.')
}

/// Whether a text matches a pattern with these signs for many characters and for one.
fn matches_signs(text: &[u8], pattern: &[u8], many: u8, one: u8) -> bool {
    matches_wildcards(text, pattern, |sign| *sign == many, |wanted, byte| wanted == byte || *wanted == one)
}

/// Matches with one point to backtrack to: at most text × pattern steps.
pub(crate) fn matches_wildcards<T, P>(
    text: &[T],
    pattern: &[P],
    many: impl Fn(&P) -> bool,
    one: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut pat) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(letter) = text.get(at) {
        match pattern.get(pat) {
            Some(star) if many(star) => {
                back = Some((pat + 1, at));
                pat += 1;
            }
            Some(wanted) if one(wanted, letter) => {
                at += 1;
                pat += 1;
            }
            _ => match back {
                Some((star, from)) => {
                    (pat, at) = (star, from + 1);
                    back = Some((star, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(pat).all(many)
}

/// Whether two patterns have a name in common. For each prefix of the name, computes the prefixes of the protected
/// pattern that can match.
fn patterns_intersect(name: &[u8], protected: &[u8]) -> bool {
    let width = protected.len() + 1;
    let mut row = vec![false; width];
    let mut next = vec![false; width];
    if let Some(first) = row.first_mut() {
        *first = true;
    }
    propagate_stars(&mut row, protected);
    for &byte in name {
        next.fill(false);
        for (at, reached) in row.iter().enumerate() {
            if !reached {
                continue;
            }
            let wanted = protected.get(at).copied();
            let stays = byte == STAR || wanted == Some(b'*');
            let goes =
                wanted.is_some_and(|wanted| matches!(byte, STAR | QUESTION_MARK) || wanted == b'?' || wanted == byte);
            mark_reached(&mut next, at, stays);
            mark_reached(&mut next, at + 1, goes);
        }
        if byte == STAR {
            // A star of the name matches any part of the other pattern.
            let first = next.iter().position(|reached| *reached).unwrap_or(width);
            next.iter_mut().skip(first).for_each(|reached| *reached = true);
        }
        propagate_stars(&mut next, protected);
        std::mem::swap(&mut row, &mut next);
    }
    row.last().copied().unwrap_or(false)
}

/// A star of the protected pattern may also match nothing.
fn propagate_stars(row: &mut [bool], protected: &[u8]) {
    for (at, &byte) in protected.iter().enumerate() {
        if byte == b'*' && row.get(at) == Some(&true) {
            mark_reached(row, at + 1, true);
        }
    }
}

fn mark_reached(row: &mut [bool], at: usize, reached: bool) {
    if let (true, Some(slot)) = (reached, row.get_mut(at)) {
        *slot = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*`, `?` and `~` in the first column stand for the shell's own and for something unknown.
    #[test]
    fn names_meet_protected_patterns() {
        for (name, protected, expected) in [
            ("etc", "etc", true),
            ("etc", "et", false),
            ("e*c", "etc", true),
            ("e?c", "etc", true),
            ("e?", "etc", false),
            ("*", "etc", true),
            ("*", ".env", false),
            (".*", ".env", true),
            (".e??", ".env", true),
            ("?env", ".env", false),
            ("id_rsa", "id_*", true),
            ("id*", "id_*", true),
            ("*a", "id_*", true),
            ("a*", "id_*", false),
            ("*.p?m", "*.pem", true),
            ("*.txt", "*.pem", false),
            ("sd?", "sd*", true),
            ("~.pem", "*.pem", true),
            ("~.env", ".env", false),
            ("id_~", "id_*", true),
            ("~", "id_rsa", false),
            (".env.local", ".env.*", true),
            (".env", ".env.*", false),
        ] {
            let shaped: String = name.chars().map(encode_wildcard).collect();
            assert_eq!(can_match(&shaped, protected), expected, "{name} against {protected}");
        }
    }

    fn encode_wildcard(character: char) -> char {
        match character {
            '*' => char::from(STAR),
            '?' => char::from(QUESTION_MARK),
            '~' => char::from(OPAQUE),
            other => other,
        }
    }
}
