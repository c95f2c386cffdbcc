//! Where a text stands decides what ends it and what has a meaning in it. One row each.

use super::tokens::ends_word;

/// How quotes and backslashes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// As in an ordinary word.
    Plain,
    /// Between double quotes.
    Double,
    /// In a here-document: as between double quotes, but these are plain text.
    Here,
    /// In `"${x:-…}"`: single quotes are plain text, but must come in pairs.
    Inner,
    /// In `${x:-…}` in a here-document: single quotes are plain text.
    InnerHere,
    /// In arithmetic: as between double quotes, but quotes are quotes.
    Arithmetic,
}

impl Quoting {
    /// Whether text is quoted by where it stands.
    pub(super) fn quotes(self) -> bool {
        self != Self::Plain
    }

    /// Whether a backslash takes away the meaning of a character, and goes.
    pub(super) fn escapes(self, c: char) -> bool {
        match self {
            Self::Plain => true,
            Self::Double => matches!(c, '$' | '`' | '"' | '\\'),
            Self::Here => matches!(c, '$' | '`' | '\\'),
            Self::Inner | Self::InnerHere => matches!(c, '$' | '`' | '"' | '\\' | '}'),
            Self::Arithmetic => matches!(c, '$' | '`' | '"' | '\\'),
        }
    }

    pub(super) fn has_single_quotes(self) -> bool {
        matches!(self, Self::Plain | Self::Arithmetic)
    }

    /// How the word of an operator like `:-` is read in `${…}` that stands here.
    pub(super) fn of_operand(self) -> Self {
        match self {
            Self::Plain => Self::Plain,
            Self::Double | Self::Inner | Self::Arithmetic => Self::Inner,
            Self::Here | Self::InnerHere => Self::InnerHere,
        }
    }
}

/// Where `~` is a home directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tildes {
    Nowhere,
    /// At the beginning.
    First,
    /// At the beginning and after each `:`.
    Value,
    /// At the beginning; if the word looks like an assignment, also where it is one in its value.
    Argument,
}

/// A place where text stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) ends: fn(u8) -> bool,
    /// Brackets between which nothing ends it.
    pub(super) nests: Option<(u8, u8)>,
    /// What ends it also between them.
    pub(super) closes: Option<u8>,
    pub(super) quoting: Quoting,
    /// `{a,b}`
    pub(super) braces: bool,
    /// `*`, `?`, `[…]`, `@(…)`
    pub(super) patterns: bool,
    pub(super) tildes: Tildes,
    /// `name=(…)` is part of the word.
    pub(super) arrays: bool,
    /// `<(…)`
    pub(super) processes: bool,
}

/// A word of which nothing is known.
pub(super) const PLAIN: Place = Place {
    ends: ends_word,
    nests: None,
    closes: None,
    quoting: Quoting::Plain,
    braces: false,
    patterns: true,
    tildes: Tildes::First,
    arrays: false,
    processes: true,
};

/// A command's name or argument, a word of a loop, an element of an array.
pub(super) const ARGUMENT: Place = Place {
    braces: true,
    tildes: Tildes::Argument,
    ..PLAIN
};

/// An argument of `declare` and its like.
pub(super) const DECLARATION: Place = Place {
    arrays: true,
    ..ARGUMENT
};

/// What an assignment assigns.
pub(super) const VALUE: Place = Place {
    tildes: Tildes::Value,
    ..PLAIN
};

/// A pattern of a `case`.
pub(super) const PATTERN: Place = PLAIN;

/// A pattern in `[[ … ]]`.
pub(super) const OPERAND_PATTERN: Place = PLAIN;

/// What follows `=~` in `[[ … ]]`: blanks and bars between parentheses belong to it.
pub(super) static REGEX: Place = Place {
    ends: |b| b != b'|' && b != b'(' && ends_word(b),
    nests: Some((b'(', b')')),
    patterns: false,
    tildes: Tildes::Nowhere,
    ..PLAIN
};

/// The mark of a here-document.
pub(super) const MARK: Place = Place {
    patterns: false,
    tildes: Tildes::Nowhere,
    ..PLAIN
};

/// Between double quotes.
pub(super) const DOUBLE: Place = Place {
    ends: |b| b == b'"',
    quoting: Quoting::Double,
    patterns: false,
    tildes: Tildes::Nowhere,
    processes: false,
    ..PLAIN
};

/// The text of a here-document.
pub(super) const HERE: Place = Place {
    ends: |_| false,
    quoting: Quoting::Here,
    ..DOUBLE
};

/// Between single quotes that stand in `"${x:-…}"` and are plain text.
pub(super) const BETWEEN_SINGLE: Place = Place {
    ends: |b| b == b'\'',
    quoting: Quoting::Here,
    ..DOUBLE
};

/// One of the texts between the bars of `@(…|…)`.
pub(super) const ALTERNATIVE: Place = Place {
    ends: |b| b == b'|' || b == b')',
    nests: Some((b'(', b')')),
    tildes: Tildes::Nowhere,
    processes: false,
    ..PLAIN
};

/// `((…))`
pub(super) const ARITHMETIC: Place = Place {
    ends: |b| b == b')',
    nests: Some((b'(', b')')),
    quoting: Quoting::Arithmetic,
    ..DOUBLE
};

/// `$[…]`
pub(super) const OLD_ARITHMETIC: Place = Place {
    ends: |b| b == b']',
    nests: Some((b'[', b']')),
    ..ARITHMETIC
};

/// `[…]` after a name.
pub(super) const INDEX: Place = Place {
    ends: |b| b == b']',
    nests: Some((b'[', b']')),
    quoting: Quoting::Plain,
    ..DOUBLE
};

/// The same in `${…}`.
pub(super) const INDEX_IN_BRACES: Place = Place {
    closes: Some(b'}'),
    ..INDEX
};

/// The rest of `${…}`, after an operator like `:-`.
pub(super) const fn operand(quoting: Quoting) -> Place {
    Place {
        ends: |b| b == b'}',
        quoting,
        patterns: matches!(quoting, Quoting::Plain),
        processes: matches!(quoting, Quoting::Plain),
        tildes: if matches!(quoting, Quoting::Plain) {
            Tildes::First
        } else {
            Tildes::Nowhere
        },
        ..DOUBLE
    }
}

/// A pattern in `${…}`: what is quoted around it does not matter.
pub(super) const OPERAND_OF_REMOVAL: Place = operand(Quoting::Plain);

/// A pattern in `${x/…/…}`.
pub(super) const OPERAND_TO_REPLACE: Place = Place {
    ends: |b| b == b'}' || b == b'/',
    ..operand(Quoting::Plain)
};

/// The first expression of `${x:…:…}`.
pub(super) const OFFSET: Place = Place {
    ends: |b| b == b'}' || b == b':',
    nests: Some((b'(', b')')),
    closes: Some(b'}'),
    quoting: Quoting::Arithmetic,
    ..DOUBLE
};

/// The second.
pub(super) const LENGTH: Place = Place {
    ends: |b| b == b'}',
    quoting: Quoting::Arithmetic,
    ..DOUBLE
};
