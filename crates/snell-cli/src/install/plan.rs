//! What a settings file is to become. Everything here is text in, text out.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::document::{Addition, Document, Fault, Step};
use super::entry::{Call, Entry, Way};
use super::survey::{self, HOOKS, Registered};

/// What is to be registered in a file.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) way: Way,
    pub(crate) entries: Vec<Entry>,
    /// The program that would be registered, by which entries of ours are known.
    pub(crate) program: String,
}

/// What a file was and is to become.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What it says without Snell; nothing if it is not there without Snell.
    pub(crate) before: Option<String>,
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
    /// Somebody has changed it since. These containers were not there, or held nothing.
    Changed(&'a [Container]),
    /// Nothing is remembered.
    Unknown,
}

/// What a file is to become that Snell is installed in.
pub(crate) fn install(current: Option<&str>, before: &Before<'_>, wanted: &Wanted) -> Result<Plan, Fault> {
    let document = Document::parse(current.unwrap_or_default())?;
    survey::check_shape(&document, wanted.entries.iter().map(|entry| entry.event))?;
    let without = match before {
        Before::Known(text) => text.map(str::to_owned),
        _ if current.is_none() => None,
        _ => Some(uninstall(&document, before, &wanted.program)?.unwrap_or_default()),
    };
    let (added, containers) = add(without.as_deref(), wanted)?;
    let own = survey::own(&document, &wanted.program);
    let is_same_way = !own.is_empty() && own.iter().all(|handler| handler.way == Some(wanted.way));
    let after = match before {
        Before::Changed(_) | Before::Unknown if is_same_way => update(document.clone(), &own, before, wanted)?,
        _ => added,
    };
    let result = Document::parse(&after)?;
    if survey::others(&document, &wanted.program) != survey::others(&result, &wanted.program)
        || !is_installed(&result, wanted)
    {
        return Err(unsure());
    }
    Ok(Plan {
        before: without,
        after: result.text(),
        containers: containers.into_vec(),
    })
}

/// What a file is to become that Snell is removed from; nothing if it would not be there without Snell.
pub(crate) fn uninstall(document: &Document, before: &Before<'_>, program: &str) -> Result<Option<String>, Fault> {
    if let Before::Known(text) = before {
        return Ok(text.map(str::to_owned));
    }
    let mut stripped = document.clone();
    for handler in survey::own(document, program).iter().rev() {
        take_out(&mut stripped, handler, before)?;
    }
    if survey::others(document, program) != survey::others(&stripped, program) {
        return Err(unsure());
    }
    Ok(Some(stripped.text()))
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
    let own = survey::own(document, &wanted.program);
    let has = |entry: &Entry| own.iter().filter(|handler| is_for(handler, entry)).count() == 1;
    own.len() == wanted.entries.len() && wanted.entries.iter().all(has)
}

/// Whether a handler does what an entry says. How long it may take, and for which tools it is, is up to the user.
fn is_for(handler: &Registered, entry: &Entry) -> bool {
    let exec = Call::Exec {
        command: entry.command.clone(),
        args: entry.args.clone(),
    };
    handler.event == entry.event && handler.call.as_ref() == Some(&exec)
}

/// Puts entries into a file that has none of ours.
fn add(before: Option<&str>, wanted: &Wanted) -> Result<(String, Containers), Fault> {
    let mut document = Document::parse(before.unwrap_or_default())?;
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
        let is_first = own[..index].iter().all(|other| other.event != handler.event);
        match wanted.entries.iter().find(|entry| entry.event == handler.event) {
            Some(entry) if is_first && is_for(handler, entry) => {}
            Some(entry) if is_first => document.replace(&handler.path(), &entry.handler())?,
            _ => take_out(&mut document, handler, before)?,
        }
    }
    let missing = |entry: &&Entry| own.iter().all(|handler| handler.event != entry.event);
    for entry in wanted.entries.iter().filter(missing) {
        put_in(&mut document, entry, &mut Containers::default())?;
    }
    Ok(document.text())
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
            Self::Changed(containers) => {
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
