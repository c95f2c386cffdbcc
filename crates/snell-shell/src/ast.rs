//! The syntax tree of a command line. Quotes are removed; their effect is kept.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::rc::Rc;

/// A byte range in the text.
pub type ByteSpan = Range<usize>;

/// A list of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellScript {
    /// The items, in order.
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

/// Pipelines that are joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOrList {
    /// The first always runs. Each further one has a condition.
    pub pipelines: Vec<(ListConnector, CommandPipeline)>,
    /// Whether it ends with `&`.
    pub background: bool,
}

/// When a pipeline runs, depending on the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListConnector {
    /// Always: it is the first of its item.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands that are joined by pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPipeline {
    /// Whether `!` is before it.
    pub negated: bool,
    /// Whether `time` is before it.
    pub timed: bool,
    /// The commands in order. A single one has no pipe.
    pub commands: Vec<ShellCommand>,
}

/// One command, with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// The kind of the command.
    pub kind: ShellCommandKind,
    /// The redirections in the order of the text.
    pub redirects: Vec<ShellRedirect>,
    /// The position, with its redirections.
    pub span: ByteSpan,
}

/// The kind of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellCommandKind {
    /// Assignments, and words. The first word is the program.
    Simple {
        /// `a=b` before the first word, or without any word.
        assignments: Vec<VariableAssignment>,
        /// The words.
        words: Vec<ShellWord>,
    },
    /// `( … )`
    Subshell(ShellScript),
    /// `{ …; }`
    Group(ShellScript),
    /// `if … then … elif … then … else … fi`: every condition with its commands.
    If {
        /// The conditions and their commands.
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
        /// The body.
        body: ShellScript,
    },
    /// `for x in …; do … done`, and `select`.
    For {
        /// The variable.
        variable: String,
        /// The list of values. `None` means the positional parameters.
        words: Option<Vec<ShellWord>>,
        /// The body.
        body: ShellScript,
        /// Whether it is `select`.
        select: bool,
    },
    /// `for ((…;…;…)) do … done`
    ArithmeticFor {
        /// The three expressions. Their expansions run.
        expressions: ShellWord,
        /// The body.
        body: ShellScript,
    },
    /// `case x in … esac`
    Case {
        /// The value that is compared.
        word: ShellWord,
        /// The patterns and their commands.
        arms: Vec<(Vec<ShellWord>, ShellScript)>,
    },
    /// `f() …` or `function f …`
    Function {
        /// Its name.
        name: String,
        /// The body.
        body: Box<ShellCommand>,
    },
    /// `coproc NAME …`
    Coprocess {
        /// The command.
        body: Box<ShellCommand>,
    },
    /// `[[ … ]]`: its words without the brackets. Their expansions run.
    Test(Vec<ShellWord>),
    /// `(( … ))`: its expansions run.
    Arithmetic(ShellWord),
}

impl ShellCommandKind {
    /// Whether it is a simple command with one of these names, or only assignments.
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
    /// The value.
    pub value: AssignmentValue,
}

/// The value of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentValue {
    /// A word. It is empty for `a=`.
    Word(ShellWord),
    /// `( … )`: each element with its index, if it has one.
    Array(Vec<(Option<ShellWord>, ShellWord)>),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellRedirect {
    /// The number before it. `None` means the operator's default.
    pub fd: Option<u32>,
    /// The variable of `{name}` before it.
    pub fd_variable: Option<String>,
    /// The kind.
    pub kind: RedirectKind,
    /// The position.
    pub span: ByteSpan,
}

/// The kind of a redirection.
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
    /// `<<`, `<<-`: the here-document. It has no expansions if its delimiter was quoted.
    HereDocument {
        /// The text.
        body: HereDocumentBody,
    },
    /// `<<< word`
    HereString(ShellWord),
}

/// The text of a here-document. The parser fills it in later: the command may be complete long before the text is, or
/// be part of an incomplete one.
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

/// One word, which may expand to none or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// Its parts, in order. Empty quotes are an empty quoted text, so the word exists.
    pub parts: Vec<WordPart>,
    /// The position.
    pub span: ByteSpan,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Literal text, without its escapes and quotes.
    Text {
        /// The text.
        text: String,
        /// Whether it was quoted or escaped. Then it contains no pattern.
        quoted: bool,
    },
    /// `*` or `?`, unquoted.
    Wildcard(char),
    /// `[…]`, unquoted, without its brackets. A backslash is before each literal character.
    Bracket(String),
    /// `@(…)`, `*(…)` and similar: the sign, and the alternatives.
    Extended(char, Vec<ShellWord>),
    /// `~` or `~name` as a home directory.
    Tilde(String),
    /// `{a,b}`: the alternatives.
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
        /// The commands.
        script: ShellScript,
        /// Whether it is in quotes, so that its output stays one word.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`
    Process {
        /// Whether it is `>(…)`: the command reads the data that is written there.
        writes: bool,
        /// The commands.
        script: ShellScript,
    },
    /// `$((…))` or `$[…]`: its expansions run.
    Arithmetic(ShellWord),
    /// `( … )` after `name=` in a word that is not an assignment before a command: `declare a=(…)`.
    Array(Vec<(Option<ShellWord>, ShellWord)>),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterExpansion {
    /// A variable's name, a number, or one of `@ * # ? - $ ! _`.
    pub name: String,
    /// `[index]`. `[@]` and `[*]` are texts.
    pub index: Option<ShellWord>,
    /// The operation on its value.
    pub operation: ParameterOperation,
    /// `${!x}`: the value is the name of another variable.
    pub indirect: bool,
    /// Whether it is in quotes, so that it stays one word.
    pub quoted: bool,
}

/// The operation on a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterOperation {
    /// No operation.
    None,
    /// `${#x}`
    Length,
    /// `${x:-w}` (`colon`) or `${x-w}`
    Default {
        /// Whether empty counts as unset.
        colon: bool,
        /// The default.
        word: ShellWord,
    },
    /// `${x:=w}`
    Assign {
        /// Whether empty counts as unset.
        colon: bool,
        /// The new value.
        word: ShellWord,
    },
    /// `${x:+w}`
    Alternative {
        /// Whether empty counts as unset.
        colon: bool,
        /// The replacement.
        word: ShellWord,
    },
    /// `${x:?w}`
    Required {
        /// Whether empty counts as unset.
        colon: bool,
        /// The error message.
        word: ShellWord,
    },
    /// `${x#p}` and `${x##p}`
    RemovePrefix {
        /// Whether it removes the longest match.
        longest: bool,
        /// The pattern.
        pattern: ShellWord,
    },
    /// `${x%p}` and `${x%%p}`
    RemoveSuffix {
        /// Whether it removes the longest match.
        longest: bool,
        /// The pattern.
        pattern: ShellWord,
    },
    /// `${x/p/w}`, `${x//p/w}`, `${x/#p/w}`, `${x/%p/w}`
    Replace {
        /// Empty, `/`, `#` or `%`.
        how: Option<char>,
        /// The pattern.
        pattern: ShellWord,
        /// The replacement.
        by: ShellWord,
    },
    /// `${x:offset:length}`
    Slice {
        /// The start: an arithmetic expression.
        offset: ShellWord,
        /// The length.
        length: Option<ShellWord>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}` and a pattern, if there is one.
    Case {
        /// `^`, `^^`, `,` or `,,`
        how: &'static str,
        /// The pattern of characters.
        pattern: Option<ShellWord>,
    },
    /// `${x@Q}` and similar.
    Transform(char),
    /// `${!prefix*}`
    Names,
}

/// The result of parsing a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedScript {
    /// The tree.
    pub script: ShellScript,
    /// Errors that bash would report, and exceeded limits.
    pub problems: Vec<SyntaxProblem>,
}

/// A problem of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// The kind.
    pub kind: SyntaxProblemKind,
    /// The position.
    pub span: ByteSpan,
    /// The position up to which bash still runs the text, if it does not run all of it. Bash reads a line, runs it and
    /// reads the next one, so this is the start of the line that it cannot read. `None` if bash accepts the text, or
    /// reports the problem only after it ran the surrounding text.
    pub runs_until: Option<usize>,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxProblemKind {
    /// A quote, a bracket or a substitution is not closed.
    Unterminated,
    /// A here-document has no delimiter at its end. Bash reads up to the end of the text, with a warning.
    NoEndMark,
    /// A token is in an invalid position.
    Unexpected,
    /// Deeper than the limit.
    TooDeep,
    /// Longer than the limit.
    TooLong,
}
