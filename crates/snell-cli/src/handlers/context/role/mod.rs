//! A role's file: its path, and the files that its front matter includes.

mod yaml;

use std::path::PathBuf;

use snell::UserMessage;

use self::yaml::{YamlDocument, YamlNode, YamlValue};

/// A longer front matter is ignored.
pub(super) const MAX_FRONT_MATTER: u64 = 64 * 1024;

const MAX_NAME_BYTES: usize = 200;
const INCLUDE_KEY: &str = "auto_include";

/// The includes of a role.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RoleIncludes {
    pub(super) entries: Vec<RoleIncludeEntry>,
    pub(super) faults: Vec<RoleFileFault>,
}

/// A file or a pattern, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoleIncludeEntry {
    pub(super) at: RoleFilePosition,
    pub(super) text: String,
}

/// A problem in a role's file, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoleFileFault {
    pub(super) at: RoleFilePosition,
    pub(super) message: UserMessage,
}

/// A line and a column of the file, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoleFilePosition {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The directory of roles in a project.
pub(super) const ROLE_DIR: &str = ".claude/roles";

/// The possible paths of a role's file, relative to the project, in order of precedence. The name is trimmed.
///
/// # Errors
///
/// Why the name is not allowed.
pub(super) fn list_role_paths(role: &str) -> Result<Vec<PathBuf>, &'static str> {
    let role = role.trim();
    let refusals: [(bool, &str); 4] = [
        (role.is_empty(), "is empty"),
        (role.len() > MAX_NAME_BYTES, "is longer than 200 bytes"),
        (role.contains(['/', '\\', '\0']), "contains a slash, a backslash or NUL"),
        (role.starts_with('.'), "begins with a dot"),
    ];
    if let Some((_, why)) = refusals.into_iter().find(|(refused, _)| *refused) {
        return Err(why);
    }
    let mut names = vec![role.to_owned(), role.to_lowercase()];
    names.dedup();
    let places = |name: String| [format!("{name}.md"), format!("{name}/role.md")];
    let below = |place: String| PathBuf::from(ROLE_DIR).join(place);
    Ok(names.into_iter().flat_map(places).map(below).collect())
}

/// Whether the head is the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadExtent {
    WholeFile,
    Truncated,
}

/// The includes of a file with this head.
pub(super) fn parse_role_includes(head: &str, extent: HeadExtent) -> RoleIncludes {
    let head = head.strip_prefix('\u{feff}').unwrap_or(head);
    let read = match extract_front_matter(head, extent) {
        Ok(None) => return RoleIncludes::default(),
        Ok(Some(text)) => yaml::parse_yaml(text),
        Err(fault) => Err(fault),
    };
    match read {
        Ok(document) => includes_from_document(&document),
        Err(fault) => RoleIncludes { entries: Vec::new(), faults: vec![fault] },
    }
}

/// The text between a first line `---` and the next one. The first line stays: it is valid YAML, and keeps the line numbers.
fn extract_front_matter(head: &str, extent: HeadExtent) -> Result<Option<&str>, RoleFileFault> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = head.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok(None);
    };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            return Ok(Some(&head[..end]));
        }
        end += line.len();
    }
    let message = match extent {
        HeadExtent::Truncated => UserMessage::new("the front matter is longer than 64 KiB, so it is ignored"),
        HeadExtent::WholeFile => UserMessage::new("the front matter has no end").with_hint("add a line --- after it"),
    };
    Err(build_fault(RoleFilePosition { line: 1, column: 1 }, message))
}

fn includes_from_document(document: &YamlDocument) -> RoleIncludes {
    let mut includes = RoleIncludes::default();
    let root = document.resolve(&document.root);
    let YamlValue::Table(members) = root else {
        if *root != YamlValue::Nothing {
            let hint = format!("write {INCLUDE_KEY}: with a list of files below");
            let message = UserMessage::new("the front matter has no keys").with_hint(hint);
            includes.faults.push(build_fault(document.root.at, message));
        }
        return includes;
    };
    let mut ours = Vec::new();
    for (key, value) in members {
        match document.resolve(key) {
            YamlValue::Text(text) if text == INCLUDE_KEY => ours.push((key, value)),
            YamlValue::Text(text) if is_misspelled_key(text) => {
                let message = UserMessage::new(format!("unknown key \"{text}\""));
                includes
                    .faults
                    .push(build_fault(key.at, message.with_hint(format!("did you mean \"{INCLUDE_KEY}\"?"))));
            }
            _ => {}
        }
    }
    if let [.., (earlier, _), _] = ours.as_slice() {
        let message = format!("{INCLUDE_KEY} is written twice; the last one applies");
        includes.faults.push(build_fault(earlier.at, message));
    }
    match ours.pop().map(|(_, value)| (document.resolve(value), value)) {
        None | Some((YamlValue::Nothing, _)) => {}
        Some((YamlValue::List(items), _)) => items.iter().for_each(|item| includes.add_entry(document, item)),
        Some((_, value)) => includes.add_entry(document, value),
    }
    includes
}

/// Whether a key differs from the include key only in case and separators.
fn is_misspelled_key(key: &str) -> bool {
    let letters = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    key != INCLUDE_KEY && letters(key) == letters(INCLUDE_KEY)
}

impl RoleIncludes {
    /// Adds an entry, or a fault if it is not a path.
    fn add_entry(&mut self, document: &YamlDocument, item: &YamlNode) {
        let at = item.at;
        let what = match document.resolve(item) {
            YamlValue::Text(text) if text.is_empty() => "an empty string",
            YamlValue::Text(text) => return self.entries.push(RoleIncludeEntry { at, text: text.clone() }),
            YamlValue::Nothing => "nothing",
            YamlValue::NoText(kind) => kind,
            YamlValue::List(_) => "a list",
            YamlValue::Table(_) => "a table",
            YamlValue::Alias(_) => "an alias",
        };
        let message = UserMessage::new(format!("an entry of {INCLUDE_KEY} must be a path, not {what}"));
        self.faults.push(build_fault(at, message.with_hint("write it as a string, with quotes if needed")));
    }
}

fn build_fault(at: RoleFilePosition, message: impl Into<UserMessage>) -> RoleFileFault {
    RoleFileFault { at, message: message.into() }
}

#[cfg(test)]
mod tests;
