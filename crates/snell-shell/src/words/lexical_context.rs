//! The context of a text decides what ends it and which characters are special in it. One row each.

use crate::tokens::is_word_delimiter;

/// How quotes and backslashes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotingMode {
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

impl QuotingMode {
    /// Whether the context quotes the text.
    pub(crate) fn is_quoted(self) -> bool {
        self != Self::Plain
    }

    /// Whether a backslash escapes a character, and is removed.
    pub(crate) fn can_escape(self, c: char) -> bool {
        match self {
            Self::Plain => true,
            Self::Double => matches!(c, '$' | '`' | '"' | '\\'),
            Self::Here => matches!(c, '$' | '`' | '\\'),
            Self::Inner | Self::InnerHere => matches!(c, '$' | '`' | '"' | '\\' | '}'),
            Self::Arithmetic => matches!(c, '$' | '`' | '"' | '\\'),
        }
    }

    pub(crate) fn has_single_quotes(self) -> bool {
        matches!(self, Self::Plain | Self::Arithmetic)
    }

    /// How the word of an operator like `:-` is read in `${…}` in this context.
    pub(crate) fn for_operand(self) -> Self {
        match self {
            Self::Plain => Self::Plain,
            Self::Double | Self::Inner | Self::Arithmetic => Self::Inner,
            Self::Here | Self::InnerHere => Self::InnerHere,
        }
    }
}

/// Where `~` is a home directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TildePositions {
    Nowhere,
    /// At the start.
    First,
    /// At the start and after each `:`.
    Value,
    /// At the start. If the word looks like an assignment, also in its value.
    Argument,
}

/// The context of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LexicalContext {
    pub(crate) ends: fn(u8) -> bool,
    /// Brackets inside which nothing ends it.
    pub(crate) nests: Option<(u8, u8)>,
    /// The characters that end it even inside brackets.
    pub(crate) closes: Option<u8>,
    pub(crate) quoting: QuotingMode,
    /// `{a,b}`
    pub(crate) braces: bool,
    /// `*`, `?`, `[…]`, `@(…)`
    pub(crate) patterns: bool,
    pub(crate) tildes: TildePositions,
    /// `name=(…)` is part of the word.
    pub(crate) arrays: bool,
    /// `<(…)`
    pub(crate) processes: bool,
}

/// The base row of words.
pub(crate) const PLAIN: LexicalContext = LexicalContext {
    ends: is_word_delimiter,
    nests: None,
    closes: None,
    quoting: QuotingMode::Plain,
    braces: false,
    patterns: true,
    tildes: TildePositions::First,
    arrays: false,
    processes: true,
};

/// A command's name or argument, a word of a loop, an element of an array.
pub(crate) const ARGUMENT: LexicalContext = LexicalContext { braces: true, tildes: TildePositions::Argument, ..PLAIN };

/// An argument of `declare` and similar commands.
pub(crate) const DECLARATION: LexicalContext = LexicalContext { arrays: true, ..ARGUMENT };

/// The value of an assignment.
pub(crate) const VALUE: LexicalContext = LexicalContext { tildes: TildePositions::Value, ..PLAIN };

/// The word after `=~` in `[[ … ]]`: blanks and bars between parentheses belong to it.
pub(crate) static REGEX: LexicalContext = LexicalContext {
    ends: |b| b != b'|' && b != b'(' && is_word_delimiter(b),
    nests: Some((b'(', b')')),
    patterns: false,
    tildes: TildePositions::Nowhere,
    ..PLAIN
};

/// The delimiter of a here-document.
pub(crate) const HEREDOC_MARK: LexicalContext =
    LexicalContext { patterns: false, tildes: TildePositions::Nowhere, ..PLAIN };

/// Between double quotes.
pub(crate) const DOUBLE: LexicalContext = LexicalContext {
    ends: |b| b == b'"',
    quoting: QuotingMode::Double,
    patterns: false,
    tildes: TildePositions::Nowhere,
    processes: false,
    ..PLAIN
};

/// The text of a here-document.
pub(crate) const HEREDOC_BODY: LexicalContext =
    LexicalContext { ends: |_| false, quoting: QuotingMode::Here, ..DOUBLE };

/// Between single quotes in `"${x:-…}"`, which are plain text.
pub(crate) const BETWEEN_SINGLE: LexicalContext =
    LexicalContext { ends: |b| b == b'\'', quoting: QuotingMode::Here, ..DOUBLE };

/// An alternative of `@(…|…)`.
pub(crate) const ALTERNATIVE: LexicalContext = LexicalContext {
    ends: |b| b == b'|' || b == b')',
    nests: Some((b'(', b')')),
    tildes: TildePositions::Nowhere,
    processes: false,
    ..PLAIN
};

/// `((…))`
pub(crate) const ARITHMETIC: LexicalContext =
    LexicalContext { ends: |b| b == b')', nests: Some((b'(', b')')), quoting: QuotingMode::Arithmetic, ..DOUBLE };

/// `$[…]`
pub(crate) const LEGACY_ARITHMETIC: LexicalContext =
    LexicalContext { ends: |b| b == b']', nests: Some((b'[', b']')), ..ARITHMETIC };

/// `[…]` after a name.
pub(crate) const INDEX: LexicalContext =
    LexicalContext { ends: |b| b == b']', nests: Some((b'[', b']')), quoting: QuotingMode::Plain, ..DOUBLE };

/// The same in `${…}`.
pub(crate) const INDEX_IN_BRACES: LexicalContext = LexicalContext { closes: Some(b'}'), ..INDEX };

/// The rest of `${…}`, after an operator like `:-`.
pub(crate) const fn build_operand_context(quoting: QuotingMode) -> LexicalContext {
    LexicalContext {
        ends: |b| b == b'}',
        quoting,
        patterns: matches!(quoting, QuotingMode::Plain),
        processes: matches!(quoting, QuotingMode::Plain),
        tildes: if matches!(quoting, QuotingMode::Plain) { TildePositions::First } else { TildePositions::Nowhere },
        ..DOUBLE
    }
}

/// A pattern in `${…}`. Quotes around it do not matter.
pub(crate) const OPERAND_OF_REMOVAL: LexicalContext = build_operand_context(QuotingMode::Plain);

/// A pattern in `${x/…/…}`.
pub(crate) const OPERAND_TO_REPLACE: LexicalContext =
    LexicalContext { ends: |b| b == b'}' || b == b'/', ..build_operand_context(QuotingMode::Plain) };

/// The first expression of `${x:…:…}`.
pub(crate) const OFFSET: LexicalContext = LexicalContext {
    ends: |b| b == b'}' || b == b':',
    nests: Some((b'(', b')')),
    closes: Some(b'}'),
    quoting: QuotingMode::Arithmetic,
    ..DOUBLE
};

/// The second.
pub(crate) const LENGTH: LexicalContext =
    LexicalContext { ends: |b| b == b'}', quoting: QuotingMode::Arithmetic, ..DOUBLE };
