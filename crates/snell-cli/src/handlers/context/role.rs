//! A role's file: where it is, and which files its front matter asks for.

mod yaml;

use std::path::PathBuf;

use self::yaml::{Document, Value};

/// More is no front matter.
pub(super) const MAX_FRONT_MATTER: u64 = 64 * 1024;

const LONGEST_NAME: usize = 200;
const KEY: &str = "auto_include";

/// What a role's front matter asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) entries: Vec<Entry>,
    pub(super) faults: Vec<Fault>,
}

/// A file, or a pattern for files, and where it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at: Position,
    pub(super) text: String,
}

/// What is wrong in a role's file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: Position,
    pub(super) message: String,
}

/// A line and a column of the file, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Where the file of a role may be, from the project, in the order in which it counts. Blanks around its name are none of it.
///
/// # Errors
///
/// When the name could lead anywhere else: what is wrong with it.
pub(super) fn places(role: &str) -> Result<Vec<PathBuf>, &'static str> {
    let role = role.trim();
    let refusals: [(bool, &str); 4] = [
        (role.is_empty(), "is empty"),
        (role.len() > LONGEST_NAME, "is longer than 200 bytes"),
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

/// What the file with this beginning asks for; `more` says whether it goes on behind it.
pub(super) fn wishes(head: &str, more: bool) -> Wishes {
    let head = head.strip_prefix('\u{feff}').unwrap_or(head);
    let read = match front_matter(head, more) {
        Ok(None) => return Wishes::default(),
        Ok(Some(text)) => yaml::parse(text),
        Err(fault) => Err(fault),
    };
    match read {
        Ok(document) => wishes_of(&document),
        Err(fault) => Wishes {
            entries: Vec::new(),
            faults: vec![fault],
        },
    }
}

/// What stands between a first line `---` and the next one. The first line stays: YAML knows it, and lines keep their number.
fn front_matter(head: &str, more: bool) -> Result<Option<&str>, Fault> {
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
    let message = if more {
        "the front matter is longer than 64 KiB, and so nothing of it counts"
    } else {
        "the front matter has no end; write a line --- behind it"
    };
    Err(fault(Position { line: 1, column: 1 }, message))
}

fn wishes_of(document: &Document) -> Wishes {
    let mut wishes = Wishes::default();
    let Value::Table(members) = document.root() else {
        if *document.root() != Value::Nothing {
            let message = format!("the front matter has no keys; write {KEY}: and below it a list of files");
            wishes.faults.push(fault(document.root_at(), message));
        }
        return wishes;
    };
    for (key, _) in members {
        if let Value::Text(text) = document.value(*key)
            && is_nearly_ours(text)
        {
            let message = format!("\"{text}\" has no effect; write {KEY}");
            wishes.faults.push(fault(document.at(*key), message));
        }
    }
    let is_ours = |key: usize| matches!(document.value(key), Value::Text(text) if text == KEY);
    let mut ours = members.iter().filter(|(key, _)| is_ours(*key)).rev();
    let Some((_, list)) = ours.next() else {
        return wishes;
    };
    if let Some((earlier, _)) = ours.next() {
        let message = format!("{KEY} is written twice; only the last one counts");
        wishes.faults.push(fault(document.at(*earlier), message));
    }
    match document.value(*list) {
        Value::Nothing => {}
        Value::List(items) => {
            for item in items {
                wishes.take(document, *item);
            }
        }
        _ => wishes.take(document, *list),
    }
    wishes
}

/// Whether only case and what stands between its words keep a key from being the one that counts.
fn is_nearly_ours(key: &str) -> bool {
    let letters = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    key != KEY && letters(key) == letters(KEY)
}

impl Wishes {
    /// An entry, or a fault that it is none.
    fn take(&mut self, document: &Document, item: usize) {
        let at = document.at(item);
        let what = match document.value(item) {
            Value::Text(text) if text.is_empty() => "an empty text",
            Value::Text(text) => {
                let text = text.clone();
                self.entries.push(Entry { at, text });
                return;
            }
            Value::Nothing => "nothing",
            Value::NoText(kind) => kind,
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Alias(_) => "an alias",
        };
        let message = format!("an entry of {KEY} must be a path, not {what}; write it as a text, in quotes if need be");
        self.faults.push(fault(at, message));
    }
}

fn fault(at: Position, message: impl Into<String>) -> Fault {
    let message = message.into();
    Fault { at, message }
}

#[cfg(test)]
mod tests;
