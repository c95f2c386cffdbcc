//! Where a secret of a target comes from.

use std::path::{Path, PathBuf};

use super::super::values::resolve_in_home;
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::diagnostic::UserMessage;

/// Where a secret comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// A file that only its owner can read.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// The `snell.toml` itself.
    Inline(String),
}

impl std::fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Variable(name) => f.debug_tuple("Variable").field(name).finish(),
            Self::Inline(_) => f.write_str("Inline(…)"),
        }
    }
}

impl SecretSource {
    /// The same with an absolute path.
    pub(in super::super) fn resolve_path(self, home: Option<&Path>) -> Self {
        match self {
            Self::File(path) => Self::File(resolve_in_home(&path, home)),
            other => other,
        }
    }
}

/// The keys of a secret: one for a file, one for a variable, and one for the secret itself.
pub(in super::super) struct SecretKeys {
    file: &'static str,
    variable: &'static str,
    inline: &'static str,
}

/// The access token of ntfy.
pub(super) const SECRET_TOKEN: SecretKeys = SecretKeys { file: "token_file", variable: "token_env", inline: "token" };
/// The address of Slack's webhook, which is a secret.
pub(super) const SECRET_URL: SecretKeys = SecretKeys { file: "url_file", variable: "url_env", inline: "url" };
/// The key of a signature.
pub(super) const SIGNING_SECRET: SecretKeys =
    SecretKeys { file: "secret_file", variable: "secret_env", inline: "secret" };

/// The value of a header.
pub(in super::super) const HEADER_VALUE: SecretKeys =
    SecretKeys { file: "value_file", variable: "value_env", inline: "value" };

impl SecretKeys {
    /// The secret, if one of its keys is there.
    pub(super) fn read(&self, reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<SecretSource> {
        let given: Vec<_> =
            [self.file, self.variable, self.inline].into_iter().filter(|key| fields.contains_key(key)).collect();
        let key = *given.first()?;
        let node = fields.get(key)?;
        if given.len() > 1 {
            let message = UserMessage::new(format!("only one of {} can be set", given.join(", ")));
            reader.add_error(node.offset, message.with_hint(format!("keep \"{}\"", self.file)));
            return None;
        }
        let text = reader.expect_text(node, key)?;
        if text.trim().is_empty() {
            reader.add_error(node.offset, UserMessage::new(format!("\"{key}\" is empty")));
            return None;
        }
        if key == self.file {
            return Some(SecretSource::File(text.into()));
        }
        if key == self.variable {
            return Some(SecretSource::Variable(text));
        }
        reader.add_warning(node.offset, self.describe_inline_secret());
        Some(SecretSource::Inline(text))
    }

    /// The secret. It is an error if there is none.
    pub(in super::super) fn read_required(
        &self,
        reader: &mut ConfigReader<'_>,
        fields: &ObjectFields<'_>,
        what: &str,
    ) -> Option<SecretSource> {
        let is_given = [self.file, self.variable, self.inline].iter().any(|key| fields.contains_key(key));
        if !is_given {
            let message = UserMessage::new(format!("{what} has no \"{}\"", self.file));
            reader.add_error(
                fields.offset,
                message.with_hint(format!("add {} = \"…\" or {} = \"…\"", self.file, self.variable)),
            );
        }
        self.read(reader, fields)
    }

    /// The warning about a secret in the file itself.
    pub(in super::super) fn describe_inline_secret(&self) -> UserMessage {
        let message = UserMessage::new(format!("\"{}\" is a secret in the file", self.inline));
        message.with_hint(format!("write it to a file with mode 600, and name that file in \"{}\"", self.file))
    }
}
