//! How Snell registers itself in a product's settings, as data.

use serde::{Deserialize, Serialize};

/// How Snell registers itself in a product's settings.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InstallRecipe {
    /// The product's own directory.
    pub directory: AgentDirectory,
    /// Its program on `PATH`, and a path in the home directory that shows that it is used.
    pub signs: (&'static str, &'static str),
    /// How its files call a hook.
    pub format: RegistrationFormat,
    /// The files from which it reads hooks.
    pub files: &'static [AgentSettingsFile],
    /// Events on which Snell does not register, and why.
    pub left_out: &'static [(&'static str, &'static str)],
    /// The timeout in seconds, if the product's own would be wrong: a call is not judged if it expires.
    pub timeout: Option<u32>,
    /// The timeouts in seconds of events that need another one.
    pub timeouts: &'static [(&'static str, u32)],
    /// The events that a forwarding machine sends, and their names at the receiver.
    pub forwarded: &'static [(&'static str, &'static str)],
    /// Where it records what its user trusts. It does not run other hooks.
    pub trust: Option<TrustRecord>,
    /// Notes for its user after an installation in a scope.
    pub notes: &'static [(SettingsScope, &'static str)],
    /// Other products that read the same files.
    pub readers: &'static [SettingsReader],
    /// The scopes of its own files that it runs whenever it runs another product's file.
    pub answering_scopes: &'static [SettingsScope],
    /// A call that Snell must deny, and the answer that denies it.
    pub proof: DenialProof,
}

/// The directory of a product's own files.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentDirectory {
    /// The variable that names another directory.
    pub variable: Option<&'static str>,
    /// The path below that directory.
    pub below: &'static str,
    /// The path in the home directory, without the variable.
    pub default: &'static str,
}

/// How a product's files call a hook.
#[derive(Clone, Copy, Debug)]
pub enum RegistrationFormat {
    /// Entries in lists below `hooks` of a JSON file, one list for each event.
    Json(JsonRegistration),
    /// `[[hooks]]` tables of a TOML file.
    Toml(TomlRegistration),
    /// Files that Snell writes as a whole. `@ARGV@` is the command as an array of JSON strings, `@COMMAND@` a shell command,
    /// `@COMMAND_STRING@` that as a JSON string, and `@AGENT@` the product's name. If the path of the file has `{event}`,
    /// there is one for each event.
    OwnFile(&'static str),
}

/// The form of entries in a JSON file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JsonRegistration {
    /// Members that the file must have, as JSON.
    pub root: &'static [(&'static str, &'static str)],
    /// Whether a list has handlers, or groups of handlers.
    pub nesting: EntryNesting,
    /// How a handler names the command.
    pub command: CommandStyle,
    /// Other members of a handler, as JSON.
    pub members: &'static [(&'static str, &'static str)],
    /// The key of the timeout, if it has one.
    pub timeout: Option<TimeoutKey>,
}

/// The elements of an event's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryNesting {
    /// Groups: `{"matcher": …, "hooks": [handler]}`.
    Groups,
    /// The handlers themselves.
    Handlers,
}

/// How a handler names its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStyle {
    /// A program as `command`, and its arguments as `args`.
    ProgramAndArgs,
    /// A line of shell under this key.
    ShellLine(&'static str),
}

/// The key of a timeout, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKey {
    /// Seconds.
    Seconds(&'static str),
    /// Milliseconds.
    Milliseconds(&'static str),
}

/// The form of `[[hooks]]` tables.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TomlRegistration {
    /// The key of the event.
    pub event_key: &'static str,
    /// The key of a name that must be unique, if it has one.
    pub name_key: Option<&'static str>,
    /// Other members on these events, as TOML.
    pub members: &'static [(&'static str, &'static str)],
}

/// A file from which a product reads hooks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentSettingsFile {
    /// The scope of its hooks.
    pub scope: SettingsScope,
    /// Its path in the directory of its scope. If it ends with `.d`, it is a directory of JSON files.
    pub path: &'static str,
}

/// Another product that reads a product's files.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SettingsReader {
    /// Its name, if Snell knows it.
    pub product: Option<&'static str>,
    /// Its name for people.
    pub title: &'static str,
    /// A path in the home directory that shows that it is installed.
    pub sign: &'static str,
}

/// Where a product records what its user trusts.
#[derive(Clone, Copy, Debug)]
pub enum TrustRecord {
    /// Directories, in a JSON file of its own directory: the key of all directories, and the key in each.
    Directories(&'static str, [&'static str; 2]),
    /// Handlers, in a TOML file of its own directory: the tables with an entry `FILE:EVENT:GROUP:HANDLER` for each.
    Handlers(&'static str, [&'static str; 2]),
}

/// A call that Snell must deny, and the answer that denies it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DenialProof {
    /// The event.
    pub event: &'static str,
    /// A payload as the product sends it, without session and directory. `COMMAND` is the forbidden command.
    pub payload: &'static str,
    /// Answers that deny the call. One of them is enough.
    pub signs: &'static [DenialSign],
}

/// A part of an answer that denies a call.
#[derive(Clone, Copy, Debug)]
pub enum DenialSign {
    /// The value at this JSON pointer, as JSON.
    Member(&'static str, &'static str),
    /// This exit code, with a reason on standard error.
    ExitCode(i32),
}

/// The scope of a file's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingsScope {
    /// The user's, in every project.
    User,
    /// A project's, for all its users.
    Project,
    /// The user's, in one project.
    Local,
    /// The administrator's.
    Managed,
}

impl SettingsScope {
    /// Whether a product reads files of both scopes together. It reads the user's in every project.
    pub fn overlaps(self, other: Self) -> bool {
        let is_in_project = |scope| matches!(scope, Self::Project | Self::Local);
        (self == Self::User && is_in_project(other)) || (other == Self::User && is_in_project(self))
    }

    /// Its name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Managed => "managed",
        }
    }
}

impl AgentSettingsFile {
    pub(super) const fn new(scope: SettingsScope, path: &'static str) -> Self {
        Self { scope, path }
    }

    /// The user's file.
    pub(super) const fn user(path: &'static str) -> Self {
        Self::new(SettingsScope::User, path)
    }

    /// A project's file.
    pub(super) const fn project(path: &'static str) -> Self {
        Self::new(SettingsScope::Project, path)
    }
}

impl InstallRecipe {
    /// The fields that few products have.
    pub(super) const BASE: Self = Self {
        directory: AgentDirectory::in_home(""),
        signs: ("", ""),
        format: RegistrationFormat::Json(JsonRegistration::SHELL_GROUPS),
        files: &[],
        left_out: &[],
        timeout: None,
        timeouts: &[],
        forwarded: &[],
        trust: None,
        notes: &[],
        readers: &[],
        answering_scopes: &[SettingsScope::User],
        proof: DenialProof::CLAUDE,
    };
}

impl AgentDirectory {
    /// A directory in the home directory.
    pub(super) const fn in_home(default: &'static str) -> Self {
        Self { variable: None, below: "", default }
    }

    /// A directory that this variable can name.
    pub(super) const fn or_variable(self, variable: &'static str, below: &'static str) -> Self {
        Self { variable: Some(variable), below, ..self }
    }
}

impl JsonRegistration {
    /// Groups of handlers with a line of shell and a timeout in seconds, as most products read them.
    pub const SHELL_GROUPS: Self = Self {
        root: &[],
        nesting: EntryNesting::Groups,
        command: CommandStyle::ShellLine("command"),
        members: &[("type", "\"command\"")],
        timeout: Some(TimeoutKey::Seconds("timeout")),
    };

    /// Handlers with a line of shell and a timeout in seconds.
    pub(super) const SHELL_HANDLERS: Self =
        Self { nesting: EntryNesting::Handlers, members: &[], ..Self::SHELL_GROUPS };
}

impl TimeoutKey {
    /// The key.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds(key) | Self::Milliseconds(key) => key,
        }
    }

    /// A time in its unit.
    pub fn convert(self, seconds: u32) -> u64 {
        match self {
            Self::Seconds(_) => seconds.into(),
            Self::Milliseconds(_) => u64::from(seconds) * 1000,
        }
    }
}

impl TomlRegistration {
    pub(super) const fn new(event_key: &'static str) -> Self {
        Self { event_key, name_key: None, members: &[] }
    }
}

impl SettingsReader {
    pub(super) const fn new(title: &'static str, sign: &'static str) -> Self {
        Self { product: None, title, sign }
    }

    pub(super) const fn of_product(product: &'static str, title: &'static str, sign: &'static str) -> Self {
        Self { product: Some(product), title, sign }
    }
}

impl DenialProof {
    /// Whether this exit code denies the call.
    pub fn denies_by_exit_code(&self, code: i32) -> bool {
        self.signs.iter().any(|sign| matches!(sign, DenialSign::ExitCode(denial) if *denial == code))
    }

    /// Claude Code's, which several products share.
    pub(super) const CLAUDE: Self = Self {
        event: "PreToolUse",
        payload: r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[DenialSign::Member("/hookSpecificOutput/permissionDecision", "\"deny\""), DenialSign::ExitCode(2)],
    };

    /// A plugin's: the shim reads one JSON object.
    pub(super) const fn of_plugin(event: &'static str, payload: &'static str) -> Self {
        Self { event, payload, signs: &[DenialSign::Member("/decision", "\"deny\"")] }
    }
}
