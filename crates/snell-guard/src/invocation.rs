//! One program that would run, after the shell has done its part.

use std::fmt;

use snell_shell::ByteSpan;

/// A text with parts that may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SymbolicText {
    /// In order. Adjacent known parts are joined.
    pub parts: Vec<SymbolicPart>,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SymbolicPart {
    /// Known.
    Text(String),
    /// Unknown: any text, possibly empty.
    Unknown(UnknownKind),
    /// A pattern that the shell would match with file names: `*`, `?`, `[a-z]`.
    Pattern(String),
}

/// The knowledge about an unknown part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownKind {
    /// Nothing: it may be empty, contain slashes, or be several words.
    Anything,
    /// Only that it is not empty: `${x:?}`.
    Something,
    /// It is not empty and has no slash, blank or dot-dot: a number, a date, a name.
    Name,
    /// It comes from input: a line of a file, an answer, a parameter. The author of the command does not know it,
    /// unlike a variable.
    FromInput,
    /// It is unreviewed, because it was downloaded or decoded: `$(curl …)`, and the file that `<(curl …)` names.
    Unseen,
    /// It holds the contents of a secret file or of the environment: `$(cat .env)`, `$(env)`.
    Private,
    /// The value of a secret variable, by its name: `$GITHUB_TOKEN`. It may be used, but not shown. Holds a part of its
    /// issuer's host names; empty if unknown.
    Credential(&'static str),
    /// Ids of processes that were searched for, not started here: `$(pgrep x)`, `$PPID`. Also containers and similar:
    /// `$(docker ps -q)`.
    Processes,
    /// The same, for the agent or Snell: `$PPID`, `$(pgrep claude)`.
    Agent,
}

impl UnknownKind {
    /// Kinds that a derived value inherits, gravest first.
    pub(crate) const CARRIED: [Self; 4] = [Self::Unseen, Self::Private, Self::Agent, Self::Processes];

    /// Whether it may be empty.
    pub fn can_be_empty(self) -> bool {
        matches!(self, Self::Anything | Self::FromInput | Self::Unseen | Self::Private | Self::Credential(_))
    }
}

impl SymbolicText {
    /// A known value.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { parts: vec![SymbolicPart::Text(text.into())] }
    }

    /// Some of the files that its patterns match, instead of all.
    pub(crate) fn narrow_patterns(self) -> Self {
        let parts = self.parts.into_iter().map(|part| match part {
            SymbolicPart::Pattern(text) if text == "*" => SymbolicPart::Unknown(UnknownKind::Name),
            part => part,
        });
        Self { parts: parts.collect() }
    }

    /// An unknown value.
    pub fn from_unknown(unknown: UnknownKind) -> Self {
        Self { parts: vec![SymbolicPart::Unknown(unknown)] }
    }

    /// The text, if all of it is known.
    pub fn as_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [SymbolicPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Its known start.
    pub fn leading_text(&self) -> &str {
        match self.parts.first() {
            Some(SymbolicPart::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether a part of it is unknown in this way.
    pub fn contains_unknown(&self, unknown: UnknownKind) -> bool {
        let is_process =
            unknown == UnknownKind::Processes && self.parts.contains(&SymbolicPart::Unknown(UnknownKind::Agent));
        is_process || self.parts.contains(&SymbolicPart::Unknown(unknown))
    }

    /// The issuer of its secret, if it is the value of a secret variable.
    pub fn credential_issuer(&self) -> Option<&'static str> {
        self.parts.iter().find_map(|part| match part {
            SymbolicPart::Unknown(UnknownKind::Credential(issuer)) => Some(*issuer),
            _ => None,
        })
    }

    /// Its taint, which follows it everywhere.
    pub(crate) fn taint(&self) -> Option<UnknownKind> {
        let carried = UnknownKind::CARRIED.into_iter().find(|kind| self.contains_unknown(*kind));
        carried.or_else(|| self.credential_issuer().map(UnknownKind::Credential))
    }

    /// Whether a part of it is a pattern.
    pub(crate) fn has_pattern(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, SymbolicPart::Pattern(_)))
    }

    /// The text, with placeholders for unknown parts.
    pub(crate) fn render(&self, placeholder: impl Fn(UnknownKind) -> &'static str) -> String {
        let parts = self.parts.iter().map(|part| match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => text.as_str(),
            SymbolicPart::Unknown(unknown) => placeholder(*unknown),
        });
        parts.collect()
    }

    /// Expands `~` at the start.
    pub(crate) fn expand_home(self, home: &str) -> Self {
        if !matches!(self.leading_text().as_bytes(), [b'~'] | [b'~', b'/', ..]) {
            return self;
        }
        let mut path = Self::from_text(home);
        path.append(&self.skip_leading_bytes(1));
        path
    }

    /// The rest after some bytes of its known start.
    pub fn skip_leading_bytes(&self, bytes: usize) -> Self {
        let mut parts = self.parts.clone();
        if let Some(SymbolicPart::Text(text)) = parts.first_mut() {
            *text = text.get(bytes..).unwrap_or_default().to_owned();
        }
        Self { parts }
    }
}

/// As people read it: `…` for unknown parts.
impl fmt::Display for SymbolicText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => f.write_str(text),
            SymbolicPart::Unknown(_) => f.write_str("…"),
        })
    }
}

/// One program that would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The program and its arguments, after expansion. The program may be unknown.
    pub argv: Vec<SymbolicText>,
    /// Variables that are set only for it.
    pub variables: Vec<(String, SymbolicText)>,
    /// Variables that were changed for all programs and matter to this one: `NAME=value`, or `NAME` for an unknown value.
    pub exported: Vec<String>,
    /// Files that the shell opens for it.
    pub files: Vec<OpenedFile>,
    /// Its standard input.
    pub stdin: StdinSource,
    /// Where its output goes.
    pub stdout: StdoutTarget,
    /// The directory in which it would run; `None` if unknown.
    pub cwd: Option<String>,
    /// Whether it would run as another user (after `sudo` and similar programs).
    pub privileged: bool,
    /// Whether it would run on another machine or in a container, where paths differ.
    pub elsewhere: bool,
    /// The container in which it would run, if it matters.
    pub container: Option<ContainerSpec>,
    /// The wrappers that run it, outermost first: `sudo`, `xargs`, `sh -c` …
    pub via: Vec<String>,
    /// Index of the policy's allowed command that it is, or is part of.
    pub allowed: Option<usize>,
    /// Indexes of the policy's entries that deny it or ask about it.
    pub watched_by: Vec<usize>,
    /// Its place in the text.
    pub span: ByteSpan,
}

impl Invocation {
    /// The program as it is written, if that is known.
    pub(crate) fn name(&self) -> Option<&str> {
        self.argv.first().and_then(SymbolicText::as_text)
    }

    /// The program without its directory; empty if it is unknown.
    pub(crate) fn base_name(&self) -> &str {
        base_name(self.name().unwrap_or_default())
    }

    /// All words after the program.
    pub(crate) fn arguments(&self) -> &[SymbolicText] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// The last name of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A container, as the command that uses it describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerSpec {
    /// Whether it is created for this command, so that it holds no data yet.
    pub fresh: bool,
    /// Whether its directories are on another machine.
    pub on_remote_host: bool,
    /// The parts of this machine that it can see.
    pub mounts: Vec<ContainerMount>,
}

/// A directory or file of this machine that is mounted in a container. Both paths are absolute, and the root is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerMount {
    /// Its path on this machine.
    pub host_path: String,
    /// Its path in the container.
    pub container_path: String,
}

/// A file that the shell opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedFile {
    /// Its path.
    pub path: SymbolicText,
    /// Why it is opened.
    pub mode: FileOpenMode,
}

impl StdinSource {
    /// The programs whose output is read.
    pub(crate) fn pipeline(&self) -> &[Invocation] {
        match self {
            Self::Pipe(left) => left,
            Self::Inherited | Self::Text(_) | Self::File(_) => &[],
        }
    }

    /// The text, if it is known.
    pub(crate) fn as_text(&self) -> Option<&SymbolicText> {
        match self {
            Self::Text(text) => Some(text),
            Self::Inherited | Self::Pipe(_) | Self::File(_) => None,
        }
    }
}

impl OpenedFile {
    /// A file that is emptied.
    pub(crate) fn truncated(path: SymbolicText) -> Self {
        Self { path, mode: FileOpenMode::Truncate }
    }
}

/// Why a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOpenMode {
    /// `<`
    Read,
    /// `>`: its contents are lost.
    Truncate,
    /// `>>`
    Append,
}

/// The standard input of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StdinSource {
    /// The agent's own.
    #[default]
    Inherited,
    /// This text.
    Text(SymbolicText),
    /// The unknown output of other programs: the invocations on the left side of the pipe.
    Pipe(Vec<Invocation>),
    /// A file.
    File(SymbolicText),
}

/// Where a program's output goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StdoutTarget {
    /// To the agent.
    #[default]
    Inherited,
    /// Into another program.
    Pipe,
    /// Into a file, or nowhere.
    File,
    /// Into a substitution: it becomes words.
    Captured,
}
