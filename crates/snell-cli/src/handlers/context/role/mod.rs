//! A role's file: where it is, and which files its front matter asks for.

mod yaml;

use std::path::PathBuf;

use self::yaml::{YamlDocument, YamlNode, YamlValue};

/// More is no front matter.
pub(super) const MAX_FRONT_MATTER: u64 = 64 * 1024;

const MAX_NAME_BYTES: usize = 200;
const INCLUDE_KEY: &str = "auto_include";

/// What a role's front matter asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RoleIncludes {
    pub(super) entries: Vec<RoleIncludeEntry>,
    pub(super) faults: Vec<RoleFileFault>,
}

/// A file, or a pattern for files, and where it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoleIncludeEntry {
    pub(super) at: RoleFilePosition,
    pub(super) text: String,
}

/// What is wrong in a role's file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoleFileFault {
    pub(super) at: RoleFilePosition,
    pub(super) message: String,
}

/// A line and a column of the file, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoleFilePosition {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Where the file of a role may be, from the project, in the order in which it counts. Blanks around its name are none of it.
///
/// # Errors
///
/// When the name could lead anywhere else: what is wrong with it.
pub(super) fn list_role_paths(role: &str) -> Result<Vec<PathBuf>, &'static str> {
    let role = role.trim();
    let refusals: [(bool, &str); 4] = [
        (role.is_empty(), "is empty"),
        (role.len() > MAX_NAME_BYTES, "is longer than 200 bytes"),
        (role.contains(['/', '\\', '\0']), "leads elsewhere"),
        (role.starts_with('.'), "begins with a dot"),
    ];
    if let Some((_, why)) = refusals.into_iter().find(|(refused, _)| *refused) {
        return Err(why);
    }
    let mut names = vec![role.to_owned(), role.to_lowercase()];
    names.dedup();
    let places = |name: String| [format!("{name}.md"), format!("{name}/role.md")];
    let below = |place: String| PathBuf::from(".claude/roles").join(place);
    Ok(names.into_iter().flat_map(places).map(below).collect())
}

/// Whether the beginning of a file is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadExtent {
    WholeFile,
    Truncated,
}

/// What the file with this beginning asks for.
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

/// What stands between a first line `---` and the next one. The first line stays: YAML knows it, and lines keep their number.
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
        HeadExtent::Truncated => "the front matter is longer than 64 KiB, and so nothing of it counts",
        HeadExtent::WholeFile => "the front matter has no end; write a line --- behind it",
    };
    Err(build_fault(RoleFilePosition { line: 1, column: 1 }, message))
}

fn includes_from_document(document: &YamlDocument) -> RoleIncludes {
    let mut includes = RoleIncludes::default();
    let root = document.resolve(&document.root);
    let YamlValue::Table(members) = root else {
        if *root != YamlValue::Nothing {
            let message = format!("the front matter has no keys; write {INCLUDE_KEY}: and below it a list of files");
            includes.faults.push(build_fault(document.root.at, message));
        }
        return includes;
    };
    let mut ours = Vec::new();
    for (key, value) in members {
        match document.resolve(key) {
            YamlValue::Text(text) if text == INCLUDE_KEY => ours.push((key, value)),
            YamlValue::Text(text) if is_misspelled_key(text) => {
                let message = format!("\"{text}\" has no effect; write {INCLUDE_KEY}");
                includes.faults.push(build_fault(key.at, message));
            }
            _ => {}
        }
    }
    if let [.., (earlier, _), _] = ours.as_slice() {
        let message = format!("{INCLUDE_KEY} is written twice; only the last one counts");
        includes.faults.push(build_fault(earlier.at, message));
    }
    match ours.pop().map(|(_, value)| (document.resolve(value), value)) {
        None | Some((YamlValue::Nothing, _)) => {}
        Some((YamlValue::List(items), _)) => items.iter().for_each(|item| includes.add_entry(document, item)),
        Some((_, value)) => includes.add_entry(document, value),
    }
    includes
}

/// Whether only case and what stands between its words keep a key from being the one that counts.
fn is_misspelled_key(key: &str) -> bool {
    let letters = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    key != INCLUDE_KEY && letters(key) == letters(INCLUDE_KEY)
}

impl RoleIncludes {
    /// An entry, or a fault that it is none.
    fn add_entry(&mut self, document: &YamlDocument, item: &YamlNode) {
        let at = item.at;
        let what = match document.resolve(item) {
            YamlValue::Text(text) if text.is_empty() => "an empty text",
            YamlValue::Text(text) => return self.entries.push(RoleIncludeEntry { at, text: text.clone() }),
            YamlValue::Nothing => "nothing",
            YamlValue::NoText(kind) => kind,
            YamlValue::List(_) => "a list",
            YamlValue::Table(_) => "a table",
            YamlValue::Alias(_) => "an alias",
        };
        let message =
            format!("an entry of {INCLUDE_KEY} must be a path, not {what}; write it as a text, in quotes if need be");
        self.faults.push(build_fault(at, message));
    }
}

fn build_fault(at: RoleFilePosition, message: impl Into<String>) -> RoleFileFault {
    RoleFileFault { at, message: message.into() }
}

#[cfg(test)]
mod tests;
