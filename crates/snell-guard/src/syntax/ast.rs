//! The tree that a command line is read into. Quotes are gone; what they meant is kept.

use std::ops::Range;

/// Where something stands in the text, in bytes.
pub type Span = Range<usize>;

/// A list of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What runs, in order.
    pub items: Vec<Item>,
}

/// Pipelines that hang together by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The first always runs; each other has a condition.
    pub pipelines: Vec<(Connector, Pipeline)>,
    /// Whether it ends with `&`.
    pub background: bool,
}

/// When a pipeline runs, as seen from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// Always: it is the first of its item.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands that feed each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// `!` before it.
    pub negated: bool,
    /// `time` before it.
    pub timed: bool,
    /// In order; one alone is no pipe.
    pub commands: Vec<Command>,
}

/// One command, with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it is.
    pub kind: CommandKind,
    /// In the order in which they are written.
    pub redirects: Vec<Redirect>,
    /// Where it stands, with its redirections.
    pub span: Span,
}

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Assignments, and words of which the first names the program.
    Simple {
        /// `a=b` before the first word; alone if there is none.
        assignments: Vec<Assignment>,
        /// The words.
        words: Vec<Word>,
    },
    /// `( … )`
    Subshell(Script),
    /// `{ …; }`
    Group(Script),
    /// `if … then … elif … then … else … fi`: every condition with what it guards.
    If {
        /// The conditions and what follows each.
        branches: Vec<(Script, Script)>,
        /// `else`
        otherwise: Option<Script>,
    },
    /// `while … do … done`, or `until`.
    While {
        /// Whether it is `until`.
        until: bool,
        /// The condition.
        condition: Script,
        /// What is repeated.
        body: Script,
    },
    /// `for x in …; do … done`, and `select`.
    For {
        /// The variable.
        variable: String,
        /// What it runs through; nothing means the positional parameters.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: Script,
        /// Whether it is `select`.
        select: bool,
    },
    /// `for ((…;…;…)) do … done`
    ArithmeticFor {
        /// The three expressions: expansions in them run.
        expressions: Word,
        /// What is repeated.
        body: Script,
    },
    /// `case x in … esac`
    Case {
        /// What is compared.
        word: Word,
        /// Patterns, and what each leads to.
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// `f() …` or `function f …`
    Function {
        /// Its name.
        name: String,
        /// What it does.
        body: Box<Command>,
    },
    /// `coproc NAME …`
    Coprocess {
        /// What runs.
        body: Box<Command>,
    },
    /// `[[ … ]]`: its words without the brackets; expansions in them run.
    Test(Vec<Word>),
    /// `(( … ))`: expansions in it run.
    Arithmetic(Word),
}

/// `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// `[index]`
    pub index: Option<Word>,
    /// `+=`
    pub append: bool,
    /// What it becomes.
    pub value: Assigned,
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// A word; empty for `a=`.
    Word(Word),
    /// `( … )`: each element with its index, if it has one.
    Array(Vec<(Option<Word>, Word)>),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The number before it, or nothing for what the operator means.
    pub fd: Option<u32>,
    /// `{name}` before it.
    pub fd_variable: Option<String>,
    /// What it does.
    pub kind: RedirectKind,
    /// Where it stands.
    pub span: Span,
}

/// What a redirection does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `< file`
    Read(Word),
    /// `> file`
    Write(Word),
    /// `>| file`
    Clobber(Word),
    /// `>> file`
    Append(Word),
    /// `<> file`
    ReadWrite(Word),
    /// `&> file` and `>& file`
    WriteBoth(Word),
    /// `&>> file`
    AppendBoth(Word),
    /// `>&2`, `<&3`, `2>&-`: the number, `-`, or a number with `-`.
    Duplicate(Word),
    /// `<<`, `<<-`: what stands below. Without expansions if its end mark was quoted.
    HereDocument {
        /// The text.
        body: Word,
        /// Whether the end mark was quoted, so that nothing in it is expanded.
        quoted: bool,
    },
    /// `<<< word`
    HereString(Word),
}

/// One word, which may become none or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its pieces, in order. Empty quotes are an empty quoted text: the word is there.
    pub pieces: Vec<Piece>,
    /// Where it stands.
    pub span: Span,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is, with its escapes and quotes taken away.
    Text {
        /// The text.
        text: String,
        /// Whether it was quoted or escaped: then nothing in it is a pattern.
        quoted: bool,
    },
    /// `*` or `?`, unquoted.
    Wildcard(char),
    /// `[…]`, unquoted, without its brackets. A backslash stands before what is meant as it is.
    Bracket(String),
    /// `@(…)`, `*(…)` and their like: the sign, and what is between the bars.
    Extended(char, Vec<Word>),
    /// `~` or `~name` where it stands for a home directory.
    Tilde(String),
    /// `{a,b}`: each of them.
    Braces(Vec<Word>),
    /// `{a..b}` or `{a..b..n}`.
    Range {
        /// The first.
        from: String,
        /// The last.
        to: String,
        /// The step.
        step: Option<String>,
    },
    /// `$x`, `${…}`
    Parameter(Box<Parameter>),
    /// `$(…)` or backquotes.
    Substitution {
        /// What runs.
        script: Script,
        /// Whether it stands in quotes, so that its output stays one word.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`
    Process {
        /// Whether it is `>(…)`: the command reads what is written there.
        writes: bool,
        /// What runs.
        script: Script,
    },
    /// `$((…))` or `$[…]`: expansions in it run.
    Arithmetic(Word),
    /// `( … )` after `name=` where the word is none of the assignments before a command: `declare a=(…)`.
    Array(Vec<(Option<Word>, Word)>),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// A variable's name, a number, or one of `@ * # ? - $ ! _`.
    pub name: String,
    /// `[index]`, also `[@]` and `[*]` as a text.
    pub index: Option<Word>,
    /// What is done with its value.
    pub operation: Operation,
    /// `${!x}`: the value is the name of another.
    pub indirect: bool,
    /// Whether it stands in quotes, so that it stays one word.
    pub quoted: bool,
}

/// What is done with a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    None,
    /// `${#x}`
    Length,
    /// `${x:-w}` (`colon`) or `${x-w}`
    Default {
        /// Whether empty counts as unset.
        colon: bool,
        /// What stands in.
        word: Word,
    },
    /// `${x:=w}`
    Assign {
        /// Whether empty counts as unset.
        colon: bool,
        /// What it becomes.
        word: Word,
    },
    /// `${x:+w}`
    Alternative {
        /// Whether empty counts as unset.
        colon: bool,
        /// What stands in.
        word: Word,
    },
    /// `${x:?w}`
    Required {
        /// Whether empty counts as unset.
        colon: bool,
        /// What is said.
        word: Word,
    },
    /// `${x#p}` and `${x##p}`
    RemovePrefix {
        /// Whether as much as possible.
        longest: bool,
        /// The pattern.
        pattern: Word,
    },
    /// `${x%p}` and `${x%%p}`
    RemoveSuffix {
        /// Whether as much as possible.
        longest: bool,
        /// The pattern.
        pattern: Word,
    },
    /// `${x/p/w}`, `${x//p/w}`, `${x/#p/w}`, `${x/%p/w}`
    Replace {
        /// Nothing, `/`, `#` or `%`.
        how: Option<char>,
        /// The pattern.
        pattern: Word,
        /// What stands in.
        by: Word,
    },
    /// `${x:offset:length}`
    Slice {
        /// Where it begins: an arithmetic expression.
        offset: Word,
        /// How long it is.
        length: Option<Word>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}` and a pattern, if there is one.
    Case {
        /// `^`, `^^`, `,` or `,,`
        how: &'static str,
        /// Which characters.
        pattern: Option<Word>,
    },
    /// `${x@Q}` and its like.
    Transform(char),
    /// `${!prefix*}`
    Names,
}

/// A text that was read, as far as it could be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What was understood.
    pub script: Script,
    /// What bash would complain about, or what went beyond a limit.
    pub problems: Vec<Problem>,
}

/// Something that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub kind: ProblemKind,
    /// Where.
    pub span: Span,
    /// Up to where bash runs the text all the same, if it does not run all of it: bash reads a line, runs it and reads the
    /// next, so this is where the line begins that it cannot read. Nothing if bash does not mind, or not before it has
    /// run what stands around.
    pub runs_until: Option<usize>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A quote, a bracket or a substitution is not closed.
    Unterminated,
    /// A here-document has no end mark: bash takes everything up to the end, with a warning.
    NoEndMark,
    /// Something stands where it cannot.
    Unexpected,
    /// Deeper than the limit.
    TooDeep,
    /// Longer than the limit.
    TooLong,
}
