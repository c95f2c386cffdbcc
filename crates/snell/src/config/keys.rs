//! What may stand in a `snell.toml`: every key with what its value is, for reading and for the schema.

/// A key of a `[[hook]]`, or of the file itself, for reading and for the schema.
#[derive(Debug)]
pub(crate) struct ConfigKey {
    pub(crate) name: &'static str,
    pub(crate) kind: ConfigValueKind,
    pub(crate) about: &'static str,
}

/// What a key's value is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConfigValueKind {
    Text,
    Flag,
    Duration,
    /// A text, or a list of texts.
    Events,
    Arguments,
    /// A list of contracts.
    Contracts,
    /// A duration, or "forever".
    Retention,
    /// A table of switches.
    Handlers,
    /// A table with keys of its own.
    Table(&'static [ConfigKey]),
    /// A text that may be empty, and what it is where nothing is said.
    Words(&'static str),
    /// Four percentages, each above the one before it.
    Thresholds,
    /// A list of files, each a path or a table with its path and what it is.
    CoreFiles,
    /// A number of bytes with its unit, and what it is where nothing is said.
    Size(&'static str),
    /// A list of directories.
    Directories,
    /// A flag that is on unless it is switched off.
    Switch,
    /// A duration, and what it is where nothing is said.
    Interval(&'static str),
    /// Where to listen: `IP:PORT` or `HOST:PORT`.
    Address,
    /// The address of a receiver.
    Receiver,
    /// `sqlite:PATH`.
    Database,
    /// A list of hosts.
    Hosts,
    /// A list of patterns, or of names, that may be empty.
    Names,
    /// A whole number above 0.
    Count,
    OneOf(&'static [&'static str]),
    /// A table whose keys are names that are known elsewhere, and whose values are one of these words.
    Choices(&'static [&'static str]),
    /// A list of tables with keys of their own, of which some must be there.
    Tables(&'static [ConfigKey], &'static [&'static str]),
    /// A day.
    Date,
}

/// The keys of a `[[hook]]`.
pub(crate) const HOOK_KEYS: &[ConfigKey] = &[
    config_key("event", ConfigValueKind::Events, "The event to react to: a name, an alias, or a list of them."),
    config_key(
        "tool",
        ConfigValueKind::Text,
        "Which tools: exact names separated by `|` or `,`, a regular expression, or a class (shell, file.read, \
         file.write, search, web, agent, mcp). Without it, every tool.",
    ),
    config_key(
        "when",
        ConfigValueKind::Text,
        "A shell command; the hook runs only if it exits with 0 within one second.",
    ),
    config_key("run", ConfigValueKind::Text, "A command line for /bin/sh. Either this or `exec`."),
    config_key(
        "exec",
        ConfigValueKind::Arguments,
        "A program and its arguments, started without a shell. Either this or `run`.",
    ),
    config_key("timeout", ConfigValueKind::Duration, "How long the hook may take, with its unit. Default: 10s."),
    config_key(
        "on_failure",
        ConfigValueKind::OneOf(&["continue", "block"]),
        "What a crash, a timeout or a missing program means. Default: continue.",
    ),
    config_key(
        "modify",
        ConfigValueKind::Flag,
        "Whether the hook may change the tool's input or output. Default: false.",
    ),
    config_key("background", ConfigValueKind::Flag, "Whether the hook is started and not awaited. Default: false."),
];

pub(crate) const fn config_key(name: &'static str, kind: ConfigValueKind, about: &'static str) -> ConfigKey {
    ConfigKey { name, kind, about }
}
