//! Runs of characters of one kind. Each is read once.

/// A kind of characters. Every run ends at an ASCII character, so its end is never inside a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// `0-9 a-f A-F`.
    Hex,
    /// `0-9 A-Z`.
    Upper,
    /// `0-9 a-z A-Z`.
    Alnum,
    /// [`CharClass::Alnum`] with `_` and `-`.
    Url,
    /// [`CharClass::Url`] with `.`.
    Dotted,
    /// [`CharClass::Alnum`] with `+ / = _ -`.
    Base64,
    /// A path in a URL: [`CharClass::Dotted`] with `/`.
    Path,
    /// The part of a URL between `//` and the next `/`.
    Authority,
    /// A value without quotes.
    Value,
    /// One word of a shell, without quotes.
    Word,
    /// The text between `"`.
    Double,
    /// The text between `'`.
    Single,
    /// The text between backticks.
    Backtick,
    /// The value of a header, up to the end of its line or of the quotes around it.
    Header,
    /// A field of a hash of a password.
    Crypt,
    /// The content of one JSON object, without nested objects.
    Flat,
}

/// The number of kinds.
const CLASS_COUNT: usize = CharClass::Flat as usize + 1;

impl CharClass {
    /// Whether `byte` may be in such a run. Bytes of characters beyond ASCII are only in the lax ones.
    pub(crate) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => Self::Url.contains(byte) || byte == b'.',
            Self::Base64 => Self::Url.contains(byte) || matches!(byte, b'+' | b'/' | b'='),
            Self::Path => Self::Dotted.contains(byte) || byte == b'/',
            Self::Authority => Self::Word.contains(byte) && !matches!(byte, b'/' | b'?' | b'#' | b'<' | b'>' | b'\\'),
            Self::Value => {
                Self::Word.contains(byte)
                    && !matches!(byte, b',' | b';' | b'&' | b'<' | b'>' | b')' | b'}' | b']' | b'|' | b'\\')
            }
            Self::Word => !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`'),
            Self::Double => !matches!(byte, b'"' | b'\n'),
            Self::Single => !matches!(byte, b'\'' | b'\n'),
            Self::Backtick => !matches!(byte, b'`' | b'\n'),
            Self::Header => !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'),
            Self::Crypt => byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'+' | b'=' | b',' | b'-'),
            Self::Flat => !matches!(byte, b'{' | b'}'),
        }
    }
}

/// The runs of a text. It keeps the last run of each kind, so a second query inside that run reads nothing. All queries
/// together read the text at most once for each kind.
#[derive(Debug)]
pub(crate) struct CharRuns<'a> {
    bytes: &'a [u8],
    last: [(usize, usize); CLASS_COUNT],
    /// The number of bytes that were read.
    pub(crate) steps: usize,
}

impl<'a> CharRuns<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, last: [(0, 0); CLASS_COUNT], steps: 0 }
    }

    /// The end of the run of `chars` through `from`.
    pub(crate) fn find_run_end(&mut self, chars: CharClass, from: usize) -> usize {
        let (start, end) = self.last[chars as usize];
        if (start..end).contains(&from) {
            return end;
        }
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| chars.contains(**byte)).count();
        self.steps += length + 1;
        self.last[chars as usize] = (from, from + length);
        from + length
    }
}
