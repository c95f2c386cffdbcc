//! The tree that a command line is read into. Quotes are gone; what they meant is kept.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::rc::Rc;

/// Where something stands in the text, in bytes.
pub type ByteSpan = Range<usize>;

/// A list of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellScript {
    /// What runs, in order.
    pub items: Vec<AndOrList>,
}

impl ShellScript {
    /// The only command, with its pipeline, if there is one.
    pub fn single_command(&self) -> Option<(&CommandPipeline, &ShellCommand)> {
        let [item] = self.items.as_slice() else { return None };
        let [(_, pipeline)] = item.pipelines.as_slice() else { return None };
        let [command] = pipeline.commands.as_slice() else { return None };
        Some((pipeline, command))
    }
}

/// Pipelines that hang together by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOrList {
    /// The first always runs; each other has a condition.
    pub pipelines: Vec<(ListConnector, CommandPipeline)>,
    /// Whether it ends with `&`.
    pub background: bool,
}

/// When a pipeline runs, as seen from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListConnector {
    /// Always: it is the first of its item.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands that feed each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPipeline {
    /// `!` before it.
    pub negated: bool,
    /// `time` before it.
    pub timed: bool,
    /// In order; one alone is no pipe.
    pub commands: Vec<ShellCommand>,
}

/// One command, with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// What it is.
    pub kind: ShellCommandKind,
    /// In the order in which they are written.
    pub redirects: Vec<ShellRedirect>,
    /// Where it stands, with its redirections.
    pub span: ByteSpan,
}

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellCommandKind {
    /// Assignments, and words of which the first names the program.
    Simple {
        /// `a=b` before the first word; alone if there is none.
        assignments: Vec<VariableAssignment>,
        /// The words.
        words: Vec<ShellWord>,
    },
    /// `( … )`
    Subshell(ShellScript),
    /// `{ …; }`
    Group(ShellScript),
    /// `if … then … elif … then … else … fi`: every condition with what it guards.
    If {
        /// The conditions and what follows each.
        branches: Vec<(ShellScript, ShellScript)>,
        /// `else`
        otherwise: Option<ShellScript>,
    },
    /// `while … do … done`, or `until`.
    While {
        /// Whether it is `until`.
        until: bool,
        /// The condition.
        condition: ShellScript,
        /// What is repeated.
        body: ShellScript,
    },
    /// `for x in …; do … done`, and `select`.
    For {
        /// The variable.
        variable: String,
        /// What it runs through; nothing means the positional parameters.
        words: Option<Vec<ShellWord>>,
        /// What is repeated.
        body: ShellScript,
        /// Whether it is `select`.
        select: bool,
    },
    /// `for ((…;…;…)) do … done`
    ArithmeticFor {
        /// The three expressions: expansions in them run.
        expressions: ShellWord,
        /// What is repeated.
        body: ShellScript,
    },
    /// `case x in … esac`
    Case {
        /// What is compared.
        word: ShellWord,
        /// Patterns, and what each leads to.
        arms: Vec<(Vec<ShellWord>, ShellScript)>,
    },
    /// `f() …` or `function f …`
    Function {
        /// Its name.
        name: String,
        /// What it does.
        body: Box<ShellCommand>,
    },
    /// `coproc NAME …`
    Coprocess {
        /// What runs.
        body: Box<ShellCommand>,
    },
    /// `[[ … ]]`: its words without the brackets; expansions in them run.
    Test(Vec<ShellWord>),
    /// `(( … ))`: expansions in it run.
    Arithmetic(ShellWord),
}

impl ShellCommandKind {
    /// Whether it is a simple command of one of these names, or only assigns.
    pub fn is_simple_one_of(&self, names: &[&str]) -> bool {
        let is_named = |word: &ShellWord| word.as_unquoted().is_some_and(|name| names.contains(&name));
        matches!(self, Self::Simple { words, .. } if words.first().is_none_or(is_named))
    }
}

/// `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableAssignment {
    /// The variable.
    pub name: String,
    /// `[index]`
    pub index: Option<ShellWord>,
    /// `+=`
    pub append: bool,
    /// What it becomes.
    pub value: AssignmentValue,
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentValue {
    /// A word; empty for `a=`.
    Word(ShellWord),
    /// `( … )`: each element with its index, if it has one.
    Array(Vec<(Option<ShellWord>, ShellWord)>),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellRedirect {
    /// The number before it, or nothing for what the operator means.
    pub fd: Option<u32>,
    /// `{name}` before it.
    pub fd_variable: Option<String>,
    /// What it does.
    pub kind: RedirectKind,
    /// Where it stands.
    pub span: ByteSpan,
}

/// What a redirection does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `< file`
    Read(ShellWord),
    /// `> file`
    Write(ShellWord),
    /// `>| file`
    Clobber(ShellWord),
    /// `>> file`
    Append(ShellWord),
    /// `<> file`
    ReadWrite(ShellWord),
    /// `&> file` and `>& file`
    WriteBoth(ShellWord),
    /// `&>> file`
    AppendBoth(ShellWord),
    /// `>&2`, `<&3`, `2>&-`: the number, `-`, or a number with `-`.
    Duplicate(ShellWord),
    /// `<<`, `<<-`: what stands below. Without expansions if its end mark was quoted.
    HereDocument {
        /// The text.
        body: HereDocumentBody,
    },
    /// `<<< word`
    HereString(ShellWord),
}

/// The text below a line that belongs to a redirection on it. The parser fills it in when it gets there: the command may be
/// complete long before the text is, or be part of something that is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HereDocumentBody(Rc<OnceCell<ShellWord>>);

impl HereDocumentBody {
    pub(crate) fn fill(&self, text: ShellWord) {
        let _ = self.0.set(text);
    }
}

impl Deref for HereDocumentBody {
    type Target = ShellWord;

    fn deref(&self) -> &ShellWord {
        self.0.get_or_init(ShellWord::default)
    }
}

/// One word, which may become none or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// Its pieces, in order. Empty quotes are an empty quoted text: the word is there.
    pub parts: Vec<WordPart>,
    /// Where it stands.
    pub span: ByteSpan,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
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
    Extended(char, Vec<ShellWord>),
    /// `~` or `~name` where it stands for a home directory.
    Tilde(String),
    /// `{a,b}`: each of them.
    Braces(Vec<ShellWord>),
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
    Parameter(Box<ParameterExpansion>),
    /// `$(…)` or backquotes.
    Substitution {
        /// What runs.
        script: ShellScript,
        /// Whether it stands in quotes, so that its output stays one word.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`
    Process {
        /// Whether it is `>(…)`: the command reads what is written there.
        writes: bool,
        /// What runs.
        script: ShellScript,
    },
    /// `$((…))` or `$[…]`: expansions in it run.
    Arithmetic(ShellWord),
    /// `( … )` after `name=` where the word is none of the assignments before a command: `declare a=(…)`.
    Array(Vec<(Option<ShellWord>, ShellWord)>),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterExpansion {
    /// A variable's name, a number, or one of `@ * # ? - $ ! _`.
    pub name: String,
    /// `[index]`, also `[@]` and `[*]` as a text.
    pub index: Option<ShellWord>,
    /// What is done with its value.
    pub operation: ParameterOperation,
    /// `${!x}`: the value is the name of another.
    pub indirect: bool,
    /// Whether it stands in quotes, so that it stays one word.
    pub quoted: bool,
}

/// What is done with a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterOperation {
    /// Nothing.
    None,
    /// `${#x}`
    Length,
    /// `${x:-w}` (`colon`) or `${x-w}`
    Default {
        /// Whether empty counts as unset.
        colon: bool,
        /// What stands in.
        word: ShellWord,
    },
    /// `${x:=w}`
    Assign {
        /// Whether empty counts as unset.
        colon: bool,
        /// What it becomes.
        word: ShellWord,
    },
    /// `${x:+w}`
    Alternative {
        /// Whether empty counts as unset.
        colon: bool,
        /// What stands in.
        word: ShellWord,
    },
    /// `${x:?w}`
    Required {
        /// Whether empty counts as unset.
        colon: bool,
        /// What is said.
        word: ShellWord,
    },
    /// `${x#p}` and `${x##p}`
    RemovePrefix {
        /// Whether as much as possible.
        longest: bool,
        /// The pattern.
        pattern: ShellWord,
    },
    /// `${x%p}` and `${x%%p}`
    RemoveSuffix {
        /// Whether as much as possible.
        longest: bool,
        /// The pattern.
        pattern: ShellWord,
    },
    /// `${x/p/w}`, `${x//p/w}`, `${x/#p/w}`, `${x/%p/w}`
    Replace {
        /// Nothing, `/`, `#` or `%`.
        how: Option<char>,
        /// The pattern.
        pattern: ShellWord,
        /// What stands in.
        by: ShellWord,
    },
    /// `${x:offset:length}`
    Slice {
        /// Where it begins: an arithmetic expression.
        offset: ShellWord,
        /// How long it is.
        length: Option<ShellWord>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}` and a pattern, if there is one.
    Case {
        /// `^`, `^^`, `,` or `,,`
        how: &'static str,
        /// Which characters.
        pattern: Option<ShellWord>,
    },
    /// `${x@Q}` and its like.
    Transform(char),
    /// `${!prefix*}`
    Names,
}

/// A text that was read, as far as it could be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedScript {
    /// What was understood.
    pub script: ShellScript,
    /// What bash would complain about, or what went beyond a limit.
    pub problems: Vec<SyntaxProblem>,
}

/// Something that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// What.
    pub kind: SyntaxProblemKind,
    /// Where.
    pub span: ByteSpan,
    /// Up to where bash runs the text all the same, if it does not run all of it: bash reads a line, runs it and reads the
    /// next, so this is where the line begins that it cannot read. Nothing if bash does not mind, or not before it has
    /// run what stands around.
    pub runs_until: Option<usize>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxProblemKind {
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
