//! The limits of the analysis. Beyond a limit, the result is what was found so far, and its coverage is partial.

/// Parts of words, commands and programs that are analysed, together. An ordinary command takes a few dozen; this many
/// take some tens of milliseconds.
pub const STEPS: usize = 50_000;

/// Bytes that one step may create or copy without counting as another.
pub const BYTES_PER_STEP: usize = 256;

/// Nesting of functions, substitutions, texts and wrappers. Each level costs stack.
pub const DEPTH: usize = 24;

/// Nested calls of a function by itself. From half of them on, or after `RECURSIVE_CALLS`, its arguments are unknown.
pub const RECURSION: usize = 16;

/// Calls of functions by themselves that are followed with known arguments.
pub const RECURSIVE_CALLS: usize = 64;

/// Nesting of substitutions, groups and loops, which the parser limits too.
pub const NESTING: usize = 120;

/// Texts that are parsed during the analysis: `eval`, `sh -c`, here-documents to shells. Each costs a tree.
pub const TEXTS: usize = 256;

/// Bytes of all these texts together.
pub const TEXT_BYTES: usize = 1 << 19;

/// Programs that are reported.
pub const INVOCATIONS: usize = 4_096;

/// Values that a variable may have at the same time before it is unknown.
pub const VALUES: usize = 8;

/// Readings of one command: a variable with several values is tried with each.
pub const READINGS: usize = 64;

/// Words that a brace list or a range expands to.
pub const BRACE_WORDS: usize = 1_024;

/// Bytes of a value; a longer one is unknown.
pub const VALUE_BYTES: usize = 1 << 18;

/// Bytes of the path of a working directory; a longer one is unknown.
pub const DIRECTORY_BYTES: usize = 4_096;

/// Elements of an array.
pub const ELEMENTS: usize = 1_024;

/// Iterations of a loop that are analysed one by one. After that, changing values are unknown.
pub const ROUNDS: usize = 64;

/// Iterations of a loop whose number of iterations is unknown.
pub const OPEN_ROUNDS: usize = 3;

/// Programs on the left side of a pipe that the right side knows.
pub const STAGES: usize = 16;

/// Steps of an arithmetic expression.
pub const ARITHMETIC_STEPS: usize = 256;

/// Product of the lengths of a text and a pattern.
pub const MATCH_WORK: usize = 1 << 16;

/// The same for a pattern that is tried at all positions of a text: the text's length counts squared.
pub const SEARCH_WORK: usize = 1 << 18;
