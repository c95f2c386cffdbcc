//! The limits of the parser. Beyond a limit it returns the tree so far, and a problem.

/// Bytes of text. Commands of agents have a few hundred. A mebibyte is far more than a kernel accepts as one argument.
pub const TEXT_BYTES: usize = 1 << 20;

/// Nested constructs. People nest a handful. Each level needs stack.
pub const DEPTH: usize = 100;

/// Nested texts that are parsed again (backquotes, here-documents). Each level copies its text, so this is also how
/// often a byte is read.
pub const REREADS: usize = 8;

/// Commands, words and parts together. Each needs a hundred times the memory of its byte in the text.
pub const NODES: usize = 100_000;

/// Reported problems. A text with a hundred problems is not bash.
pub const PROBLEMS: usize = 100;

/// Special characters in the plain text of one word (braces and commas, wildcards and brackets, tildes). Each becomes a
/// part, and braces are matched again at each level.
pub const SIGNS_IN_WORD: usize = 10_000;

/// Alternatives of a brace list that include the neighbouring text, because a `~` there may belong to each.
pub const ALTERNATIVES_BESIDE_TILDE: usize = 8;

/// Brace lists before such a `~`.
pub const LISTS_BEFORE_TILDE: usize = 2;

/// Nested brace lists.
pub const BRACE_DEPTH: usize = 16;

/// How often the text may be searched in total for the end of possible arithmetic.
pub const ARITHMETIC_PASSES: usize = 4;
