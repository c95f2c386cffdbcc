//! How much is read. Beyond a limit the answer is what was understood so far, and a problem that says so.

/// Bytes of text. Agents' commands have a few hundred; a mebibyte is far more than a kernel takes as one argument.
pub const TEXT_BYTES: usize = 1 << 20;

/// Constructs within each other. People nest a handful; each level costs stack.
pub const DEPTH: usize = 100;

/// Texts that are read again for what stands in them (backquotes, here-documents), within each other. Each level copies
/// what is inside, so this is also how often a byte is read.
pub const REREADS: usize = 8;

/// Commands, words and pieces together. Each costs memory, a hundred times the byte it may be written with.
pub const NODES: usize = 100_000;

/// Problems that are reported. Who reads a hundred knows that the text is not bash.
pub const PROBLEMS: usize = 100;

/// Signs in one word that may mean something in its plain text (braces and commas, wildcards and brackets, tildes): each
/// becomes a piece, and braces are matched anew at each level.
pub const SIGNS_IN_WORD: usize = 10_000;

/// Alternatives of a brace list that take over what stands beside them, because a `~` there may belong to each.
pub const ALTERNATIVES_BESIDE_TILDE: usize = 8;

/// Brace lists before such a `~`.
pub const LISTS_BEFORE_TILDE: usize = 2;

/// Brace lists within each other.
pub const BRACE_DEPTH: usize = 16;

/// How often a text is looked through, on the whole, for the end of what may be arithmetic.
pub const ARITHMETIC_PASSES: usize = 4;
