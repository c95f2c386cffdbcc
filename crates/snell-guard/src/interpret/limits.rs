//! How far a command line is followed. Beyond a limit the answer is what was found so far, and coverage says so.

/// Pieces of words, commands and programs that are looked at, together. An ordinary command takes a few dozen; this many
/// take some tens of milliseconds.
pub const STEPS: usize = 50_000;

/// Bytes that one step may make or copy without counting as another.
pub const BYTES_PER_STEP: usize = 256;

/// Functions, substitutions, texts and wrappers within each other. Each level costs stack.
pub const DEPTH: usize = 24;

/// Substitutions, groups and loops within each other, which the parser has counted already.
pub const NESTING: usize = 120;

/// Texts that are read while another is followed: `eval`, `sh -c`, here-documents to shells. Each costs a tree.
pub const TEXTS: usize = 256;

/// Bytes of all these texts together.
pub const TEXT_BYTES: usize = 1 << 19;

/// Programs that are reported. A person who wrote so many does not expect an answer at once.
pub const INVOCATIONS: usize = 4_096;

/// Values that a variable may have at the same time, before it counts as unknown.
pub const VALUES: usize = 8;

/// Ways to read one command: a variable with several values is tried with each.
pub const READINGS: usize = 64;

/// Words that a brace list or a range becomes.
pub const BRACE_WORDS: usize = 1_024;

/// Bytes of a value; a longer one is unknown.
pub const VALUE_BYTES: usize = 1 << 18;

/// Bytes of the path of a directory that is entered; where a longer one leads is unknown.
pub const DIRECTORY_BYTES: usize = 4_096;

/// Elements of an array.
pub const ELEMENTS: usize = 1_024;

/// Rounds of a loop that are followed one by one. After that, what changes in it is unknown.
pub const ROUNDS: usize = 64;

/// Rounds of a loop of which nobody knows how often it runs.
pub const OPEN_ROUNDS: usize = 3;

/// Programs on the left side of a pipe that the right side is told about.
pub const STAGES: usize = 16;

/// Steps of an arithmetic expression.
pub const ARITHMETIC_STEPS: usize = 256;

/// Product of the lengths of a text and of a pattern that is compared with it.
pub const MATCH_WORK: usize = 1 << 16;

/// The same for a pattern that is tried at all places of a text: the square of the text's length counts.
pub const SEARCH_WORK: usize = 1 << 18;
