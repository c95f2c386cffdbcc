//! Facts about the transcripts of products: where the files are, and which of their lines count.

use super::install_recipe::AgentDirectory;

/// The format of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// One JSON object per line, as Claude Code writes it.
    ClaudeJsonl,
    /// One JSON object per line, and rows that tell messages from other lines.
    JsonLines(&'static TranscriptLines),
    /// A format that Snell does not read.
    Unsupported,
}

/// A transcript of JSON lines. Its path names the session.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptLines {
    /// Where the file is.
    pub location: TranscriptLocation,
    /// The lines that count. The first row that fits a line is used.
    pub rows: &'static [TranscriptLineRow],
    /// Places of the agent's directory.
    pub cwd: &'static [&'static str],
}

/// Where the transcript of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptLocation {
    /// `transcript_path` names the file.
    NamedFile,
    /// `transcript_path` names a directory. The file is the last one by name in this directory below it.
    LastFileBelow(&'static str),
    /// Not every payload names it. It is this path, below the session's directory, which is among the product's transcripts or
    /// in a directory there.
    BelowSession(&'static str),
}

/// The directory of a product's transcripts, and how a session without hook events is found there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TranscriptFiles {
    /// The product's own directory.
    pub directory: AgentDirectory,
    /// The directory of its transcripts below that.
    pub below: &'static str,
    /// How many directories are between that and a transcript; nothing if Snell does not look for sessions there.
    pub depth: Option<usize>,
    /// The end of a transcript's name.
    pub suffix: &'static str,
    /// Where the session's id is.
    pub session: SessionIdPlace,
}

/// Where a transcript names its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionIdPlace {
    /// Its name without the extension.
    FileStem,
    /// The last characters of that.
    FileStemEnd(usize),
    /// The name of the directory this many levels above it; 1 is its own directory.
    Ancestor(usize),
    /// A place in its first line.
    FirstLine(&'static str),
}

/// A line of a transcript that counts. Places in a line are JSON pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptLineRow {
    /// Its kind.
    pub kind: TranscriptLineKind,
    /// Values that it has.
    pub marks: &'static [(&'static str, &'static str)],
    /// Texts that begin so.
    pub beginnings: &'static [(&'static str, &'static str)],
    /// Places that are missing, null or false, such as the id of a sub-agent.
    pub empty: &'static [&'static str],
    /// The place of its text: a string, or a list of parts; empty if it has none.
    pub text: &'static str,
    /// The places of its tool calls, or of their results.
    pub calls: Option<&'static TranscriptCallPlaces>,
    /// The words in its text before the id of a sub-agent.
    pub subagent_mark: &'static str,
}

/// The places of the tool calls in a line, or of their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptCallPlaces {
    /// The place of a list of them; empty if the line is one itself.
    pub list: &'static str,
    /// Values that elements of the list have, in each element.
    pub marks: &'static [(&'static str, &'static str)],
    /// The place of a call's id, in each element.
    pub id: &'static str,
    /// The place of its tool.
    pub tool: &'static str,
    /// The place of its result, if it is in the same element.
    pub result: &'static str,
}

/// The kind of a line of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptLineKind {
    /// A message of the agent, perhaps with calls.
    AgentText,
    /// The same, and without a call it is the last one of its turn.
    LastAgentText,
    /// A prompt of the user. Without a text, it is the results of calls.
    Prompt,
    /// The user interrupted the agent.
    Interruption,
    /// The model's API failed.
    ApiError,
    /// The agent works.
    Activity,
    /// The results of calls. Without places of calls, it is the result of any.
    CallResults,
    /// The result of a call that started sub-agents, which run on.
    SubagentStart,
    /// A sub-agent reports to the agent, which works again.
    SubagentReport,
    /// The conversation was compacted.
    Compaction,
    /// The agent asks for permission to make a call.
    PermissionRequest,
    /// The turn ended.
    TurnEnd,
}

/// The usual values.
pub(super) const BASE_LINE_ROW: TranscriptLineRow = TranscriptLineRow {
    kind: TranscriptLineKind::Activity,
    marks: &[],
    beginnings: &[],
    empty: &[],
    text: "",
    calls: None,
    subagent_mark: "",
};

/// The usual values.
pub(super) const BASE_CALL_PLACES: TranscriptCallPlaces =
    TranscriptCallPlaces { list: "", marks: &[], id: "", tool: "", result: "" };

impl TranscriptLines {
    pub(super) const fn new(location: TranscriptLocation, rows: &'static [TranscriptLineRow]) -> Self {
        Self { location, rows, cwd: &[] }
    }

    pub(super) const fn with_cwd(self, cwd: &'static [&'static str]) -> Self {
        Self { cwd, ..self }
    }
}

impl TranscriptFiles {
    /// Files that are found by the path that events name, or by the session's id.
    pub(super) const fn new(directory: AgentDirectory, below: &'static str) -> Self {
        Self { directory, below, depth: None, suffix: ".jsonl", session: SessionIdPlace::FileStem }
    }

    /// As [`TranscriptFiles::new`], and Snell looks for sessions among them.
    pub(super) const fn with_search(self, depth: usize, suffix: &'static str, session: SessionIdPlace) -> Self {
        Self { depth: Some(depth), suffix, session, ..self }
    }
}
