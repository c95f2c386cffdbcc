//! What a settings file is to become. Everything here is text in, text out.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::document::{Addition, Document, Fault, Step};
use super::entry::{Call, Entry, Way};
use super::signs::Signs;
use super::survey::{self, HOOKS, Registered};

/// What is to be registered in a file.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) way: Way,
    pub(crate) entries: Vec<Entry>,
    /// By what entries of ours are known once it is registered.
    pub(crate) signs: Signs,
}

/// What a file was and is to become.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What uninstalling makes of it, if nobody changes it; nothing if it is not there without Snell.
    pub(crate) before: Option<String>,
    /// Whether something of ours was in it already.
    pub(crate) was_ours: bool,
    pub(crate) after: String,
    pub(crate) containers: Vec<Container>,
}

/// Something that was not there or held nothing before Snell's entries came into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Container {
    path: Vec<String>,
    /// The blanks that stood in it; nothing if it was not there.
    blank: Option<String>,
}

/// What a file was when Snell was last installed in it, as far as that is remembered.
#[derive(Clone, Debug)]
pub(crate) enum Before<'a> {
    /// The file is as it was left then, and this is what it said before.
    Known(Option<&'a str>),
    /// Somebody has changed it since.
    Changed {
        /// What was not there, or held nothing.
        containers: &'a [Container],
        /// Whether the file itself was there.
        existed: bool,
    },
    /// Nothing is remembered.
    Unknown,
}

/// What a file is to become that Snell is installed in. Now, entries of ours in it are known by these signs.
pub(crate) fn install(current: Option<&str>, before: &Before<'_>, now: &Signs, wanted: &Wanted) -> Result<Plan, Fault> {
    let document = Document::parse(current.unwrap_or_default())?;
    survey::check_shape(&document, wanted.entries.iter().map(|entry| entry.event))?;
    // What Snell wrote is written anew from what was there before. In what others wrote, only what has to be is changed.
    let (base, signs) = match before {
        Before::Known(text) => (Document::parse(text.unwrap_or_default())?, &wanted.signs),
        Before::Changed { .. } | Before::Unknown => (document.clone(), now),
    };
    let stripped = strip(&base, before, signs)?;
    let (added, containers) = add(&stripped, wanted)?;
    let own = survey::own(&base, signs);
    let is_same_way = !own.is_empty() && own.iter().all(|handler| handler.way == Some(wanted.way));
    let after = if is_installed(&document, wanted) {
        document.text()
    } else if is_same_way {
        update(base.clone(), &own, before, wanted)?
    } else {
        added
    };
    let result = Document::parse(&after)?;
    let others = survey::others(&base, signs);
    if others != survey::others(&result, &wanted.signs) || !is_installed(&result, wanted) {
        return Err(unsure());
    }
    Ok(Plan {
        before: match before {
            Before::Known(text) => text.map(str::to_owned),
            Before::Unknown => current.map(str::to_owned),
            Before::Changed { existed, .. } => {
                let is_nothing = current.is_none() || (!existed && stripped.trim().is_empty());
                (!is_nothing).then_some(stripped)
            }
        },
        was_ours: !survey::own(&document, now).is_empty(),
        after: result.text(),
        containers: containers.into_vec(),
    })
}

/// What a file is to become that Snell is removed from; nothing if it would not be there without Snell.
pub(crate) fn uninstall(document: &Document, before: &Before<'_>, signs: &Signs) -> Result<Option<String>, Fault> {
    match before {
        Before::Known(text) => Ok(text.map(str::to_owned)),
        Before::Changed { .. } | Before::Unknown => strip(document, before, signs).map(Some),
    }
}

/// A file without entries of ours.
fn strip(document: &Document, before: &Before<'_>, signs: &Signs) -> Result<String, Fault> {
    let mut stripped = document.clone();
    for handler in survey::own(document, signs).iter().rev() {
        take_out(&mut stripped, handler, before)?;
    }
    if survey::others(document, signs) != survey::others(&stripped, signs) {
        return Err(unsure());
    }
    Ok(stripped.text())
}

fn unsure() -> Fault {
    Fault {
        at: 0,
        message: "is written in a way that Snell cannot edit without changing something else; it is left as it is"
            .into(),
    }
}

/// Whether all of this, and nothing else of ours, is registered.
fn is_installed(document: &Document, wanted: &Wanted) -> bool {
    let own = survey::own(document, &wanted.signs);
    let has = |entry: &Entry| own.iter().filter(|handler| is_for(handler, entry)).count() == 1;
    own.len() == wanted.entries.len() && wanted.entries.iter().all(has)
}

/// Whether a handler does what an entry says, every time. How long it may take is up to the user.
fn is_for(handler: &Registered, entry: &Entry) -> bool {
    let exec = Call::Exec {
        command: entry.command.clone(),
        args: entry.args.clone(),
    };
    handler.event == entry.event && handler.call.as_ref() == Some(&exec) && handler.limits().is_empty()
}

/// Puts entries into a file that has none of ours.
fn add(before: &str, wanted: &Wanted) -> Result<(String, Containers), Fault> {
    let mut document = Document::parse(before)?;
    let mut containers = Containers::default();
    for entry in &wanted.entries {
        put_in(&mut document, entry, &mut containers)?;
    }
    Ok((document.text(), containers))
}

/// Brings our entries in a file up to date, each where it stands.
fn update(mut document: Document, own: &[Registered], before: &Before<'_>, wanted: &Wanted) -> Result<String, Fault> {
    // From the end, so that the places before stay where they are.
    for (index, handler) in own.iter().enumerate().rev() {
        let entry = wanted.entries.iter().find(|entry| entry.event == handler.event);
        match entry.filter(|_| that_stays(own, &handler.event) == Some(index)) {
            Some(entry) if is_for(handler, entry) => {}
            Some(entry) => document.replace(&handler.path(), &entry.handler())?,
            None => take_out(&mut document, handler, before)?,
        }
    }
    let missing = |entry: &&Entry| that_stays(own, entry.event).is_none();
    for entry in wanted.entries.iter().filter(missing) {
        put_in(&mut document, entry, &mut Containers::default())?;
    }
    Ok(document.text())
}

/// Which handler of ours on an event stays where it is: the first that is not in an entry for some things only.
fn that_stays(own: &[Registered], event: &str) -> Option<usize> {
    own.iter()
        .position(|handler| handler.event == event && handler.is_in_an_open_group())
}

fn put_in(document: &mut Document, entry: &Entry, containers: &mut Containers) -> Result<(), Fault> {
    let (hooks, event) = (Step::Key(HOOKS), Step::Key(entry.event));
    if document.root().is_none() {
        document.begin()?;
        containers.note(&[], None);
    }
    containers.note_if_empty(document, &[]);
    if document.at(&[hooks]).is_none() {
        document.append(&[], &Addition::Member(HOOKS, &json!({})))?;
        containers.note(&[hooks], None);
    }
    containers.note_if_empty(document, &[hooks]);
    if document.at(&[hooks, event]).is_none() {
        containers.note(&[hooks, event], None);
        return document.append(&[hooks], &Addition::Member(entry.event, &json!([entry.group()])));
    }
    containers.note_if_empty(document, &[hooks, event]);
    document.append(&[hooks, event], &Addition::Item(&entry.group()))
}

/// Takes one of our handlers out, with everything around it that is there only for its sake.
fn take_out(document: &mut Document, handler: &Registered, before: &Before<'_>) -> Result<(), Fault> {
    let path = handler.path();
    let (group, handlers) = (&path[..3], &path[..4]);
    let neighbours = document
        .at(handlers)
        .and_then(|node| node.items())
        .map_or(0, <[_]>::len);
    if neighbours > 1 {
        return document.remove(&path);
    }
    document.remove(group)?;
    for length in (0..=2).rev() {
        let container = &path[..length];
        if document.blank_inside(container).is_none() {
            return Ok(());
        }
        match before.blank(container) {
            // What somebody has written there since is more than nothing.
            Was::Absent if document.has_comments_inside(container) => return Ok(()),
            Was::Absent if container.is_empty() => document.end()?,
            Was::Absent => document.remove(container)?,
            Was::Blank(blank) => return document.set_blank_inside(container, &blank),
            // Somebody else has emptied it.
            Was::Full => return Ok(()),
        }
    }
    Ok(())
}

/// What a container was before our entries came into it.
enum Was {
    Absent,
    Blank(String),
    Full,
}

impl Before<'_> {
    fn blank(&self, path: &[Step<'_>]) -> Was {
        match self {
            Self::Changed { containers, .. } => {
                let names = names(path);
                match containers.iter().find(|container| container.path == names) {
                    Some(Container { blank: None, .. }) => Was::Absent,
                    Some(Container { blank: Some(blank), .. }) => Was::Blank(blank.clone()),
                    None => Was::Full,
                }
            }
            // Nobody writes an array or an object for nothing; a file is more than that.
            _ if path.is_empty() => Was::Blank(String::new()),
            _ => Was::Absent,
        }
    }
}

fn names(path: &[Step<'_>]) -> Vec<String> {
    let keys = path.iter().filter_map(|step| match step {
        Step::Key(key) => Some((*key).to_owned()),
        Step::Item(_) => None,
    });
    keys.collect()
}

/// Containers that were not there or held nothing, each as it was found first.
#[derive(Debug, Default)]
struct Containers(Vec<Container>);

impl Containers {
    fn into_vec(self) -> Vec<Container> {
        self.0
    }

    fn note(&mut self, path: &[Step<'_>], blank: Option<String>) {
        let path = names(path);
        if self.0.iter().all(|known| known.path != path) {
            self.0.push(Container { path, blank });
        }
    }

    fn note_if_empty(&mut self, document: &Document, path: &[Step<'_>]) {
        if let Some(blank) = document.blank_inside(path) {
            self.note(path, Some(blank));
        }
    }
}

#[cfg(test)]
mod tests;
