//! One program that would run: what is left of a command line once the shell has done its part.

use std::fmt;

use snell_shell::ByteSpan;

/// A text of which parts may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SymbolicText {
    /// In order. Neighbouring known parts are one.
    pub parts: Vec<SymbolicPart>,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SymbolicPart {
    /// Known.
    Text(String),
    /// Unknown: anything, also nothing.
    Unknown(UnknownKind),
    /// A pattern that the shell would fill in from the names of files: `*`, `?`, `[a-z]`.
    Pattern(String),
}

/// What is known of something unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownKind {
    /// Nothing: it may be empty, hold slashes, be several words.
    Anything,
    /// It is not empty, and that is all: `${x:?}`.
    Something,
    /// It is not empty and holds no slash, blank or dot-dot: a number, a date, a name.
    Name,
    /// Somebody else says what it is: a line of a file, an answer, a parameter. Unlike a variable, which whoever wrote the
    /// command has in mind.
    FromInput,
    /// Nobody has seen it, because it came from another machine or out of an encoding: `$(curl …)`, and the file that
    /// `<(curl …)` names.
    Unseen,
    /// It holds what a secret file or the environment says: `$(cat .env)`, `$(env)`.
    Private,
    /// It is the value of a variable whose name says that it is secret: `$GITHUB_TOKEN`. It is there to be used, not to
    /// be seen. With it, what the addresses of whoever gave it out have in them; nothing if that is not known.
    Credential(&'static str),
    /// Numbers of processes that were looked up rather than started: `$(pgrep x)`, and `$PPID`. So are containers and
    /// what else runs somewhere: `$(docker ps -q)`.
    Processes,
    /// The same, of the agent that is looked after, or of Snell: `$PPID`, `$(pgrep claude)`.
    Agent,
}

impl UnknownKind {
    /// What a value made of it is as well, gravest first.
    pub(crate) const CARRIED: [Self; 4] = [Self::Unseen, Self::Private, Self::Agent, Self::Processes];

    /// Whether it may be nothing at all.
    pub fn can_be_empty(self) -> bool {
        matches!(self, Self::Anything | Self::FromInput | Self::Unseen | Self::Private | Self::Credential(_))
    }
}

impl SymbolicText {
    /// A value of which everything is known.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { parts: vec![SymbolicPart::Text(text.into())] }
    }

    /// A value of which nothing else is known.
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

    /// The known text that it begins with.
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

    /// Whose secret it holds, if it is the value of a secret variable.
    pub fn credential_issuer(&self) -> Option<&'static str> {
        self.parts.iter().find_map(|part| match part {
            SymbolicPart::Unknown(UnknownKind::Credential(issuer)) => Some(*issuer),
            _ => None,
        })
    }

    /// What it carries along, wherever it goes.
    pub(crate) fn taint(&self) -> Option<UnknownKind> {
        let carried = UnknownKind::CARRIED.into_iter().find(|kind| self.contains_unknown(*kind));
        carried.or_else(|| self.credential_issuer().map(UnknownKind::Credential))
    }

    /// Whether a part of it is a pattern.
    pub(crate) fn has_pattern(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, SymbolicPart::Pattern(_)))
    }

    /// The text, with something else for what is unknown.
    pub(crate) fn render(&self, placeholder: impl Fn(UnknownKind) -> &'static str) -> String {
        let parts = self.parts.iter().map(|part| match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => text.as_str(),
            SymbolicPart::Unknown(unknown) => placeholder(*unknown),
        });
        parts.collect()
    }

    /// `~` at the beginning is the home directory.
    pub(crate) fn expand_home(self, home: &str) -> Self {
        if !matches!(self.leading_text().as_bytes(), [b'~'] | [b'~', b'/', ..]) {
            return self;
        }
        let mut path = Self::from_text(home);
        path.append(&self.skip_leading_bytes(1));
        path
    }

    /// What is left without the first bytes of the known text that it begins with.
    pub fn skip_leading_bytes(&self, bytes: usize) -> Self {
        let mut parts = self.parts.clone();
        if let Some(SymbolicPart::Text(text)) = parts.first_mut() {
            *text = text.get(bytes..).unwrap_or_default().to_owned();
        }
        Self { parts }
    }
}

/// As a person would write it: `…` where something is unknown.
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
    /// Variables that are set for it alone.
    pub variables: Vec<(String, SymbolicText)>,
    /// Variables that were changed for all programs before it, of those that make a difference to it.
    pub exported: Vec<String>,
    /// Files that the shell opens for it.
    pub files: Vec<OpenedFile>,
    /// What it would read from standard input.
    pub stdin: StdinSource,
    /// Where its output goes.
    pub stdout: StdoutTarget,
    /// The directory in which it would run; nothing if that cannot be known.
    pub cwd: Option<String>,
    /// Whether it would run as another user (behind `sudo` and its like).
    pub privileged: bool,
    /// Whether it would run on another machine or in a container, where paths mean something else.
    pub elsewhere: bool,
    /// The container in which it would run, if there is something to be said about that.
    pub container: Option<ContainerSpec>,
    /// The programs through which it is run, outermost first: `sudo`, `xargs`, `sh -c` …
    pub via: Vec<String>,
    /// Which of the policy's allowed commands it is, or is run by.
    pub allowed: Option<usize>,
    /// Where in the text it stands.
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

    /// Everything behind the program.
    pub(crate) fn arguments(&self) -> &[SymbolicText] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// The last name of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A container, as whoever runs something in it describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerSpec {
    /// Whether it is made for this: what is in it is nobody's.
    pub fresh: bool,
    /// Whether its directories are those of another machine.
    pub on_remote_host: bool,
    /// What of the machine it can see.
    pub mounts: Vec<ContainerMount>,
}

/// A directory (or a file) of the machine that can be seen in a container. Both paths are absolute, and
/// the root is the empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerMount {
    /// Its path on the machine.
    pub host_path: String,
    /// Its path in the container.
    pub container_path: String,
}

/// A file that the shell opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedFile {
    /// Its path.
    pub path: SymbolicText,
    /// What for.
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

    /// What is read, if it is known.
    pub(crate) fn as_text(&self) -> Option<&SymbolicText> {
        match self {
            Self::Text(text) => Some(text),
            Self::Inherited | Self::Pipe(_) | Self::File(_) => None,
        }
    }
}

impl OpenedFile {
    /// A file that loses its content.
    pub(crate) fn truncated(path: SymbolicText) -> Self {
        Self { path, mode: FileOpenMode::Truncate }
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOpenMode {
    /// `<`
    Read,
    /// `>`: what was in it is gone.
    Truncate,
    /// `>>`
    Append,
}

/// What a program would read from standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StdinSource {
    /// Whatever the agent has.
    #[default]
    Inherited,
    /// This text.
    Text(SymbolicText),
    /// What other programs print, of which the text is not known: the invocations of the pipe's left side.
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
